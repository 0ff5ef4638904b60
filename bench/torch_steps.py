"""Times steps of scripts of tests/torch on this machine's GPU: python3
bench/torch_steps.py OUT [--traces FOLDER] < ROWS, a row `script arguments`. OUT
gets a line for each row at once: the median of 10 steps after three, by the
script's own clock around torch.cuda.synchronize, and its peak of memory. A row
that begins with `*` is run again and traced by torch.profiler, two steps of
five."""

import argparse
import contextlib
import gc
import importlib
import io
import os
import re
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule

STEPS, BEFORE, SECONDS = 10, 3, 6
synchronize = torch.cuda.synchronize


class Enough(Exception):
    """Steps were run for SECONDS."""


class Steps:
    """What happens between two steps: a script synchronizes once in each."""

    def __init__(self, profiler=None):
        self.profiler = profiler
        self.launches, self.began = [], None
        self.until = None

    def __call__(self, *_):
        came = time.perf_counter()
        synchronize()
        if self.began is not None:
            self.launches.append(1e3 * (came - self.began))
        if len(self.launches) == BEFORE:
            self.until = came + SECONDS
        if self.profiler:
            self.profiler.step()
        elif self.until and came > self.until:
            raise Enough
        self.began = time.perf_counter()


def run(script, arguments, number, steps):
    """The times that the script prints, in ms."""
    out = io.StringIO()
    sys.argv = [script, *arguments.split(), "--steps", str(number)]
    torch.cuda.synchronize = steps
    try:
        with contextlib.redirect_stdout(out), contextlib.suppress(Enough):
            importlib.import_module(script).main()
    finally:
        torch.cuda.synchronize = synchronize
    return [float(one) for one in re.findall(r"([\d.]+) ms", out.getvalue())]


def forget():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def row(script, arguments):
    forget()
    steps = Steps()
    times = run(script, arguments, BEFORE + STEPS, steps)[BEFORE:]
    return (
        script, arguments or "-", "%.2f" % statistics.median(times),
        "%.2f" % min(times), "%.2f" % max(times), len(times),
        "%.2f" % statistics.median(steps.launches[BEFORE - 1:]),
        "%.2f" % (torch.cuda.max_memory_allocated() / 1e9),
        "%.2f" % (torch.cuda.max_memory_reserved() / 1e9),
    )  # fmt: skip


def trace(script, arguments, file):
    forget()
    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=2, warmup=1, active=2),
        on_trace_ready=lambda one: one.export_chrome_trace(file),
    ) as profiler:
        run(script, arguments, 5, Steps(profiler))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--traces", metavar="FOLDER")
    options = parser.parse_args()
    if options.traces:
        os.makedirs(options.traces, exist_ok=True)
    sys.path.insert(0, "tests/torch")
    with open(options.out, "w") as table:
        print(
            "script", "arguments", "ms", "least_ms", "most_ms", "num",
            "launch_ms", "peak_gb", "reserved_gb", sep="\t", file=table,
        )  # fmt: skip
        for number, line in enumerate(sys.stdin):
            script, _, arguments = line.strip().lstrip("*").partition(" ")
            try:
                values = row(script, arguments)
                print(*values, sep="\t", file=table, flush=True)
                if line[0] == "*" and options.traces:
                    name = "%s/%d.json.gz" % (options.traces, number)
                    trace(script, arguments, name)
            except Exception as error:
                print("%s: %s" % (line.strip(), error), file=sys.stderr)
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
