"""The calls of lockstep/seat.h and lockstep/store.h that simulated ranks need
besides their group.
"""

import ctypes
import signal
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, \
    c_void_p

from .. import library

_KEYS = POINTER(c_char_p)
_SIGNATURES = {
    "seat_is_taken": (c_bool,),
    "seat_now_ns": (c_int64,),
    "seat_pass": (c_int, c_int64),
    "seat_ranks": (c_int,),
    "seat_reap": (c_int, POINTER(c_int)),
    "seat_store_new": (c_int, POINTER(c_void_p)),
    "store_at": (c_void_p, c_void_p, c_char_p, c_int),
    "store_free": (None, c_void_p),
    "store_set_timeout": (c_int, c_void_p, c_int64),
    "store_set": (c_int, c_void_p, c_char_p, c_char_p, c_size_t),
    "store_get": (c_int, c_void_p, c_char_p, POINTER(c_void_p),
                  POINTER(c_size_t)),
    "store_add": (c_int, c_void_p, c_char_p, c_int64, POINTER(c_int64)),
    "store_compare_set": (c_int, c_void_p, c_char_p, c_char_p, c_char_p,
                          POINTER(c_void_p), POINTER(c_size_t)),
    "store_wait": (c_int, c_void_p, _KEYS, c_size_t, c_int64),
    "store_check": (c_int, c_void_p, _KEYS, c_size_t, POINTER(c_bool)),
    "store_delete_key": (c_int, c_void_p, c_char_p, POINTER(c_bool)),
    "store_num_keys": (c_int, c_void_p, POINTER(c_int64)),
    "error_string": (c_char_p, c_int),
}

TIMEOUT = -5  # DIST_ERR_TIMEOUT


class _Calls:
    def __init__(self):
        loaded = ctypes.CDLL(library.load().path)
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(loaded, "dist_" + name)
            # Another handle: what library.py says of a function is its own.
            setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(
                ctypes.cast(function, c_void_p).value))


lib = _Calls()
_libc = ctypes.CDLL(None)
_libc.free.argtypes = [c_void_p]


def count():
    """How many ranks this process has to fork; -1: none."""
    return lib.seat_ranks()


def reap(pids):
    """Waits for all ranks."""
    lib.seat_reap((c_int * len(pids))(*pids))


def die_with_parent():
    _libc.prctl(1, signal.SIGKILL, 0, 0, 0)


def take(call, *arguments):
    """Returns the error of call, and the value that it made."""
    value, size = c_void_p(), c_size_t()
    error = call(*arguments, byref(value), byref(size))
    if error:
        return error, b""
    text = ctypes.string_at(value.value, size.value)
    _libc.free(value)
    return 0, text
