"""What trains: DDP with its hooks and join, FSDP, pipelines, ZeRO, checkpoints.

Each is held against the same training on one rank.
"""
import copy
import inspect
import os
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

import checks
from checks import SIZE, equal

CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def network(width=8):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 32),
                         nn.ReLU(), nn.Linear(32, width))


def batch(step, width=8):
    """All ranks' inputs of a step; a rank takes its share of rows."""
    generator = torch.Generator().manual_seed(step)
    return torch.randn(4 * SIZE, width, generator=generator)


def mine(x):
    return x.chunk(SIZE)[dist.get_rank()]


def alone(steps=4, make=torch.optim.SGD, **options):
    """The parameters after training on one rank."""
    model = network()
    optimizer = make(model.parameters(), **(options or {"lr": 0.1}))
    for step in range(steps):
        optimizer.zero_grad()
        model(batch(step)).square().mean().backward()
        optimizer.step()
    return list(model.parameters())


def train(model, steps=4, make=torch.optim.SGD, **options):
    optimizer = make(model.parameters(), **(options or {"lr": 0.1}))
    for step in range(steps):
        optimizer.zero_grad()
        model(mine(batch(step))).square().mean().backward()
        optimizer.step()
    return optimizer


def ddp():
    model = DistributedDataParallel(network(), bucket_cap_mb=0.001)
    train(model)
    for p, q in zip(alone(), model.parameters()):
        equal(p, q, **CLOSE)


def ddp_variants():
    for options in ({"static_graph": True},
                    {"gradient_as_bucket_view": True},
                    {"find_unused_parameters": True},
                    {"broadcast_buffers": False}):
        model = DistributedDataParallel(network(), bucket_cap_mb=0.002,
                                        **options)
        train(model)
        for p, q in zip(alone(), model.parameters()):
            equal(p, q, **CLOSE)


class Sometimes(nn.Module):
    """Uses its second branch on odd ranks alone."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.c = nn.Linear(4, 4)

    def forward(self, x):
        x = self.a(x)
        return self.b(x) if dist.get_rank() % 2 else x


def ddp_unused():
    model = DistributedDataParallel(Sometimes(), find_unused_parameters=True)
    model(torch.ones(2, 4)).sum().backward()
    assert model.module.c.weight.grad is None
    grads = [torch.empty(4, 4) for _ in range(SIZE)]
    dist.all_gather(grads, model.module.b.weight.grad)
    for grad in grads:
        equal(grad, grads[0])


def ddp_no_sync():
    model = DistributedDataParallel(network())
    with model.no_sync():
        model(mine(batch(0))).sum().backward()
    model(mine(batch(1))).sum().backward()
    one = network()
    for step in range(2):
        one(batch(step)).sum().backward()
    for p, q in zip(one.parameters(), model.parameters()):
        equal(p.grad / SIZE, q.grad, **CLOSE)


def ddp_buffers():
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.linear = nn.BatchNorm1d(8), nn.Linear(8, 8)

        def forward(self, x):
            return self.linear(self.norm(x))

    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(Normed())
    for step in range(3):
        model(mine(batch(step))).sum().backward()
    model(mine(batch(3)))
    means = [torch.empty(8) for _ in range(SIZE)]
    model.eval()
    model(mine(batch(4)))
    dist.all_gather(means, model.module.linear.weight.grad[0].contiguous())
    for mean in means:
        equal(mean, means[0])
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(Normed())
    assert isinstance(synced.norm, nn.SyncBatchNorm)


def ddp_hooks():
    from torch.distributed.algorithms.ddp_comm_hooks import (
        default_hooks, powerSGD_hook)
    for hook, state, close in (
            (default_hooks.allreduce_hook, None, CLOSE),
            (default_hooks.fp16_compress_hook, None, {"rtol": .02,
                                                      "atol": 1e-3})):
        model = DistributedDataParallel(network(), bucket_cap_mb=0.002)
        model.register_comm_hook(state, hook)
        train(model)
        for p, q in zip(alone(), model.parameters()):
            equal(p, q, **close)
    model = DistributedDataParallel(network())
    model.register_comm_hook(powerSGD_hook.PowerSGDState(
        None, matrix_approximation_rank=1, start_powerSGD_iter=2),
        powerSGD_hook.powerSGD_hook)
    train(model)
    weights = [torch.empty(32, 8) for _ in range(SIZE)]
    dist.all_gather(weights, model.module[0].weight.detach())
    for w in weights:
        equal(w, weights[0], rtol=1e-3, atol=1e-5)


def ddp_logging():
    """Torch's own times of a step are there after every step."""
    model = DistributedDataParallel(network(), bucket_cap_mb=0.002)
    for step in range(1, 5):
        train(model, 1)
        said = model._get_ddp_logging_data()
        assert step == 1 or said["forward_compute_time"] > 0, (step, said)
        assert said["backend_name"] == dist.get_backend(), said
        assert said["gloo_socket_ifname"] == "N/A", said


