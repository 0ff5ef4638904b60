"""Which line of the user's program a call stands at.

A call of torch.distributed goes through frames of torch, of this package and
often of a library that uses torch. A verdict names two lines of it: the
innermost that is the user's own, and the one of the script that was started.
"""

import os
import sys
import sysconfig

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_paths = sysconfig.get_paths()
_LIBRARIES = tuple({os.path.join(_paths[name], "")
                    for name in ("stdlib", "platstdlib", "purelib", "platlib")}
                   | {os.sep + os.path.join("usr", "lib", "python3", "")})

# file: whether it is the user's; and the bytes that verdicts show of it, which
# live as long as the process.
_users = {}
_names = {}


def is_users(file: str) -> bool:
    known = _users.get(file)
    if known is None:
        known = _users[file] = not (
            file.startswith("<") or file.startswith(_OURS)
            or file.startswith(_LIBRARIES) or "-packages" + os.sep in file)
    return known


def name_of(file: str) -> bytes:
    """As verdicts show it: relative where it lies below the folder that the
    program runs in."""
    name = _names.get(file)
    if name is None:
        here = os.path.join(os.getcwd(), "")
        short = file[len(here):] if file.startswith(here) else file
        name = _names[file] = short.encode(errors="replace")
    return name


def here(frame):
    """file, line of the innermost user's frame from frame on outwards; of the
    innermost outside torch and this package if there is none, else None, 0."""
    library = None
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return name_of(file), frame.f_lineno
        if (library is None and not file.startswith("<")
                and not file.startswith(_OURS)
                and os.sep + "torch" + os.sep not in file):
            library = frame
        frame = frame.f_back
    if library is None:
        return None, 0
    return name_of(library.f_code.co_filename), library.f_lineno


def lines(frame):
    """file, line of here(frame), and file, line of the started script in the
    frames from there on outwards: None, 0 where it is not among them (a thread
    of its own)."""
    file, line = here(frame)
    while frame is not None:
        if frame.f_globals.get("__name__") == "__main__":
            script = frame.f_code.co_filename
            if is_users(script):
                return file, line, name_of(script), frame.f_lineno
        frame = frame.f_back
    return file, line, None, 0


# What the frames of torch's own layers know of the call that they make.
_LAYERS = {
    "_fsdp_param_group.py": ("self", "_module_fqn"),  # fully_shard
    "_flat_param.py": ("self", "_fqns"),              # FullyShardedDataParallel
}
_layers = {}  # by file


def layer(frame):
    """What the call is for in the words of the layer of torch that makes it,
    "FSDP module layers.1"; None where no frame before the user's is such."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return None
        knows = _layers.get(file, 0)
        if knows == 0:
            knows = _layers[file] = (
                _LAYERS.get(os.path.basename(file))
                if os.sep + "torch" + os.sep in file else None)
        if knows is not None:
            name = getattr(frame.f_locals.get(knows[0]), knows[1], None)
            if name:
                if not isinstance(name, str):
                    name = ", ".join(name)
                return ("FSDP module " + name).encode(errors="replace")
        frame = frame.f_back
    return None


def caller():
    """The frame that called the function that asks."""
    return sys._getframe(2)
