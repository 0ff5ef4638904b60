"""What training scripts do on GPUs beside layers and losses: each part asserts
what a GPU would give, or what is known of it. Two ranks under roofline."""

import io
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoints
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

here = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(here)
dist.init_process_group("nccl", device_id=torch.device("cuda", here))
rank = dist.get_rank()
dist.barrier(dist.new_group([0, 1]))


def milliseconds(function):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


# A model made on the host, sharded before anything lies on a GPU.
model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 256))
mesh = init_device_mesh("cuda", (2,))
assert next(model.parameters()).device.type == "cpu"
for layer in [*model, model]:
    fully_shard(layer, mesh=mesh)
model(torch.ones(4, 256, device="cuda")).sum().backward()
# What it shards moves to the GPU with its buffers, as do its inputs.
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
fully_shard(model, mesh=mesh)
model(torch.ones(4, 4)).sum().backward()
assert all(buffer.is_cuda for buffer in model.buffers())

# Inputs of different numbers: small tensors have values that decide.
model = DistributedDataParallel(nn.Linear(1024, 1024).to(here), [here])
steps = 0
with model.join():
    for x in [torch.ones(8, 1024)] * (2 + rank):
        model(x.to(here)).sum().backward()
        steps += 1
assert steps == 2 + rank
count = torch.tensor([steps], device=here)
dist.all_reduce(count)
assert count.item() == 5 and (count == 5).nonzero().tolist() == [[0]]
# One operand that is known may decide, as the length does of a generation.
unknown = torch.randn(2048, device="cuda")[:4] > 0
ends = torch.zeros(4, dtype=torch.bool, device="cuda") | unknown
length = torch.full((4,), True, device="cuda")
assert not ends.all() and (ends | length).all()
assert (torch.ones(4, dtype=torch.long, device="cuda")
        & ~(ends | length)).max() == 0

# Experts: tokens are spread evenly, and splits exchanged.
tokens = torch.randn(1024, 2, device="cuda")
splits = torch.bincount(tokens.argmax(1), minlength=2)
others = torch.empty_like(splits)
dist.all_to_all_single(others, splits)
assert splits.tolist() == others.cpu().tolist() == [512, 512]
dist.all_to_all_single(tokens.clone(), tokens, others.tolist(), splits.tolist())

# A DTensor's product takes what that of plain tensors does.
plain = torch.randn(4096, 4096, device="cuda")
spread = distribute_tensor(plain, mesh, [Replicate()])
nn.init.uniform_(spread)
spread @ spread
took = [milliseconds(lambda x=x: x @ x) for x in (plain, spread)]
assert 1 < took[0] <= took[1] < 1.02 * took[0], took

# What is computed again in a backward pass has the types of the first time.
layer = nn.Sequential(nn.Linear(512, 512), nn.LayerNorm(512)).cuda()
x = torch.randn(64, 512, device="cuda", requires_grad=True)
with torch.autocast("cuda", torch.bfloat16):
    y = checkpoint(layer, x, use_reentrant=False)
y.sum().backward()

# Operations that PyTorch has for GPUs alone.
norm = nn.SyncBatchNorm(8).cuda()
norm(torch.randn(16, 8, 32, 32, device="cuda")).sum().backward()
assert norm.weight.grad.shape == (8,)

# A graph's kernels run when it is replayed.
graph, out = torch.cuda.CUDAGraph(), None
with torch.cuda.graph(graph):
    captured = milliseconds(lambda: plain @ plain)
assert captured == 0
replayed = milliseconds(graph.replay)
assert abs(replayed - took[0]) < 0.1, (replayed, took)

generator = torch.Generator("cuda").manual_seed(1)
torch.randn(4, device="cuda", generator=generator)
assert torch.accelerator.current_accelerator().type == "cuda"
x.record_stream(torch.cuda.current_stream())

# A checkpoint has shapes, and the values that are known; it lies where
# map_location says. Objects that hold tensors are sent as in any group.
layer = nn.Linear(1024, 1024).cuda()
state = {"model": layer.state_dict(), "steps": torch.tensor([7]).cuda(),
         "layer": layer.weight}  # fmt: skip
file = io.BytesIO()
torch.save(state, file)
assert file.tell() < 1 << 16
for place, lies in (None, "cuda"), ("cpu", "cpu"), ({"cuda:0": "cpu"}, "cpu"):
    if isinstance(place, dict) and here:
        continue
    file.seek(0)
    loaded = torch.load(file, map_location=place, weights_only=True)
    assert loaded["model"]["weight"].device.type == lies, (place, lies)
    assert loaded["model"]["weight"].shape == (1024, 1024)
    assert isinstance(loaded["layer"], nn.Parameter)
    assert loaded["steps"].tolist() == [7]
assert layer.load_state_dict(loaded["model"])
sent = [state["model"] if rank == 0 else None]
dist.broadcast_object_list(sent, 0)
assert sent[0]["bias"].is_cuda
folder = os.path.join(os.environ["FOLDER"], "checkpoint")
checkpoints.save({"model": model.state_dict()}, checkpoint_id=folder)
checkpoints.load({"model": model.state_dict()}, checkpoint_id=folder)
# Storages are told apart by their addresses; a state of random numbers that was
# sent over GPUs is the host's again.
addresses = {t.untyped_storage().data_ptr()
             for t in layer.state_dict().values()}
assert len(addresses) == 2
state = torch.get_rng_state().cuda()
dist.broadcast(state, 0)
torch.set_rng_state(state.cpu())

if rank == 0:
    print("done")
dist.barrier()
torch.unique(x)
