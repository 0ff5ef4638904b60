"""The parameters that a verdict says a DDP bucket holds are those that torch
says it does, before and after the buckets are cut anew.

Then rank 1 makes another call.
"""

import torch
import torch.distributed as dist
from lockstep import buckets
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ORDER = (3, 1, 5, 0, 2, 4)  # of use: gradients come in another than names do


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(100, 100) for _ in ORDER)

    def forward(self, x):
        for index in ORDER:
            x = self.layers[index](x)
        return x.sum()


dist.init_process_group("gloo")
dist._DEFAULT_FIRST_BUCKET_BYTES = 62914  # torch 1: 1 MiB, whatever the cap
model = DistributedDataParallel(Model(), bucket_cap_mb=0.06)
names = {p: name for name, p in model.module.named_parameters()}
seen = []


def hook(_, bucket):
    seen.append([names[p] for p in bucket.parameters()])
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


model.register_comm_hook(None, hook)
for step in range(4):
    seen.clear()
    model(torch.ones(2, 100)).backward()
    told = [words.decode() for _, _, words in buckets.plans[0]._buckets]
    truth = ["bucket %d (%s)" % (number, buckets._list(bucket))
             for number, bucket in enumerate(seen)]
    assert told == truth, (step, told, truth)
assert len(seen) > 1, "one bucket has all"

model = DistributedDataParallel(Model(), bucket_cap_mb=0.06)
for step in range(3):
    if step == 2 and dist.get_rank() == 1:
        dist.all_reduce(torch.ones(1))
    model(torch.ones(2, 100)).backward()
