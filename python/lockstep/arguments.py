"""What torch passes to a group, as dist.h wants it.

What a call cannot do with is refused here, before the library sees it, in
gloo's words where gloo has some: programs look for them, and torch's own tests
do.
"""


import torch
import torch.distributed as dist

from . import charge, library
from .library import byref, c_int, c_size_t

_TORCH_OPS = dist.ReduceOp.RedOpType.__members__
_OPS = [None] * (1 + max(map(int, _TORCH_OPS.values())))  # by torch's number
for _number, _name in enumerate(library.REDUCE_OPS):
    if _name in _TORCH_OPS:
        _OPS[int(_TORCH_OPS[_name])] = _number
_PREMUL_SUM = getattr(dist.ReduceOp.RedOpType, "PREMUL_SUM", None)
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def agree(arguments):
    """Has either all tensors of a call have data or none; whether all have."""
    views = []
    for one in arguments:
        if isinstance(one, library.Tensor):
            views.append(one)
        elif getattr(one, "_type_", None) is library.Tensor:
            views.extend(one)
    whole = all(view.data or not view.numel for view in views)
    if not whole:
        for view in views:
            view.data = None
    return whole


class Arguments:
    """The part of a group that reads arguments."""

    # ---- tensors ---------------------------------------------------------

    def _tensor(self, call, tensor, moves=False):
        """The view of a tensor. moves: only its bytes do, so that a type which
        the library lacks goes as bytes."""
        if type(tensor) not in _PLAIN:
            if hasattr(tensor, "trigger_wait"):  # AsyncCollectiveTensor
                tensor = tensor.trigger_wait()
            if hasattr(tensor, "fake_mode"):
                return self._view(call, tensor, charge.address(tensor), moves)
            if hasattr(tensor, "_local_tensors"):
                self.refuse(call, "a LocalTensor, which is several ranks' in "
                            "one process: expected a group of the back end "
                            "fake")
        if tensor.layout is not torch.strided:
            self.refuse(call, "unsupported layout: a sparse tensor: expected "
                        "a dense one")
        if not tensor.is_cpu:
            self._await_kernels(call, tensor)
        if not tensor.is_contiguous():
            self.refuse(call, "Tensors must be contiguous: one has shape %s "
                        "and strides %s: call .contiguous() before" %
                        (tuple(tensor.shape), tuple(tensor.stride())),
                        ValueError)
        dtype = self._dtypes.get(tensor.dtype)
        if dtype is None:
            return self._view(call, tensor, tensor.data_ptr(), moves)
        return library.Tensor(tensor.data_ptr(), tensor.numel(), dtype)

    def _await_kernels(self, call, tensor):
        """Blocks until the GPU has done what was enqueued before a call with a
        tensor of it: the library's streams do not wait for the program's."""
        if tensor.is_cuda and self._backend == b"nccl":
            torch.cuda.current_stream(tensor.device).synchronize()
        elif not tensor.is_meta:
            self.refuse(call, "a tensor on %s: expected one on the cpu%s" % (
                tensor.device, ", or --backend nccl" if tensor.is_cuda else ""))

    def _view(self, call, tensor, data, moves):
        dtype = self._dtypes.get(tensor.dtype)
        if dtype is not None:
            return library.Tensor(data, tensor.numel(), dtype)
        if not moves:
            self.refuse(call, "%s: expected one of %s" % (
                tensor.dtype, ", ".join(self.lib.dtypes)))
        return library.Tensor(data, tensor.numel() * tensor.element_size(),
                              library.UINT8)

    def _tensors(self, call, tensors, moves=False):
        return (library.Tensor * len(tensors))(
            *[self._tensor(call, tensor, moves) for tensor in tensors])

    def _dense(self, tensor):
        """What gloo makes of a tensor, but NCCL does not."""
        if self._name == "nccl" or tensor.layout is not torch.strided:
            return tensor
        return tensor.contiguous()

    # ---- lists of them -----------------------------------------------------

    def _only(self, call, tensors, what="tensor list"):
        """The tensor of a list of one, or one that is given alone."""
        if torch.is_tensor(tensors):
            return tensors
        if len(tensors) != 1:
            self.refuse(call, "requires a single-element %s: it has %d" %
                        (what, len(tensors)))
        return tensors[0]

    def _per_rank(self, call, tensors,
                  words="a list of %d tensors: expected %d, one for each rank"):
        if len(tensors) != self._size:
            self.refuse(call, words % (len(tensors), self._size))
        return self._tensors(call, tensors, True)

    def _list_of_root(self, call, what, lists, root):
        """The views of the list that the root alone gives; None elsewhere."""
        if root != self._rank:
            if any(lists):
                self.refuse(call, "requires empty %s on non-root" % what)
            return None
        return self._per_rank(
            call, self._only(call, lists, what + " list"),
            "Incorrect %s list size %%d. %s list size should be %%d" %
            (what, what.capitalize()))

    def _refuse_unlike(self, call, tensors, first=None,
                       size_words="invalid tensor size"):
        """Where gloo does: tensors of other types and sizes than the first."""
        if self._name != "gloo":
            return
        first = tensors[0] if first is None else first
        for index, tensor in enumerate(tensors):
            for words, got, expected in (
                    ("invalid tensor layout", tensor.layout, first.layout),
                    ("invalid tensor type", tensor.dtype, first.dtype),
                    (size_words, tensor.shape, first.shape)):
                if got != expected:
                    self.refuse(call, "%s at index %d: expected %s, got %s" % (
                        words, index, expected, got))

    # ---- the rest ----------------------------------------------------------

    def _reduce_op(self, call, opts):
        """The number of opts' operation, and the one to free after the call
        or None."""
        if opts is None:
            return 0
        op = getattr(opts, "reduceOp", opts)
        number = _OPS[getattr(op, "op", op)]
        if number is not None:
            return number
        if getattr(op, "op", None) != _PREMUL_SUM:
            self.refuse(call, "%s is not known" % op)
        # torch 2.6 shows the factor in no other way.
        factor = op.__getstate__()[1]
        made = c_int()
        self._check(call, self.lib.make_premul_sum(
            self.handle, float(factor), byref(made)))
        return made.value

    def _free_op(self, op):
        if op > library.PREMUL_SUM:
            self.lib.free_premul_sum(self.handle, op)

    def _root(self, call, opts, root):
        """The rank that opts name, which may be the rank itself or None."""
        root = getattr(opts, "rootRank", root if opts is None else opts)
        if not 0 <= root < self._size:
            self.refuse(call, "invalid root rank: %d: expected 0 to %d" %
                        (root, self._size - 1))
        return root

    def _splits(self, call, tensor, lengths, view):
        """torch counts rows of dimension 0, dist.h elements."""
        rows = tensor.size(0) if tensor.dim() else 0
        if not lengths:
            if rows % self._size:
                self.refuse(call, "Tensor's dim 0 (%d) does not divide equally "
                            "across group size %d" % (rows, self._size))
            return None
        if hasattr(tensor, "fake_mode"):
            view.data = None  # its size may be another on other ranks
        if len(lengths) != self._size or sum(lengths) != rows:
            self.refuse(call, "Split sizes %s do not match total dim 0 size %d "
                        "over %d ranks" % (list(lengths), rows, self._size))
        row = view.numel // rows if rows else 0
        return (c_size_t * self._size)(*[length * row for length in lengths])


def by_dtype(*lists):
    """The lists, cut into lists of one dtype, in the order in which the dtypes
    come: the same on every rank. Of one list, its parts; of several, tuples of
    theirs."""
    dtypes = dict.fromkeys(tensor.dtype for tensor in lists[0])
    if len(dtypes) == 1:
        return [lists[0]] if len(lists) == 1 else [lists]
    cut = [tuple([tensor for tensor, first in zip(one, lists[0])
                  if first.dtype == dtype] for one in lists)
           for dtype in dtypes]
    return [part[0] for part in cut] if len(lists) == 1 else cut