def ddp_own_hook():
    seen = []

    def hook(state, bucket):
        seen.append((bucket.index(), len(bucket.parameters())))
        x = bucket.buffer() / SIZE
        future = dist.all_reduce(x, async_op=True).get_future()
        return future.then(lambda f: f.value()[0])

    model = DistributedDataParallel(network(), bucket_cap_mb=0.002)
    model.register_comm_hook(None, hook)
    train(model)
    for p, q in zip(alone(), model.parameters()):
        equal(p, q, **CLOSE)
    assert sum(n for _, n in seen) == 4 * 6, seen


def ddp_beside_another():
    """Rank 0 makes a call of its own where the others' backward makes one: an
    error on every rank, in the words of torch, and no crash."""
    model = DistributedDataParallel(network())
    model(mine(batch(0))).sum().backward()
    try:
        if dist.get_rank() == 0:
            dist.all_reduce(torch.ones(1), op=dist.ReduceOp.MAX)
        else:
            model(mine(batch(1))).sum().backward()
    except RuntimeError as error:  # or that who saw it first has gone
        assert "disagree" in str(error) or "lost" in str(error), error
    else:
        raise AssertionError("nothing was raised")
    os._exit(0)  # the group has failed


def join():
    from torch.distributed.algorithms.join import Join
    model = DistributedDataParallel(network())
    with model.join():
        for step in range(2 + dist.get_rank()):
            model(mine(batch(step))).sum().backward()
    model = DistributedDataParallel(network())
    with Join([model]):
        for step in range(1 + dist.get_rank() % 2):
            model(mine(batch(step))).sum().backward()


def averagers():
    from torch.distributed.algorithms.model_averaging import averagers as av
    model = network()
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(dist.get_rank())
            p.grad = torch.ones_like(p)  # those without are left out
    av.PeriodicModelAverager(period=1).average_parameters(model.parameters())
    for p in model.parameters():
        equal(p, torch.full_like(p, 1.5))


def zero():
    from torch.distributed.optim import ZeroRedundancyOptimizer
    for options in ({}, {"parameters_as_bucket_view": True}):
        model = DistributedDataParallel(network())
        optimizer = ZeroRedundancyOptimizer(
            model.parameters(), torch.optim.Adam, lr=0.01, **options)
        for step in range(4):
            optimizer.zero_grad()
            model(mine(batch(step))).square().mean().backward()
            optimizer.step()
        for p, q in zip(alone(make=torch.optim.Adam, lr=0.01),
                        model.parameters()):
            equal(p, q, rtol=1e-3, atol=1e-5)
        optimizer.consolidate_state_dict(to=0)
        if dist.get_rank() == 0:
            assert len(optimizer.state_dict()["state"]) == 6


def fsdp1():
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
    from torch.distributed.fsdp import ShardingStrategy as Strategy
    for strategy in (Strategy.FULL_SHARD, Strategy.SHARD_GRAD_OP,
                     Strategy.NO_SHARD):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = FSDP(network(), sharding_strategy=strategy,
                         device_id=torch.device("cpu"), use_orig_params=True)
            train(model)
            with FSDP.summon_full_params(model):
                for p, q in zip(alone(), model.parameters()):
                    equal(p, q, **CLOSE)


def sharded(model=None, **options):
    from torch.distributed.fsdp import fully_shard
    model = model or network()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, **options)
    return fully_shard(model, **options)


