"""Processes that a script starts itself, in a simulation.

Its ranks are the processes that lockstep run forked. Where a script would start
one a rank by torch.multiprocessing.spawn(), each rank calls the function in its
place, with its own number. What a rank starts otherwise is no rank, and is
refused where it would join as one.
"""

import os
import sys

# The process that is a rank; what that starts inherits it.
_OWNER = "LOCKSTEP_SEAT_OWNER"


class _Ended:
    """What spawn(join=False) returns, with nobody to wait for."""

    processes = ()

    def join(self, timeout=None, grace_period=None):
        return True


def install():
    """Has this process, a rank, take the place of what it would spawn."""
    os.environ[_OWNER] = str(os.getpid())
    # The package has a function of that name.
    module = sys.modules["torch.multiprocessing.spawn"]
    package = sys.modules["torch.multiprocessing"]
    start = module.start_processes

    def start_processes(fn, args=(), nprocs=1, join=True, *rest, **named):
        if (is_stranger() or _has_group()
                or nprocs != _place("LOCAL_WORLD_SIZE")):
            return start(fn, args, nprocs, join, *rest, **named)
        try:
            fn(_place("LOCAL_RANK"), *args)
        except SystemExit as leaving:
            if leaving.code:
                raise
        return None if join else _Ended()

    module.start_processes = package.start_processes = start_processes


def _place(name):
    return int(os.environ[name])


def _has_group():
    import torch.distributed as dist
    return dist.is_available() and dist.is_initialized()


def is_stranger():
    """Whether a rank of a simulation started this process, which is none."""
    return os.environ.get(_OWNER, str(os.getpid())) != str(os.getpid())


def refuse_stranger():
    """Raises where is_stranger()."""
    if is_stranger():
        raise RuntimeError(
            "lockstep: init_process_group: rank %s of the simulation started "
            "this process, which is no rank itself: expected those of "
            "--nproc-per-node, which also take the place of as many by "
            "torch.multiprocessing.spawn" % os.environ.get("RANK", "?"))
