"""Operations in flight: torch's Work over the handles of dist.h.

Work is complete when somebody looks: wait() and is_completed() ask the library
in the thread that calls them. Only where a Future was asked for does one thread
of the group wait, because nobody else calls then (DDP's reducer waits for the
Future alone). In a simulation a thread of ours would race with the program for
what comes first on the rank's clock: there the program's thread completes the
Future, at the end of the backward pass or at once.

Where C++ waits for a Future, no verdict would know that the rank's thread does.
DDP's reducer waits at the end of the backward pass, and before it the program's
thread waits here, as in any other call.
"""

import sys
import threading
from collections import deque

import torch
from torch._C._distributed_c10d import Work as _TorchWork
from torch.futures import Future

from . import buckets, charge, library, polls, source

_engine = torch.autograd.Variable._execution_engine
# Of the backward pass of the thread that asks; None in torch 1.
_node_here = getattr(torch._C, "_current_autograd_node", None)


class Work(_TorchWork):
    """What a call of the group returns. handles: of dist.h, of which it owns
    each until it is complete; keep: memory that they need until then."""

    def __init__(self, group, handles, result, keep=None, in_order=True):
        super().__init__()
        self._group = group
        self._handles = handles
        self._result = result
        self._keep = keep
        self._in_order = in_order  # ends after all that were issued before
        self.caller = None  # file of the frame that called the group's method
        self._finish = []  # to call when all is there
        self._error = None
        self._source = -1
        self._future = None
        self._promise = None  # of the Future, where there is one in flight
        self._ended = None  # Event, where the group's thread waits
        self._met = None  # Event, where the program's thread does, too

    def _end(self, timeout_ns=library.TIMEOUT_OF_GROUP, frame=None,
             aside=False):
        """Waits, and lets go of handles and memory. aside: in a thread of
        ours."""
        if self._ended is not None and self._ended.is_set():
            return
        lib, group = self._group.lib, self._group
        error = 0
        for handle in self._handles:
            one = self._await(handle, timeout_ns, frame, aside)
            if one and not error:
                error = one
                self._error = group.failure(error)
            self._source = lib.work_source(handle)
        handles, self._handles = self._handles, ()
        if self._met is not None:
            self._met.wait()
        for handle in handles:
            lib.work_free(handle)
        charge.after_call()
        if self._error is None:
            for finish in self._finish:
                finish()
        self._keep, self._finish = None, ()
        if self._promise is not None:
            self._promise.set_result(None)
        elif self._future is not None and self._error is None:
            self._future.set_result(self._result)
        elif self._future is not None:
            self._future.set_exception(self._error)
        if self._ended is not None:
            self._ended.set()

    def _await(self, handle, timeout_ns, frame, aside=False):
        lib, group = self._group.lib, self._group
        if frame is not None:
            file, line = source.here(frame)
            if file is not None:
                lib.work_at(handle, file, line)
        if polls.must_poll(group):
            polls.poll(lib, handle)
        return (lib.work_wait_aside if aside else lib.work_wait)(
            handle, timeout_ns)

    def _end_here(self, timeout_ns, frame):
        """Waits in the program's thread until the work has ended, and the
        callbacks of its Future where the group's thread runs them."""
        if self._ended is None:
            if self._handles:
                self._end(timeout_ns, frame)
        elif self._ended.is_set():
            pass
        elif self._group.waiter().is_here():  # in a Future's callback
            if self._handles:
                self._end(timeout_ns, aside=True)
        else:
            self._met = threading.Event()  # the handles stay until it is set
            for handle in self._handles:
                self._await(handle, timeout_ns, frame)
            self._met.set()
            self._ended.wait()
        if self._error is not None:
            raise self._error

    def __del__(self):
        if self._handles:
            self._group.keep(self._handles, (self._result, self._keep))

    def _has_ended(self) -> bool:
        if self._handles is None:
            return False
        if self._ended is not None:  # the group's thread may free them now
            return self._ended.is_set()
        lib = self._group.lib
        return all(lib.work_is_completed(handle) for handle in self._handles)

    def wait(self, timeout=None):
        if self._handles is None:
            raise RuntimeError(
                "wait: this operation is part of a batch that has not begun: "
                "it begins where the coalescing ends")
        self._end_here(library.nanoseconds(timeout), source.caller())
        return True

    synchronize = wait

    def block_current_stream(self):
        self.wait()

    def is_completed(self):
        if self._handles is None:
            return False
        if self._handles and self._ended is None and self._has_ended():
            self._end()
        return not self._handles

    def is_success(self):
        return self.is_completed() and self._error is None

    def exception(self):
        return self._error

    def result(self):
        return self._result

    def source_rank(self):
        return self._source

    _source_rank = source_rank

    def _outcome(self, _):
        """What the Future holds. An error must be raised in a callback:
        set_exception() makes a value of it for C++, as which DDP takes it."""
        if self._error is not None:
            raise self._error
        return self._result

    def get_future(self):
        if self._future is None:
            if self._handles and self._group.simulated:
                self._future = _InlineFuture(self)
            else:
                if self._handles and self._group.waiter().is_here():
                    self._end(aside=True)  # a Future's callback may wait for it
                self._promise = Future()
                self._future = self._promise.then(self._outcome)
                if self._handles:
                    self._ended = threading.Event()
                    self._group.waiter().add(self)
                else:
                    self._promise.set_result(None)
            if self._handles:
                self._end_with_pass()
        return self._future

    def _end_with_pass(self):
        """Ends the work before C++ waits for its Future: at the end of the
        backward pass. In a simulation at once outside of one; so in either
        world at the end of a pass, where DDP makes the calls of its first if
        its graph is static."""
        def end():
            self._end_here(library.TIMEOUT_OF_GROUP, sys._getframe())

        try:
            _engine.queue_callback(end)
            is_later = (not buckets.come_last(self._group)
                        if _node_here is None else _node_here() is not None)
        except RuntimeError:  # not in a backward pass
            is_later = not self._group.simulated
        if not is_later:
            end()


