"""DistributedDataParallel on a toy model; with --checkpoint FILE, saved half
way by rank 0 and loaded again by all.
"""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def step(model, optimizer, seed):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(20, 10, generator=generator)
    labels = torch.randn(20, 5, generator=generator)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), labels)
    loss.backward()
    optimizer.step()
    return loss


def train(args):
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(rank)  # DDP begins with rank 0's parameters

    model = DistributedDataParallel(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for n in range(args.steps):
        if args.checkpoint and n == args.steps // 2:
            if rank == 0:
                torch.save(model.state_dict(), args.checkpoint)
            with torch.no_grad():
                for p in model.parameters():
                    p.fill_(rank)  # lost
            dist.barrier()  # nobody loads before it is written
            model.load_state_dict(torch.load(args.checkpoint))
        loss = step(model, optimizer, n * size + rank)
        print(f"rank {rank}: step {n} loss {loss.item():.6f}", flush=True)

    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    everyone = [torch.empty_like(weights) for _ in range(size)]
    dist.all_gather(everyone, weights)
    same = all(torch.equal(weights, other) for other in everyone)
    print(f"rank {rank}: weights {weights.sum().item():.5f}, "
          f"the same on all ranks: {same}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--checkpoint", metavar="FILE")
    args = parser.parse_args()
    dist.init_process_group(args.backend)
    train(args)  # the model goes before its group
    dist.barrier()
    if args.checkpoint and dist.get_rank() == 0:
        os.remove(args.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
