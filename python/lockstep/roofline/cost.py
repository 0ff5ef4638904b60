"""How long one operation of PyTorch keeps a GPU busy.

A product of matrices, and what is one inside, takes
    (compute^2 + traffic^2)^(1/2) + START
where compute counts tiles of 128 x 128 over the multiprocessors, half way
between whole waves and none, at the share of the peak that large products
reach. The exponents were fitted to published rates of products (A100, H100,
H200, B200, GB200, MI300X; 749 shapes, error 7 to 16 % root mean square), never
to the step of a model. All else takes its traffic at the rate of a copy."""

import math

import torch

from .values import tensors_of

START = 4e-6  # of a product: launch, first loads, last stores
FLOAT32_SHARE = 0.9  # assumed: of the peak, without tensor cores
KERNEL = 2e-6  # of any other kernel
TILE = 128
FORWARD_GAIN = 1.2  # FlashAttention 2 forward over both, H100 of gpus.tsv
# What follows was measured on H100 (torch-kernels-h100.tsv). What its SMs
# bound, other GPUs are taken to do as fast in each SM.
FLOAT_ATTENTION = 0.43  # attention outside fp16/bf16, of the float32 peak
# FLOP/s of an SM, by products in eager mode, in 16 bits and tf32, whose rows do
# not begin at multiples of 16 bytes; compiled code pads them.
UNALIGNED = 0.98e12
UNROLLED = 2.5e9  # elements/s of an SM, by kernels that load one at a time
# The next four were measured in steps on H200 (torch-steps-h200.tsv).
PIECES = 1.7e9  # elements/s of an SM, by cat of what is not contiguous
ATOMIC = 0.95e9  # elements/s of an SM, by index_add in 16 bits
SUMMED = 3e9  # elements/s of an SM, by index_put that adds, after a sort
GROUPED = 0.9  # of what one product reaches, by those of experts in a launch
ADAM = 4.8e9  # elements/s of an SM beside their traffic: H100 and H200 alike
PLANES = 5.4e9  # elements/s of an SM, by cuDNN's batch norm of NCHW
ON_CHIP = 1024  # elements of a row that a softmax reads once

# Passes over the large tensors where a reduction cannot keep them on chip:
# times that input and output are read or written.
PASSES = {
    "native_layer_norm": 1.4,
    "_softmax_backward_data": 2,  # a product first, written and read again
    "_log_softmax_backward_data": 1.37,  # H200, and H100's cross entropy
    "native_batch_norm": 1.5,
    "_native_batch_norm_legit": 1.5,
    "cudnn_batch_norm": 1.5,
    "_batch_norm_with_update": 1.5,
    "native_batch_norm_backward": 5 / 3,
    "batch_norm_backward": 5 / 3,
    "cudnn_batch_norm_backward": 5 / 3,
    "native_layer_norm_backward": 7 / 3,
    "native_group_norm": 1.5,
    "native_group_norm_backward": 5 / 3,
}
# By TensorIterator's kernels.
ELEMENTWISE = {
    "add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "neg",
    "clone", "_to_copy",
}  # fmt: skip
# Only what is selected is read, as large as the output.
GATHERS = {
    "embedding", "index", "gather", "index_select", "nll_loss_forward",
    "nll_loss2d_forward", "take_along_dim",
}  # fmt: skip
# The first input is not read.
OVERWRITES = {
    "copy_", "fill_", "zero_", "normal_", "uniform_", "random_",
    "bernoulli_", "exponential_", "zeros_like", "ones_like", "full_like",
    "rand_like", "randn_like", "new_zeros", "new_ones", "new_full",
}  # fmt: skip
# Read only in part, or only its shape: their outputs count.
SHAPES_ONLY = {"nll_loss_backward", "nll_loss2d_backward"}
# Multi-tensor kernels: tensors of a launch by lists, elements of a block,
# blocks of a launch (ATen/native/cuda/MultiTensorApply.cuh).
LIST_TENSORS = (110, 64, 48, 36, 30)
LIST_BLOCK = 65536
LIST_BLOCKS = 320


