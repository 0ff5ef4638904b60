"""Remote calls with the words of torch.distributed.rpc, over rpc.h.

    import lockstep.rpc as rpc

    rpc.init_rpc("worker%d" % rank)
    rpc.rpc_sync("worker1", torch.add, args=(x, y))
    rpc.shutdown()

Functions are pickled by reference, as torch does: the callee finds them in the
module of the same name. What a function raises is raised at the caller, with
the callee's traceback as its text. All calls of a worker are one function of
rpc.h, which runs on the library's threads.

A value that RRefs refer to stays an object with its owner, which counts the
references: those that workers hold, and those on their way.
"""

import atexit
import ctypes
import io
import itertools
import pickle
import sys
import threading
import traceback
from collections import namedtuple

from . import library, source

_NAME = b"python"
_DEFAULT_TIMEOUT = 60.0

WorkerInfo = namedtuple("WorkerInfo", "name id")


class RpcBackendOptions:
    """num_worker_threads: calls served at once; rpc_timeout: seconds of a call,
    0: no end."""

    def __init__(self, num_worker_threads=16, rpc_timeout=_DEFAULT_TIMEOUT,
                 **_):
        self.num_worker_threads = num_worker_threads
        self.rpc_timeout = rpc_timeout


TensorPipeRpcBackendOptions = RpcBackendOptions


class _State:
    """A worker; one a process."""

    def __init__(self, lib, handle, group, owns_group):
        self.lib, self.handle = lib, handle
        self.group, self.owns_group = group, owns_group
        self.rank = lib.rpc_get_rank(handle)
        self.infos = [
            WorkerInfo(lib.rpc_get_worker_name(handle, worker).decode(), worker)
            for worker in range(lib.rpc_get_world_size(handle))]
        self.numbers = itertools.count()


_state = None


def _here():
    if _state is None:
        raise RuntimeError("RPC has not been initialized. Call init_rpc first.")
    return _state


# ---- beginning and ending ----------------------------------------------------

def init_rpc(name=None, backend=None, rank=-1, world_size=None,
             rpc_backend_options=None):
    """Makes this process a worker. All ranks of the default group call it: that
    of torch.distributed where it is Lockstep's, else one of its own. backend is
    there for torch's sake."""
    global _state
    del backend
    if _state is not None:
        raise RuntimeError("RPC is already initialized")
    options = rpc_backend_options or RpcBackendOptions()
    lib = library.load()
    group, owns_group = _default_group(lib, rank, world_size)
    entries = (library.RpcEntry * 1)((_NAME, _serve, None))
    settings = library.RpcOptions(
        name.encode() if name is not None else None,
        options.num_worker_threads, _nanoseconds(options.rpc_timeout), entries,
        1)
    handle = library.c_void_p()
    _set_line(lib)
    error = lib.rpc_init(group, settings, library.byref(handle))
    if error:
        text = _message(lib, error)
        if owns_group:
            lib.destroy_process_group(group)
        raise (ValueError if error == library.INVALID_ARGUMENT
               else RuntimeError)("init_rpc: " + text)
    _state = _State(lib, handle.value, group, owns_group)
    _ready.set()


def shutdown(graceful=True, timeout=0):
    """Graceful: when all workers have come here and no call is outstanding."""
    global _state
    del timeout
    state = _here()
    _set_line(state.lib)
    error = state.lib.rpc_shutdown(state.handle, graceful)
    text = _message(state.lib, error) if error else None
    _ready.clear()
    _state = None
    _values.clear()
    if state.owns_group:
        state.lib.destroy_process_group(state.group)
    if text:
        raise RuntimeError("shutdown: " + text)


def _default_group(lib, rank, world_size):
    """The handle of a group, and whether it is ours to destroy."""
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_available() and dist.is_initialized():
        group = sys.modules["torch.distributed.distributed_c10d"]
        handle = getattr(group._get_default_group(), "handle", None)
        if handle:
            return handle, False
    handle, message = library.c_void_p(), library.Message()
    options = library.InitOptions(
        rank=rank if world_size and rank >= 0 else 0,
        world_size=world_size or 0, message=ctypes.pointer(message))
    if lib.init_process_group(options, library.byref(handle)):
        raise RuntimeError("init_rpc: " + message.text.decode())
    return handle.value, True


def _leave():
    if _state is not None:
        shutdown(graceful=False)


atexit.register(_leave)