def fsdp2():
    for options in ({}, {"reshard_after_forward": False},
                    {"mesh": init_device_mesh("cpu", (2, 2), mesh_dim_names=(
                        "replicate", "shard"))}):
        model = sharded(**options)
        train(model, make=torch.optim.AdamW, lr=0.01)
        for p, q in zip(alone(make=torch.optim.AdamW, lr=0.01),
                        model.parameters()):
            equal(p, q.full_tensor(), rtol=1e-3, atol=1e-5)


def fsdp2_mixed():
    from torch.distributed.fsdp import MixedPrecisionPolicy
    model = sharded(mp_policy=MixedPrecisionPolicy(
        param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    train(model)
    for p, q in zip(alone(), model.parameters()):
        equal(p, q.full_tensor(), rtol=0.1, atol=0.01)


def fsdp2_clip_and_accumulate():
    model = sharded()
    one = network()
    for step in range(2):
        model.set_requires_gradient_sync(step == 1)
        model(mine(batch(step))).sum().backward()
        one(batch(step)).sum().backward()
    for p in one.parameters():
        p.grad /= SIZE
    want = nn.utils.clip_grad_norm_(one.parameters(), 0.5)
    got = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    equal(got.full_tensor(), want, **CLOSE)
    for p, q in zip(one.parameters(), model.parameters()):
        equal(q.grad.full_tensor(), p.grad, **CLOSE)


def fsdp2_with_tp():
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module)
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    model = network()
    parallelize_module(model, mesh["tp"], {"0": ColwiseParallel(),
                                           "2": RowwiseParallel()})
    fully_shard(model, mesh=mesh["dp"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        part = batch(step).chunk(2)[mesh["dp"].get_local_rank()]
        model(part).square().mean().backward()
        optimizer.step()
    for p, q in zip(alone(), model.parameters()):
        equal(q.full_tensor(), p, **CLOSE)


def comm_debug_mode():
    """torch's CommDebugMode counts the calls that it counts over gloo."""
    from torch.distributed.tensor.debug import CommDebugMode
    operators = torch.ops.c10d
    model = sharded()
    with CommDebugMode() as forward:
        loss = model(batch(0)).sum()
    count = forward.get_comm_counts()
    gathers = count[operators._allgather_base_]
    assert gathers and len(count) == 1, count
    with CommDebugMode() as backward:
        loss.backward()
    assert backward.get_comm_counts()[operators._reduce_scatter_base_] == \
        gathers, backward.get_comm_counts()
    with CommDebugMode() as direct:
        dist.all_reduce(torch.ones(1))
        dist.barrier()
        dist.all_gather_object([None] * SIZE, 1)
        dist._functional_collectives.all_reduce(
            torch.ones(1), "sum", dist.group.WORLD).sum()
    assert direct.get_total_counts() == 4, direct.get_comm_counts()


def folder():
    """A folder that all ranks know."""
    where = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(where, 0)
    return where[0]


def checkpoint():
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import (
        StateDictOptions, get_model_state_dict, get_state_dict,
        set_state_dict)
    where = folder()
    model = sharded()
    optimizer = train(model, make=torch.optim.AdamW, lr=0.01)
    weights, state = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": state}, checkpoint_id=where)
    want = [p.full_tensor().clone() for p in model.parameters()]

    again = sharded(network().requires_grad_())
    optimizer = torch.optim.AdamW(again.parameters(), lr=0.01)
    weights, state = get_state_dict(again, optimizer)
    dcp.load({"model": weights, "optimizer": state}, checkpoint_id=where)
    set_state_dict(again, optimizer, model_state_dict=weights,
                   optim_state_dict=state)
    for p, q in zip(want, again.parameters()):
        equal(q.full_tensor(), p)
    whole = get_model_state_dict(again, options=StateDictOptions(
        full_state_dict=True, cpu_offload=True))
    if dist.get_rank() == 0:
        equal(whole["0.weight"], want[0])
    dist.barrier()
    # Read by another layout: two ranks, whole tensors.
    plain = {"model": copy.deepcopy(network().state_dict())}
    dcp.load(plain, checkpoint_id=where)
    equal(plain["model"]["0.weight"], want[0])


def checkpoint_async():
    import torch.distributed.checkpoint as dcp
    where = folder()
    state = {"x": torch.full((4,), float(dist.get_rank()))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.async_save({"x": state["x"] * 0 + 7}, checkpoint_id=where
                       ).result()
    dist.barrier()
    dcp.load(state, checkpoint_id=where)
    equal(state["x"], torch.full((4,), 7.0))
    assert os.listdir(where)


def stages(mb, cls_name, count=1):
    from torch.distributed.pipelining import PipelineStage
    torch.manual_seed(5)
    layers = [nn.Linear(8, 8) for _ in range(SIZE * count)]
    whole = nn.Sequential(*copy.deepcopy(layers))
    rank = dist.get_rank()
    return whole, [
        PipelineStage(layers[rank + n * SIZE], rank + n * SIZE, SIZE * count,
                      torch.device("cpu")) for n in range(count)]


def pipeline(name, count=1):
    from torch.distributed import pipelining
    whole, parts = stages(8, name, count)
    kind = getattr(pipelining, name)
    # Of the micro-batches; torch 2.6 leaves their gradients as they add up.
    means = "scale_grads" in inspect.signature(kind).parameters

    def loss(output, target):
        return (output - target).square().mean()

    schedule = kind(parts if count > 1 else parts[0], 8, loss_fn=loss)
    x, target = batch(1), batch(2)
    rank = dist.get_rank()
    losses = []
    for _ in range(2):
        for part in parts:
            part.submod.zero_grad()
        if rank == 0:
            schedule.step(x, **({"target": target, "losses": losses}
                                if SIZE == 1 else {}))
        elif rank == SIZE - 1:
            got = schedule.step(target=target, losses=losses)
            equal(got, whole(x), **CLOSE)
        else:
            schedule.step()
    value = loss(whole(x), target)
    value.backward()
    if rank == SIZE - 1:
        equal(torch.stack(losses[:8]).mean(), value, **CLOSE)
    for n, part in enumerate(parts):
        for p, q in zip(whole[rank + n * SIZE].parameters(),
                        part.submod.parameters()):
            equal(q.grad, p.grad if means else 8 * p.grad, **CLOSE)


def pipeline_gpipe():
    pipeline("ScheduleGPipe")


def pipeline_1f1b():
    pipeline("Schedule1F1B")


def pipeline_interleaved():
    pipeline("ScheduleInterleaved1F1B", 2)


def pipeline_zero_bubble():
    pipeline("ScheduleInterleavedZeroBubble", 2)


def data_loader():
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler
    data = TensorDataset(torch.arange(17))
    sampler = DistributedSampler(data, shuffle=True)
    seen = torch.cat([x for x, in DataLoader(data, 2, sampler=sampler)])
    out = [torch.empty_like(seen) for _ in range(SIZE)]
    dist.all_gather(out, seen)
    assert set(torch.cat(out).tolist()) == set(range(17))


def compiled_collectives():
    """A graph with collectives in it, run by the eager back end."""
    import torch.distributed._functional_collectives as fc

    def step(x):
        return fc.all_reduce(x * 2, "sum",
                             dist.distributed_c10d._get_default_group()) + 1

    got = torch.compile(step, backend="eager", fullgraph=True)(torch.ones(3))
    equal(got + 0, torch.full((3,), 9.0))


def compiled_ddp():
    """While compiled code runs, C++ calls the group's methods: DDP has its
    first bucket rebuilt, and buffers broadcast."""
    model = network()
    model.append(nn.BatchNorm1d(8))
    model = DistributedDataParallel(model)
    compiled = torch.compile(model, backend="eager")
    for step in range(3):
        compiled(batch(step).chunk(SIZE)[dist.get_rank()]).sum().backward()
    for p in model.parameters():
        out = [torch.empty_like(p.grad) for _ in range(SIZE)]
        dist.all_gather(out, p.grad)
        equal(out[0], out[1])


ddp_beside_another.beyond_gloo = True

if __name__ == "__main__":
    checks.main([
        ddp, ddp_variants, ddp_unused, ddp_no_sync, ddp_buffers, ddp_hooks,
        ddp_logging, ddp_own_hook, ddp_beside_another, join, averagers, zero,
        fsdp1, fsdp2, fsdp2_mixed, fsdp2_clip_and_accumulate, fsdp2_with_tp,
        comm_debug_mode, checkpoint, checkpoint_async, pipeline_gpipe,
        pipeline_1f1b, pipeline_interleaved, pipeline_zero_bubble, data_loader,
        compiled_collectives, compiled_ddp])
