"""The calls of PyTorch that name a device, or that a GPU runs otherwise than a
CPU does. The script names a GPU; each call is changed here so that PyTorch
sees the CPU only."""

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

from . import answers

# What autocast on a GPU computes in float32 (docs: "CUDA Ops that can autocast
# to float32"); on a CPU its list is shorter.
IN_FLOAT32 = {
    getattr(where, name)
    for where in (torch, torch.Tensor, F)
    for name in (
        "acos", "asin", "cosh", "cosine_embedding_loss", "cosine_similarity",
        "cross_entropy", "cumprod", "cumsum", "dist", "erfinv", "exp",
        "expm1", "gaussian_nll_loss", "group_norm", "hinge_embedding_loss",
        "huber_loss", "kl_div", "l1_loss", "layer_norm", "log", "log10",
        "log1p", "log2", "log_softmax", "margin_ranking_loss", "mse_loss",
        "multi_margin_loss", "multilabel_margin_loss", "nll_loss", "norm",
        "normalize", "pdist", "poisson_nll_loss", "pow", "prod",
        "reciprocal", "renorm", "rsqrt", "sinh", "smooth_l1_loss",
        "soft_margin_loss", "softmax", "softmin", "softplus", "sum", "tan",
        "triplet_margin_loss", "__pow__", "__rpow__", "logsumexp",
        "rms_norm",
    )
    if hasattr(where, name)
}  # fmt: skip


def is_cuda(device):
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device.startswith("cuda")
    return type(device) is int


def by_number(rest, kwargs):
    """The arguments with cuda:N where the device is N."""
    def named(value):
        return torch.device("cuda", value) if type(value) is int else value

    if "device" in kwargs:
        kwargs = dict(kwargs, device=named(kwargs["device"]))
    return tuple(map(named, rest[:1])) + tuple(rest[1:]), kwargs


def inner(x):
    """The tensor inside those of torch.distributed."""
    for name in ("_local_tensor", "elem"):
        x = getattr(x, name, x)
    return x


def up(value):
    if (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.element_size() == 2
    ):
        return value.float()
    return value


