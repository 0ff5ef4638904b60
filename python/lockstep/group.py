"""A process group of torch over a group of dist.h.

One class serves every version of torch: a Python subclass of ProcessGroup is
taken as the whole group, and its methods are found by name by callers in Python
and through torch's trampolines by those in C++ (DDP's reducer, functional
collectives). Where torch renamed a method both names are there.

A call that torch makes with async_op=False runs in the caller's thread to its
end. Others are started and return a Work.
"""

import atexit
import ctypes
import os
import sys
import threading
from collections import deque

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d

from . import (buckets, charge, eager, events, hook, keys, library, polls,
               several, source, unwaited)
from .arguments import Arguments, agree, by_dtype
from .library import byref, c_int, c_void_p
from .work import Done, Waiter, Work

_C10D_FILE = c10d.__file__


def _advice():
    """How to get a verdict on ranks of which no launcher has records."""
    if "LOCKSTEP_BOARD_FD" in os.environ:
        return ""
    return (" (no lockstep run has started this rank, and so nobody has a "
            "verdict: set LOCKSTEP_DUMP=FOLDER, and call lockstep diagnose "
            "FOLDER)")


def _error_of(name):
    """What a group of that name raises."""
    return (RuntimeError if name == "gloo"
            else getattr(dist, "DistBackendError", RuntimeError))


