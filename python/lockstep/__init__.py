"""PyTorch scripts over Lockstep: a process group, simulated ranks, costs.

Importing it makes "lockstep" a back end of torch.distributed, as soon as that
is imported; torch itself is not imported for it.
"""

from . import hook as _hook

_hook.install()
