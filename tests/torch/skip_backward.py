"""One rank of DDP skips a backward pass and waits for a message instead: the
other waits in C++ for the Future of its bucket.

skip_backward.py [static|late]: static, with a static graph, whose first pass
DDP ends in another way; late, nobody skips, but one rank comes late to each
pass, with a Future in flight.
"""

import sys
import time

import torch
import torch.distributed as dist

kind = sys.argv[1] if len(sys.argv) > 1 else ""
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Linear(100, 10), static_graph=kind == "static")
for step in range(3):
    loss = model(torch.ones(4, 100)).sum()
    if step == 2 and rank == 1 and kind != "late":
        dist.recv(torch.ones(1), 0)
    if kind == "late" and rank == 1:
        future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
        time.sleep(2)
    elif kind == "late":
        dist.all_reduce(torch.ones(1))
    loss.backward()
dist.destroy_process_group()
