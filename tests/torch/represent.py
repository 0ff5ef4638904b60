"""A few ranks that stand for all: rank r for r + R, r + 2R, ...

lockstep run --backend sim --represent R:N represent.py WHAT
"""

import shutil
import sys
import tempfile

import torch
import torch.distributed as dist


def collectives(rank, size, running):
    """Each rank's data says of which class it is."""
    classes = [float(i % running) for i in range(size)]
    mine = torch.tensor([classes[rank], 2.0])
    total = mine.clone()
    dist.all_reduce(total)
    assert total.tolist() == [sum(classes), 2 * size], total
    dist.all_reduce(mine, op=dist.ReduceOp.AVG)
    assert mine.tolist() == [sum(classes) / size, 2], mine
    mine = torch.tensor([classes[rank]])
    parts = [torch.zeros(1) for _ in classes]
    dist.all_gather(parts, mine)
    assert [part.item() for part in parts] == classes, parts
    one = torch.arange(float(size)) + 100 * mine
    dist.all_to_all_single(parts := torch.zeros(size), one)
    assert parts.tolist() == [100 * of + rank for of in classes], parts
    dist.reduce_scatter(part := torch.zeros(1), list(one.split(1)))
    assert part.item() == 100 * sum(classes) + size * rank, part
    dist.broadcast(root := mine + 5, src=running - 1)
    assert root.item() == running + 4
    dist.scatter(part, list(torch.arange(float(size)).split(1))
                 if rank == 0 else None, src=0)
    assert part.item() == rank
    objects = [None] * size
    dist.all_gather_object(objects, {"class": classes[rank]})
    assert [thing["class"] for thing in objects] == classes, objects


def groups(rank, size, running):
    """Those that have a class have its stand-in, too."""
    mine = rank % running + 1.0
    for first in range(0, size, running):
        row = dist.new_group(range(first, first + running))
        if rank // running == first // running:
            dist.all_reduce(x := torch.tensor([mine]), group=row)
            assert x.item() == running * (running + 1) / 2, x
    for first in range(running):
        column = dist.new_group(range(first, size, running))
        if rank % running == first:
            dist.all_reduce(x := torch.tensor([mine]), group=column)
            assert x.item() == mine * size / running, x
    if rank == 0 and running > 1:
        dist.send(torch.ones(3), 1)
    elif rank == 1:
        dist.recv(x := torch.zeros(3), 0)
        assert x.sum() == 3


def checkpoint(rank, size):
    """Of tensors of which each rank has a part."""
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import DTensor, Shard, init_device_mesh
    mesh = init_device_mesh("cpu", (size,))
    state = {name: DTensor.from_local(torch.full((1, rows), rank), mesh,
                                      [Shard(0)])
             for name, rows in (("x", 8), ("y", 1))}
    folder = [tempfile.mkdtemp()]
    dist.broadcast_object_list(folder)
    dcp.save(state, checkpoint_id=folder[0])
    for part in state.values():
        part.to_local().zero_()
    dcp.load(state, checkpoint_id=folder[0])
    assert all((part.to_local() == rank).all() for part in state.values())
    dist.barrier()
    shutil.rmtree(folder[0], ignore_errors=True)


def main(what, running=0):
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    if what == "all":
        collectives(rank, size, int(running))
        groups(rank, size, int(running))
    elif what == "checkpoint":
        checkpoint(rank, size)
    elif what == "branch" and rank == 0:
        dist.all_reduce(torch.ones(1))
    elif what == "root":
        dist.broadcast(torch.ones(1), src=size - 1)
    elif what == "splits":
        dist.all_to_all_single(torch.zeros(2 * size - 1), torch.zeros(size),
                               [1] + [2] * (size - 1), [1] * size)
    elif what == "apart":
        dist.new_group([0, size - 1])
    dist.all_reduce(torch.ones(5))
    dist.destroy_process_group()


main(*sys.argv[1:])