def get_worker_info(worker_name=None):
    """Of this worker without a name."""
    state = _here()
    if worker_name is None:
        return state.infos[state.rank]
    worker = state.lib.rpc_get_worker(state.handle, worker_name.encode())
    if worker < 0:
        raise RuntimeError("unknown destination worker " + worker_name)
    return state.infos[worker]


def _worker_of(to):
    if isinstance(to, WorkerInfo):
        return to.id
    if isinstance(to, str):
        return get_worker_info(to).id
    if not 0 <= to < len(_here().infos):
        raise RuntimeError("unknown destination worker %d" % to)
    return to


# ---- errors, lines, times ----------------------------------------------------

def _message(lib, error):
    message = library.Message()
    lib.rpc_error_message(None, message)
    return (message.text or lib.error_string(error)).decode(errors="replace")


def _raise(lib, error):
    text = _message(lib, error)
    if error == library.TIMEOUT:
        raise TimeoutError(text)
    raise RuntimeError(text)


def _set_line(lib):
    file, line = source.here(sys._getframe(2))
    if file:
        lib.call_at(file, line)


def _nanoseconds(seconds):
    """-1: of the worker; 0: no end."""
    if seconds is None or seconds < 0:
        return 0
    return int(seconds * 1e9) or library.TIMEOUT_NEVER


class _Failure:
    """What a function raised, on its way to who called it."""

    def __init__(self, exception):
        info = _here().infos[_state.rank]
        self.kind = type(exception)
        self.text = "On %s:\n%s" % (
            info, "".join(traceback.format_exception(
                type(exception), exception, exception.__traceback__)))

    def rebuild(self):
        try:
            return self.kind(self.text)
        except Exception:  # it has a constructor of its own
            return RuntimeError("%s: %s" % (self.kind.__name__, self.text))


# ---- pickling ----------------------------------------------------------------

def _rebuild_tensor(data, dtype, shape, requires_grad):
    torch = sys.modules["torch"]
    if len(data) == 0:
        return torch.empty(shape, dtype=dtype, requires_grad=requires_grad)
    tensor = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
    return tensor.requires_grad_(requires_grad)


class _Pickler(pickle.Pickler):
    """Plain tensors as their bytes, others as torch pickles them."""

    def reducer_override(self, thing):
        torch = sys.modules.get("torch")
        if (torch is None or type(thing) is not torch.Tensor
                or thing.device.type != "cpu" or thing.layout != torch.strided
                or thing.is_quantized or thing.is_conj() or thing.is_neg()):
            return NotImplemented
        flat = thing.detach().contiguous().reshape(-1)
        data = bytearray(flat.numel() * flat.element_size())
        if data:
            ctypes.memmove((ctypes.c_char * len(data)).from_buffer(data),
                           flat.data_ptr(), len(data))
        return _rebuild_tensor, (data, thing.dtype, tuple(thing.shape),
                                 thing.requires_grad and thing.is_leaf)


def _dumps(thing):
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(thing)
    return file.getvalue()


def _loads(data):
    return pickle.loads(data)


def _bytes_of(rpc_bytes):
    return ctypes.string_at(rpc_bytes.data, rpc_bytes.bytes) \
        if rpc_bytes.bytes else b""


# ---- futures -----------------------------------------------------------------

class Future:
    """A value to come: of a call, or whoever sets it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._callbacks = []
        self._outcome = None  # value, exception

    def _settle(self, value, exception):
        with self._lock:
            if self._outcome is not None:
                return
            self._outcome = value, exception
            callbacks, self._callbacks = self._callbacks, []
        self._event.set()
        for callback in callbacks:
            callback(self)

    def set_result(self, result):
        self._settle(result, None)

    def set_exception(self, exception):
        self._settle(None, exception)

    def done(self):
        return self._outcome is not None

    def wait(self):
        self._event.wait()
        value, exception = self._outcome
        if exception is not None:
            raise exception
        return value

    value = wait

    def add_done_callback(self, callback):
        """Calls callback(self) at the end, or at once where that is past."""
        with self._lock:
            if self._outcome is None:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A future of what callback(self) returns."""
        following = Future()

        def follow(_):
            try:
                following.set_result(callback(self))
            except Exception as exception:
                following.set_exception(exception)

        self.add_done_callback(follow)
        return following


