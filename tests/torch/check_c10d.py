"""Every call of torch.distributed on plain tensors, with its values."""
import ctypes
import datetime
import functools
import warnings

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

import checks
from checks import SIZE, equal, refuses


def all_reduce_types():
    rank = dist.get_rank()
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64,
                  torch.int8, torch.uint8, torch.int32, torch.int64):
        x = torch.tensor([rank + 1, 2, 0]).to(dtype)
        dist.all_reduce(x)
        equal(x, torch.tensor([10, 8, 0]).to(dtype))


def all_reduce_ops():
    rank = dist.get_rank()
    for op, want in ((ReduceOp.SUM, [6, 4]), (ReduceOp.PRODUCT, [0, 1]),
                     (ReduceOp.MIN, [0, 1]), (ReduceOp.MAX, [3, 1]),
                     (ReduceOp.BOR, [3, 1]), (ReduceOp.BAND, [0, 1]),
                     (ReduceOp.BXOR, [0, 0])):
        x = torch.tensor([rank, 1])
        dist.all_reduce(x, op)
        equal(x, torch.tensor(want))


def all_reduce_complex():
    x = torch.tensor([1 + 2j, dist.get_rank() * 1j])
    dist.all_reduce(x)
    equal(x, torch.tensor([4 + 8j, 6j]))


def all_reduce_shapes():
    for shape in ((), (1,), (0,), (3, 0), (2, 3, 4)):
        x = torch.ones(shape)
        dist.all_reduce(x)
        equal(x, torch.full(shape, 4.0))


