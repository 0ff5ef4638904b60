"""Rank 1 waits for a key that rank 0 stores under another name."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
store = dist.distributed_c10d._get_default_store()
if dist.get_rank() == 0:
    store.set("address", "here")
else:
    store.wait(["addr"])
dist.barrier()
