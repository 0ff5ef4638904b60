"""Holds the roofline against hand counts of GPT-2, against itself, and against
published steps: prints what is wrong, nothing else."""

import contextlib
import io
import sys

import gpt2
import roofline_published
import torch
from lockstep import roofline
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker


def run():
    sys.argv = "gpt2 --batch 4 --flash --steps 2".split()
    out = io.StringIO()
    with roofline.Run("a100") as step:
        with contextlib.redirect_stdout(out):
            gpt2.main()
    device = step.device
    return (
        out.getvalue(), step.step_ns(), step.peak, device.kernels,
        device.flops, device.traffic, step.state_bytes(),
    )  # fmt: skip


def one_step(model, optimizer, device):
    tokens = torch.randint(0, 1000, (2, 256), device=device)
    optimizer.zero_grad()
    model(tokens, tokens).backward()
    optimizer.step()


def peaks():
    """Peak memory of GPT-2 here, and as torch's own tracker counts it; by the
    optimizer's loop, which is what both devices can do."""
    def make():
        return gpt2.GPT2(1000, False, length=256, layers=2)

    with roofline.Run("a100") as step:
        model = make().cuda()
        optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
        for _ in range(2):
            one_step(model, optimizer, "cuda")
    with FakeTensorMode():
        model = make()
        optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        with tracker:
            for _ in range(2):
                one_step(model, optimizer, "cpu")
                tracker.reset_mod_stats()
    snapshot = tracker.get_tracker_snapshot("peak")
    return step.peak, sum(part["Total"] for part in snapshot.values())


def link():
    """Seconds of a copy into a tensor on the GPU."""
    with roofline.Run("h100") as step:
        there = torch.empty(1 << 26, device="cuda")
        here = torch.empty(1 << 26)
        torch.cuda.synchronize()
        start = step.device.clock.now()
        there.copy_(here, non_blocking=True)
        torch.cuda.synchronize()
        return (step.device.clock.now() - start) / 1e9


def near(what, value, wanted, share):
    if abs(value / wanted - 1) > share:
        print("%s: %g, not within %g of %g" % (what, value, share, wanted))


def main():
    first = run()
    if run() != first:
        print("two runs differ")
    tokens = 2 * 4 * 1024
    products = 12 * 12 * 768 * 768 + 50257 * 768  # of a token, forward
    attention = 12 * 2 * 1024 * 768  # half of all pairs, forward
    wanted = tokens * (6 * products + 3.5 * attention)
    near("FLOP of two steps", first[4], wanted, 0.001)
    parameters = products + 12 * 13 * 768 + (1024 + 2) * 768
    for size, times in zip(first[6], (4, 4, 8)):
        near("bytes of state", size, times * parameters, 0.001)
    if first[2] < 16 * parameters:
        print("peak memory is less than what stays there")
    near("peak memory of GPT-2", *peaks(), 0.01)
    for row in roofline_published.ROWS[:2]:
        predicted = roofline_published.predict(*row[:3])
        near("step of %s on %s" % (row[1], row[0]), predicted, row[3], 0.1)
    near("copy over the link", link(), 4 * (1 << 26) / 51e9, 0.01)
    rows = roofline_published.measured_rows("h100")[3:4]
    # Before torch 2.9 a norm of llama.py is several kernels, which keep more.
    if hasattr(torch.ops.aten, "_fused_rms_norm"):
        rows += [
            row
            for row in roofline_published.measured_rows("h200")
            if row["arguments"].startswith("--size olmoe --layers 8 ")
        ]
    for row in rows:
        step = roofline_published.run(
            row["gpu"], row["script"], row["arguments"]
        )
        near(row["script"], step.step_ns() / 1e6, float(row["ms"]), 0.1)
        near("its memory", step.peak / 1e9, float(row["peak_gb"]), 0.01)


if __name__ == "__main__":
    main()
