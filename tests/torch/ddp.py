"""DDP over Lockstep trains as over gloo, and every call does what gloo's does.

ddp.py RANKS...: first what group.py does, by the same import of torch; then 20
steps of a model with several buckets, of which one layer goes unused in each;
the parameters after them are the same bytes on 2 ranks, where a sum has one
order, and within 1e-6 on more. So with parameters that go unused, gradients
accumulated, a comm hook, and ranks that have more input than others (join).
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

import group

STEPS = 20


class Model(torch.nn.Module):
    def __init__(self, skips):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(64, 64) for _ in range(6))
        self.norm = torch.nn.BatchNorm1d(64)
        self.skips = skips

    def forward(self, x, step):
        for i, layer in enumerate(self.layers):
            if not self.skips or i != step % 6:
                x = torch.tanh(layer(x))
        return self.norm(x)


def train(rank, kind):
    torch.manual_seed(1)
    model = Model(kind == "unused")
    wrapped = DistributedDataParallel(
        model, bucket_cap_mb=0.02, find_unused_parameters=kind == "unused",
        gradient_as_bucket_view=kind == "view")
    if kind == "hook":
        wrapped.register_comm_hook(None, default_hooks.fp16_compress_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    inputs = torch.Generator().manual_seed(rank)
    steps = STEPS + (rank if kind == "join" else 0)

    def step(number):
        x = torch.randn(8, 64, generator=inputs)
        wrapped(x, number).square().mean().backward()

    def run():
        for number in range(steps):
            if kind == "accumulate":
                with wrapped.no_sync():
                    step(number)
            step(number)
            optimizer.step()
            optimizer.zero_grad()

    if kind == "join":
        with wrapped.join():
            run()
    else:
        run()
    return [tensor.detach().clone() for tensor in model.parameters()]


KINDS = ("plain", "unused", "view", "accumulate", "hook", "join")


def run(backend, rank, size, folder):
    if backend == "lockstep":
        __import__("lockstep")
    dist.init_process_group(
        backend, init_method="file://%s/%s" % (folder, backend), rank=rank,
        world_size=size)
    torch.save([train(rank, kind) for kind in KINDS],
               "%s/%s.%d" % (folder, backend, rank))
    dist.destroy_process_group()


def compare(size):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for backend in ("gloo", "lockstep"):
            pids = [group.fork(run, backend, rank, size, folder)
                    for rank in range(size)]
            failures += sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
        if failures:
            return 1
        results = {(backend, rank): torch.load("%s/%s.%d" % (
            folder, backend, rank)) for backend in ("gloo", "lockstep")
            for rank in range(size)}
    for kind, wanted, got in zip(KINDS, results["gloo", 0],
                                 results["lockstep", 0]):
        away = max((a - b).abs().max().item() for a, b in zip(wanted, got))
        # float16 rounds to 2^-11: another order of summing may differ by that.
        limit = 0 if size == 2 else 2e-3 if kind == "hook" else 1e-6
        if away > limit:
            print("%s: %g away from gloo: expected %g at most" % (
                kind, away, limit))
            failures += 1
        else:
            print("%s: %g away" % (kind, away))
    for rank in range(1, size):
        for kind, mine, first in zip(KINDS, results["lockstep", rank],
                                     results["lockstep", 0]):
            if not all(map(torch.equal, mine, first)):
                print("%s: rank %d differs from rank 0" % (kind, rank))
                failures += 1
    return failures > 0


if __name__ == "__main__":
    sys.exit(any([check(int(size)) for check in (group.compare, compare)
                  for size in sys.argv[1:]]))
