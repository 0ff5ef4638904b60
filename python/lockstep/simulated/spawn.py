"""Processes that a script starts itself, in a simulation.

Its ranks are the processes that lockstep run forked. Where a script would start
one a rank by torch.multiprocessing.spawn() or by a loop over Process(), each
rank calls the function in its place, with its own number. What a rank starts
otherwise is no rank, and is refused where it would join as one; it lets the
rank know, whose script may look at no exit status.
"""

import contextlib
import multiprocessing.process
import os
import socket
import sys

# The process that is a rank; what that starts inherits it.
_OWNER = "LOCKSTEP_SEAT_OWNER"


class _Ended:
    """What spawn(join=False) returns, with nobody to wait for."""

    processes = ()

    def join(self, timeout=None, grace_period=None):
        return True


class _Popen:
    """Of a Process whose place a rank has taken."""

    returncode = 0

    def __init__(self):
        self.pid = os.getpid()
        self.sentinel = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def poll(self, flag=0):
        return 0

    wait = poll

    def terminate(self):
        """There is nobody."""

    kill = terminate

    def close(self):
        os.close(self.sentinel)


def _open():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


def _address(owner):
    return "\0lockstep-strangers-%s" % owner


def become_owner():
    """Has what this process, a rank, starts be strangers. Returns a function:
    whether one of them was refused."""
    os.environ[_OWNER] = str(os.getpid())
    refused = _open()
    refused.bind(_address(os.getpid()))

    def has_refused():
        try:
            return bool(refused.recv(1, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False

    return has_refused


def install():
    """Has this process, a rank, take the place of what it would spawn."""
    _replace_spawn()
    _replace_process()


def _replace_process():
    kind, started = multiprocessing.process.BaseProcess, [0]
    start = kind.start

    def start_in_place(self):
        if (is_stranger() or started[0] >= _place("LOCAL_WORLD_SIZE")
                or not _is_rank(self, started[0])
                or (not started[0] and _has_group())):
            return start(self)
        number, started[0] = started[0], started[0] + 1
        if number == _place("LOCAL_RANK"):
            try:
                self.run()
            except SystemExit as leaving:
                if leaving.code:
                    raise
        self._popen = _Popen()
        self._sentinel = self._popen.sentinel
        return None

    kind.start = start_in_place


def _is_rank(process, number):
    """Whether a script starts it as rank number: that is the first whole number
    among its arguments, or the one called rank."""
    target = process._target
    if target is None or getattr(target, "__module__", "").split(".")[0] in (
            "torch", "multiprocessing"):
        return False
    numbers = [one for one in process._args if type(one) is int]
    return process._kwargs.get("rank", *numbers[:1] or [None]) == number


def _replace_spawn():
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
        with contextlib.suppress(OSError), _open() as strangers:
            strangers.sendto(b"x", socket.MSG_DONTWAIT,
                             _address(os.environ[_OWNER]))
        raise RuntimeError(
            "lockstep: init_process_group: a rank of the simulation started "
            "this process, which is no rank itself: expected those of "
            "--nproc-per-node, which also take the place of as many by "
            "torch.multiprocessing.spawn or Process; other programs that start "
            "ranks run without --backend sim")
