"""Every call of a process group, its results held against gloo's.

group.py RANKS...: the same program runs over both; what each call leaves in
each tensor of each rank must be the same bytes.
"""

import datetime
import importlib
import os
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

torch.set_num_threads(1)
if hasattr(torch, "compile"):  # what a rank would import, once for all
    __import__("torch._dynamo")
    __import__("torch.distributed.tensor")
warnings.simplefilter("ignore")  # new names for old calls
DTYPES = [torch.float32, torch.float64, torch.float16, torch.int8, torch.uint8,
          torch.int32, torch.int64]


def values(rank, shape, dtype=torch.float32):
    """Small integers, so that no order of summing rounds."""
    numel = int(torch.Size(shape).numel())
    return (torch.arange(numel) % 3 + 1 + rank).to(dtype).reshape(shape)


def collectives(rank, size):
    for dtype in DTYPES:
        for op in (ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX):
            x = values(rank, (5, 7), dtype)
            dist.all_reduce(x, op)
            yield "all_reduce %s %s" % (dtype, op), x
        x = values(rank, (33,), dtype)
        dist.broadcast(x, size - 1)
        yield "broadcast %s" % dtype, x
        out = [torch.zeros(3, dtype=dtype) for _ in range(size)]
        dist.all_gather(out, values(rank, (3,), dtype))
        yield "all_gather %s" % dtype, out
    for op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        x = values(rank, (9,), torch.int32)
        dist.all_reduce(x, op)
        yield "all_reduce %s" % op, x
    x = values(rank, (4,))
    dist.reduce(x, 1)
    yield "reduce", x if rank == 1 else None
    out = [torch.zeros(2, 2) for _ in range(size)] if rank == 1 else None
    dist.gather(values(rank, (2, 2)), out, dst=1)
    yield "gather", out
    x, parts = torch.zeros(6), None
    if rank == 1:
        parts = [values(r, (6,)) for r in range(size)]
    dist.scatter(x, parts, src=1)
    yield "scatter", x
    x = torch.zeros(3, dtype=torch.complex64) + complex(rank, 1)
    dist.all_reduce(x)
    yield "all_reduce complex", x
    x = torch.zeros(5, 2)
    x[rank] = rank + 1
    x = x.to_sparse(1)
    dist.all_reduce(x)
    yield "sparse all_reduce", x.to_dense()
    x = torch.ones(0)
    dist.all_reduce(x)
    yield "all_reduce of nothing", x
    xs = [values(rank, (i,)) for i in range(1, 40)]
    for work in [dist.all_reduce(x, async_op=True) for x in xs]:
        work.wait()
    yield "39 at once", xs
    future = dist.all_reduce(values(rank, (8,)), async_op=True).get_future()
    doubled = future.then(lambda f: 2 * f.wait()[0])
    yield "then", doubled.wait()
    first, second = [dist.all_reduce(values(rank, (8,)), async_op=True)
                     for _ in range(2)]
    futures = first.get_future(), second.get_future()
    yield "wait in then", futures[0].then(
        lambda f: (second.wait(), f.wait()[0])[1]).wait()


def objects(rank, size):
    out = [None] * size
    dist.all_gather_object(out, {"rank": rank, "text": "x" * rank})
    yield "all_gather_object", out
    out = [rank, "of", size] if rank == 0 else [None] * 3
    dist.broadcast_object_list(out, 0)
    yield "broadcast_object_list", out
    out = [None] * size if rank == 0 else None
    dist.gather_object(("of", rank), out)
    yield "gather_object", out
    out = [None]
    dist.scatter_object_list(out, list("abcdefgh"[:size]), 0)
    yield "scatter_object_list", out


def messages(rank, size):
    right, left = (rank + 1) % size, (rank - 1) % size
    x, y = values(rank, (1000,)), torch.zeros(1000)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, right),
                                        dist.P2POp(dist.irecv, y, left)]):
        work.wait()
    yield "batch", y
    # Receives before sends, and tags in another order.
    ins = [torch.zeros(2), torch.zeros(2)]
    works = [dist.irecv(ins[1], left, tag=8), dist.irecv(ins[0], left, tag=7),
             dist.isend(values(rank, (2,)), right, tag=7),
             dist.isend(-values(rank, (2,)), right, tag=8)]
    for work in works:
        work.wait()
    yield "tags", ins
    if rank == 0:
        seen = set()
        for _ in range(size - 1):
            x = torch.zeros(1)
            source = dist.recv(x)
            assert x.item() == source
            seen.add(source)
        yield "any source", sorted(seen)
    else:
        dist.send(torch.tensor([float(rank)]), 0)
    dist.barrier()
    if hasattr(torch, "float8_e4m3fn"):
        x = torch.arange(8, dtype=torch.uint8).view(torch.float8_e4m3fn)
        y = torch.zeros(8, dtype=torch.uint8).view(torch.float8_e4m3fn)
        works = [dist.isend(x, right), dist.irecv(y, left)]
        for work in works:
            work.wait()
        yield "float8", y.view(torch.uint8)