class _Call(Future):
    """A call in flight. It is the library that waits: so verdicts know who
    waits for whom."""

    def __init__(self, lib, handle):
        super().__init__()
        self._lib, self._handle = lib, handle

    def __del__(self):
        self._lib.rpc_future_free(self._handle)

    def _fetch(self):
        if self._outcome is not None:
            return
        lib = self._lib
        error = lib.rpc_wait(self._handle)
        if error:
            try:
                _raise(lib, error)
            except Exception as exception:
                self._settle(None, exception)
            return
        value = _bytes_of(lib.rpc_value(self._handle))
        try:
            value = _loads(value)
        except Exception as exception:
            self._settle(None, exception)
            return
        if isinstance(value, _Failure):
            self._settle(None, value.rebuild())
        else:
            self._settle(value, None)

    def wait(self):
        if self._outcome is None:
            _set_line(self._lib)
            self._fetch()
        return super().wait()

    value = wait

    def done(self):
        return super().done() or self._lib.rpc_is_done(self._handle)

    def add_done_callback(self, callback):
        if self.done():
            self._fetch()
            callback(self)
            return
        number = next(_numbers)
        _callbacks[number] = self, callback
        if self._lib.rpc_then(self._handle, _call_back, number):
            del _callbacks[number]
            raise MemoryError


_numbers = itertools.count(1)
_callbacks = {}


@library.RPC_CALLBACK
def _call_back(number, _):
    future, callback = _callbacks.pop(number)
    try:
        future._fetch()
        callback(future)
    except Exception:
        traceback.print_exc()


def wait_all(futures):
    """The values of futures; the first exception is raised when all have
    ended."""
    futures = list(futures)
    first, values = None, []
    for future in futures:
        try:
            values.append(future.wait())
        except Exception as exception:
            first = first or exception
    if first is not None:
        raise first
    return values


# ---- calling -----------------------------------------------------------------

def _start(to, function, args, kwargs, timeout):
    state = _here()
    data = _dumps((function, tuple(args or ()), dict(kwargs or {})))
    request = library.RpcRequest(_worker_of(to), _NAME, data, len(data),
                                 _nanoseconds(timeout))
    handle = library.c_void_p()
    error = state.lib.rpc_async(state.handle, request, library.byref(handle))
    if error:
        _raise(state.lib, error)
    return _Call(state.lib, handle.value)


def rpc_async(to, func, args=None, kwargs=None, timeout=-1.0):
    """A Future of func(*args, **kwargs) on to: a name, a number or a
    WorkerInfo. timeout in seconds; 0: no end."""
    _set_line(_here().lib)
    return _start(to, func, args, kwargs, timeout)


def rpc_sync(to, func, args=None, kwargs=None, timeout=-1.0):
    _set_line(_here().lib)
    future = _start(to, func, args, kwargs, timeout)
    _set_line(_here().lib)
    future._fetch()
    return Future.wait(future)


# ---- serving -----------------------------------------------------------------

_ready = threading.Event()  # others may call before init has returned here


def async_execution(function):
    """Marks a function that returns a Future, of which the value is that of
    its calls: no thread waits for it."""
    function._lockstep_async = True
    return function


class functions:
    async_execution = staticmethod(async_execution)


def _is_async(function):
    return getattr(getattr(function, "__func__", function), "_lockstep_async",
                   False)


def _reply(lib, call, value):
    try:
        data = _dumps(value)
    except Exception as exception:
        data = _dumps(_Failure(exception))
    lib.rpc_call_reply(call, data, len(data))


@library.RPC_FUNCTION
def _serve(_, call):
    _ready.wait()
    lib = _here().lib
    try:
        function, args, kwargs = _loads(_bytes_of(lib.rpc_call_input(call)))
        value = function(*args, **kwargs)
        if _is_async(function):
            if not isinstance(value, Future):
                raise RuntimeError(
                    "async_execution: expected a Future from %s, got %s" %
                    (function, type(value).__name__))
            lib.rpc_call_later(call)
            value.add_done_callback(lambda future: _end(lib, call, future))
            return
    except BaseException as exception:
        value = _Failure(exception)
    _reply(lib, call, value)


def _end(lib, call, future):
    try:
        value = future.wait()
    except Exception as exception:
        value = _Failure(exception)
    _reply(lib, call, value)
    lib.rpc_call_end(call)


# ---- references --------------------------------------------------------------

class _Value:
    """What an owner holds. Messages about it come in any order: so the count
    may be below 0 until it has been made."""

    def __init__(self):
        self.count = 0
        self.made = False
        self.future = Future()


_values = {}  # by key: the worker that asked for it, and its number
_values_lock = threading.RLock()  # __del__ may come while it is held


def _count(key, change, made=False):
    with _values_lock:
        value = _values.setdefault(key, _Value())
        value.count += change
        value.made |= made
        _give_up_unused(key, value)
        return value


