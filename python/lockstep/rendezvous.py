"""How the ranks of a default group find each other: by torch's store, which
carries the address of one of ours. So any init_method and any launcher will do.
"""

import contextlib
import os
import socket

from . import library

# torchrun's workers may find the store of those before them (torch 2.13).
_KEY = "lockstep/address/" + os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")


@contextlib.contextmanager
def of(lib, store, rank, size, options):
    """Fills in options' store, and frees it when the ranks have met. A
    simulation opens nothing."""
    if size == 1 or os.environ.get("LOCKSTEP_BACKEND") not in (None, "", "tcp",
                                                               "nccl", "mpi"):
        yield
        return
    ours = _serve(lib, store, size) if rank == 0 else _join(lib, store)
    options.store = ours
    try:
        yield
    except BaseException:
        lib.store_free(ours)
        raise
    _kept.append((lib, ours))
    if rank == 0:  # all have read it
        with contextlib.suppress(RuntimeError, NotImplementedError):
            store.delete_key(_KEY)


# Borrowed until the group is destroyed; the system frees them at the end.
_kept = []


def _open(lib, host, port, is_master):
    handle, message = library.c_void_p(), library.Message()
    error = lib.tcp_store_new(host.encode(), port, 0, is_master,
                              library.TIMEOUT_OF_GROUP, library.byref(handle),
                              message)
    return None if error else handle.value, message.text.decode()


def _hosts(store):
    """Where other ranks may reach this one, the best first."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    yield getattr(store, "host", None)
    yield os.environ.get("MASTER_ADDR")
    yield socket.gethostname()
    yield "127.0.0.1"


def _serve(lib, store, size):
    why = ""
    for host in _hosts(store):
        if host:
            ours, why = _open(lib, host, 0, True)
            if ours:
                store.set(_KEY, "%d %s" % (lib.tcp_store_port(ours), host))
                return ours
    raise RuntimeError("lockstep: " + why)


def _join(lib, store):
    port, host = store.get(_KEY).decode().split(" ", 1)
    ours, why = _open(lib, host, int(port), False)
    if not ours:
        raise RuntimeError("lockstep: " + why)
    return ours
