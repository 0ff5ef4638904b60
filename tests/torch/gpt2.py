"""One GPU's training step of GPT-2, as scripts for a GPU write it: attention by
hand or fused, float32, tf32 or bfloat16, compiled or not."""

import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, length, flash):
        super().__init__()
        self.heads, self.flash = heads, flash
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        if not flash:
            below = torch.tril(torch.ones(length, length))
            self.register_buffer("below", below.view(1, 1, length, length))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, self.heads, -1).transpose(1, 2)
            for t in self.qkv(x).split(width, dim=2)
        )
        if self.flash:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
            hidden = self.below[:, :, :length, :length] == 0
            att = att.masked_fill(hidden, float("-inf"))
            y = F.softmax(att, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(batch, length, width)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, width, heads, length, flash):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, length, flash)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * width, width),
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    def __init__(self, vocabulary, flash, length=1024, width=768, heads=12,
                 layers=12):  # fmt: skip
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(length, width)
        self.h = nn.ModuleList(
            Block(width, heads, length, flash) for _ in range(layers)
        )
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens, targets):
        at = torch.arange(tokens.size(1), device=tokens.device)
        x = self.wte(tokens) + self.wpe(at)
        for block in self.h:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return F.cross_entropy(
            logits.view(-1, logits.size(-1)), targets.view(-1)
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--precision", default="bf16",
                        choices=("fp32", "tf32", "bf16"))  # fmt: skip
    parser.add_argument("--flash", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--fused", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    exact = options.precision == "fp32"
    torch.set_float32_matmul_precision("highest" if exact else "high")
    model = GPT2(options.vocabulary, options.flash).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=3e-4, betas=(0.9, 0.95),
        fused=options.fused or None,
    )  # fmt: skip
    if options.compile:
        model = torch.compile(model)
    shape = (options.batch, options.length + 1)
    for step in range(options.steps):
        start = time.perf_counter()
        tokens = torch.randint(0, 50257, shape).to(device)
        x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        optimizer.zero_grad()
        with torch.autocast(
            device, dtype=torch.bfloat16, enabled=options.precision == "bf16"
        ):
            loss = model(x, y)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        print(
            "step %d loss %.1f: %.3f ms"
            % (step, loss.item(), 1e3 * (time.perf_counter() - start))
        )


if __name__ == "__main__":
    main()
