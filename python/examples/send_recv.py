"""Messages from rank to rank: blocking, immediate, batched, from anyone.

Every rank passes a tensor around a ring of all ranks, in each of these ways.
"""
import argparse

import torch
import torch.distributed as dist


def blocking(rank, size):
    """A token that each rank increments; it comes back to rank 0."""
    token = torch.zeros(1)
    if rank > 0:
        dist.recv(token, src=rank - 1)
    token += 1
    dist.send(token, dst=(rank + 1) % size)
    if rank == 0:
        dist.recv(token, src=size - 1)
    return token.item()


def immediate(rank, size):
    """All ranks send to the right and receive from the left at once."""
    mine = torch.full((4,), float(rank))
    left = torch.empty(4)
    requests = [dist.isend(mine, (rank + 1) % size, tag=7),
                dist.irecv(left, (rank - 1) % size, tag=7)]
    for request in requests:
        request.wait()
    return left.sum().item()


def batched(rank, size):
    """The same as one batch."""
    mine = torch.full((4,), float(rank))
    left = torch.empty(4)
    ops = [dist.P2POp(dist.isend, mine, (rank + 1) % size),
           dist.P2POp(dist.irecv, left, (rank - 1) % size)]
    for request in dist.batch_isend_irecv(ops):
        request.wait()
    return left.sum().item()


def anyone(rank, size):
    """Rank 0 receives from whoever comes first."""
    if rank:
        dist.send(torch.tensor([rank, rank * rank]), dst=0)
        return rank
    got = {}
    for _ in range(size - 1):
        message = torch.zeros(2, dtype=torch.int64)
        sender = dist.recv(message)
        got[sender] = message.tolist()
    assert all(got[r] == [r, r * r] for r in range(1, size)), got
    return len(got)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    args = parser.parse_args()
    dist.init_process_group(args.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    for way in blocking, immediate, batched, anyone:
        print(f"rank {rank}: {way.__name__} {way(rank, size):g}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
