"""What dist.h and rpc.h say, for ctypes: the only file that knows it.

The library is the one that LOCKSTEP_LIBRARY names, else the one installed with
this package, else the loader's.
"""

import ctypes
import ctypes.util
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char,
                    c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)

SONAME = "liblockstep.so.0"

INVALID_ARGUMENT = -1
UNSUPPORTED = -2
TIMEOUT = -5
MISMATCH = -6
PEER_LOST = -8
ABORTED = -9
RENDEZVOUS = -10

TIMEOUT_OF_GROUP = 0
TIMEOUT_NEVER = 2**63 - 1
ANY_SOURCE = -1
ISEND, IRECV = 0, 1

REDUCE_OPS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
PREMUL_SUM = len(REDUCE_OPS)
UINT8 = 5
# Names of torch, in the order of enum dist_dtype.
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8",
          "int32", "int64", "bool", "int16", "uint16", "uint32", "uint64",
          "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("numel", c_size_t), ("dtype", c_int)]


class Message(Structure):
    _fields_ = [("text", c_char * 512)]


class InitOptions(Structure):
    _fields_ = [("backend", c_char_p), ("init_method", c_char_p),
                ("rank", c_int), ("world_size", c_int),
                ("timeout_ns", c_int64), ("message", POINTER(Message)),
                ("store", c_void_p)]


class GroupOptions(Structure):
    _fields_ = [("name", c_char_p), ("timeout_ns", c_int64),
                ("keep_order", c_bool), ("members_only", c_bool),
                ("number", c_uint32)]


class P2POp(Structure):
    _fields_ = [("kind", c_int), ("tensor", Tensor), ("peer", c_int),
                ("tag", c_int)]


class RpcBytes(Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t)]


RPC_FUNCTION = CFUNCTYPE(None, c_void_p, c_void_p)
RPC_CALLBACK = CFUNCTYPE(None, c_void_p, c_void_p)


class RpcEntry(Structure):
    _fields_ = [("name", c_char_p), ("function", RPC_FUNCTION),
                ("context", c_void_p)]


class RpcOptions(Structure):
    _fields_ = [("name", c_char_p), ("num_worker_threads", c_int),
                ("timeout_ns", c_int64), ("functions", POINTER(RpcEntry)),
                ("num_functions", c_int)]


class RpcRequest(Structure):
    _fields_ = [("to", c_int), ("function", c_char_p), ("data", c_char_p),
                ("bytes", c_size_t), ("timeout_ns", c_int64)]


_GROUP, _WORK, _TENSORS = c_void_p, c_void_p, POINTER(Tensor)
_SPLITS, _OUT = POINTER(c_size_t), POINTER(c_void_p)
_ERROR = c_int

