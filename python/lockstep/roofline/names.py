"""Which module of the model an operation belongs to, forward and backward.

Forward, a stack of the modules that are running. Backward, the node of autograd
that runs has the sequence number that it got forward; each module's call had a
range of these."""

import bisect

import torch
from torch.nn.modules import module as module_hooks


def sequence():
    return torch.autograd._get_sequence_nr()


def current_node():
    get = getattr(torch._C, "_current_autograd_node", None)
    return get() if get else None


class Names:
    def __init__(self):
        self.known = {}  # by id of module
        self.stack = []
        self.starts = []  # sequence numbers at which the module changes
        self.owners = []  # (name, compiled) from there on
        self.compiled = 0  # depth of compiled calls
        self.optimizing = False
        self.handles = []
        self.rows = ()  # modules whose calls are told from each other
        self.calls = 0  # of these, and of optimizers
        self.begun = None  # is called with the name of one that begins

    def install(self):
        self.handles = [
            module_hooks.register_module_forward_pre_hook(self.enter),
            module_hooks.register_module_forward_hook(
                self.leave, always_call=True
            ),
        ]

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def name_of(self, module):
        name = self.known.get(id(module))
        if name is None:
            for path, part in module.named_modules():
                if path == "module" or path.startswith("module."):
                    path = path[len("module."):]  # of a wrapper
                self.known.setdefault(
                    id(part), path or type(part).__name__
                )
            name = self.known[id(module)]
        return name

    def owner(self):
        """(module, whether its code is compiled, (module with a row, number
        of its call) or None)."""
        if not self.stack:
            return "", self.compiled > 0, None
        return self.stack[-1][0], self.compiled > 0, self.stack[-1][2]

    def change(self):
        """Autograd nodes from here on belong to what runs now."""
        if not torch.is_grad_enabled():
            return
        now = sequence()
        if self.starts and self.starts[-1] >= now:
            # A new epoch of numbers, or nothing recorded since.
            while self.starts and self.starts[-1] >= now:
                self.starts.pop()
                self.owners.pop()
        self.starts.append(now)
        self.owners.append(self.owner())
        if len(self.starts) > 200000:
            del self.starts[:100000], self.owners[:100000]

    def enter(self, module, args):
        compiled = getattr(module, "_lockstep_compiled", False)
        name = self.name_of(module)
        call = self.stack[-1][2] if self.stack else None
        if call is None and name in self.rows:
            self.calls += 1
            call = name, self.calls
            self.begun(name)
        again = current_node() is not None  # recomputed for a backward pass
        self.stack.append((name, compiled, call, again))
        self.compiled += compiled
        self.change()

    def leave(self, module, args, output):
        if self.stack:
            self.compiled -= self.stack.pop()[1]
            self.change()

    def optimize(self, begins):
        """A step of an optimizer begins or ends."""
        self.optimizing = begins
        self.calls += begins

    def where(self):
        """(what the trace says, whether the code is compiled, (name of a row,
        number of the call) or None)."""
        node = current_node()
        if node is not None and not (self.stack and self.stack[-1][3]):
            at = bisect.bisect_right(self.starts, node._sequence_nr()) - 1
            name, compiled, call = (
                self.owners[at] if at >= 0 else ("", False, None))
            if type(node).__name__ == "AccumulateGrad":
                return "backward", False, None
            return ("backward " + name).rstrip(), compiled, call and (
                "backward " + call[0], call[1])
        if self.optimizing:
            return "optimizer", self.compiled > 0, ("optimizer", self.calls)
        name, compiled, call = self.owner()
        return ("forward " + name if name else "other"), compiled, call and (
            "forward " + call[0], call[1])
