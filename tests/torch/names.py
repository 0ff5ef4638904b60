"""What group.py does not hold against gloo: groups in groups, objects on them,
what gloo has not. For four ranks, simulated or not; PyTorch 2.6 and later.
"""

import datetime
import importlib.util
import warnings

import torch
import torch.distributed as dist

warnings.simplefilter("ignore")  # new names for old calls
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


def total(group, value=1.0):
    x = torch.tensor([value])
    dist.all_reduce(x, group=group)
    return x.item()


def expect(what, expected):
    assert what == expected, (rank, what, expected)


def groups():
    mine, every = dist.new_subgroups(2)
    expect((len(every), total(mine)), (2, 2))
    mine, _ = dist.new_subgroups_by_enumeration([[0, 2], [1, 3]])
    expect(total(mine, float(rank)), 2 + rank % 2 * 2)
    halves = dist.split_group(split_ranks=[[1, 0], [2, 3]])
    expect((total(halves), halves.rank()), (2, rank % 2))
    again = dist.split_group(split_ranks=[[1, 0], [2, 3]])
    expect(total(again, float(rank)), rank // 2 * 4 + 1)
    alone = dist.split_group(halves, [[1]])
    expect(alone and (alone.size(), alone.rank()), (1, 0) if rank % 2 else None)
    try:
        dist.split_group(split_ranks=[[0, 0]])
        raise AssertionError("a rank is there twice")
    except ValueError:
        pass
    mesh = dist.device_mesh.init_device_mesh("cpu", (2, 2),
                                             mesh_dim_names=("a", "b"))
    expect(total(mesh.get_group("a")), 2)
    expect(total(mesh["b"].get_group(), float(rank)), rank // 2 * 4 + 1)


def barriers():
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=600))
    dist.monitored_barrier(wait_all_ranks=True)
    pair = dist.new_group([0, 1])
    if rank < 2:
        dist.monitored_barrier(pair)
    dist.barrier(async_op=True).wait()


def objects():
    group = dist.new_group([1, 3])
    if rank not in (1, 3):
        return
    out = [None] * 2
    dist.all_gather_object(out, {"rank": rank}, group=group)
    expect(out, [{"rank": 1}, {"rank": 3}])
    out = [rank]
    dist.broadcast_object_list(out, 1, group=group)
    expect(out, [1])
    out = [None] * 2 if rank == 3 else None
    dist.gather_object(rank, out, dst=3, group=group)
    expect(out, [1, 3] if rank == 3 else None)
    out = [None]
    dist.scatter_object_list(out, ["a", "b"] if rank == 1 else None, src=1,
                             group=group)
    expect(out, ["ab"[rank // 2]])
    out = [{"rank": 1}]
    if rank == 1:
        dist.send_object_list(out, 3, group=group)
    else:
        out = [None]
        dist.recv_object_list(out, 1, group=group)
    expect(out, [{"rank": 1}])


def places():
    """Ranks by their number in the group."""
    group = dist.new_group([1, 2])
    if rank not in (1, 2):
        return
    x = torch.tensor([float(rank)])
    dist.broadcast(x, group_src=1, group=group)
    expect(x.item(), 2)
    x = torch.tensor([float(rank)])
    dist.reduce(x, group_dst=0, group=group)
    if rank == 1:
        expect(x.item(), 3)


def operations():
    x = torch.ones(2)
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
    expect(x.tolist(), [2, 2])
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, dist.ReduceOp.AVG)
    expect(x.item(), 1.5)
    parts = [torch.zeros(1) for _ in range(size)]
    dist.all_to_all(parts, [torch.full((1,), float(rank))] * size)
    expect([part.item() for part in parts], [0, 1, 2, 3])
    x = torch.zeros(1)
    dist.reduce_scatter(x, [torch.ones(1)] * size)
    expect(x.item(), 4)


def local_tensors():
    """What torch keeps of several ranks in one process is refused by name."""
    if importlib.util.find_spec("torch.distributed._local_tensor") is None:
        return
    from torch.distributed._local_tensor import LocalTensor
    try:
        dist.all_reduce(LocalTensor({0: torch.ones(1), 1: torch.ones(1)}))
        raise AssertionError("it went")
    except RuntimeError as error:
        assert "a LocalTensor" in str(error), error


def addresses():
    """The store may serve those who come after these ranks have died: nothing
    of how these met stays in it."""
    store = dist.distributed_c10d._world.pg_map[dist.group.WORLD][1]
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    if isinstance(store, dist.TCPStore) and hasattr(store, "list_keys"):
        dist.barrier()
        keys = [key for key in store.list_keys() if "lockstep/" in str(key)]
        expect(keys, [])


for part in (groups, barriers, objects, places, operations, local_tensors,
             addresses):
    part()
dist.destroy_process_group()
