"""Makes "lockstep" a back end of torch.distributed, and takes over the names
that LOCKSTEP_TORCH_BACKEND_AS lists ("gloo,nccl").

torch finds a back end by name among those registered; gloo and nccl it makes by
the classes that its module names, so a name is taken over by putting a class of
ours there. That gets no list of ranks: so the function that makes every group
is wrapped, to note it.
"""

import atexit
import datetime
import functools
import importlib.util
import inspect
import multiprocessing.process
import os
import sys

_NCCL_TIMEOUT = datetime.timedelta(minutes=10)
_TARGET = "torch.distributed.distributed_c10d"


# Why the program has failed, once it had ended well.
failures = []
# What ended a process of multiprocessing's, which shows nobody else.
uncaught = []


def install():
    """Registers now if torch.distributed is there, else when it comes."""
    atexit.register(_end)
    _watch_processes()
    if _TARGET in sys.modules:
        register()
    elif not any(isinstance(finder, _Finder) and finder.target == _TARGET
                 for finder in sys.meta_path):
        when_imported(_TARGET, _prepare)


def _watch_processes():
    kind = multiprocessing.process.BaseProcess
    run = kind.run
    if hasattr(run, "__wrapped__"):
        return

    @functools.wraps(run)
    def run_watched(self):
        try:
            run(self)
        except BaseException as error:
            if getattr(error, "code", 1):
                uncaught.append(error)
                note_end(error)
            raise

    kind.run = run_watched


def note_end(error):
    """Records where in the program the error stands that ends it, and what it
    says."""
    group = sys.modules.get("lockstep.group")
    default = group and group.default()
    if default:
        place = group.source.raised(error) or (None, 0, None)
        default.lib.end_at(default.handle, *place, group.source.text_of(error))


def when_imported(target, prepare):
    """Calls prepare with the module target once it is imported."""
    if target in sys.modules:
        prepare(sys.modules[target])
    else:
        sys.meta_path.insert(0, _Finder(target, prepare))


def _end():
    """Runs last of all exit handlers, where only _exit() sets the status."""
    if failures:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


class _Finder:
    """Runs prepare after the module that it waits for."""

    def __init__(self, target, prepare):
        self.target, self.prepare = target, prepare

    def find_spec(self, name, path=None, target=None):
        if name != self.target:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                self.prepare(module)

            spec.loader.exec_module = exec_module
        return spec


def autoload():
    """For the entry point that torch runs when it has been imported."""
    install()


def register(*_):
    """For the entry point that newest torch asks for an unknown name."""
    import torch.distributed as dist
    if dist.is_available():
        _prepare(sys.modules[_TARGET])


# The group that torch is making: its global ranks (none: the default group),
# name, and back ends as the script gives them.
_making = {"ranks": [], "label": None, "name": "", "backend": "undefined"}


def _prepare(c10d):
    if getattr(c10d, "_lockstep", False):
        return
    c10d._lockstep = True
    devices = {"devices": ["cpu", "cuda"]} if "devices" in inspect.signature(
        c10d.Backend.register_backend).parameters else {}
    c10d.Backend.register_backend("lockstep", _create, **devices)
    _wrap_making(c10d)
    _wrap_destroying(c10d)
    _wrap_splitting(c10d)
    _wrap_joining(c10d)
    _take_over_all(c10d)


def _create(store, rank, size, timeout, name="lockstep"):
    from . import group
    c10d = sys.modules[_TARGET]
    if os.environ.get("LOCKSTEP_TIMEOUT") and timeout in (
            c10d.default_pg_timeout,
            getattr(c10d, "default_pg_nccl_timeout", None)):
        timeout = None  # the script has none of its own: lockstep run's
    ranks, default = _making["ranks"], group.default()
    if not ranks and default and (rank, size) == (default.rank(),
                                                  default.size()):
        ranks = list(range(size))  # made directly of the back end's class
    if not ranks:
        made = group.make_default(store, rank, size, timeout, name)
        if made.simulated and _has_two_orders(c10d):
            made.host = group.make_subgroup(list(range(size)), timeout, "host")
    else:
        made = group.make_subgroup(ranks, timeout, _making["label"], name,
                                   _making["name"])
    if getattr(c10d, "get_debug_level", str)() == getattr(
            getattr(c10d, "DebugLevel", None), "DETAIL", None):
        _compare(made, timeout)
    return made


def _has_two_orders(c10d):
    """Whether the group that torch is making has a back end for the host's
    tensors and another for the GPU's: each has its own order of calls."""
    import torch
    if not hasattr(c10d, "BackendConfig") or not torch.cuda.is_available():
        return False
    names = c10d.BackendConfig(
        c10d.Backend(_making["backend"])).get_device_backend_map()
    return len({names.get("cpu"), names.get("cuda")} - {None}) == 2


def _compare(made, timeout):
    """What TORCH_DISTRIBUTED_DEBUG=DETAIL adds."""
    from . import detail, group
    detail.install(made, lambda: group.make_subgroup(
        list(made.ranks), timeout), timeout)


def _wrap_making(c10d):
    helper = c10d._new_process_group_helper
    signature = inspect.signature(helper)

    def _new_process_group_helper(*arguments, **named):
        given = signature.bind(*arguments, **named).arguments
        ranks = list(given["global_ranks_in_group"])
        before = dict(_making)
        _making.update(ranks=ranks, label=given.get("group_desc"),
                       name=given.get("group_name") or "",
                       backend=given.get("backend") or "undefined")
        try:
            return helper(*arguments, **named)
        finally:
            _making.update(before)

    c10d._new_process_group_helper = _new_process_group_helper


