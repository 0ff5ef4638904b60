"""Keeps torch.compile out of this package.

While compiled code runs, torch looks at every frame of Python that starts: also
at those of a group's methods, which C++ calls (DDP, when it rebuilds its
buckets) or which stand behind a break of the graph. It takes a group for an
object of its own that has no such methods, and fails.
"""

import sys
import types

_PACKAGE = __name__.rpartition(".")[0]
_done = set()  # names of modules; a fork has them from its parent


def _find_skip():
    """What has torch never compile a code object; None in torch 1."""
    try:
        from torch._C._dynamo import eval_frame
    except ImportError:
        return None
    if hasattr(eval_frame, "skip_code"):  # until torch 2.5
        return eval_frame.skip_code
    action = eval_frame._FrameAction
    strategy = eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT)
    return lambda code: eval_frame.set_code_exec_strategy(code, strategy)


def _skip(skip, code):
    skip(code)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            _skip(skip, part)


def _functions(space):
    for value in list(vars(space).values()):
        if isinstance(value, type) and value.__module__.startswith(_PACKAGE):
            yield from _functions(value)
        elif isinstance(value, property):
            yield from filter(None, (value.fget, value.fset))
        elif isinstance(value, (staticmethod, classmethod)):
            yield value.__func__
        elif isinstance(value, types.FunctionType):
            yield value


def _modules(package):
    """Those imported inside of it. To look through all that there are would
    write to each, and so copy them in a fork."""
    for part in list(vars(package).values()):
        if (isinstance(part, types.ModuleType)
                and part.__name__.startswith(package.__name__ + ".")):
            yield part
            yield from _modules(part)


def install():
    """Has what has been imported of this package never be compiled."""
    skip = _find_skip()
    for module in _modules(sys.modules[_PACKAGE]):
        if skip is None or module.__name__ in _done:
            continue
        _done.add(module.__name__)
        for function in _functions(module):
            if function.__module__.startswith(_PACKAGE + "."):
                _skip(skip, function.__code__)
