"""The values of small fake tensors, where they follow from what the script
gave: counts, flags and sizes decide what it does next."""

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map_only

AT_MOST = 1024  # elements of a tensor that has values
BYTES_AT_MOST = 1 << 22  # of a tensor of bytes: an object on its way
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty",
         "new_empty_strided"}  # fmt: skip


def tensors_of(values, found):
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            tensors_of(value, found)
    return found


def is_small(tensor):
    return tensor.numel() <= (
        BYTES_AT_MOST if tensor.dtype == torch.uint8 else AT_MOST
    )


# What one operand makes of the result, whatever the others are.
DECIDES = {"bitwise_or": True, "logical_or": True,
           "bitwise_and": False, "logical_and": False}  # fmt: skip


def default_of(dtype):
    """What a tensor without values is taken to hold."""
    if dtype == torch.bool:
        return False
    return 1.0 if dtype.is_floating_point else 0


class Values:
    def __init__(self, memory):
        self.entry = memory.entry

    def are_known(self, tensors):
        return all(
            self.entry(t).known for t in tensors if isinstance(t, FakeTensor)
        )

    def real(self, tensor):
        """A real tensor in place of a fake one that has values."""
        with torch._C.DisableTorchFunction():
            return torch.empty(0, dtype=tensor.dtype).set_(
                self.entry(tensor).values, tensor.storage_offset(),
                tensor.shape, tensor.stride(),
            )  # fmt: skip

    def reals(self, arguments):
        return tree_map_only(FakeTensor, self.real, arguments)

    def keep(self, tensor, real, known=True):
        if real.stride() != tensor.stride():
            made = torch.empty_strided(
                tensor.shape, tensor.stride(), dtype=real.dtype
            )
            real = made.copy_(real)
        entry = self.entry(tensor)
        entry.values, entry.known = real.untyped_storage(), known

    def follow(self, info, func, args, kwargs, inputs, made):
        """Computes the results of an operation, made, if they are small and
        all that it takes is known; what else it writes is not known then."""
        if info.view and inputs:
            return
        real = None
        if self.are_known(inputs) and all(map(is_small, made)):
            real = self.compute(info, func, args, kwargs)
        elif len(made) == 1 and self.is_decided(info.name, inputs, made[0]):
            real = [torch.full(made[0].shape, DECIDES[info.name],
                               dtype=made[0].dtype)]
        if real is None:
            for number, name in info.writes:
                written = args[number:number + 1] or (kwargs.get(name),)
                for tensor in tensors_of(written, []):
                    if isinstance(tensor, FakeTensor):
                        self.entry(tensor).known = False
            return
        for tensor, value in zip(made, real):
            if not self.entry(tensor).known:
                self.keep(tensor, value)

    def is_decided(self, name, inputs, made):
        """Whether one operand is known, and so decides the result: of the
        criteria by which a generation ends, one is its length."""
        if name not in DECIDES or not is_small(made):
            return False
        known = [self.real(t).bool() for t in inputs if self.entry(t).known]
        if DECIDES[name]:
            return made.dtype == torch.bool and any(t.all() for t in known)
        return any(not t.any() for t in known)

    def compute(self, info, func, args, kwargs):
        try:
            out = func(*self.reals(args), **self.reals(kwargs))
        except (RuntimeError, NotImplementedError):
            return None  # what only a GPU has
        real = tensors_of(out if isinstance(out, (list, tuple)) else (out,), [])
        # One that waits at its first use has no storage of its own.
        real = [t.trigger_wait() if hasattr(t, "trigger_wait") else t
                for t in real]
        if info.name in EMPTY:
            for tensor in real:
                tensor.zero_()
        return real

    def for_call(self, tensor, default):
        """A real tensor that a call of communication can take for a small
        one, filled with default if its values are not known; else None."""
        if not is_small(tensor) or not tensor.is_contiguous():
            return None
        entry = self.entry(tensor)
        if not entry.known:
            if tensor.dtype != torch.uint8 and entry.size > 8 * AT_MOST:
                return None
            with torch._C.DisableTorchFunction():
                count = entry.size // tensor.element_size()
                whole = torch.full((count,), default, dtype=tensor.dtype)
            entry.values = whole.untyped_storage()
        return self.real(tensor)

    def carry(self, tensors, has_data):
        """Of a call of communication: its results are known if all else is."""
        fakes = [t for t in tensors if isinstance(t, FakeTensor)]
        known = has_data and self.are_known(fakes)
        for tensor in fakes:
            self.entry(tensor).known = known
