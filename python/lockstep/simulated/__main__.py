"""python3 -m lockstep.simulated SCRIPT|-m MODULE|-c CODE|- [ARGUMENT...]: what
`lockstep run --backend sim` starts once in place of an interpreter a rank. It
imports torch, forks a process for each rank, and tells the simulation as they
end; each runs the program as python3 would have.
"""

import atexit
import contextlib
import gc
import importlib
import os
import random
import re
import runpy
import sys
import threading
import types

from . import checkpoints, clock, seat, spawn, store
from .. import eager, hook
from ..roofline import rank as rank_on_gpu


# What python3 calls a program that stands in no file.
_CODE = {"-c": "<string>", "-": "<stdin>"}


def _read(words):
    """The text of the program, as far as it is at hand: what it is likely to
    import is imported once, and not by every rank."""
    if words[0] == "-m":
        return b"torch"
    if words[0] in ("-c", "-"):
        return words[1].encode(errors="replace")
    try:
        with open(words[0], "rb") as file:
            return file.read()
    except OSError:
        return b""


def _may_import_torch(text):
    """Itself, or by a module that is not of Python's own."""
    names = re.findall(rb"^\s*(?:from|import)\s+(\w+)", text, re.M)
    ours = getattr(sys, "stdlib_module_names", ())
    return b"torch" in text or any(name.decode() not in ours
                                   for name in names)


def _prepare(words):
    """What all ranks have in common."""
    text = _read(words)
    if not _may_import_torch(text):
        return
    more = ["lockstep.group", "lockstep.rendezvous"]
    if rank_on_gpu.check():
        more += ["lockstep.roofline.script", "lockstep.roofline.mode",
                 # As the first tensor without data would.
                 "torch.fx.experimental.symbolic_shapes",
                 "torch.distributed.tensor"]
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)  # Threads do not come along with a fork.
    if torch.distributed.is_available():
        store.install()
        hook.install()
        if seat.count() < int(os.environ["WORLD_SIZE"]):
            checkpoints.install()
    if "numpy" in sys.modules:
        more.append("numpy.random")
    if b"optim" in text or b"Parallel" in text:
        more.append("torch._dynamo")  # as the first step would
    for name in more:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    eager.install()


def _become(rank, ranks, local, ends):
    """Makes this process, a fork, a rank."""
    seat.die_with_parent()
    place = {"RANK": rank, "LOCAL_RANK": rank % local, "ROLE_RANK": rank,
             "GROUP_RANK": rank // local}
    os.environ.update({name: str(value) for name, value in place.items()})
    # One would be as good as another: so it is the same in every run.
    random.seed(rank)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(rank)
    clock.install()
    if "torch" in sys.modules:
        spawn.install()
        rank_on_gpu.join(rank, ends)


def _run_script(path):
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    _run_code(code, path)


def _run_code(code, path=None):
    main = types.ModuleType("__main__")
    if path is not None:
        main.__file__ = path
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _status_of(leaving):
    """The exit status that SystemExit stands for."""
    if leaving.code is None or isinstance(leaving.code, int):
        return (leaving.code or 0) & 0xff
    print(leaving.code, file=sys.stderr)
    return 1


def _leave(status):
    """Ends a rank. The interpreter is not taken apart: that would write to all
    that the ranks share, and so copy it."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _run(words):
    """Runs the program and returns its status; what it raises is reported
    without us."""
    is_module, is_code = words[0] == "-m", words[0] in ("-c", "-")
    sys.argv = (words[1:] if is_module else
                [words[0], *words[2:]] if is_code else words)
    sys.path[0] = (os.getcwd() if is_module else
                   "" if is_code else
                   os.path.dirname(os.path.abspath(words[0])))
    try:
        if is_code:
            _run_code(compile(words[1], _CODE[words[0]], "exec"))
        elif is_module:
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            _run_script(words[0])
    except SystemExit as leaving:
        status = _status_of(leaving)
        if status:
            hook.note_end(leaving)
        return status
    except BaseException as error:
        trace = error.__traceback__
        ours = os.path.dirname(__file__)
        while trace.tb_next and (
                trace.tb_frame.f_code.co_filename.startswith(ours) or
                trace.tb_frame.f_code.co_filename == runpy.__file__):
            trace = trace.tb_next
        # As the interpreter does: who is asked at exit can tell.
        sys.last_type, sys.last_value, sys.last_traceback = (
            type(error), error, trace)
        hook.note_end(error)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _write_lines():
    """The ranks share their output: what is not held back (-u) goes there in
    whole lines, not in the pieces of each print()."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "write_through", False):
            stream.reconfigure(line_buffering=True, write_through=False)


def main(words):
    if not words or words in (["-m"], ["-c"]):
        sys.exit("lockstep.simulated: expected a script, -m and a module or "
                 "-c and code")
    if words[0] == "-":  # one input, for all ranks
        words = ["-", sys.stdin.read(), *words[1:]]
    ranks = seat.count()
    if ranks < 0:
        sys.exit("lockstep.simulated: expected to be started by lockstep run "
                 "--backend sim")
    gc.disable()  # what is imported stays
    _prepare(words)
    local = int(os.environ["LOCAL_WORLD_SIZE"])
    gc.collect()
    gc.freeze()  # What is shared stays so.
    gc.enable()
    sys.stdout.flush()
    sys.stderr.flush()
    _write_lines()
    ends, pids = rank_on_gpu.Ends(ranks), []
    for rank in range(ranks):
        pid = os.fork()
        if pid == 0:
            _become(rank, ranks, local, ends)
            has_refused = spawn.become_owner()
            status = _run(words)
            if not status and has_refused():
                print("lockstep: rank %d started processes that are no ranks: "
                      "they have trained nothing" % rank, file=sys.stderr)
                status = 1
            _leave(status)
        pids.append(pid)
    seat.reap(pids)


main(sys.argv[1:])
