"""Calls with several tensors of one rank, which gloo takes as one for each of
its devices: they are made one tensor before the call, and set after it.
"""

import functools

import torch

_OF_TWO = {"SUM": torch.add, "PRODUCT": torch.mul, "MIN": torch.minimum,
           "MAX": torch.maximum, "BAND": torch.bitwise_and,
           "BOR": torch.bitwise_or, "BXOR": torch.bitwise_xor}


def _set(tensors, value):
    for tensor in tensors:
        if tensor is not value:
            tensor.copy_(value)


def all_reduce(group, tensors, opts, op):
    call = "all_reduce"
    if not tensors:
        group.refuse(call, "requires non-empty tensor list")
    group._refuse_unlike(call, tensors)
    op = op if opts is None else opts
    name = getattr(op, "reduceOp", op)
    name = getattr(getattr(name, "op", name), "name", "SUM")
    if name not in _OF_TWO:
        group.refuse(call, "%s of several tensors: expected one of %s" % (
            name, ", ".join(_OF_TWO)))
    total = functools.reduce(_OF_TWO[name], tensors)
    return group._then(group.allreduce([total], op), tensors,
                       lambda: _set(tensors, total))


def broadcast(group, tensors, opts, root):
    call = "broadcast"
    root = group._root(call, opts, root)
    index = getattr(opts, "rootTensor", 0)
    if not 0 <= index < len(tensors):
        group.refuse(call, "invalid root tensor: %d" % index)
    group._refuse_unlike(call, tensors)
    return group._then(group.broadcast(tensors[index], root), tensors,
                       lambda: _set(tensors, tensors[index]))


def all_gather(group, outputs, inputs, opts):
    call = "all_gather"
    if not inputs:
        group.refuse(call, "requires non-empty input tensor list")
    if len(outputs) != len(inputs):
        group.refuse(call, "requires input/output tensor lists to have the "
                     "same length")
    group._refuse_unlike(call, inputs)
    step = len(inputs)
    works = [group.allgather([outputs[0][index::step]], [tensor], opts)
             for index, tensor in enumerate(inputs)]

    def end():
        for others in outputs[1:]:
            for tensor, value in zip(others, outputs[0]):
                tensor.copy_(value)

    return group._then(group._joined(works, outputs), outputs, end)