# name: result, arguments. A group comes first and, where there is one, the
# address of the work last.
_SIGNATURES = {
    "init_process_group": (_ERROR, POINTER(InitOptions), _OUT),
    "destroy_process_group": (_ERROR, _GROUP),
    "abort": (None, _GROUP),
    "new_group": (_ERROR, _GROUP, POINTER(c_int), c_int,
                  POINTER(GroupOptions), _OUT),
    "get_backend": (c_char_p, _GROUP),
    "set_timeout": (_ERROR, _GROUP, c_int64),
    "error_string": (c_char_p, c_int),
    "dtype_size": (c_size_t, c_int),
    "work_at": (_WORK, _WORK, c_char_p, c_int),
    "label": (_GROUP, _GROUP, c_char_p, c_uint64),
    "refuse": (_ERROR, _GROUP, c_char_p),
    "at": (_GROUP, _GROUP, c_char_p, c_int),
    "await_key": (None, _GROUP, c_char_p, c_int64),
    "await_key_end": (None, _GROUP, c_int),
    "has_stored": (None, _GROUP, c_char_p),
    "now_ns": (c_int64, _GROUP),
    "compute": (_ERROR, _GROUP, c_int64, c_char_p),
    "all_reduce": (_ERROR, _GROUP, Tensor, c_int, _OUT),
    "reduce": (_ERROR, _GROUP, Tensor, c_int, c_int, _OUT),
    "broadcast": (_ERROR, _GROUP, Tensor, c_int, _OUT),
    "barrier": (_ERROR, _GROUP, _OUT),
    "monitored_barrier": (_ERROR, _GROUP, c_int64, c_bool),
    "monitored_barrier_missing": (c_int, _GROUP, POINTER(c_int), c_int),
    "make_premul_sum": (_ERROR, _GROUP, c_double, POINTER(c_int)),
    "free_premul_sum": (_ERROR, _GROUP, c_int),
    "all_gather_single": (_ERROR, _GROUP, Tensor, Tensor, _OUT),
    "all_gather": (_ERROR, _GROUP, _TENSORS, Tensor, _OUT),
    "reduce_scatter_single": (_ERROR, _GROUP, Tensor, Tensor, c_int, _OUT),
    "reduce_scatter": (_ERROR, _GROUP, Tensor, _TENSORS, c_int, _OUT),
    "all_to_all_single": (_ERROR, _GROUP, Tensor, Tensor, _SPLITS, _SPLITS,
                          _OUT),
    "all_to_all": (_ERROR, _GROUP, _TENSORS, _TENSORS, _OUT),
    "gather": (_ERROR, _GROUP, Tensor, _TENSORS, c_int, _OUT),
    "scatter": (_ERROR, _GROUP, Tensor, _TENSORS, c_int, _OUT),
    "all_reduce_coalesced": (_ERROR, _GROUP, _TENSORS, c_size_t, c_int, _OUT),
    "all_gather_single_coalesced": (_ERROR, _GROUP, _TENSORS, _TENSORS,
                                    c_size_t, _OUT),
    "reduce_scatter_single_coalesced": (_ERROR, _GROUP, _TENSORS, _TENSORS,
                                        c_size_t, c_int, _OUT),
    "isend": (_ERROR, _GROUP, Tensor, c_int, c_int, _OUT),
    "irecv": (_ERROR, _GROUP, Tensor, c_int, c_int, _OUT),
    "batch_isend_irecv": (_ERROR, _GROUP, POINTER(P2POp), c_size_t, _OUT),
    "work_wait": (_ERROR, _WORK, c_int64),
    "work_wait_aside": (_ERROR, _WORK, c_int64),
    "work_read_at": (None, _WORK, c_char_p, c_int),
    "allow_threads": (_ERROR, _GROUP),
    "error_message_copy": (None, _GROUP, POINTER(Message)),
    "work_is_completed": (c_bool, _WORK),
    "work_source": (c_int, _WORK),
    "work_free": (None, _WORK),
    "tcp_store_new": (_ERROR, c_char_p, c_int, c_int, c_bool, c_int64, _OUT,
                      POINTER(Message)),
    "tcp_store_port": (c_int, c_void_p),
    "store_free": (None, c_void_p),
    "rpc_init": (_ERROR, _GROUP, POINTER(RpcOptions), _OUT),
    "rpc_shutdown": (_ERROR, c_void_p, c_bool),
    "rpc_get_worker": (c_int, c_void_p, c_char_p),
    "rpc_get_worker_name": (c_char_p, c_void_p, c_int),
    "rpc_get_rank": (c_int, c_void_p),
    "rpc_get_world_size": (c_int, c_void_p),
    "rpc_error_message": (None, c_void_p, POINTER(Message)),
    "rpc_async": (_ERROR, c_void_p, POINTER(RpcRequest), _OUT),
    "rpc_wait": (_ERROR, c_void_p),
    "rpc_is_done": (c_bool, c_void_p),
    "rpc_value": (RpcBytes, c_void_p),
    "rpc_then": (_ERROR, c_void_p, RPC_CALLBACK, c_void_p),
    "rpc_future_free": (None, c_void_p),
    "rpc_call_input": (RpcBytes, c_void_p),
    "rpc_call_reply": (_ERROR, c_void_p, c_char_p, c_size_t),
    "rpc_call_later": (None, c_void_p),
    "rpc_call_end": (None, c_void_p),
    "call_at": (None, c_char_p, c_int),
    "end_at": (None, c_void_p, c_char_p, c_int, c_char_p, c_char_p),
}


def _candidates():
    named = os.environ.get("LOCKSTEP_LIBRARY")
    if named:
        yield named
        return
    # <prefix>/share/lockstep/python/lockstep/library.py
    here = os.path.dirname(os.path.realpath(__file__))
    installed = os.path.join(here, "../../../../lib", SONAME)
    if os.path.exists(installed):
        yield os.path.normpath(installed)
    yield SONAME


class Library:
    """The functions of dist.h without their prefix: library.all_reduce."""

    def __init__(self):
        tried = []
        for path in _candidates():
            try:
                loaded = ctypes.CDLL(path)
                break
            except OSError as error:
                tried.append(str(error))
        else:
            raise ImportError("no Lockstep library: " + "; ".join(tried) +
                              " (LOCKSTEP_LIBRARY names it)")
        self.path = path
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(loaded, "dist_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)
        # Before every call: without conversions, so its group is a c_void_p.
        self.at_from = loaded["dist_at_from"]
        self.at_from.restype = None
        # Those that this library has.
        self.dtypes = {name: number for number, name in enumerate(DTYPES)
                       if self.dtype_size(number)}


_loaded = None


def load() -> Library:
    """The library, loaded once. ImportError: there is none."""
    global _loaded
    if _loaded is None:
        _loaded = Library()
    return _loaded


def nanoseconds(timeout) -> int:
    """Of a timedelta; the group's own timeout for none, or a negative one."""
    if timeout is None:
        return TIMEOUT_OF_GROUP
    return max(TIMEOUT_OF_GROUP,
               (timeout.days * 86400 + timeout.seconds) * 10**9 +
               timeout.microseconds * 1000)


__all__ = ["load", "nanoseconds", "byref", "c_int", "c_size_t", "c_void_p"]