HALVES = (torch.float16, torch.bfloat16)


def size_of(tensor):
    """Bytes that reading a tensor once takes; what is expanded counts once."""
    count = 1
    for length, stride in zip(tensor.shape, tensor.stride()):
        if stride:
            count *= length
    return count * tensor.element_size()


def is_aligned(tensor):
    """Whether its rows begin at multiples of 16 bytes."""
    return all(
        stride * tensor.element_size() % 16 == 0
        for length, stride in zip(tensor.shape[-2:], tensor.stride()[-2:])
        if stride != 1 and length != 1
    )


def precision(dtype, convolution=False):
    if dtype in HALVES:
        return "half"
    if dtype == torch.float32:
        fast = (
            torch.backends.cudnn.allow_tf32
            if convolution
            else torch.backends.cuda.matmul.allow_tf32
        )
        return "tf32" if fast else "fp32"
    return "fp8" if "float8" in str(dtype) else "fp32"


class Product:
    """batch products of m x k by k x n, and the bytes around them."""

    def __init__(self, batch, m, n, k, kind, traffic, split=False):
        self.batch, self.m, self.n, self.k = batch, m, n, k
        self.kind, self.traffic = kind, traffic
        self.split = split  # k may be cut over the multiprocessors
        self.aligned = True
        self.grouped = False  # of experts, in one launch

    @property
    def flops(self):
        return 2.0 * self.batch * self.m * self.n * self.k

    def share(self, gpu):
        """Of the peak, by large products."""
        if self.kind == "fp32":
            return FLOAT32_SHARE
        share = gpu.matmul_share
        if self.kind == "half":
            share = gpu.half_share or share
        return share * GROUPED if self.grouped else share

    def seconds(self, gpu):
        peak = gpu.peaks[self.kind] * self.share(gpu)
        if not self.aligned and self.kind in ("half", "tf32"):
            peak = min(peak, UNALIGNED * gpu.multiprocessors)
        tiles = (
            self.batch
            * math.ceil(self.m / TILE)
            * math.ceil(self.n / TILE)
            / gpu.multiprocessors
        )
        if self.split and tiles < 4:
            waves = tiles
        else:
            waves = (tiles + math.ceil(tiles)) / 2
        tile = 2.0 * TILE * TILE * self.k
        compute = waves * gpu.multiprocessors * tile / peak
        traffic = self.traffic / gpu.copy
        return math.hypot(compute, traffic) + START


def conv_products(x, weight, out, groups, wanted, transposed=False):
    """The implicit products of a convolution: wanted has "forward", "input"
    (its gradient), "weight" (its gradient)."""
    if transposed:
        x, out = out, x
    kind = precision(x.dtype, convolution=True)
    taps = math.prod(weight.shape[2:])
    inner = weight.shape[1]
    outer = weight.shape[0] // groups
    step = {"half": 8, "tf32": 4}.get(kind, 1)
    padded = math.ceil(inner / step) * step
    rows = x.shape[0] * math.prod(x.shape[2:])
    columns = out.shape[0] * math.prod(out.shape[2:])
    traffic = size_of(x) + size_of(out) + size_of(weight)
    if kind in ("half", "tf32") and x.dim() == 4:
        if not x.is_contiguous(memory_format=torch.channels_last):
            traffic += 2 * (size_of(x) + size_of(out))  # to NHWC and back
    for what in wanted:
        if inner < 4 and groups > 1:  # depthwise: no tensor cores
            yield Product(
                1, columns, x.shape[1], taps, "fp32", traffic, split=True
            )
        elif what == "forward":
            yield Product(
                groups, columns, outer, padded * taps, kind, traffic
            )
        elif what == "input":
            yield Product(groups, rows, padded, outer * taps, kind, traffic)
        else:
            yield Product(
                groups, padded * taps, outer, columns, kind, traffic, True
            )