def all_reduce_many_at_once():
    tensors = [torch.full((n + 1,), float(n)) for n in range(50)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    for work in reversed(works):
        work.wait()
        assert work.is_completed()
    for n, x in enumerate(tensors):
        equal(x, torch.full((n + 1,), 4.0 * n))


def dropped():
    """Works that nobody waits for, whose tensors go at once."""
    for _ in range(200):
        dist.all_reduce(torch.ones(50000), async_op=True)
        del [torch.zeros(50000), torch.zeros(50000)][:]
    dist.barrier()


def dropped_messages():
    rank = dist.get_rank()
    for _ in range(50):
        dist.irecv(torch.zeros(50000), (rank - 1) % SIZE)
    for _ in range(50):
        dist.isend(torch.ones(50000), (rank + 1) % SIZE)
        del [torch.zeros(50000), torch.zeros(50000)][:]
    dist.barrier()


def from_a_thread_of_c():
    """C++ alone calls in threads of the autograd engine, for a GPU each."""
    x = torch.ones(4)
    libc, thread = ctypes.CDLL(None), ctypes.c_ulong()
    begin = ctypes.CFUNCTYPE(None)(
        functools.partial(dist.group.WORLD.allreduce, [x]))
    assert not libc.pthread_create(ctypes.byref(thread), None, begin, None)
    assert not libc.pthread_join(thread, None)
    dist.barrier()
    equal(x, torch.full((4,), 4.0))


def futures():
    rank = dist.get_rank()
    x = torch.ones(8) * rank
    half = dist.all_reduce(x, async_op=True).get_future().then(
        lambda f: f.value()[0] / 2)
    equal(half.wait(), torch.full((8,), 3.0))
    work = dist.all_reduce(torch.ones(2), async_op=True)
    future = work.get_future()
    future.wait()
    assert future.done()
    works = [dist.broadcast(torch.ones(4), src, async_op=True)
             for src in range(SIZE)]
    torch.futures.wait_all([w.get_future() for w in works])
    every = torch.futures.collect_all([w.get_future() for w in works])
    every.wait()


def results():
    x = torch.ones(3)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    equal(work.result()[0], torch.full((3,), 4.0))
    y = torch.empty(3 * SIZE)
    work = dist.all_gather_into_tensor(y, torch.ones(3), async_op=True)
    work.wait()
    equal(y, torch.ones(3 * SIZE))


def rooted():
    rank = dist.get_rank()
    for root in range(SIZE):
        x = torch.full((5,), float(rank))
        dist.broadcast(x, root)
        equal(x, torch.full((5,), float(root)))
        x = torch.full((5,), rank + 1.0)
        dist.reduce(x, root, ReduceOp.SUM)
        if rank == root:
            equal(x, torch.full((5,), 10.0))
        out = [torch.empty(2) for _ in range(SIZE)] if rank == root else None
        dist.gather(torch.full((2,), float(rank)), out, root)
        if rank == root:
            equal(torch.stack(out)[:, 0], torch.arange(4.0))
        x = torch.empty(2)
        parts = [torch.full((2,), float(r)) for r in range(SIZE)]
        dist.scatter(x, parts if rank == root else None, root)
        equal(x, torch.full((2,), float(rank)))


def gathers():
    rank = dist.get_rank()
    x = torch.full((2, 3), float(rank))
    out = [torch.empty(2, 3) for _ in range(SIZE)]
    dist.all_gather(out, x)
    equal(torch.stack(out)[:, 0, 0], torch.arange(4.0))
    flat = torch.empty(2 * SIZE, 3)
    dist.all_gather_into_tensor(flat, x)
    equal(flat, torch.cat(out))


def gathers_stacked():
    x = torch.full((2, 3), float(dist.get_rank()))
    out = [torch.empty(2, 3) for _ in range(SIZE)]
    dist.all_gather(out, x)
    stacked = torch.empty(SIZE, 2, 3)
    dist.all_gather_into_tensor(stacked, x)
    equal(stacked, torch.stack(out))


def all_gather_uneven():
    rank = dist.get_rank()
    out = [torch.empty(r + 1) for r in range(SIZE)]
    # Not under gloo's name: gloo refuses it.
    dist.all_gather(out, torch.full((rank + 1,), float(rank)),
                    group=dist.new_group(backend="lockstep"))
    for r in range(SIZE):
        equal(out[r], torch.full((r + 1,), float(r)))


def reduce_scatters():
    rank = dist.get_rank()
    whole = torch.arange(8.0) * (rank + 1)
    part = torch.empty(2)
    dist.reduce_scatter_tensor(part, whole.clone())
    equal(part, 10 * torch.arange(8.0)[2 * rank:2 * rank + 2])
    part = torch.empty(2)
    dist.reduce_scatter(part, list(whole.clone().chunk(SIZE)))
    equal(part, 10 * torch.arange(8.0)[2 * rank:2 * rank + 2])
    part = torch.empty(2)
    dist.reduce_scatter_tensor(part, whole.clone(), op=ReduceOp.MAX)
    equal(part, 4 * torch.arange(8.0)[2 * rank:2 * rank + 2])


def all_to_alls():
    rank = dist.get_rank()
    x = torch.arange(4) + 10 * rank
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x)
    equal(y, torch.arange(4) * 10 + rank)
    # Rank r sends s + 1 rows to rank s.
    x = torch.full((10, 2), float(rank))
    y = torch.empty((rank + 1) * SIZE, 2)
    dist.all_to_all_single(y, x, [rank + 1] * SIZE, [1, 2, 3, 4])
    equal(y[:, 0], torch.arange(4.0).repeat_interleave(rank + 1))
    send = [torch.full((2,), 10.0 * s + rank) for s in range(SIZE)]
    recv = [torch.empty(2) for _ in range(SIZE)]
    dist.all_to_all(recv, send)
    for r in range(SIZE):
        equal(recv[r], torch.full((2,), 10.0 * rank + r))


def all_to_all_uneven():
    rank = dist.get_rank()
    send = [torch.full((s + 1,), rank + 0.5) for s in range(SIZE)]
    recv = [torch.empty(rank + 1) for _ in range(SIZE)]
    dist.all_to_all(recv, send)
    for r in range(SIZE):
        equal(recv[r], torch.full((rank + 1,), r + 0.5))


