"""What Python imports before a rank's program, for `lockstep run` puts this
folder on PYTHONPATH: waits for torch, lets the launcher know where the rank is
and why it ends, and hands over to the sitecustomize that would have been
imported without us.
"""

import faulthandler
import os
import sys
from importlib.machinery import PathFinder

_OURS = os.path.dirname(os.path.abspath(__file__))


class _TorchFinder:
    """Has our hook installed when torch is about to be imported."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "torch":
            sys.meta_path.remove(cls)
            from lockstep import hook
            hook.install()


def _take_notes():
    """Writes stacks, at a signal, and the exception that ends the program into
    the launcher's file; for the process that it started, not for children."""
    notes = os.environ.get("LOCKSTEP_NOTES", "").split(":")
    if len(notes) != 3 or notes[1] != str(os.getpid()):
        return
    file = int(notes[0])
    faulthandler.register(int(notes[2]), file=file)
    print_exception = sys.excepthook

    def note_and_print(kind, error, trace):
        try:
            os.ftruncate(file, 0)
            os.pwrite(file, _describe(kind, error, trace), 0)
        except OSError:
            pass
        hook = sys.modules.get("lockstep.hook")
        if hook is not None:
            hook.note_end(error)
        print_exception(kind, error, trace)

    sys.excepthook = note_and_print


def _describe(kind, error, trace):
    """The exception, and the program's own line that it passed last."""
    import traceback
    lines = traceback.format_exception_only(kind, error)
    torch = getattr(sys.modules.get("torch"), "__file__", None) or _OURS
    others = (_OURS + os.sep, os.path.dirname(torch) + os.sep, "<")
    for frame in reversed(traceback.extract_tb(trace)):
        if not frame.filename.startswith(others):
            lines.append("at %s:%s in %s\n" % (frame.filename, frame.lineno,
                                               frame.name))
            break
    if getattr(error, "name", None) == "torch":
        lines.append("%s has no torch: PYTHON_EXEC names another Python\n" %
                     sys.executable)
    return "".join(lines).encode("utf-8", "replace")


def _run_other():
    """Runs the sitecustomize behind ours on the path, if there is one."""
    spec = PathFinder.find_spec("sitecustomize", [
        entry for entry in sys.path if os.path.abspath(entry) != _OURS])
    if spec is not None and spec.loader is not None:
        other = type(sys)("sitecustomize")
        other.__spec__, other.__file__ = spec, spec.origin
        sys.modules["sitecustomize"] = other
        spec.loader.exec_module(other)


sys.meta_path.insert(0, _TorchFinder)
_take_notes()
_run_other()
