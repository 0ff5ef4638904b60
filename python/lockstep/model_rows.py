"""A torch module as the CSV that `lockstep predict --model` reads.

    python -m lockstep.model_rows net.py:make_net 3x224x224 net.csv

The module is made without memory (on torch's meta device), called once with a
batch of one, and every module that has parameters tells its shapes and FLOP by
hooks. FLOP of operations between two of them, such as attention's scores,
belong to the row before. docs/models.md says what the columns are.
"""

import importlib.util
import os
import re
import sys

OLDEST = (2, 1)  # of PyTorch, whose FlopCounterMode counts
HEADS = ("num_heads", "n_head", "n_heads", "num_attention_heads")
MLP = re.compile(r"^(mlp|ffn?|feed_forward)$")
MLP_CLASS = re.compile(r"MLP|FeedForward")


class Refusal(Exception):
    """What was expected, in one line."""


def find(spec):
    """FILE.py and NAME of FILE.py:NAME, and how the file is loaded."""
    path, _, name = spec.rpartition(":")
    if not path or not name.isidentifier():
        raise Refusal("--from: expected FILE.py:NAME, got %s" % spec)
    if not os.path.isfile(path):
        raise Refusal("--from: no file %s" % path)
    found = importlib.util.spec_from_file_location("lockstep_model", path)
    if not found:
        raise Refusal("--from: expected FILE.py:NAME, got %s" % spec)
    return path, name, found


def load(path, name, found):
    """What NAME is there: a class or a function that takes no arguments, or a
    module that is made already."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    source = importlib.util.module_from_spec(found)
    sys.modules["lockstep_model"] = source
    found.loader.exec_module(source)
    if not hasattr(source, name):
        raise Refusal("--from: %s has no %s" % (path, name))
    return getattr(source, name)


def read_shapes(text):
    """Shapes of one sample, and whether they are tokens: "3x224x224", or
    "tokens:2048"; commas between several."""
    shapes = []
    for part in text.split(","):
        match = re.fullmatch(r"(tokens:)?(\d+(?:x\d+)*)", part)
        if not match:
            raise Refusal(
                "--input: expected a shape such as 3x224x224 or tokens:2048, "
                "got %s" % part
            )
        shapes.append((bool(match.group(1)),
                       [int(size) for size in match.group(2).split("x")]))
    return shapes


class Row:
    def __init__(self, name, numel, module):
        self.name, self.numel, self.module = name, numel, module
        self.flops = 0
        self.width = self.positions = self.heads = 0
        self.mlp = False


def heads_of(module):
    """Attention heads of a module; 0: it is no attention, or does not say."""
    holders, names = [module], HEADS
    if re.search(r"attention|attn", type(module).__name__, re.I):
        holders.append(getattr(module, "config", None))
        names += ("heads",)
    for holder in holders:
        for name in names:
            number = getattr(holder, name, None)
            if isinstance(number, int) and number > 0:
                return number
    return 0


def is_mlp(model, path):
    """Whether the module at path is a part of its block's MLP."""
    parent = model
    for name in path.split("."):
        kind = type(parent).__name__
        if kind.startswith("Transformer") and re.match(r"linear\d$", name):
            return True
        parent = getattr(parent, name)
        if MLP.match(name) or MLP_CLASS.search(type(parent).__name__):
            return True
    return False