def coalesced():
    rank = dist.get_rank()
    xs = [torch.full((n + 1,), float(rank)) for n in range(3)]
    with dist._coalescing_manager():
        for x in xs:
            dist.all_reduce(x)
    for n, x in enumerate(xs):
        equal(x, torch.full((n + 1,), 6.0))
    outs = [torch.empty(SIZE * n) for n in (1, 2)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for n, out in zip((1, 2), outs):
            dist.all_gather_into_tensor(out, torch.full((n,), float(rank)))
    manager.wait()
    for n, out in zip((1, 2), outs):
        equal(out, torch.arange(4.0).repeat_interleave(n))
    outs = [torch.empty(n) for n in (1, 2)]
    with dist._coalescing_manager():
        for n, out in zip((1, 2), outs):
            dist.reduce_scatter_tensor(out, torch.ones(SIZE * n))
    for n, out in zip((1, 2), outs):
        equal(out, torch.full((n,), 4.0))


def coalesced_list():
    xs = [torch.full((n + 1,), float(dist.get_rank())) for n in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dist.all_reduce_coalesced(xs)
        for n, x in enumerate(xs):
            equal(x, torch.full((n + 1,), 6.0))
        outs = [[torch.empty(1), torch.empty(2, 2)] for _ in range(SIZE)]
        rank = float(dist.get_rank())
        dist.all_gather_coalesced(
            outs, [torch.full((1,), rank), torch.full((2, 2), rank)])
    for r in range(SIZE):
        equal(outs[r][1], torch.full((2, 2), float(r)))


def messages():
    rank = dist.get_rank()
    right, left = (rank + 1) % SIZE, (rank - 1) % SIZE
    got = torch.empty(3)
    ops = [dist.P2POp(dist.isend, torch.full((3,), float(rank)), right),
           dist.P2POp(dist.irecv, got, left)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    equal(got, torch.full((3,), float(left)))
    # By tag, against the order in which they were sent.
    if rank == 0:
        sends = [dist.isend(torch.tensor([t]), 1, tag=t) for t in (5, 6)]
        for work in sends:
            work.wait()
    elif rank == 1:
        for t in (6, 5):
            x = torch.zeros(1, dtype=torch.int64)
            dist.recv(x, 0, tag=t)
            assert x.item() == t
    # From anyone.
    if rank == 0:
        seen = set()
        for _ in range(SIZE - 1):
            x = torch.zeros(1)
            sender = dist.recv(x)
            assert x.item() == sender
            seen.add(sender)
        assert seen == {1, 2, 3}
    else:
        dist.send(torch.tensor([float(rank)]), 0)


def message_source():
    group = dist.new_group([1, 3])
    if dist.get_rank() == 3:
        dist.send(torch.ones(1), 1, group=group)
    elif dist.get_rank() == 1:
        x = torch.zeros(1)
        work = dist.irecv(x, group=group)
        work.wait()
        equal(x, torch.ones(1))
        assert work._source_rank() == 1, work._source_rank()


def objects():
    rank = dist.get_rank()
    mine = {"rank": rank, "text": "x" * 100 * rank}
    every = [None] * SIZE
    dist.all_gather_object(every, mine)
    assert [o["rank"] for o in every] == [0, 1, 2, 3]
    every = [None] * SIZE if rank == 2 else None
    dist.gather_object(mine, every, 2)
    assert rank != 2 or every[3] == {"rank": 3, "text": "x" * 300}
    words = ["a", {"b": 1}] if rank == 1 else [None, None]
    dist.broadcast_object_list(words, 1)
    assert words == ["a", {"b": 1}]
    out = [None]
    dist.scatter_object_list(out, list("abcd") if rank == 0 else None, 0)
    assert out == ["abcd"[rank]]
    if hasattr(dist, "send_object_list"):
        if rank == 0:
            dist.send_object_list([1, "two"], 1)
        elif rank == 1:
            words = [None, None]
            assert dist.recv_object_list(words, 0) == 0
            assert words == [1, "two"]


def subgroups():
    rank = dist.get_rank()
    odd = dist.new_group([1, 3])
    even = dist.new_group([2, 0])  # torch sorts the ranks
    group = odd if rank % 2 else even
    other = even if rank % 2 else odd
    assert dist.get_world_size(group) == 2
    assert dist.get_rank(other) == -1
    assert dist.get_process_group_ranks(group) == [rank % 2, rank % 2 + 2]
    assert dist.get_global_rank(group, 1) == rank % 2 + 2
    assert dist.get_group_rank(group, rank) == rank // 2
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=group)
    equal(x, torch.tensor([4.0 if rank % 2 else 2.0]))
    every = [None] * 2
    dist.all_gather_object(every, rank, group=group)
    assert every == [rank % 2, rank % 2 + 2]
    words = [rank] if rank < 2 else [None]
    dist.broadcast_object_list(words, rank % 2, group=group)
    assert words == [rank % 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dist.all_reduce(x, group=other) is None
    dist.destroy_process_group(group)
    dist.barrier()


def subgroups_of_a_size():
    rank = dist.get_rank()
    pairs, _ = dist.new_subgroups(2)
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=pairs)
    equal(x, torch.tensor([1.0 if rank < 2 else 5.0]))
    mine, _ = dist.new_subgroups_by_enumeration([[0, 3], [1, 2]])
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=mine)
    equal(x, torch.tensor([3.0]))


def groups_by_members():
    rank = dist.get_rank()
    for n in range(2):
        ranks = [1, 2] if rank in (1, 2) else [0, 3]
        group = dist.new_group(ranks, use_local_synchronization=True)
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=group)
        equal(x, torch.tensor([3.0]))
    dist.barrier()


