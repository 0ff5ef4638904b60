"""A simulated rank on a GPU of the catalogue: LOCKSTEP_COMPUTE=roofline:GPU."""

import atexit
import importlib
import os
import sys

from . import Run, Unknown, catalogue

PREFIX = "roofline:"
_labels = {}


class Clock:
    """The rank's, moved by dist_compute() once there is a group."""

    def __init__(self):
        from .. import group, library
        from ..simulated import seat

        self.lib, self.seat = library.load(), seat.lib
        self.default = group.default

    def handle(self):
        group = self.default()
        return group.handle if group is not None else None

    def now(self):
        handle = self.handle()
        if handle:
            return self.lib.now_ns(handle)
        return self.seat.seat_now_ns()

    def charge(self, ns, label):
        handle = self.handle()
        if not handle:
            self.seat.seat_pass(ns)
            return
        if label not in _labels:  # dist.h keeps the text
            _labels[label] = label.encode()
        self.lib.compute(handle, ns, _labels[label])


def gpu_name():
    """Of LOCKSTEP_COMPUTE; None where it says something else."""
    how = os.environ.get("LOCKSTEP_COMPUTE", "")
    return how[len(PREFIX):] if how.startswith(PREFIX) else None


def prepare():
    """Imports what all ranks need, before they are forked; SystemExit with a
    line where the GPU is not known."""
    name = gpu_name()
    if name is None:
        if os.environ.get("LOCKSTEP_COMPUTE", "").startswith("table:"):
            print(
                "lockstep: --compute table: not there for Python ranks: "
                "expected none, cpu:FACTOR or roofline:GPU",
                file=sys.stderr,
            )
            raise SystemExit(2)
        return
    try:
        catalogue.find(name)
    except Unknown as error:
        print("lockstep: --compute: %s" % error, file=sys.stderr)
        raise SystemExit(2)
    importlib.import_module(__package__ + ".script")


def join():
    """Puts the calling process on its GPU until it ends."""
    name = gpu_name()
    if name is None:
        return
    run = Run(name, Clock())
    run.__enter__()
    atexit.register(leave, run)


def leave(run):
    run.mode.settle()
    run.device.synchronize()
    if os.environ.get("RANK", "0") != "0":
        return
    step = run.step_ns()
    took = "" if step is None else "a step takes %.3f ms, " % (step / 1e6)
    print(
        "lockstep: rank 0 on %s: %speak memory %.2f GB of %.0f GiB"
        % (run.gpu.name, took, run.peak / 1e9, run.gpu.memory / 2**30),
        file=sys.stderr,
    )