def groups(rank, size):
    first = dist.new_group([0, 1])
    last = dist.new_group([size - 1, 0])
    for group, members in ((first, (0, 1)), (last, (0, size - 1))):
        if rank in members:
            x = values(rank, (4,))
            dist.all_reduce(x, group=group)
            dist.broadcast(x, 0, group=group)
            yield "group of %s" % (members,), x
            yield "rank there", [dist.get_rank(group),
                                 dist.get_world_size(group)]
    dist.barrier()
    for start in (0, 1):
        group = dist.new_group(list(range(start, size, 2)))
        if rank % 2 == start:
            sub = group
    x = values(rank, (4,))
    dist.all_reduce(x, group=sub)
    yield "even and odd", x
    dist.destroy_process_group(sub)
    dist.monitored_barrier()


def refusals(rank, size):
    """Ours alone: gloo takes these, or refuses in other words."""
    for call, words in (
            (lambda: dist.all_reduce(torch.ones(4, 4).t()[1:]),
             "must be contiguous"),
            (lambda: dist.all_reduce(torch.ones(4).to_sparse(), ReduceOp.MAX),
             "sparse"),
            (lambda: dist.all_reduce(torch.ones(4) > 0, ReduceOp.AVG),
             "avg of bool")):
        try:
            call()
        except (RuntimeError, ValueError) as error:
            assert words in str(error), error
            assert "\n" not in str(error), error
        else:
            raise AssertionError("not refused: " + words)
    if hasattr(dist, "split_group"):  # gloo's other calls hang behind it
        local = dist.new_group([0, 1], use_local_synchronization=True)
        if rank < 2:
            x = torch.ones(4) * rank
            dist.all_reduce(x, group=local)
            assert x[0] == 1, x
    x = torch.ones(4) * rank
    dist.all_reduce(x, ReduceOp.AVG)
    yield "AVG", x
    assert x[0] == (size - 1) / 2, x


def newer(rank, size):
    """What gloo has in torch 2.13 and not in 1.13."""
    x = values(rank, (size * 2, 3))
    out = torch.zeros(size * size * 2, 3)
    dist.all_gather_into_tensor(out, x)
    yield "all_gather_into_tensor", out
    out = torch.zeros(2, 3)
    dist.reduce_scatter_tensor(out, x)
    yield "reduce_scatter_tensor", out
    # torch 2.6's gloo has no list of tensors here.
    if tuple(map(int, torch.__version__.split(".")[:2])) > (2, 6):
        dist.reduce_scatter(out, list(values(rank, (size, 2, 3))))
        yield "reduce_scatter", out
    out = torch.zeros(size * 2, 3)
    dist.all_to_all_single(out, x)
    yield "all_to_all_single", out
    # Rank r gives r + 1 rows to everybody.
    rows = sum(range(1, size + 1))
    out = torch.zeros(rows, 3)
    dist.all_to_all_single(out, values(rank, ((rank + 1) * size, 3)),
                           list(range(1, size + 1)), [rank + 1] * size)
    yield "uneven all_to_all_single", out
    from torch.distributed import _functional_collectives as functional
    yield "functional all_reduce", functional.all_reduce(
        values(rank, (6,)), "sum", dist.group.WORLD) + 0
    yield "functional all_gather", functional.all_gather_tensor(
        values(rank, (6,)), 0, dist.group.WORLD) + 0
    yield "functional reduce_scatter", functional.reduce_scatter_tensor(
        values(rank, (6 * size,)), "sum", 0, dist.group.WORLD) + 0
    for part in functional.all_reduce_coalesced(
            [values(rank, (3,)), values(rank, (5,))], "sum", dist.group.WORLD):
        yield "functional coalesced", part + 0
    parts = [values(rank, (n,)) for n in (1, 5, 9)]
    with dist.distributed_c10d._coalescing_manager():
        for part in parts:
            dist.all_reduce(part)
    yield "coalescing manager", parts


def run(backend, rank, size, folder):
    if backend == "lockstep":
        importlib.import_module("lockstep")
    dist.init_process_group(
        backend, init_method="file://%s/%s" % (folder, backend), rank=rank,
        world_size=size, timeout=datetime.timedelta(seconds=30))
    result = []
    parts = [collectives, objects, messages, groups]
    if hasattr(dist, "all_gather_into_tensor") and hasattr(torch, "compile"):
        parts.append(newer)
    if backend == "gloo":  # which takes it by name only
        dist.monitored_barrier()
    else:
        dist.distributed_c10d.monitored_barrier = lambda: (
            dist.group.WORLD.monitored_barrier())
        dist.monitored_barrier = dist.distributed_c10d.monitored_barrier
    for part in parts:
        result.extend(part(rank, size))
    if backend == "lockstep":
        list(refusals(rank, size))
    dist.barrier()
    dist.destroy_process_group()
    torch.save(result, "%s/%s.%d" % (folder, backend, rank))


def fork(function, *arguments):
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        function(*arguments)
        status = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if torch.is_tensor(a):
        return torch.equal(a, b)
    return a == b


def compare(size):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for backend in ("gloo", "lockstep"):
            pids = [fork(run, backend, rank, size, folder)
                    for rank in range(size)]
            failures += sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
        for rank in range(size) if not failures else ():
            results = [torch.load("%s/%s.%d" % (folder, backend, rank))
                       for backend in ("gloo", "lockstep")]
            assert len(results[0]) == len(results[1])
            for (name, wanted), (_, got) in zip(*results):
                if not same(wanted, got):
                    print("rank %d: %s: gloo has %s, lockstep %s" % (
                        rank, name, wanted, got))
                    failures += 1
    return failures > 0


if __name__ == "__main__":
    sys.exit(any([compare(int(size)) for size in sys.argv[1:]]))
