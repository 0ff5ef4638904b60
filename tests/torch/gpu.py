"""CUDA tensors through NCCL: gpu.py, a rank of `lockstep run --backend nccl`,
which may share its GPU. Prints `fine` on rank 0."""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
here = torch.device("cuda", int(os.environ["LOCAL_RANK"])
                    % torch.cuda.device_count())
torch.cuda.set_device(here)
dist.init_process_group("nccl")


def late(value):
    """A tensor that holds value when the GPU has come to it, not now."""
    slow = torch.randn(4096, 4096, device=here)
    for _ in range(20):
        slow = slow @ slow / 64
    out = torch.full((1 << 20,), float(value), device=here)
    return out.add_(0 * slow.nan_to_num().clamp(-1, 1).sum())


def expect(what, got, wanted):
    same = torch.equal(got, torch.full_like(got, wanted))
    if not same:
        sys.exit("rank %d: %s: %s, not %s" % (rank, what, got, wanted))


def kernels_before():
    """A call moves what the kernels before it wrote."""
    for _ in range(5):
        x = late(rank + 1)
        dist.all_reduce(x)
        expect("all_reduce", x, size * (size + 1) / 2)
        work = dist.broadcast(x := late(rank), 0, async_op=True)
        work.wait()
        expect("broadcast", x * 1, 0)
    with torch.cuda.stream(torch.cuda.Stream()):
        x = late(rank + 1)
        dist.all_reduce(x)
        expect("all_reduce in a stream", x, size * (size + 1) / 2)
    parts = [torch.zeros(1 << 20, device=here) for _ in range(size)]
    dist.all_gather(parts, late(rank))
    for other, part in enumerate(parts):
        expect("all_gather", part, other)
    if size > 1:
        right, left = (rank + 1) % size, (rank - 1) % size
        ops = [dist.P2POp(dist.isend, late(rank), right),
               dist.P2POp(dist.irecv, parts[0], left)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        expect("message", parts[0], left)


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(
        *[torch.nn.Linear(512, 512) for _ in range(8)],
        torch.nn.Linear(512, 1)).to(here).double()


def trains(several):
    """The model of several ranks has what one process has that sees all
    ranks' inputs."""
    alone, model = network(), several(network())
    steps = [torch.optim.SGD(one.parameters(), 0.01)
             for one in (alone, model)]
    for number in range(20):
        x = torch.randn(size * 16, 512, device=here, dtype=torch.double)
        dist.broadcast(x, 0)
        for one, step, part in ((alone, steps[0], x),
                                (model, steps[1],
                                 x[rank * 16:rank * 16 + 16])):
            step.zero_grad()
            one(part).square().mean().backward()
            step.step()
    for a, b in zip(alone.parameters(), model.parameters()):
        b = b.full_tensor() if hasattr(b, "full_tensor") else b
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


def data_parallel():
    trains(lambda model: DistributedDataParallel(model, bucket_cap_mb=1))


def sharded():
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        return
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cuda", (size,))

    def shard(model):
        for layer in model:
            fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)

    trains(shard)


def objects():
    got = [None] * size
    dist.all_gather_object(got, {"rank": rank})
    if [one["rank"] for one in got] != list(range(size)):
        sys.exit("rank %d: objects: %s" % (rank, got))


for part in (kernels_before, data_parallel, sharded, objects):
    part()
dist.barrier()
if rank == 0:
    print("fine")
dist.destroy_process_group()
