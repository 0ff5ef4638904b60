"""TORCH_DISTRIBUTED_DEBUG=DETAIL without lockstep run, which has verdicts: as
torch's own wrapper does, the ranks compare each call in a twin of the group
before they make it. The words are torch's: programs look for them.
"""

import os

import torch

_BYTES = 1024
# By function of dist.h: torch's name of the call, and which part of what
# _run() keeps is compared.
_CALLS = {"dist_all_reduce": ("ALLREDUCE", slice(None)),
          "dist_all_reduce_coalesced": ("ALLREDUCE_COALESCED", slice(None)),
          "dist_broadcast": ("BROADCAST", slice(None)),
          "dist_reduce": ("REDUCE", slice(None)),
          "dist_all_gather": ("ALLGATHER", slice(-1, None)),
          "dist_all_gather_single": ("_ALLGATHER_BASE", slice(None)),
          "dist_gather": ("GATHER", slice(-1, None)),
          "dist_scatter": ("SCATTER", slice(0, 1)),
          "dist_reduce_scatter": ("REDUCE_SCATTER", slice(0, 1)),
          "dist_reduce_scatter_single": ("_REDUCE_SCATTER_BASE", slice(None)),
          "dist_all_to_all": ("ALLTOALL", slice(0)),
          "dist_all_to_all_single": ("ALLTOALL_BASE", slice(0)),
          "dist_barrier": ("BARRIER", slice(0))}


def install(group, make_twin, timeout):
    """Compares the calls of a group, where no launcher gives a verdict."""
    if group.simulated or "LOCKSTEP_NOTES" in os.environ:
        return
    group.compare = _Comparison(group, make_twin(), timeout)


class _Comparison:
    def __init__(self, group, twin, timeout):
        self._group, self._twin, self._timeout = group, twin, timeout

    def __call__(self, function, keep, flat):
        """Raises RuntimeError if another rank makes another call, or none."""
        name, which = _CALLS.get(function.__name__, (None, None))
        if name is None:
            return
        tensors = flat(keep[which] if isinstance(keep, (tuple, list)) else keep)
        if which == slice(0):
            tensors = []
        aspects = [("Op type", name),
                   ("Tensor Tensor shapes",
                    ", ".join(str(list(one.shape)) for one in tensors)),
                   ("Tensor Tensor dtypes",
                    ", ".join(one.type().split(".")[-1].removesuffix("Tensor")
                              for one in tensors)),
                   ("Tensor Tensor devices",
                    ", ".join(one.device.type for one in tensors))]
        mine = [value for _, value in aspects]
        self._twin.monitored_barrier(self._timeout, True)
        for rank, other in enumerate(self._exchange(mine)):
            if other != mine:
                raise RuntimeError(self._words(mine, rank, other, aspects))

    def _exchange(self, mine):
        """What each rank says, in the order of ranks."""
        text = "\n".join(mine).encode()[:_BYTES].ljust(_BYTES, b" ")
        all_of_them = torch.zeros(self._group.size() * _BYTES,
                                  dtype=torch.uint8)
        self._twin.all_gather_single(
            all_of_them, torch.frombuffer(bytearray(text), dtype=torch.uint8)
        ).wait()
        said = bytes(all_of_them.tolist())
        parts = [said[at:at + _BYTES] for at in range(0, len(said), _BYTES)]
        whole = text.decode(errors="replace").rstrip(" ").split("\n")
        mine[:] = whole
        return [part.decode(errors="replace").rstrip(" ").split("\n")
                for part in parts]

    def _words(self, mine, rank, other, aspects):
        differ = " ".join(
            "\t %s: %svs %s" % (name, one, two) for (name, _), one, two in zip(
                aspects, mine, other) if one != two)
        return ("Detected mismatch between collectives on ranks. Rank %d is "
                "running collective: %s, but Rank %d is running collective: "
                "%s.Collectives differ in the following aspects: %s" % (
                    self._group.rank(), self._print(mine), rank,
                    self._print(other), differ))

    def _print(self, said):
        words = ("CollectiveFingerPrint(SequenceNumber=%d, OpType=%s" % (
            self._group._sequence, said[0]))
        if len(said) > 3 and said[1]:
            words += (", TensorShape=%s, TensorDtypes=%s, TensorDeviceTypes="
                      "TensorOptions(device=%s)" % tuple(said[1:4]))
        return words + ")"
