"""One GPU's training step of a Llama or of OLMoE in bfloat16, with their layers
as given: grouped queries, rotated positions, SwiGLU. Each expert gets as many
tokens as any other."""

import argparse
import collections
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

Size = collections.namedtuple(
    "Size",
    "width heads few inner layers tied vocabulary experts chosen",
    defaults=(128256, 0, 0),
)
# few: heads of keys and values; inner: width of an MLP; chosen: experts a token
SIZES = {
    "1b": Size(2048, 32, 8, 8192, 16, True),
    "3b": Size(3072, 24, 8, 8192, 28, True),
    "8b": Size(4096, 32, 8, 14336, 32, False),
    "olmoe": Size(2048, 16, 16, 1024, 16, False, 50304, 64, 8),
    "tiny": Size(256, 4, 2, 512, 2, True),
}


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class MLP(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate = nn.Linear(size.width, size.inner, bias=False)
        self.up = nn.Linear(size.width, size.inner, bias=False)
        self.down = nn.Linear(size.inner, size.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def product(x, weights, ends):
    """Of the rows of each expert; autocast does not know it."""
    return torch._grouped_mm(x.bfloat16(), weights.bfloat16(), ends)


class Experts(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.router = nn.Linear(size.width, size.experts, bias=False)
        self.gate, self.up = (
            nn.Parameter(torch.empty(size.experts, size.width, size.inner))
            for _ in range(2)
        )
        self.down = nn.Parameter(
            torch.empty(size.experts, size.inner, size.width)
        )

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        number, chosen = len(x), self.size.chosen
        shares = self.router(x).float().softmax(dim=-1)
        expert = torch.arange(number * chosen, device=x.device)
        expert = expert.view(number, chosen) % self.size.experts
        weights = shares.gather(1, expert).to(x.dtype)
        order = expert.flatten().argsort(stable=True)
        ends = torch.arange(
            1, self.size.experts + 1, device=x.device, dtype=torch.int32
        ) * (number * chosen // self.size.experts)
        token = order // chosen
        y = x[token]
        y = F.silu(product(y, self.gate, ends)) * product(y, self.up, ends)
        y = product(y, self.down, ends)
        y = y * weights.flatten()[order].unsqueeze(1)
        return torch.zeros_like(x).index_add(0, token, y).view(shape)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        width = size.width
        self.head = width // size.heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, size.few * self.head, bias=False)
        self.value = nn.Linear(width, size.few * self.head, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp = Experts(size) if size.experts else MLP(size)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        y = self.norm1(x)
        q, k, v = (
            f(y).view(batch, length, -1, self.head).transpose(1, 2)
            for f in (self.query, self.key, self.value)
        )
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = q.shape[1] // k.shape[1]
        k = k.repeat_interleave(group, dim=1)
        v = v.repeat_interleave(group, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, size, layers, length, recompute):
        super().__init__()
        size = SIZES[size]
        self.recompute = recompute
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.layers = nn.ModuleList(
            Layer(size) for _ in range(layers or size.layers)
        )
        self.norm = nn.RMSNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        if size.tied:
            self.head.weight = self.tokens.weight
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)
        half = torch.arange(0, size.width // size.heads, 2).float()
        turns = 500000.0 ** (-half * size.heads / size.width)
        angles = torch.outer(torch.arange(length).float(), turns).repeat(1, 2)
        self.register_buffer("cos", angles.cos().bfloat16())
        self.register_buffer("sin", angles.sin().bfloat16())

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        for layer in self.layers:
            if self.recompute:
                x = checkpoint(
                    layer, x, self.cos, self.sin, use_reentrant=False
                )
            else:
                x = layer(x, self.cos, self.sin)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="1b")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--mixed", action="store_true",
                        help="weights in float32, autocast")  # fmt: skip
    parser.add_argument("--recompute", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(device):
        model = Llama(
            options.size, options.layers, options.length, options.recompute
        )
    if not options.mixed:
        model = model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True
    )
    if options.compile:
        model = torch.compile(model)
    vocabulary = SIZES[options.size].vocabulary
    shape = (options.accumulate, options.batch, options.length + 1)
    for step in range(options.steps):
        start = time.time()
        optimizer.zero_grad()
        for tokens in torch.randint(0, vocabulary, shape).to(device):
            x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
            with torch.autocast(
                device, dtype=torch.bfloat16, enabled=options.mixed
            ):
                loss = model(x, y)
            loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        print(
            "step %d loss %.1f: %.3f ms"
            % (step, loss.item(), 1e3 * (time.time() - start))
        )


if __name__ == "__main__":
    main()