def groups_by_members_that_overlap():
    rank = dist.get_rank()
    if rank in (1, 2):
        group = dist.new_group([1, 2], use_local_synchronization=True)
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=group)
        equal(x, torch.tensor([3.0]))
    if rank in (0, 2):
        group = dist.new_group([0, 2], use_local_synchronization=True)
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=group)
        equal(x, torch.tensor([2.0]))
    dist.barrier()


def many_groups():
    rank = dist.get_rank()
    groups = [dist.new_group() for _ in range(10)]
    works = []
    for n, group in enumerate(groups):
        x = torch.full((10,), float(n))
        works.append((n, x, dist.all_reduce(x, group=group, async_op=True)))
    for n, x, work in works:
        work.wait()
        equal(x, torch.full((10,), 4.0 * n))
    if rank == 0:
        assert len({g.group_name for g in groups}) == 10


def options():
    assert dist.is_initialized()
    assert isinstance(dist.get_backend(), str)
    group = dist.new_group([0, 1], timeout=datetime.timedelta(seconds=20),
                           group_desc="first two")
    if dist.get_rank() < 2:
        assert group.group_desc == "first two"
        assert group.size() == 2 and group.rank() == dist.get_rank()
        assert str(group.name()), group.name()
    dist.barrier()


def options_of_gloo():
    given = dist.distributed_c10d.ProcessGroupGloo._Options()
    given._timeout = datetime.timedelta(seconds=20)
    group = dist.new_group(pg_options=given)
    x = torch.ones(2)
    dist.all_reduce(x, group=group)
    equal(x, torch.full((2,), 4.0))


