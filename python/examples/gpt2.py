"""GPT-2, trained by data, sharded-data or tensor parallelism.

    torchrun --nproc-per-node 2 gpt2.py --size tiny --parallel ddp

The tokens are made up and the same in every run, so that losses of two runs
can be held against each other. fsdp2 and tp need PyTorch 2.6 or newer.
"""
import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


@dataclass
class Config:
    layers: int
    heads: int
    width: int
    vocabulary: int = 50257
    context: int = 1024


SIZES = {
    "tiny": Config(2, 4, 64, vocabulary=256, context=64),
    "124M": Config(12, 12, 768),
    "350M": Config(24, 16, 1024),
    "774M": Config(36, 20, 1280),
    "1558M": Config(48, 25, 1600),
}


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.head = c.width // c.heads
        self.query = nn.Linear(c.width, c.width)
        self.key = nn.Linear(c.width, c.width)
        self.value = nn.Linear(c.width, c.width)
        self.out = nn.Linear(c.width, c.width)

    def forward(self, x):
        batch, length, _ = x.shape

        def heads(y):  # under tensor parallelism a rank has some of them
            return y.view(batch, length, -1, self.head).transpose(1, 2)

        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mask = torch.ones(length, length, device=x.device).tril() == 0
            scores = q @ k.transpose(-2, -1) / self.head ** 0.5
            y = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up = nn.Linear(c.width, 4 * c.width)
        self.down = nn.Linear(4 * c.width, c.width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1 = nn.LayerNorm(c.width)
        self.attention = Attention(c)
        self.norm2 = nn.LayerNorm(c.width)
        self.mlp = MLP(c)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tokens = nn.Embedding(c.vocabulary, c.width)
        self.positions = nn.Embedding(c.context, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, c.vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, tokens, targets):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def shard(model, device):
    """FSDP2: each block's parameters are gathered when it runs."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def split(model, device):
    """Tensor parallelism: heads and the wide layer are split by rank."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, parallelize_module)

    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "attention.query": ColwiseParallel(),
            "attention.key": ColwiseParallel(),
            "attention.value": ColwiseParallel(),
            "attention.out": RowwiseParallel(),
            "mlp.up": ColwiseParallel(),
            "mlp.down": RowwiseParallel(),
        })
    return model


def batches(args, config, rank, device):
    """Token n + 1 follows from token n, with some noise; by rank and step."""
    generator = torch.Generator().manual_seed(1 + rank)
    while True:
        shape = (args.batch, args.length + 1)
        noise = torch.randint(0, 7, shape, generator=generator)
        tokens = (noise.cumsum(1) * 3) % config.vocabulary
        yield tokens[:, :-1].to(device), tokens[:, 1:].to(device)


def train(args, device):
    rank = dist.get_rank()
    config = SIZES[args.size]
    args.length = args.length or config.context
    torch.manual_seed(0)
    model = GPT(config).to(device)
    parameters = sum(p.numel() for p in model.parameters())
    if args.parallel == "ddp":
        model = DistributedDataParallel(model)
    elif args.parallel == "fsdp2":
        model = shard(model, device)
    else:
        model = split(model, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3,
                                  weight_decay=0.1)
    if rank == 0:
        print(f"{parameters / 1e6:.2f} M parameters, {args.parallel} over "
              f"{dist.get_world_size()} ranks", flush=True)

    # Ranks that share one model's work see the same tokens.
    share = 0 if args.parallel == "tp" else rank
    data = batches(args, config, share, device)
    for step in range(args.steps):
        tokens, targets = next(data)
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16,
                            enabled=args.dtype == "bfloat16"):
            loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step}: loss {mean / dist.get_world_size():.5f}",
                  flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parallel", choices=("ddp", "fsdp2", "tp"),
                        default="ddp")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=4, help="a rank")
    parser.add_argument("--length", type=int, default=0,
                        help="tokens of a sequence; default: the context")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"),
                        default="float32", help="of forward and backward")
    parser.add_argument("--backend", help="default: nccl with GPUs, else gloo")
    args = parser.parse_args()
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    device = torch.device("cuda" if gpu else "cpu")
    torch.set_num_threads(1)
    dist.init_process_group(args.backend or ("nccl" if gpu else "gloo"))
    train(args, device)  # the model goes before its group
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
