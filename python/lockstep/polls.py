"""Calls of a simulated rank in another thread than its first.

A rank of a simulation asks for one thing at a time. A call that waits in there
holds up the rank's other threads, and they may be what the others wait for: so
one thread alone may, the one that joined the job. What others start (an
asynchronous checkpoint's collectives) they look at now and then, which takes a
little time of both clocks. When the process has no other thread that can go on
by itself, nothing is held up, and the call waits as the first thread's do.
"""

import os
import sys
import threading

_FILES = tuple(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
               for name in ("group.py", "work.py"))
_STEP_NS = 10_000  # of the simulated clock
_STEP_S = 1e-3     # of the real one
# Then what may be a deadlock is waited for, so that it is told.
_MOST = 60_000
_LOOK = 500  # polls between looks at the other threads
_FUTEX = {"x86_64": "202", "aarch64": "98"}.get(os.uname().machine)
_PRIVATE = 128

_first = None


def install():
    """The thread that calls is the first."""
    global _first
    _first = threading.get_ident()


def _state(task):
    """How often the thread has run, and whether it waits without a deadline
    for another of its process: a lock, a condition."""
    with open("/proc/self/task/%s/syscall" % task) as file:
        call = file.read().split()
    with open("/proc/self/task/%s/status" % task) as file:
        switches = [line for line in file if "ctxt_switches" in line]
    waits = (len(call) > 4 and call[0] == _FUTEX and int(call[4], 16) == 0
             and int(call[2], 16) & _PRIVATE)
    return bool(waits), switches


def _is_alone():
    """Whether no other thread of the process can go on by itself. Each stood
    still from the first look at it to the second: so all did between."""
    own = str(threading.get_native_id())
    try:
        looks = [{task: _state(task) for task in os.listdir("/proc/self/task")
                  if task != own} for _ in range(2)]
    except OSError:  # a thread that ended; or a kernel that does not tell
        return False
    return looks[0] == looks[1] and all(
        waits for waits, _ in looks[1].values())


def must_poll(group) -> bool:
    return group.simulated and threading.get_ident() != _first


def _is_in_call(frame, groups) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in _FILES:
            thing = frame.f_locals.get("self")
            if getattr(thing, "_group", thing) in groups:
                return True
        frame = frame.f_back
    return False


def await_others(groups):
    """Waits until no other thread is in a call of these, which are about to
    go."""
    global _first
    here, first, waits = threading.get_ident(), _first, threading.Event()
    for thread, frame in sys._current_frames().items():
        while thread != here and _is_in_call(frame, groups):
            _first = thread  # may wait in there now, where a deadlock is told
            waits.wait(_STEP_S)
            frame = sys._current_frames().get(thread)
    _first = first


def poll(lib, handle):
    """Waits for the operation to end, for a minute or so."""
    from .simulated import seat
    waits = threading.Event()
    for turn in range(1, _MOST):
        if turn % _LOOK == 0 and _is_alone():
            return
        if threading.get_ident() == _first or lib.work_is_completed(handle):
            return
        waits.wait(_STEP_S)  # time.sleep() is the simulation's
        if seat.lib.seat_pass(_STEP_NS):
            return