def called_directly():
    """What a group itself takes: tensors without lists, roots and ops."""
    group, rank = dist.distributed_c10d._get_default_group(), dist.get_rank()
    everywhere = [torch.full((2,), float(r)) for r in range(SIZE)]
    mine, out = everywhere[rank].clone(), [torch.empty(2) for _ in everywhere]
    group.allreduce(mine).wait()
    equal(mine, torch.full((2,), 6.0))
    mine.fill_(rank)
    group.allreduce(mine, ReduceOp.MAX).wait()
    equal(mine, torch.full((2,), 3.0))
    mine.fill_(rank)
    group.broadcast(mine, root=1).wait()
    equal(mine, everywhere[1])
    work = group.allgather(out, everywhere[rank])
    work.wait()
    equal(work.result(), everywhere)
    out = [torch.empty(2) for _ in everywhere]
    group.gather(out if rank == 2 else [], everywhere[rank], root=2).wait()
    if rank == 2:
        equal(out, everywhere)
    group.scatter(mine, everywhere if rank == 0 else [], root=0).wait()
    equal(mine, everywhere[rank])
    group.reduce(mine, root=3, op=ReduceOp.SUM).wait()
    if rank == 3:
        equal(mine, torch.full((2,), 6.0))
    assert group._get_backend(torch.device("cpu")).size() == SIZE


def columns():
    """Gloo copies an input that is not contiguous."""
    x = torch.arange(4.0).reshape(2, 2).t()[0] + 4 * dist.get_rank()
    x = torch.stack([x, x], 1)[:, 0]
    out = [torch.empty(2) for _ in range(SIZE)]
    dist.all_gather(out, x)
    equal(torch.stack(out)[:, 1], torch.arange(SIZE) * 4 + 2.0)
    out = torch.zeros(SIZE, 2, 2)
    dist.all_gather(list(out[:, :, 0]), x)
    equal(out[:, 1, 0], torch.arange(SIZE) * 4 + 2.0)
    assert not out[:, :, 1].any()
    out = list(out[:, :, 1]) if dist.get_rank() == 1 else None
    dist.gather(x, out, 1, async_op=True).wait()
    if out is not None:
        equal(torch.stack(out)[:, 1], torch.arange(SIZE) * 4 + 2.0)


def several_tensors():
    """Gloo takes several of one rank for one on each of its devices."""
    group, rank = dist.distributed_c10d._get_default_group(), dist.get_rank()
    xs = [torch.tensor([rank + 1.0]), torch.tensor([10.0])]
    equal(group.allreduce(xs).get_future().wait(), [torch.tensor([50.0])] * 2)
    equal(xs, [torch.tensor([50.0])] * 2)
    opts = dist.AllreduceOptions()
    opts.reduceOp = ReduceOp.MAX
    xs = [torch.tensor([rank]), torch.tensor([2])]
    group.allreduce(xs, opts).wait()
    equal(xs, [torch.tensor([3])] * 2)
    opts = dist.BroadcastOptions()
    opts.rootRank, opts.rootTensor = 2, 1
    xs = [torch.tensor([rank]), torch.tensor([rank + 10])]
    group.broadcast(xs, opts).wait()
    equal(xs, [torch.tensor([12])] * 2)
    outs = [[torch.zeros(1) for _ in range(2 * SIZE)] for _ in range(2)]
    group.allgather(outs, [torch.full((1,), 2.0 * rank),
                           torch.full((1,), 2.0 * rank + 1)]).wait()
    for out in outs:
        equal(torch.cat(out), torch.arange(2.0 * SIZE))


def debug_detail():
    """Ranks compare their calls before they make them, and go on."""
    level = dist.get_debug_level()
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    group = dist.new_group(timeout=datetime.timedelta(seconds=30))
    dist.set_debug_level(level)
    rank, x = dist.get_rank(), torch.ones(2, 3)
    dist.all_reduce(x, group=group)
    assert "OpType=BARRIER" in refuses(RuntimeError, lambda: (
        dist.barrier(group) if rank else dist.all_reduce(x, group=group)))
    text = refuses(RuntimeError, dist.all_reduce, torch.ones(2, 3 + rank),
                   group=group)
    assert "[2, 3]" in text and "Collectives differ in the following" in text
    out = [torch.zeros(2, 3) for _ in range(SIZE)]
    dist.all_gather(out, x, group=group)
    dist.scatter(x, out if rank == 0 else None, group=group)
    equal(x, torch.full((2, 3), float(SIZE)))


