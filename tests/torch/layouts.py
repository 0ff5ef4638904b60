"""Training steps of a small language model as torch divides it: one phase after
the other, each named on the command line. Its layers have the parameters of
tests/support/tiny_four.json."""
import contextlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

attend = nn.functional.scaled_dot_product_attention
LAYERS, HIDDEN, FFN, VOCAB, SEQ = 4, 64, 128, 256, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(HIDDEN)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.out = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.mlp_norm = nn.RMSNorm(HIDDEN)
        self.gate = nn.Linear(HIDDEN, FFN, bias=False)
        self.up = nn.Linear(HIDDEN, FFN, bias=False)
        self.down = nn.Linear(FFN, HIDDEN, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out(attend(q, k, v, is_causal=True))
        y = self.mlp_norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def shard(model, reshard=True, **options):
    """As torchtitan does: a unit a layer, the head kept."""
    fully_shard(model.embedding, reshard_after_forward=reshard, **options)
    for layer in model.layers:
        fully_shard(layer, reshard_after_forward=reshard, **options)
    ends = [model.norm, model.head]
    fully_shard(ends, reshard_after_forward=False, **options)
    fully_shard(model, **options)
    return model


def step(model, micro_batches=1, defer=False):
    for i in range(micro_batches):
        if defer:
            model.set_requires_gradient_sync(i + 1 == micro_batches)
        tokens = torch.randint(0, VOCAB, (1, SEQ))
        model(tokens).float().logsumexp(-1).mean().backward()


def fsdp(micro_batches=1, defer=False, **options):
    step(shard(Model(), **options), micro_batches, defer)


def hsdp():
    shape = (dist.get_world_size() // 2, 2)
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("copies", "shard"))
    step(shard(Model(), mesh=mesh))


def bf16():
    fsdp(mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))


def ddp(micro_batches=1):
    model = nn.parallel.DistributedDataParallel(Model())
    for i in range(micro_batches):
        last = i + 1 == micro_batches
        with contextlib.nullcontext() if last else model.no_sync():
            step(model)


PHASES = {
    "fsdp": fsdp,
    "keep": lambda: fsdp(reshard=False),
    "accumulate": lambda: fsdp(micro_batches=2),
    "defer": lambda: fsdp(micro_batches=2, defer=True),
    "bf16": bf16,
    "hsdp": hsdp,
    "ddp": lambda: ddp(micro_batches=2),
}

dist.init_process_group("gloo")
for phase in sys.argv[1:]:
    PHASES[phase]()
dist.destroy_process_group()
