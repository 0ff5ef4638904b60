"""Which line of the user's program a call stands at.

A call of torch.distributed goes through frames of torch, of this package and
often of a library that uses torch. A verdict names two lines of it: the
innermost that is the user's own, and the one of the script that was started.
"""

import functools
import os
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_paths = sysconfig.get_paths()
_LIBRARIES = tuple({os.path.join(_paths[name], "")
                    for name in ("stdlib", "platstdlib", "purelib", "platlib")}
                   | {os.sep + os.path.join("usr", "lib", "python3", "")})

# What programs stand in that are no files: python3 -c and standard input.
_TYPED = ("<string>", "<stdin>")
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


def _is_typed(frame) -> bool:
    return (frame.f_code.co_filename in _TYPED
            and frame.f_globals.get("__name__") == "__main__")


def name_of(file: str) -> bytes:
    """As verdicts show it: relative where it lies below the folder that the
    program runs in."""
    name = _names.get(file)
    if name is None:
        here = os.path.join(os.getcwd(), "")
        short = file[len(here):] if file.startswith(here) else file
        name = _names[file] = short.encode(errors="replace")
    return name


def _of_library(frame):
    """file, line of the innermost outside torch and this package, from frame
    on outwards."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not (file.startswith("<") or file.startswith(_OURS)
                or os.sep + "torch" + os.sep in file):
            return name_of(file), frame.f_lineno
        frame = frame.f_back
    return None, 0


def _of_starter(frame):
    """Where no frame is the user's: file, line that gave the thread this to do,
    else that started it, else _of_library()."""
    inner = frame
    while frame is not None:
        if frame.f_code is _run_submitted.__code__:
            return frame.f_locals["site"]
        frame = frame.f_back
    return (getattr(threading.current_thread(), _SITE, None)
            or _of_library(inner))


_SITE = "_lockstep_site"  # of a Thread


def _run_submitted(site, function, arguments, named):
    return function(*arguments, **named)


def install():
    """Has threads started and given work from now on know by which line."""
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit

    @functools.wraps(start)
    def start_here(self):
        setattr(self, _SITE, here(sys._getframe(1)))
        start(self)

    @functools.wraps(submit)
    def submit_here(self, function, /, *arguments, **named):
        return submit(self, _run_submitted, here(sys._getframe(1)), function,
                      arguments, named)

    threading.Thread.start = start_here
    ThreadPoolExecutor.submit = submit_here


def here(frame):
    """file, line of the innermost user's frame from frame on outwards; if there
    is none, that of who started the thread, or the innermost outside torch and
    this package, else None, 0."""
    inner = frame
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file) or _is_typed(frame):
            return name_of(file), frame.f_lineno
        frame = frame.f_back
    return _of_starter(inner)


def raised(error):
    """file, line, function of the user's innermost frame that error passed;
    None: it passed none. Of a SystemExit for another error, that one's."""
    if isinstance(error, SystemExit):
        error = error.__context__ or error
    trace, found = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_users(code.co_filename) or _is_typed(trace.tb_frame):
            found = (name_of(code.co_filename), trace.tb_lineno,
                     code.co_name.encode(errors="replace"))
        trace = trace.tb_next
    return found


def text_of(error):
    """The first line of what is printed of an error, as bytes; None: of a
    SystemExit nothing is."""
    if isinstance(error, SystemExit):
        return None
    import traceback
    text = "".join(traceback.format_exception_only(type(error), error))
    line = (text.splitlines() or [""])[0]
    return "".join(c if " " <= c <= "~" else "?" for c in line).encode()


# What the frames of torch's own layers know of the call that they make.
_LAYERS = {
    "_fsdp_param_group.py": ("self", "_module_fqn"),  # fully_shard
    "_flat_param.py": ("self", "_fqns"),              # FullyShardedDataParallel
}
# file: name_of() of one that is the user's, else what its frames know of the
# call, or None.
_files = {}


def _look_at(file: str):
    if is_users(file):
        return name_of(file)
    return (_LAYERS.get(os.path.basename(file))
            if os.sep + "torch" + os.sep in file else None)


def _describe(frame, knows):
    """"FSDP module layers.1"; None where the frame does not know it."""
    name = getattr(frame.f_locals.get(knows[0]), knows[1], None)
    if not name:
        return None
    if not isinstance(name, str):
        name = ", ".join(name)
    return ("FSDP module " + name).encode(errors="replace")


def place(frame):
    """Where a call stands, and what it is for in the words of the layer of
    torch that makes it, or None: file, line of here(frame); file, line of the
    started script in the frames from there on outwards, None, 0 where it is not
    among them (a thread of its own); and the words."""
    inner, words = frame, None
    while frame is not None:
        file = frame.f_code.co_filename
        known = _files.get(file, 0)
        if known == 0:
            known = _files[file] = _look_at(file)
        if known is None:
            if file in _TYPED and _is_typed(frame):
                known = name_of(file)
                break
        elif known.__class__ is bytes:
            break
        elif words is None:
            words = _describe(frame, known)
        frame = frame.f_back
    else:
        return *_of_starter(inner), None, 0, words
    line = frame.f_lineno
    while frame is not None:
        if frame.f_globals.get("__name__") == "__main__":
            script = frame.f_code.co_filename
            if is_users(script) or (script in _TYPED and
                                    "spawn_main" not in frame.f_globals):
                return known, line, name_of(script), frame.f_lineno, words
        frame = frame.f_back
    return known, line, None, 0, words


def other_thread(group):
    """What a call of this thread is for, if another one that still runs calls
    on the group, too: nothing keeps their calls in one order on all ranks."""
    here, threads = threading.current_thread(), threading.enumerate()
    if not any(group.thread == thread.ident for thread in threads):
        group.thread = here.ident
    if here.ident == group.thread or here not in threads:
        return None  # or a thread of C++, as autograd's, which it waits for
    return ("thread %s, beside another thread that calls on this group," %
            here.name).encode(errors="replace")


def caller(depth=1):
    """The frame so many calls above the function that asks. A thread of the
    autograd engine, where C++ calls, may have none: then the one in which the
    program's own thread waits for it."""
    try:
        return sys._getframe(depth + 1)
    except ValueError:
        return sys._current_frames()[threading.main_thread().ident]