class Done(Work):
    """One that has ended well before anybody has it."""

    def wait(self, timeout=None):
        return True


class _InlineFuture(Future):
    """One that is completed by whoever waits for it first."""

    def __new__(cls, work):
        return super().__new__(cls)

    def __init__(self, work):
        super().__init__()
        self._work = work

    def wait(self):
        if self._work._handles:
            self._work._end()
        return super().wait()

    def value(self):
        return self.wait()


class Waiter:
    """The thread of a group that completes Futures."""

    def __init__(self):
        self._new = deque()
        self._wake = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._serve, daemon=True,
                                        name="lockstep futures")
        self._thread.start()

    def add(self, work):
        self._new.append(work)
        self._wake.release()

    def is_here(self):
        return threading.current_thread() is self._thread

    def stop(self):
        """Ends the thread when what it was given has ended."""
        self.add(None)
        if not self.is_here():
            self._thread.join()

    def _serve(self):
        works, delay, stopping = [], 0.0, False
        while not stopping or works:
            # Nothing can be waited for that may outlast what came later.
            may_block = not works
            if may_block and not stopping:
                self._wake.acquire()
            elif delay:
                self._wake.acquire(timeout=delay)
            while self._new:
                work = self._new.popleft()
                stopping = stopping or work is None
                if work is not None:
                    works.append(work)
            if works and works[0]._in_order:
                works.pop(0)._end(aside=True)
                delay = 0.0
                continue
            left = []
            for work in works:
                if all(map(work._group.lib.work_is_completed, work._handles)):
                    work._end(aside=True)
                else:
                    left.append(work)
            delay = 20e-6 if len(left) < len(works) else min(
                2 * delay + 20e-6, 1e-3)
            works = left
