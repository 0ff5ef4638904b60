"""torch._dynamo for ranks that compile nothing: optimizers, DDP and FSDP import
it, which takes as long as torch itself, and ask it for no more than this (torch
2.13). What asks for more fails."""

import importlib.machinery
import importlib.util
import sys
import types

_NAME = "torch._dynamo"


def _disable(fn=None, *_, **__):
    return fn if fn is not None else lambda fn: fn


class _Finder:
    """Finds torch._dynamo once."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != _NAME:
            return None
        sys.meta_path.remove(cls)
        if not sys.modules["torch"].__version__.startswith("2.13."):
            return None  # which asks for what nobody has looked up here
        real = importlib.machinery.PathFinder.find_spec(name, path)
        if real is None:
            return None
        spec = importlib.util.spec_from_loader(name, cls, is_package=True)
        spec.submodule_search_locations = real.submodule_search_locations
        return spec

    @staticmethod
    def create_module(spec):
        light = types.ModuleType(spec.name)
        light.disable, light.graph_break = _disable, lambda *_: None
        light.utils = types.SimpleNamespace(
            get_optimize_ddp_mode=lambda: "ddp_optimizer")
        light.trace_rules = types.SimpleNamespace(
            LEGACY_MOD_INLINELIST=set(), clear_lru_cache=lambda: None,
            get_legacy_mod_inlinelist=types.SimpleNamespace(
                cache_clear=lambda: None))
        return light

    @staticmethod
    def exec_module(module):
        pass


sys.meta_path.insert(0, _Finder)
