"""Waits for keys of torch's stores, so that a verdict names them. The store of
a simulation is ours (simulated/store.py) and needs none of this.
"""

import datetime
import functools
import sys
import threading

from . import library, source

_METHODS = {"get": False, "wait": False, "set": True, "add": True,
            "compare_set": True}


def _group():
    """Whose records the thread may write: those of the main thread."""
    from . import group
    return (group.default() if threading.current_thread()
            is threading.main_thread() else None)


def _text(keys):
    return (keys if isinstance(keys, str) else ", ".join(keys)).encode(
        errors="replace")


def _note(group, function, *arguments):
    group.lib.at(group.handle, *source.here(sys._getframe(2)))
    function(group.handle, *arguments)


def _storing(original):
    @functools.wraps(original)
    def call(self, key, *rest, **named):
        result = original(self, key, *rest, **named)
        group = _group()
        if group is not None and isinstance(key, str):
            _note(group, group.lib.has_stored, _text(key))
        return result

    return call


def _has(store, keys):
    """Whether nothing is to be noted of a wait for keys: it would not wait, or
    the store does not tell, as one that is written in Python may not."""
    try:
        return store.check(keys)
    except RuntimeError:
        return True


def _waiting(original):
    @functools.wraps(original)
    def call(self, keys, *rest, **named):
        group = _group()
        if group is None or _has(
                self, [keys] if isinstance(keys, str) else keys):
            return original(self, keys, *rest, **named)
        timeout = (rest or list(named.values()) or [None])[0]
        if not isinstance(timeout, datetime.timedelta):
            timeout = getattr(self, "timeout", None)
        _note(group, group.lib.await_key, _text(keys),
              library.nanoseconds(timeout))
        try:
            result = original(self, keys, *rest, **named)
        except BaseException:
            group.lib.await_key_end(group.handle, library.TIMEOUT)
            raise
        group.lib.await_key_end(group.handle, 0)
        return result

    return call


def install():
    """Wraps the methods of torch's stores, once the job has begun. Those of
    their base class stay: where it has Python's, torch takes them for a
    subclass's own, and calls them for ever.
    """
    from torch import distributed
    for name, stores in _METHODS.items():
        for kind in ("TCPStore", "FileStore", "HashStore", "PrefixStore"):
            kind = getattr(distributed, kind)
            method = getattr(kind, name)
            if not hasattr(method, "__wrapped__"):
                wrap = _storing if stores else _waiting
                setattr(kind, name, wrap(method))
