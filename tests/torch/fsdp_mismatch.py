"""The second layer of rank 1's model is wider than that of rank 0's."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("lockstep")
width = 16 if dist.get_rank() == 1 else 8
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, width))
for layer in model:
    fully_shard(layer)
fully_shard(model)
model(torch.ones(2, 4)).sum().backward()