class Group(Arguments, dist.ProcessGroup):
    """handle: of dist.h, owned; parent: the group it was made of, or None for
    the default group; name: the one that scripts know the back end by."""

    def __init__(self, lib, handle, rank, size, name="lockstep", parent=None):
        super().__init__(rank, size)
        self.lib = lib
        self.handle = handle
        self._pointer = c_void_p(handle)  # for at_from()
        self.parent = parent
        self._rank, self._size, self._name = rank, size, name
        self._error = _error_of(name)
        self._backend = lib.get_backend(handle)
        self.simulated = self._backend not in (b"tcp", b"nccl", b"mpi")
        self.subgroups = []
        self._group_name = self._group_desc = ""
        self.ranks = range(size)  # in the default group
        self.compare = None  # of detail.py
        self.host = None  # the group whose order calls of host tensors have
        self.thread = None  # that calls, as far as it is one
        self._sequence = 0
        self._works = []
        self._works_limit = 32
        self._dropped = deque()  # of Works let go in flight, and their memory
        self._waiter = None
        self._has_threads = False  # of the default group
        self._batch = None  # of _start_coalescing
        self._to_self = {}  # tag: tensors sent to oneself, not yet received
        self._done = Done(self, (), [])
        self._dtypes = {getattr(torch, name): number
                        for name, number in lib.dtypes.items()
                        if hasattr(torch, name)}

    # ---- what torch asks of a group -----------------------------------

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def getBackendName(self):
        """For C++, which takes one of another name for its own class."""
        return "lockstep"

    def _has_hooks(self):
        return False  # of NCCL's; torch 2.6 asks at the end of a group

    def name(self):
        return self._name

    _get_backend_name = name

    @property
    def _device_types(self):
        gpu = ["cuda"] if torch.cuda.is_available() else []
        return [torch.device(name) for name in ["cpu", *gpu]]

    def _get_backend(self, device):
        return self

    supports_splitting = False  # torch asks where a device is bound

    def getGroupName(self):
        return self._group_name

    def setGroupName(self, name):
        self._group_name = name

    def getGroupDesc(self):
        return self._group_desc

    def setGroupDesc(self, text):
        self._group_desc = text

    _set_group_name, _set_group_desc = setGroupName, setGroupDesc
    group_name = property(getGroupName, setGroupName)
    group_desc = property(getGroupDesc, setGroupDesc)

    def _set_sequence_number_for_group(self):
        self._sequence = 0

    def _get_sequence_number_for_group(self):
        return self._sequence

    def set_timeout(self, timeout):
        self._check("set_timeout", self.lib.set_timeout(
            self.handle, library.nanoseconds(timeout)))
        if hasattr(self, "options"):
            self.options._timeout = timeout

    _set_default_timeout = set_timeout

    # ---- ending ---------------------------------------------------------

    def waiter(self):
        """The thread that completes Futures."""
        if self._waiter is None:
            first = self.parent or self
            if not first._has_threads:
                self._check("get_future", self.lib.allow_threads(self.handle))
                first._has_threads = True
            self._waiter = Waiter()
        return self._waiter

    def keep(self, handles, memory):
        """Keeps the memory of operations in flight whose Work is gone, until
        they end: DDP's join and many scripts wait for some of them never."""
        self._dropped.append((handles, memory))

    def _free_dropped(self):
        while self._dropped and all(map(self.lib.work_is_completed,
                                        self._dropped[0][0])):
            for handle in self._dropped.popleft()[0]:
                self.lib.work_free(handle)

    def abort(self):
        if self.handle:
            self.lib.abort(self.handle)

    def stop_waiting(self):
        """Aborts what the threads of the groups wait for: none may be left when
        the interpreter ends."""
        for group in [*self.subgroups, self]:
            if group._waiter is not None:
                group.abort()
                group._waiter.stop()

    def shutdown(self):
        """Destroys the group, and with the default group all others."""
        if not self.handle:
            return
        charge.before_call()
        for group in [*self.subgroups, self]:
            if group._waiter is not None:
                group._waiter.stop()
        polls.await_others([self, *self.subgroups])
        handle, self.handle = self.handle, None
        for group in [*self.subgroups, self]:
            unwaited.let_go(group)
            group.handle = None
        self.subgroups.clear()
        if self.parent is not None:
            self.parent.subgroups.remove(self)
        self._works.clear()
        file, line = source.here(sys._getframe(1))
        if file:
            self.lib.call_at(file, line)
        error = self.lib.destroy_process_group(handle)
        if error:
            raise self._error("lockstep: destroy_process_group: " +
                         self.lib.error_string(error).decode())

    _shutdown = shutdown  # as torch 2.6 calls it for NCCL

    # ---- failing ---------------------------------------------------------

    def failure(self, error):
        """The exception for a call that failed, in words that programs for
        gloo look for."""
        text = self._message_text()
        if error == library.TIMEOUT:
            text = "Timed out waiting for the other ranks: " + text
        elif error == library.PEER_LOST:
            text = "connection closed by a peer: " + text
        elif error == library.ABORTED:
            text = "the group is closed : " + text
        if (error in (library.TIMEOUT, library.MISMATCH)
                and not self.simulated):
            text += _advice()
        return self._error("lockstep: " + text)

    def _message_text(self):
        message = library.Message()
        self.lib.error_message_copy(self.handle, message)
        return message.text.decode(errors="replace")

    def _check(self, call, error):
        if error:
            raise self.failure(error)

    def refuse(self, call, reason, error=None):
        """Raises what a call asks in vain, which a verdict tells too."""
        text = "%s: %s" % (call, reason)
        self._at(source.caller())
        self.lib.refuse(self.handle, text.encode())
        raise (error or self._error)("lockstep: " + text)

    # ---- issuing ---------------------------------------------------------

    def _at(self, frame, label=None):
        """Notes where the next call stands, and what it is for."""
        if not self.handle:
            raise self._error("lockstep: the process group was destroyed")
        file, line, script, script_line, words = source.place(frame)
        if threading.get_ident() != self.thread:
            words = source.other_thread(self) or words
        if file is not None:
            self.lib.at_from(self._pointer, file, line, script, script_line)
        if label or words:
            self.lib.label(self.handle, label or words, 0)

    def _run(self, opts, result, keep, function, *arguments, label=None,
             frame=None):
        """Calls function for the method that asks. result: what the Work
        holds; keep: memory of the arguments; label: what it is for, if the
        frames do not know; frame: the caller's, if it is not two above."""
        frame = frame or source.caller(2)
        if self.host is not None and self._batch is None and _is_on_host(keep):
            return self.host._run(opts, result, keep, function, *arguments,
                                  label=label, frame=frame)
        if self._dropped:
            self._free_dropped()
        if self.compare is not None:
            self.compare(function, keep, events.flat)
        device = charge.device
        if device is not None:
            device.before_call()
            device.carry(events.flat(keep), agree(arguments))
        self._at(frame, label)
        self._sequence += 1
        if events.count_modes():
            events.tell_modes(function)
        if events.is_profiled():
            function = events.Event(self._name, function, keep)
        is_sync = self._batch is None and _is_sync(opts, frame)
        if is_sync and not polls.must_poll(self):
            error = function(self.handle, *arguments, None)
            if device is not None:
                device.after_call()
            if error:
                raise self.failure(error)
            return self._done
        handle = c_void_p()
        error = function(self.handle, *arguments, byref(handle))
        if error:
            raise self.failure(error)
        work = self._started((handle.value,), result, (keep, arguments))
        work.caller = frame.f_code.co_filename
        if is_sync:
            work.wait()
        return work

    def _started(self, handles, result, keep, in_order=True):
        work = Work(self, handles, result, keep, in_order)
        # C++ does not keep the Python half of a Work, older versions none,
        # newer ones not of those that come by way of Python.
        self._works.append(work)
        if len(self._works) > self._works_limit:
            flying, ended = [], []
            for kept in self._works:
                (ended if kept._has_ended() else flying).append(kept)
            self._works = flying + ended[-16:]
            self._works_limit = 2 * len(self._works) + 32
        if self._batch is not None:
            self._batch.append(work)
        return work

    def _all_of(self, works, result):
        """One Work for several."""
        handles = []
        for work in works:
            handles.extend(work._handles)
            work._handles = ()
        joined = self._started(tuple(handles), result,
                               [work._keep for work in works])
        joined._finish = [end for work in works for end in work._finish]
        return joined

    def _then(self, work, result, end):
        """The work with another result, which end() makes of what came."""
        mode = torch.is_inference_mode_enabled()

        def finish():
            with torch.inference_mode(mode), torch.no_grad():
                end()

        if not work._handles:
            finish()
            return Work(self, (), result)
        work._result = result
        work._finish.append(finish)
        return work

    # ---- collectives ---------------------------------------------------------

    # Besides the lists that torch.distributed passes, scripts may pass what
    # torch's own groups take: one tensor, and root and op by themselves.

    def allreduce(self, tensors, opts=None, op=None):
        if not torch.is_tensor(tensors) and len(tensors) != 1:
            return several.all_reduce(self, tensors, opts, op)
        op = self._reduce_op("all_reduce", op if opts is None else opts)
        tensor = self._only("all_reduce", tensors)
        tensors = [tensor]
        if tensor.is_sparse:
            return self._sparse_all_reduce(tensors, op)
        label = (buckets.label(self, source.caller(), tensor)
                 if buckets.plans else None)
        work = self._run(opts, tensors, tensors, self.lib.all_reduce,
                         self._tensor("all_reduce", tensor), op, label=label)
        if op:
            self._free_op(op)
        return work

    def _sparse_all_reduce(self, tensors, op):
        """Of indices and values, of which ranks may have different numbers:
        everybody gets all of them and adds up. Blocks."""
        if op != 0:
            self.refuse("all_reduce", "unsupported reduction operation of a "
                        "sparse tensor: expected SUM")
        mine = tensors[0].coalesce()
        indices, values = mine.indices().t().contiguous(), mine.values()
        counts = torch.zeros(self._size, dtype=torch.int64)
        self.all_gather_single(
            counts, torch.tensor([len(values)], dtype=torch.int64)).wait()
        parts = []
        for part in (indices, values):
            lists = [part.new_empty((count, *part.shape[1:]))
                     for count in counts.tolist()]
            part = part.contiguous()
            self._run(None, lists, part, self.lib.all_gather,
                      self._tensors("all_reduce", lists),
                      self._tensor("all_reduce", part)).wait()
            parts.append(torch.cat(lists))
        tensors[0].copy_(torch.sparse_coo_tensor(
            parts[0].t(), parts[1], mine.shape).coalesce())
        return Work(self, (), tensors)

    def allreduce_coalesced(self, tensors, opts=None):
        if not tensors:
            self.refuse("all_reduce", "requires non-empty tensor list")
        if self._name == "gloo":
            if len({tensor.layout for tensor in tensors}) > 1:
                self._refuse_unlike("all_reduce", tensors)
            if len({tensor.dtype for tensor in tensors}) > 1:
                self.refuse("all_reduce",
                            "tensors must all have the same type")
        op = self._reduce_op("all_reduce", opts)
        works = [self._run(opts, part, part, self.lib.all_reduce_coalesced,
                           self._tensors("all_reduce", part), len(part), op)
                 for part in by_dtype(tensors)]
        self._free_op(op)
        return self._joined(works, tensors)

    def _joined(self, works, result):
        """Of the calls that a call was cut into, by dtype."""
        if len(works) == 1:
            return works[0]
        return self._all_of([work for work in works if work._handles], result)

    def broadcast(self, tensors, opts=None, root=0):
        if not torch.is_tensor(tensors) and (
                len(tensors) != 1 or getattr(opts, "rootTensor", 0)):
            return several.broadcast(self, tensors, opts, root)
        tensor = self._only("broadcast", tensors)
        return self._run(opts, [tensor], tensor, self.lib.broadcast,
                         self._tensor("broadcast", tensor, True),
                         self._root("broadcast", opts, root))

    def reduce(self, tensors, opts=None, op=None, root=0):
        op = self._reduce_op("reduce",
                             opts if hasattr(opts, "reduceOp") else op)
        root = self._root("reduce", opts, root)
        if getattr(opts, "rootTensor", 0):
            self.refuse("reduce", "invalid root tensor: %d" % opts.rootTensor)
        tensor = self._only("reduce", tensors)
        work = self._run(opts, [tensor], tensor, self.lib.reduce,
                         self._tensor("reduce", tensor), root, op)
        self._free_op(op)
        return work

    def barrier(self, opts=None):
        timeout = library.nanoseconds(getattr(opts, "timeout", None))
        if not timeout:
            return self._run(opts, [], None, self.lib.barrier)
        handle = c_void_p()
        charge.before_call()
        self._at(source.caller())
        self._sequence += 1
        self._check("barrier", self.lib.barrier(self.handle, byref(handle)))
        work = self._started((handle.value,), [], None)
        if _is_sync(opts, source.caller()):
            work.wait(opts.timeout)
        return work

    def monitored_barrier(self, timeout=None, wait_all_ranks=False):
        timeout_ns = (int(timeout * 1e9) if isinstance(timeout, (int, float))
                      else library.nanoseconds(timeout))
        if timeout is not None:  # 0 is the group's own for dist.h
            timeout_ns = max(timeout_ns, 1)
        self._at(source.caller())
        error = self.lib.monitored_barrier(self.handle, timeout_ns,
                                           wait_all_ranks)
        if error:
            ranks = (c_int * self._size)()
            count = self.lib.monitored_barrier_missing(self.handle, ranks,
                                                       self._size)
            raise self._error(_monitored_words(
                self._message_text(), ranks[:count], self._rank, timeout_ns,
                wait_all_ranks))

    def allgather(self, outputs, inputs, opts=None):
        call = "all_gather"
        if torch.is_tensor(inputs):
            outputs, inputs = [outputs], [inputs]
        if len(inputs) != 1 or len(outputs) != 1:
            return several.all_gather(self, outputs, inputs, opts)
        tensor, apart = self._dense(inputs[0]), self._apart(outputs[0])
        views = self._per_rank(
            call, apart, "invalid output tensor list: it has %d, expected %d")
        self._refuse_unlike(call, outputs[0], tensor)
        work = self._run(opts, outputs[0], (apart, tensor),
                         self.lib.all_gather, views,
                         self._tensor(call, tensor, True))
        return self._copied(work, outputs[0], apart)

    def _apart(self, outputs):
        """Where a call writes what is for outputs, which may be strided."""
        return [self._dense(tensor) for tensor in outputs]

    def _copied(self, work, outputs, apart):
        pairs = [pair for pair in zip(outputs, apart) if pair[0] is not pair[1]]
        if not pairs:
            return work
        return self._then(work, outputs,
                          lambda: [out.copy_(got) for out, got in pairs])

    def allgather_coalesced(self, output_lists, inputs, opts=None):
        if len(output_lists) != self._size:
            self.refuse("all_gather", "output lists should be equal to world "
                        "size: %d of %d" % (len(output_lists), self._size))
        works = []
        for index, tensor in enumerate(inputs):
            outputs = [part[index] for part in output_lists]
            self._refuse_unlike("all_gather", outputs, tensor,
                                "invalid size of output tensor")
            works.append(self._run(
                opts, outputs, (outputs, tensor), self.lib.all_gather,
                self._per_rank("all_gather", outputs),
                self._tensor("all_gather", tensor, True)))
        return self._joined(works, output_lists)

    def all_gather_single(self, output, tensor, opts=None):
        return self._run(opts, output, (output, tensor),
                         self.lib.all_gather_single,
                         self._tensor("all_gather_single", output, True),
                         self._tensor("all_gather_single", tensor, True))

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs, inputs, opts=None):
        call = "all_gather_single"
        works = []
        for out, into in by_dtype(outputs, inputs):
            works.append(self._run(
                opts, out, (out, into), self.lib.all_gather_single_coalesced,
                self._tensors(call, out, True),
                self._tensors(call, into, True), len(out)))
        return self._joined(works, outputs)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def reduce_scatter(self, outputs, inputs, opts=None, op=None):
        op = self._reduce_op("reduce_scatter", op if opts is None else opts)
        inputs = [inputs] if torch.is_tensor(outputs) else inputs
        output = self._only("reduce_scatter", outputs)
        if len(inputs[0]) != self._size:
            self._per_rank("reduce_scatter", inputs[0])
        work = self._run(opts, [output], (output, inputs),
                         self.lib.reduce_scatter,
                         self._tensor("reduce_scatter", output),
                         self._tensors("reduce_scatter", inputs[0]), op)
        self._free_op(op)
        return work

    def reduce_scatter_single(self, output, tensor, opts=None):
        call = "reduce_scatter_single"
        op = self._reduce_op(call, opts)
        work = self._run(opts, output, (output, tensor),
                         self.lib.reduce_scatter_single,
                         self._tensor(call, output),
                         self._tensor(call, tensor), op)
        self._free_op(op)
        return work

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs, inputs, opts=None):
        call = "reduce_scatter_single"
        op = self._reduce_op(call, opts)
        works = []
        for out, into in by_dtype(outputs, inputs):
            works.append(self._run(
                opts, out, (out, into),
                self.lib.reduce_scatter_single_coalesced,
                self._tensors(call, out), self._tensors(call, into), len(out),
                op))
        self._free_op(op)
        return self._joined(works, outputs)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def all_to_all_single(self, output, tensor, output_splits, input_splits,
                          opts=None):
        call = "all_to_all_single"
        views = (self._tensor(call, output, True),
                 self._tensor(call, tensor, True))
        splits = [self._splits(call, one, lengths, view)
                  for one, lengths, view in zip(
                      (output, tensor), (output_splits, input_splits), views)]
        return self._run(opts, output, (output, tensor),
                         self.lib.all_to_all_single, *views, *splits)

    alltoall_base = all_to_all_single

    def alltoall(self, outputs, inputs, opts=None):
        return self._run(opts, outputs, (outputs, inputs), self.lib.all_to_all,
                         self._per_rank("all_to_all", outputs),
                         self._per_rank("all_to_all", inputs))

    def gather(self, outputs, inputs, opts=None, root=0):
        outputs = [outputs] if torch.is_tensor(inputs) else outputs
        root = self._root("gather", opts, root)
        tensor = self._dense(self._only("gather", inputs, "input tensor list"))
        apart = [self._apart(part) for part in outputs or []]
        views = self._list_of_root("gather", "output", apart, root)
        lists = outputs[0] if views else []
        self._refuse_unlike("gather", lists, tensor)
        work = self._run(opts, lists, (apart, tensor), self.lib.gather,
                         self._tensor("gather", tensor, True), views, root)
        return self._copied(work, lists, apart[0]) if views else work

    def scatter(self, outputs, inputs, opts=None, root=0):
        inputs = [inputs] if torch.is_tensor(outputs) else inputs
        root = self._root("scatter", opts, root)
        tensor = self._only("scatter", outputs, "output tensor list")
        views = self._list_of_root("scatter", "input", inputs or [], root)
        self._refuse_unlike("scatter", inputs[0] if views else [], tensor)
        return self._run(opts, [tensor], (tensor, inputs), self.lib.scatter,
                         self._tensor("scatter", tensor, True), views, root)

    # ---- messages ---------------------------------------------------------

    def send(self, tensors, peer, tag=0):
        return self._message("send", library.ISEND, tensors, peer, tag)

    def recv(self, tensors, peer, tag=0):
        return self._message("recv", library.IRECV, tensors, peer, tag)

    def recv_anysource(self, tensors, tag=0):
        return self._message("recv", library.IRECV, tensors,
                             library.ANY_SOURCE, tag)

    def _message(self, call, kind, tensors, peer, tag):
        tensor = self._only(call, tensors)
        if peer == self._rank:
            return self._message_to_self(call, kind, tensor, tag)
        view = self._tensor(call, tensor, True)
        if self._batch is not None:
            # Begins with the others of the batch.
            work = self._started(None, tensors, tensors, False)
            work._op = library.P2POp(kind, view, peer, tag)
            return work
        if self._dropped:
            self._free_dropped()
        charge.before_call()
        self._at(source.caller(2))
        handle = c_void_p()
        start = self.lib.isend if kind == library.ISEND else self.lib.irecv
        if events.is_profiled():
            title = "recvAnySource" if peer < 0 else call
            start = events.Event(self._name, start, tensors, title)
        error = start(self.handle, view, peer, tag, byref(handle))
        if error:
            raise self.failure(error)
        return self._started((handle.value,), tensors, tensors, False)

    def _message_to_self(self, call, kind, tensor, tag):
        """torch allows it (isend, irecv); dist.h does not."""
        sent = self._to_self.setdefault(tag, [])
        if kind == library.ISEND:
            sent.append(tensor.detach().clone())
        elif not sent:
            self.refuse(call, "from oneself, before the send: nobody can "
                        "send it while this rank waits")
        else:
            tensor.copy_(sent.pop(0))
        work = Work(self, (), [tensor])
        work._source = self._rank
        return work

    # ---- coalescing ---------------------------------------------------------

    def _start_coalescing(self, device=None):
        if self._batch is not None:
            self.refuse("_start_coalescing", "the group is coalescing already")
        self._batch = []

    start_coalescing = _start_coalescing

    def _end_coalescing(self, device_or_works=None):
        """A Work for all since _start_coalescing, of which the messages begin
        here together."""
        works, self._batch = self._batch or [], None
        messages = [work for work in works if work._handles is None]
        if messages:
            ops = (library.P2POp * len(messages))(
                *[work._op for work in messages])
            handles = (c_void_p * len(messages))()
            charge.before_call()
            self._at(source.caller())
            error = self.lib.batch_isend_irecv(self.handle, ops, len(messages),
                                               handles)
            if error:
                raise self.failure(error)
            for work, handle in zip(messages, handles):
                work._handles = (handle,)
        if isinstance(device_or_works, list):  # torch 1: they are waited for
            return None
        result = [work._result for work in works]
        joined = self._all_of(works, result)
        joined._in_order = not messages
        return joined

    end_coalescing = _end_coalescing