def products(name, args, out, compiled):
    """The products inside an operation."""
    for product in all_products(name, args, out):
        if name in MATRICES and not compiled:
            product.aligned = all(map(is_aligned, tensors_of([args, out], [])))
        yield product


def all_products(name, args, out):
    if name in ("mm", "_scaled_mm", "addmm", "addmv", "mv", "dot"):
        a, b = args[1:3] if name in ("addmm", "addmv") else args[:2]
        m = a.shape[0] if a.dim() == 2 else 1
        n = b.shape[1] if b.dim() == 2 else 1
        traffic = size_of(a) + size_of(b) + size_of(out)
        yield Product(1, m, n, a.shape[-1], precision(a.dtype), traffic, True)
    elif name in ("bmm", "baddbmm"):
        a, b = args[1:3] if name == "baddbmm" else args[:2]
        traffic = size_of(a) + size_of(b) + size_of(out)
        yield Product(
            a.shape[0], a.shape[1], b.shape[2], a.shape[2],
            precision(a.dtype), traffic,
        )  # fmt: skip
    elif name == "_grouped_mm":
        a, b = args[:2]
        groups = (b if b.dim() == 3 else args[2]).shape[0]
        m, n, k = a.shape[-2], b.shape[-1], a.shape[-1]
        if a.dim() == 2 and b.dim() == 3:
            m = -(-m // groups)
        elif a.dim() == 3:
            n = -(-n // groups)
        else:
            k = -(-k // groups)
        traffic = size_of(a) + size_of(b) + size_of(out)
        product = Product(groups, m, n, k, precision(a.dtype), traffic)
        product.grouped = True
        yield product
    elif name in ("convolution", "_convolution"):
        yield from conv_products(
            args[0], args[1], out, args[8], ["forward"], args[6]
        )
    elif name == "convolution_backward":
        grad, x, weight, mask = args[0], args[1], args[2], args[10]
        wanted = [w for w, on in zip(("input", "weight"), mask) if on]
        yield from conv_products(x, weight, grad, args[9], wanted, args[7])


MATRICES = {"mm", "addmm", "bmm", "baddbmm"}
PRODUCTS = MATRICES | {
    "_scaled_mm", "addmv", "mv", "dot", "_grouped_mm",
    "convolution", "_convolution", "convolution_backward",
}  # fmt: skip


def prefers_cudnn():
    """Whether PyTorch takes cuDNN's attention where a GPU has it: 2.11 does on
    Hopper and large Blackwell, 2.9 did not (check_prefer_cudnn_attention of
    aten/src/ATen/native/transformers/cuda/sdp_utils.cpp)."""
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    return version >= (2, 11) and torch.backends.cuda.cudnn_sdp_enabled()


def attention(name, args, kwargs, gpu):
    """(seconds, FLOP) of fused attention."""
    backward = name.endswith("_backward")
    q, k = (args[1], args[2]) if backward else (args[0], args[1])
    batch, heads, rows, head = q.shape
    columns = k.shape[2]
    causal = bool(
        args[-1]
        if backward and "efficient" in name
        else next((a for a in args[4:] if isinstance(a, bool)), False)
    )
    if not backward and "efficient" in name:
        causal = len(args) > 6 and bool(args[6])
    causal = bool(kwargs.get("is_causal", causal))
    flops = 4.0 * batch * heads * rows * columns * head
    if causal:
        flops /= 2
    if q.dtype in HALVES:
        rate = gpu.attention_rate(head, causal, columns, prefers_cudnn())
    else:
        rate = FLOAT_ATTENTION * gpu.peaks["fp32"]
    # 3.5 times the forward FLOP pass at rate, one of them faster.
    forward = flops / (FORWARD_GAIN * rate)
    if not backward:
        return forward + START, flops
    return 3.5 * flops / rate - forward + START, 2.5 * flops


def traffic(name, args, inputs, outputs, gpu):
    """Bytes that an operation without products moves, or that a copy would
    in its time."""
    written = sum(map(size_of, outputs))
    if name in GATHERS:
        return 2 * written
    if name in SHAPES_ONLY:
        return written  # cleared; what is filled is one element a row
    if name == "embedding_dense_backward":
        return 2 * written + 2 * size_of(inputs[0])
    if name in OVERWRITES:
        moved = written + sum(map(size_of, inputs[1:]))
        if name == "copy_" and not vectorized(inputs, outputs):
            return at_least(moved, inputs[0], UNROLLED, gpu)
        return moved
    read = sum(map(size_of, inputs))
    if name.startswith("_fused_adam"):
        parameters = sum(map(size_of, args[0]))
        elements = sum(one.numel() for one in args[0])
        # Reads p, g, m, v; writes p, m, v.
        return 7 * parameters + as_bytes(elements, ADAM, gpu)
    if name.startswith("_fused_sgd"):
        return 5 * sum(map(size_of, args[0]))
    passes = PASSES.get(name, 1)
    if name == "_log_softmax" and inputs[0].shape[args[1]] > ON_CHIP:
        passes = 2  # reads a row for its maximum, its sum and its values
    moved = (read + written) * passes
    if name == "_to_copy" and written == 2 * read and inputs[0].dtype in HALVES:
        return at_least(moved, outputs[0], UNROLLED, gpu)
    if name in ELEMENTWISE and not vectorized(inputs, outputs or args[:1]):
        return at_least(moved, (outputs or args)[0], UNROLLED, gpu)
    if name == "cat" and not all(one.is_contiguous() for one in inputs):
        return at_least(moved, outputs[0], PIECES, gpu)
    if name in ("index_add", "index_add_") and inputs[-1].dtype in HALVES:
        return at_least(moved, inputs[-1], ATOMIC, gpu)
    if name in ("index_put", "index_put_", "_index_put_impl_") and (
        len(args) > 3 and args[3]
    ):
        return at_least(moved, args[2], SUMMED, gpu)
    if name == "masked_fill":  # copied, then filled
        return 2 * written + at_least(moved, outputs[0], UNROLLED, gpu)
    if "batch_norm" in name and inputs[0].dim() == 4 and not (
        inputs[0].is_contiguous(memory_format=torch.channels_last)
    ):
        size = inputs[0].element_size()
        return moved * max(
            1, gpu.copy / (size * PLANES * gpu.multiprocessors)
        )
    return moved


def as_bytes(elements, rate, gpu):
    """What a copy moves while the SMs are at so many elements."""
    return elements / (rate * gpu.multiprocessors) * gpu.copy


def at_least(moved, tensor, rate, gpu):
    """moved, or as many bytes as a copy moves while the SMs are at tensor."""
    return max(moved, as_bytes(tensor.numel(), rate, gpu))


def vectorized(inputs, outputs):
    """Whether PyTorch's TensorIterator may load several elements at once: all
    tensors are alike in shape and strides, and dense; numbers do not count."""
    tensors = [one for one in (*inputs, *outputs) if one.dim()]
    if not tensors:
        return True
    first = tensors[0]
    return all(
        one.shape == first.shape and one.stride() == first.stride()
        for one in tensors
    ) and is_dense(first)


def is_dense(tensor):
    """Without gaps between its elements, in whatever order of dimensions."""
    wanted = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size != 1 and stride != wanted:
            return False
        wanted *= size
    return True


def list_kernels(args):
    """Launches of a _foreach operation over lists of tensors."""
    lists = [a for a in args if isinstance(a, (list, tuple)) and a]
    lists = [a for a in lists if isinstance(a[0], torch.Tensor)]
    if not lists:
        return 1
    blocks = sum(-(-t.numel() // LIST_BLOCK) for t in lists[0])
    most = LIST_TENSORS[min(len(lists), 5) - 1]
    return max(-(-blocks // LIST_BLOCKS), -(-len(lists[0]) // most))