def _give_up_unused(key, value):
    with _values_lock:
        if value.made and value.count == 0 and value.future.done():
            _values.pop(key, None)


@async_execution
def _make(key, function, args, kwargs):
    """What remote calls; ends when the value is there, or why it is not."""
    value = _count(key, 1, made=True)
    done = Future()

    def keep(future):
        try:
            value.future.set_result(future.wait())
        except BaseException as exception:
            value.future.set_result(_Failure(exception))
        _give_up_unused(key, value)
        done.set_result(None)

    future = Future()
    try:
        made = function(*args, **kwargs)
        if _is_async(function):
            made.add_done_callback(keep)
            return done
        future.set_result(made)
    except BaseException as exception:
        future.set_exception(exception)
    keep(future)
    return done


@async_execution
def _fetch(key):
    """Counts, since it may come after the reference is given up: its caller
    does not wait longer than its timeout."""
    return _count(key, 1).future


class RRef:
    """A reference to a value of a worker. RRef(value) makes one of this."""

    def __init__(self, value):
        state = _here()
        self._key, self._owner = (state.rank, next(state.numbers)), state.rank
        self._made, self._fetches = None, 0
        _count(self._key, 1, made=True).future.set_result(value)

    @classmethod
    def _of(cls, key, owner, made=None):
        rref = cls.__new__(cls)
        rref._key, rref._owner, rref._made = key, owner, made
        rref._fetches = 0
        return rref

    def owner(self):
        return _here().infos[self._owner]

    def owner_name(self):
        return self.owner().name

    def is_owner(self):
        return self._owner == _here().rank

    def confirmed_by_owner(self):
        return self._made is None or self._made.done()

    def to_here(self, timeout=-1.0):
        if self.is_owner():
            return self.local_value()
        _set_line(_here().lib)
        future = _start(self._owner, _fetch, (self._key,), None, timeout)
        with _values_lock:
            self._fetches += 1
        future._fetch()
        return _value_of(Future.wait(future))

    def local_value(self):
        if not self.is_owner():
            raise RuntimeError(
                "local_value of an RRef on worker %s, which is owned by %s" %
                (get_worker_info().name, self.owner_name()))
        return _value_of(_count(self._key, 0).future.wait())

    def rpc_sync(self, timeout=-1.0):
        return _Proxy(self, rpc_sync, timeout)

    def rpc_async(self, timeout=-1.0):
        return _Proxy(self, rpc_async, timeout)

    def remote(self, timeout=-1.0):
        return _Proxy(self, remote, timeout)

    def __reduce__(self):
        """On its way it is one reference more, which the owner knows of before
        this one can go."""
        if self.is_owner():
            _count(self._key, 1)
        else:
            rpc_sync(self._owner, _count_one, (self._key,))
        return RRef._of, (self._key, self._owner)

    def __del__(self):
        state = _state
        if state is None or "_owner" not in self.__dict__:
            return
        try:
            if self._owner == state.rank:
                _count(self._key, -1)
            else:
                _start(self._owner, _drop, (self._key, 1 + self._fetches),
                       None, -1.0)
        except Exception:
            pass  # the owner is gone, and the value with it

    def __repr__(self):
        return "RRef(owner=%d, key=%s)" % (self._owner, self._key)


def _count_one(key):
    _count(key, 1)


def _drop(key, times):
    _count(key, -times)


def _value_of(value):
    if isinstance(value, _Failure):
        raise value.rebuild()
    return value


def _call_method(rref, name, args, kwargs):
    return getattr(rref.local_value(), name)(*args, **kwargs)


class _Proxy:
    """rref.rpc_sync().method(...): the method of the value, on its owner."""

    def __init__(self, rref, call, timeout):
        self._rref, self._call, self._timeout = rref, call, timeout

    def __getattr__(self, name):
        def method(*args, **kwargs):
            return self._call(self._rref._owner, _call_method,
                              (self._rref, name, args, kwargs),
                              timeout=self._timeout)
        return method


def remote(to, func, args=None, kwargs=None, timeout=-1.0):
    """An RRef to what func(*args, **kwargs) gives on to, at once."""
    state = _here()
    owner = _worker_of(to)
    key = (state.rank, next(state.numbers))
    _set_line(state.lib)
    made = _start(owner, _make,
                  (key, func, tuple(args or ()), dict(kwargs or {})), None,
                  timeout)
    return RRef._of(key, owner, made)