def _is_sync(opts, frame) -> bool:
    """Whether the caller waits at once: opts say so since torch 2.6; before,
    the arguments of torch's own function do."""
    asynchronous = getattr(opts, "asyncOp", None)
    if asynchronous is not None:
        return not asynchronous
    return (frame.f_code.co_filename == _C10D_FILE
            and frame.f_locals.get("async_op") is False)


def _monitored_words(text, missing, rank, timeout_ns, wait_all_ranks):
    """The words of torch for a monitored barrier that failed: programs look
    for them."""
    milliseconds = timeout_ns // 1000000
    if not missing:
        return "lockstep: " + text
    if rank != 0 and missing == [0]:
        return ("Rank %d successfully reached monitoredBarrier, but received "
                "errors while waiting for send/recv from rank 0: Rank 0 timed "
                "out in monitoredBarrier after %d ms (lockstep: %s)" %
                (rank, milliseconds, text))
    if milliseconds == 0:
        return ("Rank 0 timed out in monitoredBarrier after 0 ms (lockstep: "
                "%s)" % text)
    words = "%s %s failed to pass monitoredBarrier in %d ms (lockstep: %s)" % (
        "Ranks" if wait_all_ranks else "Rank",
        ", ".join(map(str, missing)), milliseconds, text)
    if rank != 0:
        return ("Rank %d successfully reached monitoredBarrier, but received "
                "errors while waiting for send/recv from rank 0. Please check "
                "rank 0 logs for faulty rank. (%s)" % (rank, words))
    return words


