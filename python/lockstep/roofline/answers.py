"""What scripts ask of tensors that have no values: each kind of question is
answered, and said once."""

import sys

import torch
from torch._subclasses import fake_tensor

from .. import source
from .values import default_of

TRUTHS = {"all", "any", "logical_and", "bitwise_and", "clone", "_to_copy"}
SAID = set()


class Unanswered(RuntimeError):
    """A question to a tensor without values that has no good answer, or a call
    that is not modelled; the text is the user's line."""


UNANSWERED = (
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.DataDependentOutputException,
)


def user_line():
    """file:line of the innermost frame of the user's."""
    file, line = source.here(sys._getframe(1))
    return "%s:%d" % (file.decode(errors="replace"), line) if file else "?"


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
    return default_of(tensor.dtype) if known is None else known


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


def counts(mode, func, args, kwargs):
    """How often each number occurs: all as often."""
    names = [argument.name for argument in func._schema.arguments]
    given = dict(zip(names, args), **kwargs)
    bins = given.get("bins") or given.get("minlength")
    if not bins:
        return refuse(mode, func, args, kwargs)
    wait(mode)
    say(
        "counts",
        "numbers without values are counted: each of %d is taken to occur as "
        "often" % bins,
    )
    x = args[0]
    each = torch.full((bins,), x.numel() // bins)
    each[: x.numel() % bins] += 1
    return mode.fake_like(x, each.to(dtype=x.dtype))


def without_masks(mode, args):
    """The arguments of an index, where a mask stands for indices."""
    indices = []
    for index in args[1]:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            indices.append(index)
            continue
        rows = torch.ops.aten.nonzero.default
        rows = mode.perform(rows, mode.info(rows), (), (index,), {})
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


def refuse_call(what, expected):
    raise Unanswered(
        "%s: %s is not modelled under roofline: expected %s"
        % (user_line(), what, expected)
    )


INDEXED = {"index", "index_put", "index_put_", "_unsafe_index"}
BY_OP = {
    "_local_scalar_dense": item,
    "is_nonzero": lambda *question: bool(item(*question)),
    "nonzero": nonzero,
    "masked_select": masked_select,
    "equal": equal,
    "_unique2": refuse,
    "unique_dim": refuse,
    "unique_consecutive": refuse,
    "bincount": counts,
    "histc": counts,
}


def note(mode, name, args, inputs, outputs):
    """Keeps what is known of the values of results."""
    memory = mode.memory
    if name == "_amp_foreach_non_finite_check_and_unscale_":
        mode.values.keep(args[1], torch.zeros(args[1].shape))
    elif name in TRUTHS and inputs:
        known = memory.entry(inputs[0]).answer
        for entry in outputs:
            entry.answer = known
