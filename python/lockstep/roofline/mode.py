"""A mode of PyTorch under which a script runs on a simulated GPU: tensors on
"cuda", and large ones of floating point on the host, are fake; each operation
on them is priced and enqueued on the device. Tensors on the host that are small
or of integers stay real, so that samplers, indices and schedules work."""

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only
from torch.utils.flop_counter import flop_registry

from . import answers, cost, device, shapes
from .memory import Memory
from .names import Names
from .values import Values, tensors_of

REAL_AT_MOST = 1024  # elements of a real tensor of floats, made on the host
DEVICE = torch.ops.prim.device.default
PLAIN = {torch.Tensor, torch.nn.Parameter, FakeTensor}
OTHER = torch._C._TorchDispatchModeKey.FAKE
shapes.install()
META, CPU = torch.device("meta"), torch.device("cpu")
# Not element-wise, but compiled into one kernel with what stands around it.
FREE = {"empty", "empty_like", "empty_strided", "new_empty", "lift_fresh",
        "new_empty_strided", "_local_scalar_dense", "set_", "resize_",
        "is_same_size", "_unsafe_view", "lift", "is_pinned",
        "record_stream"}  # fmt: skip


class Info:
    """What does not change from call to call of an operation."""

    def __init__(self, func):
        schema = func._schema
        self.name = schema.name.split("::")[-1]
        self.writes = [
            (n, a.name)
            for n, a in enumerate(schema.arguments)
            if a.alias_info is not None and a.alias_info.is_write
        ]
        returns = schema.returns
        self.view = bool(returns) and all(
            r.alias_info is not None and not r.alias_info.is_write
            for r in returns
        )
        self.free = self.view or self.name in FREE
        self.attention = "_scaled_dot_product_" in self.name and (
            "flash" in self.name
            or "efficient" in self.name
            or "cudnn" in self.name
        )
        self.product = self.name in cost.PRODUCTS
        self.counted = flop_registry.get(func._overloadpacket)
        self.foreach = self.name.startswith("_foreach")
        self.fused = self.name.startswith("_fused")


def names_gpu(value):
    return isinstance(value, torch.device) and value.type == "cuda"


class Fusion:
    """A run of operations of compiled code that become one kernel: what they
    read from outside, and what is left of what they wrote when it ends."""

    def __init__(self):
        self.read = {}
        self.made = {}
        self.label = "other"
        self.steps = 0

    def add(self, label, inputs, outputs):
        if not self.steps:
            self.label = label
        self.steps += 1
        for entry, size in inputs:
            if entry.serial not in self.made:
                had = self.read.get(entry.serial, 0)
                self.read[entry.serial] = max(had, size)
        for entry, size in outputs:
            self.made[entry.serial] = size

    def traffic(self, alive):
        left = sum(s for n, s in self.made.items() if n in alive)
        return sum(self.read.values()) + left