def words_of_gloo():
    """What gloo refuses is refused, in its words, and the group goes on."""
    group = dist.distributed_c10d._get_default_group()
    x, y = torch.zeros(1), torch.zeros(2)
    root = dist.get_rank()
    for words, call, *arguments in (
            ("requires non-empty tensor list", group.allreduce, []),
            ("invalid tensor type", group.allreduce, [x, x.double()]),
            ("invalid tensor size", group.allreduce, [x, y]),
            ("same length", group.allgather, [], [x]),
            ("invalid output tensor list", group.allgather, [[x]], [x]),
            ("invalid tensor size", group.allgather, [[x, x, y, x]], [x]),
            ("single-element tensor list", group.reduce, [x, x])):
        assert words in refuses(RuntimeError, call, *arguments), words
    opts = dist.GatherOptions()
    opts.rootRank = SIZE
    text = refuses(RuntimeError, group.gather, [], [x], opts)
    assert "invalid root rank" in text, text
    opts.rootRank = root
    text = refuses(RuntimeError, group.gather, [[x] * 3], [x], opts)
    assert "Incorrect output list size 3. Output list size should be 4" in text
    opts.rootRank = (root + 1) % SIZE
    text = refuses(RuntimeError, group.gather, [[x] * 4], [x], opts)
    assert "requires empty output on non-root" in text, text
    dist.all_reduce(x)


def kind_of_error():
    """Gloo raises what it raises, and nothing derived of it."""
    try:
        dist.all_gather([torch.empty(1)] * 3, torch.ones(1))
    except (RuntimeError, ValueError) as error:
        assert type(error) in (RuntimeError, ValueError), type(error)
    else:
        raise AssertionError("three outputs of four are enough")


def made_directly():
    """A program may make groups of the back end's class beside the default
    one: of the same ranks (torch's rpc does), and a world of its own."""
    make = dist.distributed_c10d.ProcessGroupGloo
    limit = datetime.timedelta(seconds=20)
    store = dist.distributed_c10d._get_default_store()
    group = make(dist.PrefixStore("beside", store), dist.get_rank(), SIZE,
                 limit)
    x = torch.ones(1)
    group.allreduce(x).wait()
    equal(x, torch.tensor([4.0]))
    alone = make(dist.HashStore(), 0, 1, limit)
    alone.allreduce(x).wait()
    equal(x, torch.tensor([4.0]))
    dist.all_reduce(x)
    equal(x, torch.tensor([16.0]))


def barriers():
    dist.barrier()
    dist.barrier(async_op=True).wait()
    dist.monitored_barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=20))
    dist.monitored_barrier(wait_all_ranks=True)
    group = dist.new_group([0, 3])
    if dist.get_rank() in (0, 3):
        dist.monitored_barrier(group)
        dist.barrier(group)


def bools():
    rank = dist.get_rank()
    x = torch.tensor([rank == 1, rank == 2])
    dist.broadcast(x, 1)
    assert x.tolist() == [True, False]
    out = [torch.empty(1, dtype=torch.bool) for _ in range(SIZE)]
    dist.all_gather(out, torch.tensor([rank == 2]))
    assert torch.cat(out).tolist() == [False, False, True, False]


def bytes_only():
    rank = dist.get_rank()
    for name in ("int16", "complex64", "complex128", "uint16", "uint32",
                 "uint64", "float8_e4m3fn", "float8_e5m2"):
        if not hasattr(torch, name):
            continue
        dtype = getattr(torch, name)
        x = torch.tensor([rank % 2, 1]).to(dtype)
        dist.broadcast(x, 1)
        assert x.real.tolist() == [1, 1] if dtype.is_complex else \
            x.to(torch.float64).tolist() == [1, 1]
        x = torch.tensor([rank, 1]).to(dtype)
        out = torch.zeros(2 * SIZE).to(dtype)
        dist.all_gather_into_tensor(out, x)
        assert (out if dtype.is_complex else out.to(torch.float64)).tolist() \
            == [0, 1, 1, 1, 2, 1, 3, 1]


