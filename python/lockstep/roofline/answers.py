"""What scripts ask of tensors that have no values: each kind of question is
answered, and said once."""

import os
import sys

import torch

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INNER = (os.path.dirname(torch.__file__) + os.sep, OURS + os.sep)
TRUTHS = {"all", "any", "logical_and", "bitwise_and", "clone", "_to_copy"}
SAID = set()


class Unanswered(RuntimeError):
    """A question to a tensor without values that has no good answer."""


def user_line():
    """file:line of the innermost frame outside PyTorch and this package."""
    frame = sys._getframe(1)
    while frame:
        path = frame.f_code.co_filename
        inner = path.startswith(INNER) or path[0] == "<"
        if not inner and "/contextlib.py" not in path:
            return "%s:%d" % (path, frame.f_lineno)
        frame = frame.f_back
    return "?"


def say(kind, text):
    """One warning of a kind."""
    if kind not in SAID:
        SAID.add(kind)
        print(
            "lockstep: %s: %s" % (user_line(), text), file=sys.stderr
        )


def wait(mode):
    mode.settle()
    mode.device.synchronize()


def value_of(mode, tensor):
    """The one value of a fake tensor, as Python has it."""
    known = mode.memory.entry(tensor).answer
    if tensor.dtype == torch.bool:
        return bool(known)
    if known is not None:
        return known
    return 1.0 if tensor.is_floating_point() else 0


def item(mode, func, args, kwargs):
    wait(mode)
    value = value_of(mode, args[0])
    if mode.memory.entry(args[0]).answer is None:
        kind = str(args[0].dtype).split(".")[-1]
        say(
            "item " + kind,
            "a value of %s is asked of a tensor that has none: %r"
            % (kind, value),
        )
    return value


def nonzero(mode, func, args, kwargs):
    wait(mode)
    say(
        "mask",
        "a selection by values that there are not: it is taken to select all",
    )
    x = args[0]
    with mode.fake:
        out = x.new_empty((x.numel(), x.dim()), dtype=torch.int64)
    mode.memory.place(mode.memory.entry(out))
    return out


def without_masks(mode, args):
    """The arguments of an index, where a mask stands for indices."""
    indices = []
    for index in args[1]:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            indices.append(index)
            continue
        rows = nonzero(mode, None, (index,), {})
        with mode.fake:
            indices += rows.unbind(1)
    return (args[0], indices) + tuple(args[2:])


def masked_select(mode, func, args, kwargs):
    nonzero(mode, func, args, kwargs)
    with mode.fake:
        out = args[0].new_empty((args[0].numel(),))
    mode.memory.place(mode.memory.entry(out))
    return out


def equal(mode, func, args, kwargs):
    wait(mode)
    say("equal", "two tensors without values are compared: equal")
    return True


def refuse(mode, func, args, kwargs):
    raise Unanswered(
        "%s: the result of %s depends on values, and tensors have none "
        "under roofline" % (user_line(), func)
    )


INDEXED = {"index", "index_put", "index_put_", "_unsafe_index"}
BY_OP = {
    "_local_scalar_dense": item,
    "nonzero": nonzero,
    "masked_select": masked_select,
    "equal": equal,
    "_unique2": refuse,
    "unique_dim": refuse,
    "unique_consecutive": refuse,
    "bincount": refuse,
}


def note(memory, name, args, inputs, outputs):
    """Keeps what is known of the values of results."""
    if name == "_amp_foreach_non_finite_check_and_unscale_":
        memory.entry(args[1]).answer = 0.0
    elif name in TRUTHS and inputs:
        known = memory.entry(inputs[0]).answer
        for entry in outputs:
            entry.answer = known