class Mode(TorchDispatchMode):
    def __init__(self, dev, fuse=False, table=None):
        super().__init__()
        self.device = dev
        self.table = table
        self.gpu = dev.gpu
        self.memory = Memory()
        self.values = Values(self.memory)
        self.names = Names()
        if table is not None:
            self.names.rows = table.modules()
            self.names.begun = self.begin_module
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.fuse_all = fuse
        self.fusion = Fusion()
        self.infos = {}
        self.inside = 0
        self.uses_cuda = False
        # Where the running call puts its result: "cuda", "cpu" from there,
        # "host" as a fake, "real" as it is; None: where its arguments are.
        self.place = None
        self.unpriced = set()

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if isinstance(func, HigherOrderOperator):
            answers.refuse_call(func.name(), "operations of PyTorch alone")
        if func is DEVICE and isinstance(args[0], FakeTensor):
            meta = args[0].fake_mode.in_kernel_invocation
            return META if meta else CPU
        if not PLAIN.issuperset(types):
            return NotImplemented  # a DTensor's operations come one by one
        kwargs = kwargs or {}
        if torch._C._get_dispatch_mode(OTHER) is not None:
            return func(*args, **kwargs)  # a library asks for a shape
        self.inside += 1
        try:
            with torch._C.DisableTorchFunction():
                return self.perform(func, self.info(func), types, args, kwargs)
        finally:
            self.inside -= 1

    def info(self, func):
        info = self.infos.get(func)
        if info is None:
            info = self.infos[func] = Info(func)
        return info

    def perform(self, func, info, types, args, kwargs):
        if any(map(names_gpu, args)) or any(map(names_gpu, kwargs.values())):
            # From C++, or an operation of a library.
            args = tuple(CPU if names_gpu(a) else a for a in args)
            kwargs = {k: CPU if names_gpu(a) else a for k, a in kwargs.items()}
            before, self.place = self.place, "cuda"
            try:
                return self.perform(func, info, types, args, kwargs)
            finally:
                self.place = before
        inputs = tensors_of(args, [])
        if kwargs:
            tensors_of(kwargs.values(), inputs)
            if str(kwargs.get("device")) == "meta":
                return func(*args, **kwargs)
        fake = any(isinstance(t, FakeTensor) for t in inputs)
        if not fake and not self.becomes_fake(info, inputs, args, kwargs):
            return func(*args, **kwargs)
        if fake and info.name in answers.BY_OP:
            return self.answer(func, info, args, kwargs, inputs)
        if info.name in answers.INDEXED:
            args = answers.without_masks(self, args)
        # Not "with self.fake": this mode is out of the way already.
        try:
            out = self.fake.dispatch(func, types, args, kwargs)
        except NotImplementedError:
            answers.refuse_call(func, "one of both devices")
        except answers.UNANSWERED:
            return answers.refuse(self, func, args, kwargs)
        outputs = tensors_of(
            out if isinstance(out, (list, tuple)) else (out,), []
        )
        self.account(info, func, args, kwargs, inputs, outputs, out)
        return out

    def answer(self, func, info, args, kwargs, inputs):
        """What an operation gives whose result depends on values."""
        if not self.values.are_known(inputs):
            return answers.BY_OP[info.name](self, func, args, kwargs)
        answers.wait(self)
        out = func(*self.values.reals(args), **self.values.reals(kwargs))
        return tree_map_only(
            torch.Tensor, lambda t: self.fake_like(inputs[0], t), out
        )

    def fake_like(self, other, real):
        """A fake of a real tensor, where other is."""
        before = self.place
        self.place = "cuda" if self.on_gpu(other) else "host"
        try:
            copy = torch.ops.aten._to_copy.default
            return self.perform(copy, self.info(copy), (), (real,), {})
        finally:
            self.place = before

    def becomes_fake(self, info, inputs, args, kwargs):
        """Whether an operation without fake inputs makes a fake tensor."""
        if self.place in ("cuda", "host"):
            return True
        if self.place == "real":
            return False
        if inputs or info.name in ("randint", "randperm", "lift_fresh"):
            return False
        if not args or not isinstance(args[0], (list, tuple)):
            return False  # a range
        dtype = kwargs.get("dtype") or torch.get_default_dtype()
        count = 1
        for length in args[0]:
            count *= length
        return dtype.is_floating_point and count > REAL_AT_MOST

    def host_fake(self, tensor):
        """A fake of a tensor on the host."""
        before, self.place = self.place, "host"
        try:
            return torch.ops.aten._to_copy(tensor)
        finally:
            self.place = before

    def on_gpu(self, tensor):
        return isinstance(tensor, FakeTensor) and (
            not self.uses_cuda or self.memory.entry(tensor).on_gpu
        )

    def account(self, info, func, args, kwargs, inputs, outputs, out):
        fakes = [t for t in inputs if isinstance(t, FakeTensor)]
        gpu = self.place == "cuda" or any(map(self.on_gpu, fakes))
        copied = self.place is not None and not all(
            map(self.on_gpu, fakes)
        )
        if info.name == "copy_":  # out of the host's memory, or into it
            copied = len(set(map(self.on_gpu, inputs[:2]))) == 2
        if self.place in ("cpu", "host"):
            gpu = False
        if not self.uses_cuda:
            gpu = True
        made = [t for t in outputs if isinstance(t, FakeTensor)]
        entries = [self.memory.entry(t) for t in made]
        self.values.follow(info, func, args, kwargs, fakes, made)
        if not gpu:
            return
        for entry in entries:
            self.memory.place(entry)
        answers.note(self, info.name, args, fakes, entries)
        if info.free or not (made or info.writes):
            return
        label, compiled, call = self.names.where()
        if self.table is not None and not (
            copied and info.name in ("_to_copy", "copy_")
        ):
            ns = self.table.take(call, info.name)
            if ns:
                self.device.launch(ns, label, 1, 0)
            return
        compiled = compiled or self.fuse_all
        if compiled and not (
            info.product or info.attention or info.foreach or info.fused
        ):
            self.fusion.add(
                label,
                [(self.memory.entry(t), cost.size_of(t)) for t in fakes],
                [(e, cost.size_of(t)) for e, t in zip(entries, made)],
            )
            return
        self.close_fusion()
        host = device.COMPILED_HOST_NS if compiled else device.HOST_NS
        seconds, kernels = self.price(
            info, func, args, kwargs, fakes, made, out, compiled
        )
        if copied and info.name in ("_to_copy", "copy_"):
            seconds = sum(map(cost.size_of, made)) / self.gpu.host_link
        self.device.launch(int(seconds * 1e9), label, kernels, host)

    def begin_module(self, name):
        """One that may have a row in the table is called."""
        ns = self.table.charge("forward " + name)
        if ns:
            self.device.launch(ns, "forward " + name, 1, 0)

    def close_fusion(self):
        fusion = self.fusion
        if fusion.steps:
            self.fusion = Fusion()
            traffic = fusion.traffic(self.memory.alive)
            seconds = traffic / self.gpu.copy + cost.KERNEL
            self.device.traffic += traffic
            self.device.launch(
                int(seconds * 1e9), fusion.label, 1, device.COMPILED_HOST_NS
            )

    def price(self, info, func, args, kwargs, inputs, outputs, out, compiled):
        """(seconds, kernels) of an operation on the device."""
        if info.attention:
            seconds, flops = cost.attention(info.name, args, kwargs, self.gpu)
            self.device.flops += flops
            return seconds, 1
        if info.product:
            seconds, kernels = 0.0, 0
            for product in cost.products(info.name, args, out, compiled):
                self.device.flops += product.flops
                self.device.traffic += product.traffic
                seconds += product.seconds(self.gpu)
                kernels += 1
            return seconds, max(kernels, 1)
        if info.counted:
            self.unpriced.add(info.name)
        inputs = [t for t in inputs if t is not kwargs.get("out")]
        traffic = cost.traffic(info.name, args, inputs, outputs, self.gpu)
        kernels = 1
        if info.foreach:
            kernels = cost.list_kernels(args)
            if info.name.endswith("_") and not outputs:
                traffic += sum(map(cost.size_of, tensors_of([args[0]], [])))
        elif info.fused:
            kernels = cost.list_kernels(args[:4])
        self.device.traffic += traffic
        return traffic / self.gpu.copy + kernels * cost.KERNEL, kernels

    def first_cuda(self):
        """The script puts something on the GPU: until now nothing was."""
        if not self.uses_cuda:
            self.uses_cuda = True
            self.memory.clear()
            self.device.restart()
            self.fusion = Fusion()

    def settle(self):
        """Everything so far is enqueued."""
        self.close_fusion()
