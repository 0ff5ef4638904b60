"""One GPU's training step of a Llama in bfloat16, with its layers as given:
grouped queries, rotated positions, SwiGLU, a vocabulary of 128,256."""

import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

# Width, heads, heads of keys and values, width of the MLP, layers, tied head.
SIZES = {
    "1b": (2048, 32, 8, 8192, 16, True),
    "8b": (4096, 32, 8, 14336, 32, False),
    "tiny": (256, 4, 2, 512, 2, True),
}


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, width, heads, few, inner):
        super().__init__()
        self.head = width // heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, few * self.head, bias=False)
        self.value = nn.Linear(width, few * self.head, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

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
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, size, layers, length, vocabulary=128256):
        super().__init__()
        width, heads, few, inner, most, tied = SIZES[size]
        self.tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            Layer(width, heads, few, inner) for _ in range(layers or most)
        )
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.head.weight = self.tokens.weight
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)
        half = torch.arange(0, width // heads, 2).float()
        turns = 500000.0 ** (-half * heads / width)
        angles = torch.outer(torch.arange(length).float(), turns).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="1b")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(device):
        model = Llama(options.size, options.layers, options.length)
    model = model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True
    )
    if options.compile:
        model = torch.compile(model)
    shape = (options.batch, options.length + 1)
    for step in range(options.steps):
        start = time.time()
        tokens = torch.randint(0, 128256, shape).to(device)
        x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        optimizer.zero_grad()
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
