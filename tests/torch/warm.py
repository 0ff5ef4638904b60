"""warm.py PARENT SOCKET FOLDER MODULE... - imports modules once, and forks a
process for each that tests/cli/warm.c asks for: it runs a program as python3
would have, with Lockstep's package in FOLDER.

It ends with its PARENT. Its frames are none of a user's file: it is to be
compiled as "<warm>" (warm_torch in tests/cli/support.bash).
"""

import array
import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import multiprocessing.spawn
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
import types

_MOST = 250  # open files
_CODE = {"-c": "<string>", "-": "<stdin>"}


class Asked:
    """What one process of warm.c is to be."""

    def __init__(self, connection):
        self.connection, fds = connection, array.array("i")
        head, rights, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(_MOST * 4))
        for _, _, data in rights:
            fds.frombytes(data)
        self.fds = list(fds)
        with connection.makefile("rb") as file:
            text = file.read(struct.unpack("I", head)[0])
        numbers, self.folder, *words = text[:-1].split(b"\0")
        (self.pid, self.group, self.mask, self.ignores, argc,
         *self.wanted) = map(int, numbers.split())
        self.words = [os.fsdecode(word) for word in words[:argc]]
        self.environment = words[argc:]

    def become(self):
        """Makes this process, a fork, that one."""
        os.setpgid(0, self.group)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN if self.ignores else
                      signal.default_int_handler)
        # The launcher's, until Python has its handler.
        signal.signal(signal.SIGRTMAX - 1, signal.SIG_IGN)
        self._take_files()
        os.umask(self.mask)
        os.sched_setaffinity(0, os.sched_getaffinity(self.pid))
        for name in dir(resource):
            if name.startswith("RLIMIT_"):
                limit = getattr(resource, name)
                resource.setrlimit(limit, resource.prlimit(self.pid, limit))
        os.chdir(self.folder)
        os.environb.clear()
        os.environb.update(pair.split(b"=", 1) for pair in self.environment)
        notes = os.environ.get("LOCKSTEP_NOTES", "").split(":")
        if len(notes) == 3 and notes[1] == str(self.pid):
            os.environ["LOCKSTEP_NOTES"] = "%s:%d:%s" % (
                notes[0], os.getpid(), notes[2])

    def _take_files(self):
        """With the numbers that they have there, and no others."""
        above = max(self.wanted) + 1
        moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, above) for fd in self.fds]
        for fd, wanted in zip(moved, self.wanted):
            os.dup2(fd, wanted)
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in self.wanted:
                try:
                    os.close(int(name))
                except OSError:
                    pass  # that of the folder


def _start_again(folder, rest_of_path, first):
    """What every interpreter does before its program."""
    sys.path[:] = [first, *os.environ["PYTHONPATH"].split(":"), *rest_of_path]
    spec = importlib.util.spec_from_file_location(
        "sitecustomize", os.path.join(folder, "sitecustomize.py"))
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    sys.modules["lockstep.hook"]._take_over_all(
        sys.modules["torch.distributed.distributed_c10d"])


def _find_program(words, folder, rest_of_path):
    """Returns a function that runs it."""
    kind = words[0]
    sys.argv = words[1:] if kind == "-m" else (
        [kind, *words[2:]] if kind == "-c" else words)
    _start_again(folder, rest_of_path,
                 os.getcwd() if kind == "-m" else "" if kind in _CODE else
                 os.path.dirname(os.path.realpath(kind)))
    if kind == "-m":
        import runpy
        return lambda: runpy.run_module(words[1], run_name="__main__",
                                        alter_sys=True)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind not in _CODE:
        main.__file__ = kind

    def run():
        if kind in _CODE:
            text = words[1] if kind == "-c" else sys.stdin.read()
        else:
            with open(kind, "rb") as file:
                text = file.read()
        exec(compile(text, _CODE.get(kind, kind), "exec", dont_inherit=True),
             main.__dict__)
    return run


def _run(asked, folder, rest_of_path):
    """Runs its program; returns its status."""
    words = asked.words[1:]
    while words[0] in ("-u", "-B"):
        if words[0] == "-u":
            sys.stdout.reconfigure(write_through=True)
        else:
            sys.dont_write_bytecode = True
        del words[0]
    sys.executable = asked.words[0]  # also for those that it starts
    multiprocessing.spawn.set_executable(sys.executable)
    try:
        _find_program(words, folder, rest_of_path)()
    except SystemExit as leaving:
        if leaving.code is None or isinstance(leaving.code, int):
            return (leaving.code or 0) & 0xff
        print(leaving.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        while trace.tb_next and (
                trace.tb_frame.f_code.co_filename == "<warm>" or
                trace.tb_frame.f_globals.get("__name__") == "runpy"):
            trace = trace.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = (
            type(error), error, trace)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _serve(listener):
    """Forks; returns, in a fork, what was asked of it."""
    ends, places = {}, {}  # pids by pidfd, by socket; these by pid
    while True:
        for ready in select.select([listener, *ends, *places], [], [])[0]:
            if ready is listener:
                asked = Asked(listener.accept()[0])
                own, pid = os.getpid(), os.fork()
                if pid == 0:
                    _end_with(own)
                    for one in (listener, asked.connection, *places):
                        one.detach()
                    asked.become()
                    return asked
                for fd in asked.fds:
                    os.close(fd)
                ends[os.pidfd_open(pid)] = pid, asked.connection
                places[asked.connection] = pid
                asked.connection.send(struct.pack("i", pid))
            elif ready in places:  # what stood for it has ended
                os.kill(places.pop(ready), signal.SIGKILL)
            elif ready in ends:
                pid, connection = ends.pop(ready)
                status = os.waitpid(pid, 0)[1]
                if places.pop(connection, None):
                    connection.send(struct.pack("i", status))
                connection.close()
                os.close(ready)


def _end_with(parent):
    if (ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
            or os.getppid() != parent):
        os._exit(1)


def _end(status):
    """As the interpreter ends, but that its modules are not taken apart: that
    would write to all that the forks share, and so copy it."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.PyDLL(None).exit(status)


def _main(parent, path, folder, *modules):
    _end_with(int(parent))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    mine = os.environ["PYTHONPATH"].split(":")
    rest_of_path = [entry for entry in sys.path[1:] if entry not in mine]
    for name in modules:
        with contextlib.suppress(ImportError):  # not every torch has all
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    _end(_run(_serve(listener), folder, rest_of_path))


_main(*sys.argv[2:])
