"""What is changed in PyTorch around a script, and changed back after it."""

import sys
import time
import warnings

import torch
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import _get_current_function_mode_stack

from .. import hook
from . import answers, cuda, files
from .calls import Calls


class Changes:
    def __init__(self):
        self.undone = []

    def patch(self, where, name, value):
        if isinstance(where, dict):
            self.undone.append((where, name, True, where.get(name)))
            where[name] = value
            return
        had = name in vars(where)
        self.undone.append((where, name, had, getattr(where, name, None)))
        setattr(where, name, value)

    def undo(self):
        while self.undone:
            where, name, had, value = self.undone.pop()
            if isinstance(where, dict):
                where[name] = value
            elif had:
                setattr(where, name, value)
            else:
                delattr(where, name)


class Script:
    """Everything that stands around a script while it runs."""

    def __init__(self, mode, own_clock):
        self.mode = mode
        self.calls = Calls(mode)
        self.changes = Changes()
        self.own_clock = own_clock
        self.optimizers = []
        self.steps = []  # times at which steps of an optimizer were done
        self.stop_after = 0
        self.handles = []

    def __enter__(self):
        patch = self.changes.patch
        self.here = cuda.install(patch, self.mode)
        self.install_tensors(patch)
        self.install_backward(patch)
        self.install_modules(patch)
        self.install_compile(patch)
        self.install_autocast(patch)
        self.install_files(patch)
        self.install_optimizers()
        self.install_clock(patch)
        self.install_refusals(patch)
        self.mode.names.install()
        self.mode.__enter__()
        self.calls.__enter__()
        return self

    def __exit__(self, *error):
        self.calls.__exit__(*error)
        self.mode.__exit__(*error)
        self.mode.names.remove()
        for handle in self.handles:
            handle.remove()
        self.changes.undo()
        self.mode.settle()

    def install_tensors(self, patch):
        mode, here = self.mode, self.here
        inner = FakeTensor.device

        def device(tensor):
            if (
                mode.inside
                or not mode.uses_cuda
                or tensor.fake_mode is not mode.fake
                or mode.fake.in_kernel_invocation
            ):
                return inner.__get__(tensor)
            with torch._C.DisableTorchFunction():
                if mode.memory.entry(tensor).on_gpu:
                    return torch.device("cuda", here[0])
            return inner.__get__(tensor)

        patch(FakeTensor, "device", property(device, inner.fset))
        patch(torch.Tensor, "record_stream", lambda *_: None)
        resize = torch.UntypedStorage.resize_

        def resize_(storage, size):
            resize(storage, size)
            mode.memory.resized(storage)
            return storage

        patch(torch.UntypedStorage, "resize_", resize_)
        # Its own, for a foreign fake tensor on a GPU, needs a GPU.
        uniform = torch.ops.aten.uniform_.default
        patch(decomposition_table, uniform, lambda x, *_, **__: x)
        calls = self.calls

        def set_default_device(device):
            calls.default = device

        patch(torch, "set_default_device", set_default_device)
        make = torch.nn.Parameter.__new__

        def parameter(cls, data=None, requires_grad=True):
            if data is not None and type(data) is torch.Tensor:
                with torch.no_grad():
                    if data.is_floating_point():
                        data = mode.host_fake(data)
            return make(cls, data, requires_grad)

        patch(torch.nn.Parameter, "__new__", parameter)

    def install_backward(self, patch):
        """What is computed in a backward pass, as a checkpoint's, is the
        script's as well."""
        calls, run = self.calls, torch.autograd._engine_run_backward

        def run_backward(*args, **kwargs):
            if calls in _get_current_function_mode_stack():
                return run(*args, **kwargs)
            with calls:
                return run(*args, **kwargs)

        patch(torch.autograd, "_engine_run_backward", run_backward)

    def install_modules(self, patch):
        def _apply(module, fn, recurse=True):
            if recurse:
                for child in module.children():
                    child._apply(fn)
            for key, old in module._parameters.items():
                if old is None:
                    continue
                with torch.no_grad():
                    new = fn(old)
                if new is old:
                    continue
                if isinstance(old, FakeTensor) and isinstance(
                    new, FakeTensor
                ):
                    old.data = new.detach()
                else:
                    module._parameters[key] = torch.nn.Parameter(
                        new, old.requires_grad
                    )
                if old.grad is not None:
                    with torch.no_grad():
                        grad = fn(old.grad)
                    old.grad = None
                    module._parameters[key].grad = grad
            for key, old in module._buffers.items():
                if old is not None:
                    module._buffers[key] = fn(old)
            return module

        patch(torch.nn.Module, "_apply", _apply)

        def prepare(fsdp):
            states = fsdp._get_managed_states

            def _get_managed_states(modules, *ignored):
                # They are moved by .data, which only takes fake to fake.
                for module in modules:
                    for key, old in module._buffers.items():
                        if type(old) is torch.Tensor and not old.is_meta:
                            module._buffers[key] = self.mode.host_fake(old)
                return states(modules, *ignored)

            patch(fsdp, "_get_managed_states", _get_managed_states)

        hook.when_imported(
            "torch.distributed.fsdp._fully_shard._fsdp_init", prepare
        )

    def install_compile(self, patch):
        names = self.mode.names

        def compile(model=None, **options):
            if model is None:
                return lambda given: compile(given, **options)
            answers.say(
                "compile",
                "torch.compile: its element-wise operations are taken as "
                "fused, nothing is compiled",
            )
            if isinstance(model, torch.nn.Module):
                object.__setattr__(model, "_lockstep_compiled", True)
                object.__setattr__(model, "_orig_mod", model)
                return model

            def compiled(*args, **kwargs):
                names.compiled += 1
                names.change()
                try:
                    return model(*args, **kwargs)
                finally:
                    names.compiled -= 1
                    names.change()

            return compiled

        patch(torch, "compile", compile)

        def compile_module(module, *_, **__):
            compile(module)

        patch(torch.nn.Module, "compile", compile_module)

    def install_autocast(self, patch):
        kind, calls = torch.autocast, self.calls
        start, enter, leave = kind.__init__, kind.__enter__, kind.__exit__
        is_on, dtype_of = torch.is_autocast_enabled, torch.get_autocast_dtype

        def is_autocast_enabled(device_type="cuda"):
            if device_type == "cuda":
                return calls.autocast is not None
            return not self.mode.uses_cuda and is_on(device_type)

        def get_autocast_dtype(device_type):
            if device_type == "cuda":
                return calls.autocast or torch.float16
            return dtype_of(device_type)

        patch(torch, "is_autocast_enabled", is_autocast_enabled)
        patch(torch, "get_autocast_dtype", get_autocast_dtype)

        def __init__(cast, device_type, dtype=None, enabled=True, **more):
            cast.lockstep_gpu = device_type == "cuda"
            cast.lockstep_idle = (
                device_type == "cpu" and self.mode.uses_cuda
            )
            if cast.lockstep_gpu:
                device_type, dtype = "cpu", dtype or torch.float16
            start(cast, device_type, dtype, enabled, **more)
            cast.lockstep_dtype = dtype if enabled else None

        def __enter__(cast):
            if cast.lockstep_idle:
                return cast
            if cast.lockstep_gpu:
                cast.lockstep_before = calls.autocast
                calls.autocast = cast.lockstep_dtype
            return enter(cast)

        def __exit__(cast, *error):
            if cast.lockstep_idle:
                return None
            if cast.lockstep_gpu:
                calls.autocast = cast.lockstep_before
            return leave(cast, *error)

        patch(kind, "__init__", __init__)
        patch(kind, "__enter__", __enter__)
        patch(kind, "__exit__", __exit__)

    def install_files(self, patch):
        files.install(patch, self.mode)
        loader = torch.utils.data.DataLoader
        start = loader.__init__

        def __init__(self, dataset, *args, **kwargs):
            if len(args) > 4:  # batch_size .. num_workers
                args = args[:4] + (0,) + args[5:]
            else:
                kwargs["num_workers"] = 0
            for key in ("prefetch_factor", "multiprocessing_context"):
                kwargs.pop(key, None)
            kwargs["persistent_workers"] = False
            if len(args) <= 6:
                kwargs["pin_memory"] = False
            start(self, dataset, *args, **kwargs)

        patch(loader, "__init__", __init__)

    def install_refusals(self, patch):
        """What is not modelled ends the script with one line."""
        show = sys.excepthook

        def excepthook(kind, error, trace):
            if isinstance(error, answers.Unanswered):
                print("lockstep: %s" % error, file=sys.stderr)
            else:
                show(kind, error, trace)

        patch(sys, "excepthook", excepthook)
        warnings.filterwarnings("ignore", "Accessing the data pointer of Fake")

    def install_optimizers(self):
        from torch.optim import optimizer
        from torch.utils import _foreach_utils

        for where in (optimizer, _foreach_utils):
            kinds = getattr(where, "_foreach_supported_types", None)
            if kinds is not None:
                self.changes.patch(
                    where,
                    "_foreach_supported_types",
                    list(kinds) + [FakeTensor],
                )
        names, device = self.mode.names, self.mode.device

        def before(opt, args, kwargs):
            names.optimize(True)

        def after(opt, args, kwargs):
            names.optimize(False)
            if opt not in self.optimizers:
                self.optimizers.append(opt)
            self.mode.settle()
            if device.captured is not None:
                device.captured.append(None)
            else:
                end_step()

        def end_step():
            self.steps.append(device.end())
            if self.stop_after and len(self.steps) >= self.stop_after:
                sys.exit(0)

        device.on_step = end_step
        self.handles = [
            optimizer.register_optimizer_step_pre_hook(before),
            optimizer.register_optimizer_step_post_hook(after),
        ]

    def install_clock(self, patch):
        """Who looks at a clock waits for the device first."""
        mode, began = self.mode, time.time_ns()

        def wait():
            mode.settle()
            mode.device.synchronize()

        def watch(look):
            def looks():
                wait()
                return look()

            return looks

        def look_ns():
            wait()
            return mode.device.clock.now()

        def sleep(seconds):
            mode.device.host += int(seconds * 1e9)

        patch(time, "sleep", sleep)
        for name, offset in (
            ("time", began), ("monotonic", 0), ("perf_counter", 0),
        ):  # fmt: skip
            if not self.own_clock:
                for which in (name, name + "_ns"):
                    patch(time, which, watch(getattr(time, which)))
                continue
            patch(time, name + "_ns", lambda at=offset: at + look_ns())
            patch(time, name, lambda at=offset: (at + look_ns()) / 1e9)