# ---- making -----------------------------------------------------------------

_default = None


def default():
    """The default group, None before it is made and after its end."""
    return _default if _default is not None and _default.handle else None


def make_default(store, rank, size, timeout, name="lockstep"):
    """Joins the job; the ranks find each other by store, of torch."""
    global _default
    from . import rendezvous
    lib = library.load()
    message = library.Message()
    options = library.InitOptions(
        backend=None, rank=rank, world_size=size,
        timeout_ns=library.nanoseconds(timeout),
        message=ctypes.pointer(message))
    handle = c_void_p()
    with rendezvous.of(lib, store, rank, size, options):
        error = lib.init_process_group(byref(options), byref(handle))
    if error:
        words = message.text.decode()
        if " ranks came" in words:
            words = "Timed out waiting for the ranks: " + words
        raise _error_of(name)("lockstep: " + words)
    if _default is None:
        atexit.register(_leave)
        buckets.install()
        eager.install()
        polls.install()
        source.install()
        unwaited.install()
        if "LOCKSTEP_SEAT" not in os.environ:
            keys.install()
    made = Group(lib, handle.value, rank, size, name)
    if default() is None:
        _default = made
    return made


def _leave():
    """Says goodbye for a program that ended well without doing it."""
    group = default()
    if group is None:
        return
    if hook.uncaught or getattr(sys, "last_value", None) is not None:
        group.stop_waiting()
        return
    try:
        group.shutdown()
    except RuntimeError as error:
        hook.failures.append(error)
        sys.excepthook(type(error), error, error.__traceback__)


def _is_on_host(keep):
    tensors = events.flat(keep)
    return bool(tensors) and all(t.device.type == "cpu" for t in tensors)


def make_subgroup(ranks, timeout, label=None, name="lockstep", number=""):
    """A group of these global ranks, in this order, made by them alone.
    number: torch's, which counts the calls of the rank. Its own back ends meet
    under it, and so badly where a rank did not ask for them all."""
    parent = default()
    if parent is None:
        raise RuntimeError(
            "lockstep: new_group: the default group is not ours")
    options = library.GroupOptions(
        name=label.encode()[:23] if label else None,
        timeout_ns=library.nanoseconds(timeout), keep_order=True,
        members_only=True, number=int(number) if number.isdigit() else 0)
    handle = c_void_p()
    parent._at(source.caller())
    parent._check("new_group", parent.lib.new_group(
        parent.handle, (c_int * len(ranks))(*ranks), len(ranks),
        byref(options), byref(handle)))
    group = Group(parent.lib, handle.value, ranks.index(parent.rank()),
                  len(ranks), name, parent)
    group.ranks = ranks
    parent.subgroups.append(group)
    return group
