"""A Python that starts and ends in half the time, for ranks that compile
nothing: garbage is not looked for; at the end torch's tables are not taken
apart, behind all other handlers; of two modules of torch 2.13 there is as much
as is asked for. What asks for more fails.

torch._dynamo: optimizers, DDP and FSDP import it.
torch._meta_registrations: shapes of results, for tensors without data. LIGHT=
torch._dynamo imports it.
"""

import atexit
import gc
import importlib.machinery
import importlib.util
import os
import sys
import types


def _disable(fn=None, *_, **__):
    return fn if fn is not None else lambda fn: fn


_CONTENT = {
    "torch._dynamo": {
        "disable": _disable,
        "graph_break": lambda *_: None,
        "eval_frame": types.SimpleNamespace(
            _is_in_optimized_module=lambda: False),
        "utils": types.SimpleNamespace(
            get_optimize_ddp_mode=lambda: "ddp_optimizer"),
        "trace_rules": types.SimpleNamespace(
            LEGACY_MOD_INLINELIST=set(), clear_lru_cache=lambda: None,
            get_legacy_mod_inlinelist=types.SimpleNamespace(
                cache_clear=lambda: None))},
    "torch._meta_registrations": {},
}


def _end_before_torch():
    """Where torch's libraries are loaded, and no other's handlers yet."""
    import ctypes
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)
    libc.on_exit(libc.fcloseall, None)  # runs first


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch.distributed" and name not in sys.modules:
            _end_before_torch()
        if (name not in _CONTENT or name not in os.environ.get("LIGHT", name)
                or not sys.modules["torch"].__version__.startswith("2.13.")):
            return None  # others ask for what nobody has looked up here
        real = importlib.machinery.PathFinder.find_spec(name, path)
        if real is None:
            return None
        spec = importlib.util.spec_from_loader(name, _Loader, is_package=True)
        spec.submodule_search_locations = real.submodule_search_locations
        return spec


class _Loader:
    create_module = staticmethod(lambda spec: None)

    @staticmethod
    def exec_module(module):
        vars(module).update(_CONTENT[module.__name__])


gc.set_threshold(1_000_000)
atexit.register(gc.freeze)
sys.meta_path.insert(0, _Finder)