class Calls(TorchFunctionMode):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.default = None  # of torch.set_default_device
        self.autocast = None  # dtype of autocast("cuda"), while it is on
        self.factories = {
            getattr(torch, n)
            for n in (
                "empty", "zeros", "ones", "full", "rand", "randn", "randint",
                "arange", "tensor", "eye", "linspace", "logspace",
                "randperm", "as_tensor", "empty_strided",
                "scalar_tensor", "tril_indices", "triu_indices",
            )
        }  # fmt: skip
        self.special = {
            torch.Tensor.to: self.to,
            torch.Tensor.cuda: self.cuda,
            torch.Tensor.cpu: self.cpu,
            torch.Tensor.is_cuda.__get__: self.is_cuda,
            torch.Tensor.is_cpu.__get__: self.is_cpu,
            torch.Tensor.device.__get__: self.device,
            torch.Tensor.get_device: self.get_device,
            torch.Tensor.pin_memory: self.same,
            torch.Tensor.numpy: self.numpy,
            torch.Tensor.tolist: self.tolist,
            torch.Tensor.__array__: self.numpy,
            torch.Tensor.__format__: self.format,
            torch.isfinite: self.isfinite,
            torch.Tensor.isfinite: self.isfinite,
            F.scaled_dot_product_attention: self.attention,
            F.cross_entropy: self.cross_entropy,
            torch.device: self.named_device,
            torch._C._nn._parse_to: self.named_device,
        }

        if hasattr(torch.ops.aten, "_fused_rms_norm"):
            self.special[F.rms_norm] = self.special[torch.rms_norm] = (
                self.rms_norm
            )

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        special = self.special.get(func)
        if special:
            return special(func, args, kwargs)
        if self.autocast is not None and func in IN_FLOAT32:
            args = tuple(map(up, args))
            return func(*args, **kwargs)
        if func in self.factories:
            device = kwargs.get("device", self.default)
            if device is not None:
                kwargs = dict(kwargs, device="cpu")
            return self.on(is_cuda(device), func, args, kwargs)
        device = kwargs.get("device")
        if device is not None and is_cuda(device):
            kwargs = dict(kwargs, device="cpu")
            return self.on(True, func, args, kwargs)
        return func(*args, **kwargs)

    def on(self, cuda, func, args, kwargs):
        """Calls func, whose result lies on the GPU if cuda."""
        mode = self.mode
        before = mode.place
        if cuda:
            mode.first_cuda()
            mode.place = "cuda"
        try:
            out = func(*args, **kwargs)
            if cuda and not isinstance(out, FakeTensor):
                out = self.copy(out, None)
            return out
        finally:
            mode.place = before

    def copy(self, x, dtype):
        """A copy on the side that place says."""
        options = {} if dtype is None else {"dtype": dtype}
        return torch.ops.aten._to_copy(x, **options)

    def move(self, x, cuda, dtype, layout):
        """A copy of x on the other side; of integers that are known, a real
        one on the host, for who looks at their memory."""
        mode = self.mode
        if (
            not cuda
            and isinstance(x, FakeTensor)
            and not x.dtype.is_floating_point
            and mode.values.are_known([x])
        ):
            answers.wait(mode)
            return mode.values.real(x).to(dtype or x.dtype, copy=True)
        before, mode.place = mode.place, "cuda" if cuda else "cpu"
        options = {} if dtype is None else {"dtype": dtype}
        if layout is not None:
            options["memory_format"] = layout
        try:
            out = torch.ops.aten._to_copy(x, **options)
        finally:
            mode.place = before
        if not cuda:
            answers.wait(mode)
        return out

    def named_device(self, func, args, kwargs):
        args, kwargs = by_number(args, kwargs)
        return func(*args, **kwargs)

    def to(self, func, args, kwargs):
        x = args[0]
        rest, kwargs = by_number(args[1:], dict(kwargs))
        copy = kwargs.pop("copy", False)
        other = kwargs.pop("other", None)
        if rest and isinstance(rest[0], torch.Tensor):
            other, rest = rest[0], rest[1:]
        if other is not None:
            rest = (other.device, other.dtype) + rest
        device, dtype, _, layout = torch._C._nn._parse_to(*rest, **kwargs)
        if device is not None and device.type not in ("cuda", "cpu"):
            return func(*args, **dict(kwargs, copy=copy))
        cuda = device is not None and device.type == "cuda"
        if cuda:
            self.mode.first_cuda()
        if device is not None and self.on_gpu(x) != cuda:
            return self.move(x, cuda, dtype, layout)
        options = {"copy": copy}
        if layout is not None:
            options["memory_format"] = layout
        return func(x, dtype or x.dtype, **options)

    def cuda(self, func, args, kwargs):
        return self.to(torch.Tensor.to, (args[0], "cuda"), {})

    def cpu(self, func, args, kwargs):
        return self.to(torch.Tensor.to, (args[0], "cpu"), {})

    def on_gpu(self, x):
        x = inner(x)
        return isinstance(x, FakeTensor) and self.mode.memory.entry(x).on_gpu

    def device(self, func, args, kwargs):
        x = inner(args[0])
        return func(x) if x is args[0] else x.device

    def is_cuda(self, func, args, kwargs):
        return self.on_gpu(args[0])

    def is_cpu(self, func, args, kwargs):
        return not self.on_gpu(args[0]) and func(*args)

    def get_device(self, func, args, kwargs):
        on_gpu = self.on_gpu(args[0])
        return torch.cuda.current_device() if on_gpu else func(*args)

    def same(self, func, args, kwargs):
        return args[0]

    def ask(self, x, what):
        """A real tensor for x."""
        answers.wait(self.mode)
        if self.mode.values.are_known([x]):
            return self.mode.values.real(x).clone()
        answers.say(
            what,
            "%s of a tensor without values: all the same" % what,
        )
        value = answers.value_of(self.mode, x)
        before, self.mode.place = self.mode.place, "real"
        try:
            with torch._C.DisableTorchFunction(), torch.no_grad():
                return torch.full(tuple(x.shape), value, dtype=x.dtype)
        finally:
            self.mode.place = before

    def numpy(self, func, args, kwargs):
        if not isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        return self.ask(args[0], "numpy()").numpy()

    def tolist(self, func, args, kwargs):
        if not isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        return self.ask(args[0], "tolist()").tolist()

    def format(self, func, args, kwargs):
        if not isinstance(args[0], FakeTensor) or args[0].dim():
            return func(*args, **kwargs)
        return format(args[0].item(), *args[1:])

    def isfinite(self, func, args, kwargs):
        out = func(*args, **kwargs)
        if isinstance(out, FakeTensor):
            self.mode.memory.entry(out).answer = True
        return out

    def rms_norm(self, func, args, kwargs):
        """One kernel each way on a GPU, those of layer_norm without a mean;
        on a CPU it falls apart."""
        names = ("input", "normalized_shape", "weight", "eps")
        given = dict(zip(names, args), **kwargs)
        x, shape = given["input"], given["normalized_shape"]
        if not isinstance(x, FakeTensor):
            return func(*args, **kwargs)
        given = (x, shape, given.get("weight"), None)
        return self.__torch_function__(F.layer_norm, (), given)

    def cross_entropy(self, func, args, kwargs):
        """Under autocast its log_softmax stays in 16 bits, as its type is
        given inside, and nll_loss takes that in float32."""
        if self.autocast is None:
            return func(*args, **kwargs)
        rest = dict(kwargs)
        if (
            rest.pop("label_smoothing", 0.0)
            or len(args) != 2
            or args[0].dim() != 2
            or args[1].is_floating_point()
        ):
            return func(*map(up, args), **kwargs)
        return F.nll_loss(up(F.log_softmax(args[0], 1)), args[1], **rest)

    def attention(self, func, args, kwargs):
        """Which kernel a GPU would take, called by its own name."""
        names = ("query", "key", "value", "attn_mask", "dropout_p",
                 "is_causal")  # fmt: skip
        given = dict(zip(names, args), **kwargs)
        q, k, v = (given[n] for n in names[:3])
        mask = given.get("attn_mask")
        if not isinstance(q, FakeTensor) or q.dim() != 4:
            return func(*args, **kwargs)
        if self.autocast is not None:
            q, k, v = (t.to(dtype=self.autocast) for t in (q, k, v))
        if given.get("enable_gqa") and k.shape[1] != q.shape[1]:
            times = q.shape[1] // k.shape[1]
            k, v = (t.repeat_interleave(times, 1) for t in (k, v))
        dropout = given.get("dropout_p") or 0.0
        causal = bool(given.get("is_causal"))
        scale = given.get("scale")
        half = q.dtype in (torch.float16, torch.bfloat16)
        enabled = torch.backends.cuda
        if (
            half
            and mask is None
            and q.shape[-1] <= 256
            and (enabled.flash_sdp_enabled() or enabled.cudnn_sdp_enabled())
        ):
            return torch.ops.aten._scaled_dot_product_flash_attention(
                q, k, v, dropout, causal, scale=scale
            )[0]
        if enabled.mem_efficient_sdp_enabled() and q.shape[-1] % 4 == 0:
            if mask is not None:
                if mask.dtype == torch.bool:
                    mask = torch.where(mask, 0.0, float("-inf"))
                mask = mask.to(dtype=q.dtype)
                mask = mask.expand(
                    q.shape[0], q.shape[1], q.shape[2], k.shape[2]
                )
            return torch.ops.aten._scaled_dot_product_efficient_attention(
                q, k, v, mask, torch.is_grad_enabled(), dropout, causal,
                scale=scale,
            )[0]  # fmt: skip
        return torch.ops.aten._scaled_dot_product_attention_math(
            q, k, v, mask, dropout, causal, scale=scale
        )[0]
