"""DDP as a script for GPUs writes it, with a model whose step is known: layers
of one product each way, no waiting but for gradients."""

import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(6)])
    model = DistributedDataParallel(model.cuda(), device_ids=[local])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        x = torch.randn(8192, 2048, device="cuda")
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        took = torch.tensor([time.perf_counter() - start])
        if dist.get_rank() == 0:
            print("step %d: %.6f ms" % (step, 1e3 * took.item()))
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, "rank %d" % dist.get_rank())
    assert names == ["rank %d" % n for n in range(len(names))]
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
