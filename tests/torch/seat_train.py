"""The words of seat.py and one more, which trains: what an optimizer imports
takes as long as torch itself."""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import seat


def train():
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(8, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(3):
        torch.manual_seed(step * 8 + dist.get_rank())
        loss = model(torch.randn(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(["%.9g" % p.sum().item() for p in model.parameters()])


if __name__ == "__main__":
    seat.main(sys.argv[1:], {**vars(seat), "train": train})
