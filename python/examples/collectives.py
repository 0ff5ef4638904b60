"""Every collective once, on all ranks and on a group of two."""
import argparse

import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    args = parser.parse_args()
    dist.init_process_group(args.backend)
    rank, size = dist.get_rank(), dist.get_world_size()

    def say(what, *values):
        text = " ".join(str(v.tolist() if torch.is_tensor(v) else v)
                        for v in values)
        print(f"rank {rank}: {what} {text}", flush=True)

    x = torch.arange(3) + rank
    dist.broadcast(x, src=size - 1)
    say("broadcast", x)

    for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN,
               dist.ReduceOp.PRODUCT):
        x = torch.tensor([rank + 1.0, 2.0])
        dist.all_reduce(x, op=op)
        say("all_reduce", x)

    x = torch.tensor([rank + 1])
    dist.reduce(x, dst=0)
    if rank == 0:  # what the others hold now is not defined
        say("reduce", x)

    parts = [torch.zeros(2, dtype=torch.int64) for _ in range(size)]
    dist.all_gather(parts, torch.tensor([rank, -rank]))
    say("all_gather", torch.stack(parts))

    parts = [torch.zeros(1) for _ in range(size)] if rank == 0 else None
    dist.gather(torch.tensor([rank * 0.5]), parts, dst=0)
    if rank == 0:
        say("gather", torch.cat(parts))

    x = torch.zeros(1)
    parts = [torch.tensor([r * 10.0]) for r in range(size)]
    dist.scatter(x, parts if rank == 0 else None, src=0)
    say("scatter", x)

    everything = [None] * size
    dist.all_gather_object(everything, {"rank": rank, "name": "r" * rank})
    say("all_gather_object", everything)
    words = ["from", 0] if rank == 0 else [None, None]
    dist.broadcast_object_list(words, src=0)
    say("broadcast_object_list", words)

    work = dist.all_reduce(torch.ones(1 << 16), async_op=True)
    work.wait()
    say("async all_reduce done", work.is_completed())

    # A group of the first two. All ranks make it, its members use it.
    group = dist.new_group([0, 1])
    if rank < 2:
        x = torch.tensor([rank + 1.0])
        dist.all_reduce(x, group=group)
        say("all_reduce in the group", x)

    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
