"""Calls of a group as events of torch's profiler."""

import torch

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


def flat(tensors):
    """The tensors of lists of lists of them."""
    if torch.is_tensor(tensors):
        return [tensors]
    return [leaf for part in tensors or () for leaf in flat(part)]
