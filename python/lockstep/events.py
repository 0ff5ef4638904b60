"""Calls of a group for who watches torch: its profiler, and CommDebugMode,
which counts the operators that torch's own groups are called by.
"""

import torch

# The operator of torch.ops.c10d for a function of dist.h.
_OPERATORS = {"dist_all_reduce": "allreduce_",
              "dist_all_reduce_coalesced": "allreduce_coalesced_",
              "dist_broadcast": "broadcast_", "dist_reduce": "reduce_",
              "dist_all_gather": "allgather_",
              "dist_all_gather_single": "_allgather_base_",
              "dist_all_gather_single_coalesced":
                  "allgather_into_tensor_coalesced_",
              "dist_reduce_scatter": "reduce_scatter_",
              "dist_reduce_scatter_single": "_reduce_scatter_base_",
              "dist_reduce_scatter_single_coalesced":
                  "reduce_scatter_tensor_coalesced_",
              "dist_all_to_all": "alltoall_",
              "dist_all_to_all_single": "alltoall_base_",
              "dist_gather": "gather_", "dist_scatter": "scatter_"}
# How many modes are on; torch 1 has no such count.
count_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)

# What torch's profiles call them.
_TITLES = {"dist_isend": "send", "dist_irecv": "recv",
           "dist_all_gather_single": "_all_gather_base",
           "dist_reduce_scatter_single": "_reduce_scatter_base",
           "dist_all_to_all_single": "all_to_all"}
is_profiled = torch._C._autograd._profiler_enabled


class Event:
    """A function of dist.h as an event of torch's profile with the shapes of
    tensors: what torch records of an autograd function."""

    def __init__(self, name, function, tensors, title=None):
        title = title or _TITLES.get(function.__name__, function.__name__[5:])
        self._tensors = flat(tensors)
        self._function = function
        self._type = type("%s:%s" % (name, title), (torch.autograd.Function,),
                          {"forward": self._forward})

    def __call__(self, *arguments):
        self._arguments, self._error = arguments, 0
        with torch.no_grad():
            self._type.apply(*self._tensors)
        return self._error

    def _forward(self, *_):
        self._error = self._function(*self._arguments)
        return torch.empty(0)


class _Called:
    """An operator that was called otherwise."""

    def __init__(self, packet):
        self._overloadpacket, self._operator = packet, packet.default

    def __call__(self, *_, **__):
        return None

    def __str__(self):
        return str(self._operator)


def tell_modes(function):
    """Has the CommDebugModes that are on count the call."""
    operator = _OPERATORS.get(function.__name__)
    for index in range(count_modes() if operator else 0):
        mode = torch._C._get_dispatch_stack_at(index)
        if type(mode).__name__ == "CommDebugMode":
            mode.__torch_dispatch__(
                _Called(getattr(torch.ops.c10d, operator)), ())


def flat(tensors):
    """The tensors of lists of lists of them."""
    if torch.is_tensor(tensors):
        return [tensors]
    return [leaf for part in tensors or () for leaf in flat(part)]