def _wrap_joining(c10d):
    """Takes over names that were given since torch was imported; in a
    simulation, refuses who is no rank before it looks for others."""
    join = c10d.init_process_group

    @functools.wraps(join)
    def init_process_group(*arguments, **named):
        if "LOCKSTEP_SEAT" in os.environ:
            from .simulated import spawn
            spawn.refuse_stranger()
        _take_over_all(c10d)
        try:
            return join(*arguments, **named)
        except RuntimeError as error:
            # Debian's torch 2.6 is built without what it asks for by itself.
            if "without libuv" not in str(error) or "USE_LIBUV" in os.environ:
                raise
            os.environ["USE_LIBUV"] = "0"
            return join(*arguments, **named)

    _put(c10d, init_process_group)


def _put(c10d, function):
    """Where scripts find it, too."""
    for module in (c10d, sys.modules["torch.distributed"]):
        setattr(module, function.__name__, function)


def _wrap_splitting(c10d):
    """torch asks for a GPU before it asks the group."""
    split = getattr(c10d, "split_group", None)
    if split is None:
        return

    @functools.wraps(split)
    def split_group(parent_pg=None, split_ranks=None, timeout=None,
                    pg_options=None, group_desc=None, *rest, **named):
        from .group import Group
        parent = parent_pg or _world(c10d)
        if not isinstance(parent, Group):
            return split(parent_pg, split_ranks, timeout, pg_options,
                         group_desc, *rest, **named)
        if not split_ranks:
            raise ValueError("split_ranks cannot be None or empty")
        for ranks in split_ranks:
            if not ranks or len(ranks) != len(set(ranks)):
                raise ValueError("split_group: ranks %s: expected some, each "
                                 "once" % (ranks,))
        mine = [ranks for ranks in split_ranks if parent.rank() in ranks]
        if not mine:
            return None
        return c10d.new_group(
            [c10d.get_global_rank(parent, rank) for rank in sorted(mine[0])],
            timeout=timeout, use_local_synchronization=True,
            group_desc=group_desc)

    _put(c10d, split_group)


def _wrap_destroying(c10d):
    """torch 1 only drops its references."""
    destroy = c10d.destroy_process_group

    def destroy_process_group(group=None):
        from .group import Group
        pg = group if group is not None else _world(c10d)
        destroy(group)
        if isinstance(pg, Group):
            pg.shutdown()

    destroy_process_group.__doc__ = destroy.__doc__
    c10d.destroy_process_group = destroy_process_group


def _world(c10d):
    try:
        return c10d._get_default_group()
    except (RuntimeError, ValueError):
        return None


# ---- names of others ---------------------------------------------------------

_taken = set()


def _take_over_all(c10d):
    """Takes over the names that it has not taken."""
    names = os.environ.get("LOCKSTEP_TORCH_BACKEND_AS", "").lower().split(",")
    for name in {name.strip() for name in names} - {""} - _taken:
        _take_over(c10d, name)
        _taken.add(name)


def _take_over(c10d, name):
    """Makes groups of that name ours."""
    classes = {"gloo": "ProcessGroupGloo", "nccl": "ProcessGroupNCCL"}
    if name not in classes:
        raise ValueError(
            'LOCKSTEP_TORCH_BACKEND_AS is "%s": expected gloo, nccl or both' %
            os.environ["LOCKSTEP_TORCH_BACKEND_AS"])
    original = getattr(c10d, classes[name], None)
    setattr(c10d, classes[name], _stand_in(c10d, name, original))
    setattr(c10d, "_%s_AVAILABLE" % name.upper(), True)
    if name == "nccl" and getattr(c10d, "default_pg_nccl_timeout", 0) is None:
        c10d.default_pg_nccl_timeout = _NCCL_TIMEOUT  # torch has no NCCL
    if name == "nccl" and hasattr(c10d, "_get_pg_device"):
        _wrap_device(c10d)
    wrap = getattr(c10d, "_create_process_group_wrapper", None)
    if wrap is not None:
        def _create_process_group_wrapper(wrapped_pg, *rest, **named):
            if isinstance(wrapped_pg, c10d.ProcessGroup) and getattr(
                    wrapped_pg, "lib", None):
                seconds = named.get("timeout")
                _compare(wrapped_pg, seconds and datetime.timedelta(
                    seconds=seconds))
                return wrapped_pg
            return wrap(wrapped_pg, *rest, **named)
        c10d._create_process_group_wrapper = _create_process_group_wrapper


def _wrap_device(c10d):
    """torch 1 moves objects over nccl by way of a GPU."""
    device_of = c10d._get_pg_device

    def _get_pg_device(group):
        import torch
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return device_of(group)

    c10d._get_pg_device = _get_pg_device


def _stand_in(c10d, name, original):
    """What stands where the class of that back end stood: called, it makes a
    group of ours; an instance of it is such a group."""

    class Options:
        """Set by torch; only its _timeout is read, by scripts."""

        def __init__(self, *_, **named):
            self.__dict__.update(named)

    class Meta(type):
        def __call__(cls, store, rank, size, *rest, **named):
            timeout, options = named.get("timeout"), None
            for one in rest:
                timeout = getattr(one, "_timeout", one)
                options = one if hasattr(one, "_timeout") else None
            made = _create(store, rank, size, timeout, name)
            made.options = options or cls.Options(_timeout=timeout)
            # Asked of a group of gloo as of its class.
            made.create_device = getattr(original, "create_device", None)
            return made

        def __instancecheck__(cls, thing):
            from .group import Group
            return isinstance(thing, Group) and thing.name() == name

        def __getattr__(cls, attribute):
            return getattr(original, attribute)  # options, devices

    return Meta("ProcessGroup" + name.capitalize(), (), {
        "Options": getattr(original, "Options", Options)
        if name == "nccl" and original else Options,
        "__module__": c10d.__name__})
