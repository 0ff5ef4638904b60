"""torch's stores in a simulation: parts of the one store that its ranks share,
where waiting takes simulated time. As with torch, stores at one port or in one
file are one; the store at MASTER_PORT is that of the job.
"""

import datetime
import itertools
import os
import sys
from ctypes import byref, c_bool, c_char_p, c_int64, c_void_p
from urllib.parse import parse_qs, urlparse

from .. import source
from . import seat

_kept = []
_NEVER = 2 ** 63 - 1
_ports = itertools.count()


def _nanoseconds(timeout):
    ns = int(timeout / datetime.timedelta(microseconds=1)) * 1000
    return ns if 0 < ns < _NEVER else _NEVER


def _timeout(arguments, named):
    """The one that a store is made with, wherever it stands."""
    for one in (*arguments, named.get("timeout")):
        if isinstance(one, datetime.timedelta):
            return one
    return datetime.timedelta(seconds=300)


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def _free_port():
    """A port for a store that asks for port 0, by rank and store."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 32768 + (next(_ports) * size + rank) % 28232


def _at_port(port):
    """What stands before the keys of the store there."""
    return ("" if str(port) == os.environ.get("MASTER_PORT")
            else "port %s/" % port)


def install():
    """Has torch.distributed find ranks by our store."""
    import torch.distributed as dist
    # The package has a function of that name.
    rendezvous = sys.modules["torch.distributed.rendezvous"]

    class SeatStore(dist.Store):
        """torch's Store over dist_seat_store_new(). place: before its keys."""

        def __init__(self, place, timeout):
            super().__init__()
            handle = c_void_p()
            self._check(seat.lib.seat_store_new(byref(handle)), "store")
            self._handle, self._place = handle, place
            self.set_timeout(timeout)
            # C++ keeps its half of a store, and calls this one.
            _kept.append(self)

        def _here(self):
            """The handle; the call that takes it stands at the user's line."""
            return seat.lib.store_at(self._handle,
                                     *source.here(sys._getframe(2)))

        def _check(self, error, what, keys=()):
            if not error:
                return
            words = seat.lib.error_string(error).decode()
            if error == seat.TIMEOUT:
                words = "Timeout waiting for key(s): %s" % ", ".join(
                    map(str, keys))
            kind = getattr(dist, "DistStoreError", RuntimeError)
            raise kind("%s: %s" % (what, words))

        def _key(self, key):
            return self._place.encode() + _bytes(key)

        def _keys(self, keys):
            return ((c_char_p * len(keys))(*map(self._key, keys)), len(keys))

        def clone(self):
            return SeatStore(self._place, self._timeout)

        def set_timeout(self, timeout):
            self._timeout = timeout
            self._check(seat.lib.store_set_timeout(
                self._handle, _nanoseconds(timeout)), "set_timeout")

        @property
        def timeout(self):
            return self._timeout

        def set(self, key, value):
            value = _bytes(value)
            self._check(seat.lib.store_set(self._here(), self._key(key), value,
                                           len(value)), "set")

        def get(self, key):
            error, value = seat.take(seat.lib.store_get, self._here(),
                                     self._key(key))
            self._check(error, "get", [key])
            return value

        def add(self, key, amount):
            total = c_int64()
            self._check(seat.lib.store_add(self._here(), self._key(key), amount,
                                           byref(total)), "add")
            return total.value

        def compare_set(self, key, expected, desired):
            error, value = seat.take(
                seat.lib.store_compare_set, self._here(), self._key(key),
                _bytes(expected), _bytes(desired))
            self._check(error, "compare_set")
            return value

        def check(self, keys):
            there = c_bool()
            self._check(seat.lib.store_check(
                self._handle, *self._keys(keys), byref(there)), "check")
            return there.value

        def wait(self, keys, timeout=None):
            limit = self._timeout if timeout is None else timeout
            self._check(seat.lib.store_wait(
                self._here(), *self._keys(keys), _nanoseconds(limit)),
                "wait", keys)

        def delete_key(self, key):
            deleted = c_bool()
            self._check(seat.lib.store_delete_key(
                self._handle, self._key(key), byref(deleted)), "delete_key")
            return deleted.value

        def num_keys(self):
            if self._place:
                raise NotImplementedError(
                    "lockstep: num_keys: the simulation counts the keys of the "
                    "store at MASTER_PORT alone")
            number = c_int64()
            self._check(seat.lib.store_num_keys(self._handle, byref(number)),
                        "num_keys")
            return number.value

        # What the C++ half asks for, and newer versions.
        deleteKey = delete_key
        getNumKeys = num_keys
        setTimeout = set_timeout

        def append(self, key, value):
            self.set(key, (self.get(key) if self.check([key]) else b"") +
                     _bytes(value))

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def has_extended_api(self):
            return True

    class TCPStore(SeatStore):
        def __init__(self, host_name="localhost", port=0, *arguments, **named):
            # A script tells the other ranks a port that it had chosen for it.
            self.host, self.port = host_name, port or _free_port()
            super().__init__(_at_port(self.port), _timeout(arguments, named))

    class FileStore(SeatStore):
        def __init__(self, file_name, *arguments, **named):
            super().__init__("file %s/" % os.path.abspath(file_name),
                             _timeout(arguments, named))
            self.path = file_name

    def by_place(url, *_, **named):
        """A rank is where lockstep run put it; what the URL says is checked by
        the simulation when the group is made."""
        said = parse_qs(urlparse(url).query)
        rank = int(said.get("rank", [os.environ["RANK"]])[0])
        size = int(said.get("world_size", [os.environ["WORLD_SIZE"]])[0])
        store = SeatStore("", _timeout((), named))
        yield store, rank, size

    for scheme in ("env", "tcp", "file"):
        rendezvous._rendezvous_handlers[scheme] = by_place
    for store in (TCPStore, FileStore):
        setattr(dist, store.__name__, store)
