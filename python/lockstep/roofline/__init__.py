"""PyTorch scripts on a simulated GPU: their time and memory without one.

    from lockstep import roofline
    with roofline.Run("h100") as run:
        ...                     # a training loop
    print(run.step_ns(), run.peak)

Times come from a roofline with measured efficiencies (cost.py) over a catalogue
of GPUs (catalogue.py), tensors are fake. In a simulated world the group moves
the rank's clock by before_call() and after_call() (charge.py, rank.py)."""

from .. import charge
from . import catalogue, device
from .catalogue import Unknown

OLDEST = (2, 4)  # of PyTorch; tried with 2.13


class Run:
    """A script, or a part of it, on the GPU called name. clock has now() and
    charge(ns, label); None: a clock of the run's own, which time.time and
    others of its kind then read. fuse: all code is taken as compiled. table: a
    table.Table that says what computing takes, or None: the roofline. Raises
    Unknown where the GPU is not in the catalogue or PyTorch is too old."""

    def __init__(self, name, clock=None, fuse=False, table=None):
        self.gpu = catalogue.find(name)
        import torch

        version = tuple(map(int, torch.__version__.split(".")[:2]))
        if version < OLDEST:
            raise Unknown(
                "PyTorch %s: expected %d.%d or newer for roofline"
                % ((torch.__version__,) + OLDEST)
            )
        from .mode import Mode
        from .script import Script

        self.device = device.Device(self.gpu, clock or device.Clock())
        self.mode = Mode(self.device, fuse, table)
        self.script = Script(self.mode, clock is None)

    def __enter__(self):
        self.script.__enter__()
        charge.device = self
        return self

    def __exit__(self, *error):
        charge.device = None
        self.script.__exit__(*error)

    def before_call(self):
        """A call of communication is about to be made."""
        self.mode.settle()
        self.device.before_call()

    def after_call(self):
        """One is over, or the wait for it."""
        self.mode.settle()
        self.device.after_call()

    def address(self, tensor):
        """Of a fake tensor's values for a call of communication, or None."""
        from .answers import value_of

        default = value_of(self.mode, tensor)
        real = self.mode.values.for_call(tensor, default)
        return None if real is None else real.data_ptr()

    def carry(self, tensors, has_data):
        """A call takes these: what it gives is known if what it sends is."""
        self.mode.values.carry(tensors, has_data)

    @property
    def peak(self):
        """Bytes of device memory, at most at one time."""
        return max(self.mode.memory.before, self.mode.memory.peak)

    def step_ns(self):
        """Of the last step of an optimizer: from the end of the one before;
        None before the second."""
        steps = self.script.steps
        return steps[-1] - steps[-2] if len(steps) > 1 else None

    def state_bytes(self):
        """(parameters, gradients, state of the optimizers)."""
        import torch

        sizes = [0, 0, 0]
        with torch._C.DisableTorchFunction():
            for opt in self.script.optimizers:
                for group in opt.param_groups:
                    for p in group["params"]:
                        size = p.numel() * p.element_size()
                        sizes[0] += size
                        sizes[1] += size if p.grad is not None else 0
                for state in opt.state.values():
                    for value in state.values():
                        if isinstance(value, torch.Tensor):
                            sizes[2] += value.numel() * value.element_size()
        return tuple(sizes)
