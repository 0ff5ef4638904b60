"""An all-reduce written by hand: a ring of sends and receives.

In size - 1 steps each rank ends with one chunk's sum, in as many more the
sums go around. It must agree with dist.all_reduce.
"""
import argparse

import torch
import torch.distributed as dist


def ring_all_reduce(tensor):
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    chunks = list(tensor.tensor_split(size))

    def step(send, recv):
        request = dist.isend(chunks[send % size].contiguous(), right)
        got = torch.empty_like(chunks[recv % size])
        dist.recv(got, left)
        request.wait()
        return got

    for i in range(size - 1):
        chunks[(rank - i - 1) % size] += step(rank - i, rank - i - 1)
    for i in range(size - 1):
        chunks[(rank - i) % size].copy_(step(rank - i + 1, rank - i))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--numel", type=int, default=1000)
    args = parser.parse_args()
    dist.init_process_group(args.backend)
    rank = dist.get_rank()

    mine = torch.arange(float(args.numel)) * (rank + 1)
    theirs = mine.clone()
    ring_all_reduce(mine)
    dist.all_reduce(theirs)
    print(f"rank {rank}: the ring agrees: {torch.equal(mine, theirs)}, "
          f"last element {mine[-1].item():g}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
