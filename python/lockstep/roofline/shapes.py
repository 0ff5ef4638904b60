"""Shapes of what operations give that only a GPU has, for fake tensors."""

import torch


def _channels(x, count):
    kind = torch.float32 if x.element_size() == 2 else x.dtype
    return tuple(x.new_empty(x.shape[1], dtype=kind) for _ in range(count))


# Of SyncBatchNorm.
SHAPES = {
    "batch_norm_stats": lambda x, *_: _channels(x, 2),
    "batch_norm_gather_stats_with_counts": lambda x, *_: _channels(x, 2),
    "batch_norm_elemt": lambda x, *_: torch.empty_like(x),
    "batch_norm_backward_reduce": lambda grad, *_: _channels(grad, 4),
    "batch_norm_backward_elemt": lambda grad, *_: torch.empty_like(grad),
}
library = torch.library.Library("aten", "IMPL", "Meta")


def install():
    for name, shape in SHAPES.items():
        library.impl(name, shape)
