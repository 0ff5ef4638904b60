"""Operations that nobody waits for.

Gradients that an optimizer takes while an operation that the program has not
waited for is to write them: dist.all_reduce(p.grad, async_op=True), and no
wait() before step().

DDP, FSDP and their hooks wait before the step. Under roofline nothing is said:
there a script may wait for the whole GPU instead.
"""

import os
import sys

import torch

from . import charge, events, source


def install():
    """Looks at each step of an optimizer from now on."""
    register = getattr(sys.modules.get("torch.optim.optimizer"),
                       "register_optimizer_step_pre_hook", None)
    if register is not None and not hasattr(register, "_lockstep"):
        register._lockstep = register(_look)


_FUNCTIONAL = os.path.join("torch", "_ops.py")


def let_go(group):
    """Frees, at the end of a group, what functional collectives and DTensors
    began and never used. torch keeps their Works for ever; a last forward pass
    that only rank 0 prints is no fault of the others."""
    for work in group._works:
        if work._handles and work._ended is None and (
                work.caller or "").endswith(_FUNCTIONAL):
            handles, work._handles = work._handles, ()
            for handle in handles:
                group.lib.work_free(handle)


def _in_flight(group):
    """(handles, result) of what nobody has seen the end of. None that the
    group's thread waits for, and may free."""
    for work in group._works:
        if work._handles and work._ended is None:
            yield work._handles, work._result
    for handles, (result, _) in group._dropped:
        yield handles, result


def _extent(tensor):
    """(first byte, the byte behind the last), None where that is not known."""
    tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
    if (tensor.layout != torch.strided or tensor.device.type != "cpu"
            or not tensor.numel()):
        return None
    begin = tensor.data_ptr()
    last = sum((length - 1) * stride for length, stride in zip(
        tensor.shape, tensor.stride()))
    return begin, begin + (last + 1) * tensor.element_size()


def _extents(tensors):
    return [extent for extent in map(_extent, tensors) if extent]


def _look(optimizer, *_):
    from . import group
    default = group.default()
    if default is None or charge.device is not None:
        return
    flying = [(one, *work) for one in (default, *default.subgroups)
              for work in _in_flight(one)]
    if not flying:
        return
    gradients = _extents(
        parameter.grad for part in optimizer.param_groups
        for parameter in part["params"] if parameter.grad is not None)
    for one, handles, result in flying:
        if any(begin < until and start < end
               for begin, end in _extents(events.flat(result))
               for start, until in gradients):
            file, line = source.here(sys._getframe(1))
            for handle in handles:
                one.lib.work_read_at(handle, file, line)
