"""Functional collectives, device meshes, and DTensor on them."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (
    DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor)

import checks
from checks import SIZE, equal

WORLD = list(range(SIZE))


def group():
    return dist.distributed_c10d._get_default_group()


def functional():
    rank = dist.get_rank()
    x = torch.full((2,), float(rank))
    equal(fc.all_reduce(x, "sum", WORLD) + 0, torch.full((2,), 6.0))
    equal(fc.all_reduce(x, "avg", group()) + 0, torch.full((2,), 1.5))
    equal(x, torch.full((2,), float(rank)))
    got = fc.all_gather_tensor(x, gather_dim=0, group=group())
    equal(fc.wait_tensor(got), torch.arange(4.0).repeat_interleave(2))
    got = fc.all_gather_tensor(x[None], gather_dim=1, group=WORLD)
    equal(got + 0, torch.arange(4.0).repeat_interleave(2)[None])
    got = fc.reduce_scatter_tensor(torch.arange(8.0), "sum", 0, group())
    equal(got + 0, 4 * torch.arange(8.0)[2 * rank:2 * rank + 2])
    y = torch.arange(16.0).reshape(2, 8)
    got = fc.reduce_scatter_tensor(y, "max", 1, group())
    equal(got + 0, y[:, 2 * rank:2 * rank + 2])
    equal(fc.broadcast(x, 2, group()) + 0, torch.full((2,), 2.0))


def functional_all_to_all():
    rank = dist.get_rank()
    x = torch.arange(4.0) + 10 * rank
    got = fc.all_to_all_single(x, None, None, group())
    equal(fc.wait_tensor(got), torch.arange(4.0) * 10 + rank)
    x = torch.full((10, 2), float(rank))
    got = fc.all_to_all_single(x, [rank + 1] * SIZE, [1, 2, 3, 4], group())
    equal(got[:, 0] + 0, torch.arange(4.0).repeat_interleave(rank + 1))
    x = torch.ones(4, requires_grad=True)
    got = fc.all_to_all_single_autograd(x, None, None, group())
    (got * (rank + 1)).sum().backward()
    equal(x.grad, torch.arange(1.0, 5.0))


def functional_coalesced():
    rank = dist.get_rank()
    xs = [torch.full((n + 1,), float(rank)) for n in range(3)]
    for n, got in enumerate(fc.all_reduce_coalesced(xs, "sum", group())):
        equal(got + 0, torch.full((n + 1,), 6.0))
    for n, got in enumerate(
            fc.all_gather_into_tensor_coalesced(xs, group())):
        equal(got + 0, torch.arange(4.0).repeat_interleave(n + 1))
    xs = [torch.ones(SIZE * (n + 1)) for n in range(3)]
    for n, got in enumerate(fc.reduce_scatter_tensor_coalesced(
            xs, "sum", [0, 0, 0], group())):
        equal(got + 0, torch.full((n + 1,), 4.0))


def functional_autograd():
    rank = dist.get_rank()
    x = torch.ones(2, requires_grad=True)
    got = fc.all_gather_tensor_autograd(x, 0, group())
    (got * torch.arange(8.0)).sum().backward()
    equal(x.grad, SIZE * torch.arange(8.0)[2 * rank:2 * rank + 2])
    x = torch.ones(4, requires_grad=True)
    fc.reduce_scatter_tensor_autograd(x, "sum", 0, group()).sum().backward()
    equal(x.grad, torch.ones(4))


def functional_never_waited_for():
    """The tensor goes away with its work not waited for."""
    for _ in range(20):
        fc.all_reduce(torch.ones(100), "sum", group())
    dist.barrier()
    x = fc.all_reduce(torch.ones(1), "sum", group())
    equal(fc.all_reduce(x, "sum", group()) + 0, torch.tensor([16.0]))


def native_ops():
    """What compiled programs call."""
    name = group().group_name
    ops = torch.ops._c10d_functional
    x = torch.ones(4)
    equal(ops.wait_tensor(ops.all_reduce(x, "sum", name)),
          torch.full((4,), 4.0))
    equal(x, torch.ones(4))
    ops.wait_tensor(ops.all_reduce_(x, "sum", name))
    equal(x, torch.full((4,), 4.0))
    y = ops.wait_tensor(ops.all_gather_into_tensor(x, SIZE, name))
    equal(y, torch.full((16,), 4.0))
    y = ops.wait_tensor(ops.reduce_scatter_tensor(y, "avg", SIZE, name))
    equal(y, torch.full((4,), 4.0))
    ops.wait_tensor(ops.broadcast_(x, 1, name))
    ys = ops.all_reduce_coalesced([x, torch.ones(2)], "sum", name)
    equal(ops.wait_tensor(ys[1]), torch.full((2,), 4.0))
    ops.wait_tensor(ys[0])


def nn_functional():
    import torch.distributed.nn.functional as nnf
    rank = dist.get_rank()
    x = torch.ones(2, requires_grad=True)
    y = nnf.all_reduce(x * (rank + 1))
    equal(y, torch.full((2,), 10.0))
    y.sum().backward()
    equal(x.grad, torch.full((2,), 4.0 * (rank + 1)))
    x = torch.full((2,), float(rank), requires_grad=True)
    sum(nnf.all_gather(x)).sum().backward()
    equal(x.grad, torch.full((2,), 4.0))


def mesh_1d():
    mesh = init_device_mesh("cpu", (SIZE,))
    assert mesh.size() == SIZE and mesh.get_local_rank() == dist.get_rank()
    x = torch.ones(1)
    dist.all_reduce(x, group=mesh.get_group())
    equal(x, torch.tensor([4.0]))
    half = DeviceMesh("cpu", [0, 2])
    if dist.get_rank() in (0, 2):
        x = torch.ones(1)
        dist.all_reduce(x, group=half.get_group())
        equal(x, torch.tensor([2.0]))
    else:
        assert half.get_coordinate() is None
    assert DeviceMesh.from_group(group(), "cpu").size() == SIZE


def mesh_2d():
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    assert list(mesh.get_coordinate()) == [rank // 2, rank % 2]
    for dim, want in (("dp", [2.0, 4.0, 2.0, 4.0]), ("tp", [1.0, 1.0, 5, 5])):
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=mesh.get_group(dim))
        assert x.item() == want[rank], (dim, x)
        equal(mesh[dim].get_local_rank(), rank // 2 if dim == "dp"
              else rank % 2)
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=mesh[dim].get_group())
        assert x.item() == want[rank]
    flat = mesh[("dp", "tp")]._flatten("world")
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=flat.get_group())
    equal(x, torch.tensor([6.0]))
    assert mesh["world"].size() == SIZE
    assert len(mesh.get_all_groups()) == 2
    every = fc.all_gather_tensor(torch.tensor([rank]), 0, (mesh, 1))
    assert every.tolist() == [rank // 2 * 2, rank // 2 * 2 + 1]


def redistribute():
    mesh = init_device_mesh("cpu", (SIZE,))
    full = torch.arange(40.0).reshape(8, 5)
    places = [Replicate(), Shard(0), Shard(1)]
    for a in places:
        for b in places:
            x = distribute_tensor(full, mesh, [a])
            y = x.redistribute(mesh, [b])
            assert y.placements == (b,)
            equal(y.full_tensor(), full)
    for b in places:
        x = DTensor.from_local(full / SIZE, mesh, [Partial()])
        equal(x.redistribute(mesh, [b]).full_tensor(), full)
    x = DTensor.from_local(full * (dist.get_rank() + 1), mesh,
                           [Partial("max")])
    equal(x.full_tensor(), full * SIZE)


def redistribute_2d():
    mesh = init_device_mesh("cpu", (2, 2))
    full = torch.arange(42.0).reshape(7, 6)
    places = [[Shard(0), Shard(1)], [Replicate(), Shard(0)],
              [Shard(0), Shard(0)], [Replicate(), Replicate()]]
    for a in places:
        for b in places:
            x = distribute_tensor(full, mesh, a)
            equal(x.redistribute(mesh, b).full_tensor(), full)


def dtensor_ops():
    mesh = init_device_mesh("cpu", (SIZE,))
    torch.manual_seed(0)
    a, b = torch.randn(8, 12), torch.randn(12, 4)
    for pa in (Shard(0), Shard(1), Replicate()):
        for pb in (Shard(0), Shard(1), Replicate()):
            x = distribute_tensor(a, mesh, [pa])
            y = distribute_tensor(b, mesh, [pb])
            equal((x @ y).full_tensor(), a @ b)
    x = distribute_tensor(a, mesh, [Shard(0)])
    for op in (torch.sum, torch.mean, torch.max, torch.std,
               lambda t: t.softmax(-1), lambda t: t.softmax(0),
               lambda t: t.sum(0), lambda t: torch.nn.functional.layer_norm(
                   t, (12,)), lambda t: torch.cat([t, t], 1),
               lambda t: t.reshape(4, 24), lambda t: t.norm()):
        got = op(x)
        equal(got.full_tensor(), op(a))
    x = distribute_tensor(a, mesh, [Shard(1)])
    x.requires_grad_()
    (x * x).sum().backward()
    equal(x.grad.full_tensor(), 2 * a)
    z = torch.distributed.tensor.zeros(9, 3, device_mesh=mesh,
                                       placements=[Shard(0)])
    assert z.full_tensor().shape == (9, 3)


class MLP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def tensor_parallel():
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, SequenceParallel,
        parallelize_module)
    mesh = init_device_mesh("cpu", (SIZE,))
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(1))
    one, many = MLP(), MLP()
    parallelize_module(many, mesh, {"up": ColwiseParallel(),
                                    "down": RowwiseParallel()})
    for model in one, many:
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
    for p, q in zip(one.parameters(), many.parameters()):
        equal(q.full_tensor(), p)
    one, many = (torch.nn.Sequential(torch.nn.LayerNorm(8), MLP())
                 for _ in range(2))
    parallelize_module(many, mesh, {
        "0": SequenceParallel(sequence_dim=0),
        "1.up": ColwiseParallel(input_layouts=Shard(0)),
        "1.down": RowwiseParallel(output_layouts=Shard(0))})
    got = many(x.chunk(SIZE)[dist.get_rank()])
    equal(fc.all_gather_tensor(got.contiguous(), 0, group()) + 0, one(x))


def split_module():
    mesh = init_device_mesh("cpu", (SIZE,))

    def shard(name, module, mesh):
        for key, p in module.named_parameters(recurse=False):
            module.register_parameter(key, torch.nn.Parameter(
                distribute_tensor(p.data, mesh, [Shard(0)])))

    one = MLP()
    many = distribute_module(MLP(), mesh, shard, input_fn=lambda m, i, mesh: (
        distribute_tensor(i[0], mesh, [Replicate()]),), output_fn=lambda m, o,
        mesh: o.full_tensor())
    x = torch.ones(4, 8)
    equal(many(x), one(x))


def loss_parallel():
    from torch.distributed.tensor.parallel import loss_parallel as parallel
    mesh = init_device_mesh("cpu", (SIZE,))
    torch.manual_seed(0)
    logits = torch.randn(6, 16)
    labels = torch.randint(0, 16, (6,))
    whole = logits.clone().requires_grad_()
    torch.nn.functional.cross_entropy(whole, labels).backward()
    x = distribute_tensor(logits, mesh, [Shard(1)]).requires_grad_()
    with parallel():
        loss = torch.nn.functional.cross_entropy(
            x, distribute_tensor(labels, mesh, [Replicate()]))
        loss.backward()
    equal(x.grad.full_tensor(), whole.grad)


if __name__ == "__main__":
    checks.main([
        functional, functional_all_to_all, functional_coalesced,
        functional_autograd, functional_never_waited_for, native_ops,
        nn_functional, mesh_1d, mesh_2d, redistribute, redistribute_2d,
        dtensor_ops, tensor_parallel, split_module, loss_parallel])
