"""Calls of a simulated rank in another thread than its first.

A rank of a simulation asks for one thing at a time. A call that waits in there
holds up the rank's other threads, and they may be what the others wait for: so
one thread alone may, the one that joined the job. What others start (an
asynchronous checkpoint's collectives) they look at now and then, which takes a
little time of both clocks.
"""

import threading

_STEP_NS = 10_000  # of the simulated clock
_STEP_S = 1e-3     # of the real one
# Then what may be a deadlock is waited for, so that it is told.
_MOST = 60_000

_first = None


def install():
    """The thread that calls is the first."""
    global _first
    _first = threading.get_ident()


def must_poll(group) -> bool:
    return group.simulated and threading.get_ident() != _first


def poll(lib, handle):
    """Waits for the operation to end, for a minute or so."""
    from .simulated import seat
    waits = threading.Event()
    for _ in range(_MOST):
        if lib.work_is_completed(handle):
            return
        waits.wait(_STEP_S)  # time.sleep() is the simulation's
        if seat.lib.seat_pass(_STEP_NS):
            return