def strided():
    """A tensor with holes is refused or done right, never done wrong."""
    x = torch.ones(4, 4).t()[:, :2]
    try:
        dist.all_reduce(x)
    except (RuntimeError, ValueError) as error:
        assert "contiguous" in str(error) or "dense" in str(error), error
    else:
        equal(x, torch.full((4, 2), 4.0))


def wrong_calls():
    x = torch.ones(2)
    refuses((ValueError, RuntimeError), dist.broadcast, x, 99)
    refuses((ValueError, RuntimeError), dist.send, x, dist.get_rank())
    refuses((ValueError, TypeError, RuntimeError), dist.all_gather, [x], x)
    refuses((TypeError, RuntimeError), dist.all_reduce, [1, 2])
    refuses((ValueError, RuntimeError), dist.all_gather_into_tensor,
            torch.empty(3), x)
    refuses((ValueError, RuntimeError), dist.reduce_scatter_tensor,
            torch.empty(3), x)
    dist.all_reduce(x)  # and the group still works
    equal(x, torch.full((2,), 4.0))


def twice(backend, rank, where):
    for n in range(3):
        checks.init(backend, init_method=f"file://{where}{n}", rank=rank,
                    world_size=SIZE)
        x = torch.ones(1)
        dist.all_reduce(x)
        equal(x, torch.tensor([4.0]))
        dist.destroy_process_group()
        assert not dist.is_initialized()


class Small(dist.Store):
    """One without check()."""

    def get(self, key):
        return key.encode()


class Empty(dist.Store):
    """A store of a script's own, without methods."""


def prefixed(backend, rank, where):
    """A store is given, the default device names pick the back end."""
    store = dist.PrefixStore("job", dist.FileStore(where, SIZE))
    dist.init_process_group(f"cpu:{backend}", store=store, rank=rank,
                            world_size=SIZE)
    x = torch.ones(1)
    dist.all_reduce(x)
    equal(x, torch.tensor([4.0]))
    store.set(f"seen {rank}", "yes")
    store.wait([f"seen {r}" for r in range(SIZE)])
    words = refuses(RuntimeError, Empty().set, "key", "value")
    assert "recursion" not in words, words
    small = Small()  # torch does not keep it
    assert dist.PrefixStore("of", small).get("key") == b"of/key"
    dist.destroy_process_group()


def given_up(backend, rank, where):
    """Who leaves does not miss a call that another gave up."""
    store = dist.FileStore(where, SIZE)
    checks.init(backend, store=store, rank=rank, world_size=SIZE)
    group = dist.new_group()
    dist.barrier()
    if rank == 0:
        work = dist.barrier(group, async_op=True)
        words = refuses(RuntimeError, work.wait,
                        datetime.timedelta(milliseconds=20))
        assert "Timed out" in words, words
        store.set("given up", "yes")
    store.wait(["given up"])
    dist.destroy_process_group()


twice.own_world = prefixed.own_world = given_up.own_world = True
for function in (dropped_messages, gathers_stacked, all_gather_uneven,
                 all_to_all_uneven, groups_by_members_that_overlap,
                 bytes_only):
    function.beyond_gloo = True

if __name__ == "__main__":
    checks.main([
        all_reduce_types, all_reduce_ops, all_reduce_complex,
        all_reduce_shapes, all_reduce_many_at_once, dropped, dropped_messages,
        from_a_thread_of_c, futures, results, rooted, gathers, gathers_stacked,
        all_gather_uneven, reduce_scatters, all_to_alls, all_to_all_uneven,
        coalesced, coalesced_list, messages, message_source, objects,
        subgroups, subgroups_of_a_size, groups_by_members,
        groups_by_members_that_overlap, many_groups, options, options_of_gloo,
        called_directly, columns, several_tensors, words_of_gloo, debug_detail,
        made_directly, kind_of_error, barriers, bools, bytes_only, strided,
        wrong_calls, twice, prefixed, given_up])