class Survey:
    """The rows of a model, filled while it is called."""

    def __init__(self, model, torch):
        self.torch = torch
        self.model = model
        self.rows = []
        self.first = {}  # of a module's rows: what its operation is told in
        self.previous = None
        self.seen = 0  # FLOP
        owned = set()
        for path, module in model.named_modules():
            for name, parameter in module.named_parameters(recurse=False):
                label = path + "." + name if path else name
                if id(parameter) in owned:
                    row = Row(path or label, 0, module)  # tied to another
                else:
                    row = Row(label, parameter.numel(), module)
                owned.add(id(parameter))
                row.mlp = bool(path) and is_mlp(model, path)
                self.rows.append(row)
                self.first.setdefault(module, row)

    def spend(self, counter, row):
        total = counter.get_total_flops()
        if row:
            row.flops += total - self.seen
            self.seen = total

    def shape(self, output):
        """Width and positions of one sample."""
        channels = output.shape[1 if output.dim() > 3 else -1]
        return channels, output.numel() // max(channels, 1)

    def enter(self, counter, module, inputs):
        before = self.previous
        self.spend(counter, before)
        if not before or not before.width:
            return
        # Pooling between two rows: what the next one takes in.
        taken = [i for i in inputs if isinstance(i, self.torch.Tensor)]
        if taken and taken[0].numel() < before.width * before.positions:
            flat = taken[0].dim() == 2 and not taken[0].numel() % before.width
            if flat or self.shape(taken[0])[0] == before.width:
                before.positions = taken[0].numel() // before.width

    def leave(self, counter, module, output):
        row = self.first[module]
        self.spend(counter, row)
        if isinstance(output, (tuple, list)):
            output = output[0]
        if isinstance(output, self.torch.Tensor) and output.dim() > 1:
            width, positions = self.shape(output)
            if not row.numel or width <= row.numel:
                row.width, row.positions = width, positions
        self.previous = row

    def find_heads(self):
        """An attention's output is what was called last in it."""
        for path, module in self.model.named_modules():
            heads = heads_of(module)
            inside = set(module.modules())
            called = [m for m in self.order if m in inside]
            if not heads or not called:
                continue
            if any(heads_of(m) for m in inside if m is not module):
                continue
            row = self.first[called[-1]]
            if row.width:
                row.heads = heads

    def run(self, inputs):
        from torch.utils.flop_counter import FlopCounterMode

        self.order = []
        counter = FlopCounterMode(display=False)
        hooks = []
        for module in self.first:
            hooks.append(module.register_forward_pre_hook(
                lambda m, i: self.enter(counter, m, i)))
            hooks.append(module.register_forward_hook(
                lambda m, i, o: (self.order.append(m),
                                 self.leave(counter, m, o)) and None))
        with counter:
            self.model(*inputs)
            self.spend(counter, self.previous)
        for hook in hooks:
            hook.remove()
        self.find_heads()


def survey(spec, shapes):
    """Returns the rows of the module."""
    place, samples = find(spec), read_shapes(shapes)
    import torch  # which takes seconds

    version = tuple(map(int, torch.__version__.split(".")[:2]))
    if version < OLDEST:
        raise Refusal("PyTorch %s: expected %d.%d or newer"
                      % ((torch.__version__,) + OLDEST))
    make = load(*place)
    device = torch.device("meta")
    with device:
        model = make if isinstance(make, torch.nn.Module) else make()
    if not isinstance(model, torch.nn.Module):
        raise Refusal("--from: expected %s to make a torch.nn.Module, got %s"
                      % (spec, type(model).__name__))
    result = Survey(model.to(device).eval(), torch)
    if not result.rows:
        raise Refusal("--from: %s has no parameters" % spec)
    with device:
        result.run([torch.zeros([1] + shape, dtype=torch.int64 if tokens
                                else torch.float32, device=device)
                    for tokens, shape in samples])
    return result.rows


def write(rows, spec, shapes, out):
    total = sum(row.numel for row in rows)
    count = sum(row.numel > 0 for row in rows)
    flops = sum(row.flops for row in rows)
    out.write("# %s: %d parameters in %d tensors, forward %.6g GFLOP per "
              "sample of %s\n" % (spec, total, count, flops / 1e9, shapes))
    out.write("# source: lockstep model new --from, PyTorch's FLOP counter\n")
    out.write("parameter,numel,forward_flops,width,positions,heads,mlp\n")
    for row in rows:
        cells = [row.name, row.numel, row.flops, row.width or "",
                 row.positions if row.width else "", row.heads or "",
                 1 if row.mlp else ""]
        out.write(",".join(map(str, cells)) + "\n")


def save(rows, spec, shapes, path):
    if path == "-":
        write(rows, spec, shapes, sys.stdout)
        return
    part = "%s.%d" % (path, os.getpid())
    try:
        with open(part, "w") as out:
            write(rows, spec, shapes, out)
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise Refusal("%s: cannot be written: %s" % (path, error.strerror))


def main(arguments):
    spec, shapes, path = arguments
    try:
        save(survey(spec, shapes), spec, shapes, path)
    except ImportError as error:
        if error.name != "torch":
            raise
        sys.stderr.write("lockstep model new: --from needs PyTorch, which %s "
                         "does not have\n" % sys.executable)
        return 77
    except Refusal as refusal:
        sys.stderr.write("lockstep model new: %s\n" % refusal)
        return 2
    except Exception as error:  # of the user's own code
        text = str(error).strip().split("\n")[0]
        sys.stderr.write("lockstep model new: --from %s: %s: %s\n"
                         % (spec, type(error).__name__, text))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
