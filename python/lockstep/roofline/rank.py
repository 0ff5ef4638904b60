"""A simulated rank on a GPU of the catalogue: LOCKSTEP_COMPUTE=roofline:GPU, or
table:FILE for what computing takes there."""

import atexit
import os
import sys

from . import Run, Unknown, catalogue
from .table import Table

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


def choose():
    """(name of the GPU, Table or None) by LOCKSTEP_COMPUTE; None where it says
    something else. Raises Unknown."""
    how, _, name = os.environ.get("LOCKSTEP_COMPUTE", "").partition(":")
    if how == "roofline":
        return name, None
    if how == "table":
        table = Table(name)
        return table.gpu, table
    return None


def check():
    """Whether ranks are on a GPU; SystemExit with a line where that is not
    known, or the table is none. Imports nothing of torch."""
    try:
        chosen = choose()
        if chosen is not None:
            catalogue.find(chosen[0])
    except Unknown as error:
        print("lockstep: --compute: %s" % error, file=sys.stderr)
        raise SystemExit(2)
    return chosen is not None


def join():
    """Puts the calling process on its GPU until it ends."""
    chosen = choose()
    if chosen is None:
        return
    run = Run(chosen[0], Clock(), table=chosen[1])
    run.__enter__()
    atexit.register(leave, run)


def leave(run):
    run.mode.settle()
    run.device.synchronize()
    if os.environ.get("RANK", "0") != "0":
        return
    step, table = run.step_ns(), run.mode.table
    took = "" if step is None else "a step takes %.3f ms, " % (step / 1e6)
    print(
        "lockstep: rank 0 on %s: %speak memory %.2f GB of %.0f GiB"
        % (run.gpu.name, took, run.peak / 1e9, run.gpu.memory / 2**30),
        file=sys.stderr,
    )
    for text in table.warnings() if table is not None else ():
        print("lockstep: warning: " + text, file=sys.stderr)
