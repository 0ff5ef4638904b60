"""A simulated rank on a GPU of the catalogue: LOCKSTEP_COMPUTE=roofline:GPU, or
table:FILE for what computing takes there."""

import atexit
import fcntl
import functools
import os
import struct
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


class Ends:
    """What ranks say as they end, in memory that they share: made before they
    are forked."""

    record = struct.Struct("=?qq")  # whether it has ended, peak, step_ns

    def __init__(self, ranks):
        self.fd = os.memfd_create("lockstep-ends")
        os.truncate(self.fd, ranks * self.record.size)

    def add(self, rank, peak, step_ns):
        """Of a rank that ends. Returns what all have said, (peak, step_ns) by
        rank, to the last one, and None to others."""
        fd, size = self.fd, self.record.size
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.pwrite(fd, self.record.pack(True, peak, step_ns), rank * size)
        ends = list(self.record.iter_unpack(
            os.pread(fd, os.fstat(fd).st_size, 0)))
        fcntl.lockf(fd, fcntl.LOCK_UN)
        return ([end[1:] for end in ends] if all(end[0] for end in ends)
                else None)


def join(rank, ends):
    """Puts the calling process, rank of those that share ends, on its GPU until
    it ends."""
    chosen = choose()
    if chosen is None:
        return
    run = Run(chosen[0], Clock(), table=chosen[1])
    run.__enter__()
    end = functools.cache(lambda: leave(run, rank, ends))
    atexit.register(end)
    exit_now, process = os._exit, os.getpid()

    def _exit(status):
        if os.getpid() == process:
            end()
        exit_now(status)

    os._exit = _exit  # which runs nothing of atexit's


def leave(run, rank, ends):
    run.mode.settle()
    run.device.synchronize()
    table = run.mode.table
    if rank == 0 and table is not None:
        for text in table.warnings():
            print("lockstep: warning: " + text, file=sys.stderr)
    all_ends = ends.add(rank, run.peak, run.step_ns() or 0)
    if all_ends is not None:
        for text in summary(run.gpu, all_ends):
            print("lockstep: " + text, file=sys.stderr)


def summary(gpu, ends):
    """Lines about ranks on gpu. ends: (peak, step_ns; 0: none) by rank."""
    peaks = [peak for peak, _ in ends]
    most = max(peaks)
    first, highest = ("%.2f GB" % (peak / 1e9) for peak in (peaks[0], most))
    step_ns = ends[0][1]
    yield "rank 0 on %s: %speak memory %s of %.0f GiB%s" % (
        gpu.name,
        "a step takes %.3f ms, " % (step_ns / 1e6) if step_ns else "",
        first, gpu.memory / 2**30,
        "; the most, %s, on rank %d" % (highest, peaks.index(most))
        if highest != first else "")
    too_large = [rank for rank, peak in enumerate(peaks) if peak > gpu.memory]
    if too_large:
        yield "does not fit: %s more memory than the GPU has" % (
            "rank %d needs" % too_large[0] if len(too_large) == 1 else
            "%d ranks, the first is rank %d, need" % (
                len(too_large), too_large[0]))
