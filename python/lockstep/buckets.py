"""Which parameters the bucket holds that DistributedDataParallel reduces.

Its reducer is C++: no Python frame knows the bucket. What the reducer was made
with, and once it has cut the buckets anew what its logger says of them, give
the parameters of each; it reduces them in their order.
"""

import os
import weakref

from . import source

_AUTOGRAD = os.path.join("torch", "autograd", "")
# What torch's logger says beside the name of gloo: variables, and its options'
# default.
_VARIABLES = ("GLOO_SOCKET_IFNAME", "GLOO_DEVICE_TRANSPORT")
_GLOO_THREADS = 2
plans = []  # of all models


class _Plan:
    """The buckets of one model: numel, dtype and words of each."""

    def __init__(self, ddp, parameters):
        names = {id(p): name for name, p in ddp.module.named_parameters()}
        self.ddp = weakref.ref(ddp)
        self.group = ddp.process_group
        self.is_rebuilt = False
        self.times = {}  # and when, lost by asking torch's logger
        self._parameters = [(names.get(id(p), "?"), p.numel(), p.dtype)
                            for p in parameters]
        self._buckets = []
        self._next = 0

    def set(self, buckets):
        """buckets: lists of indices of parameters."""
        self._next = 0
        self._buckets = []
        for number, indices in enumerate(buckets):
            parts = [self._parameters[index] for index in indices]
            words = "bucket %d (%s)" % (number, _list([p[0] for p in parts]))
            self._buckets.append((sum(p[1] for p in parts), parts[0][2],
                                  words.encode(errors="replace")))

    def find(self, tensor):
        """The number of the bucket that tensor holds, as far as that is known:
        the next, or the first after a backward pass that was cut short."""
        for number in (self._next, 0):
            if number < len(self._buckets):
                numel, dtype, _ = self._buckets[number]
                if tensor.numel() == numel and tensor.dtype == dtype:
                    return number
        return None

    def take(self, number):
        self._next = (number + 1) % len(self._buckets)
        return self._buckets[number][2]


def _list(names):
    if len(names) <= 3:
        return ", ".join(names)
    return "%s ... %s, %d parameters" % (names[0], names[-1], len(names))


def install():
    """Has models note their buckets."""
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel as Model
    if hasattr(Model, "_lockstep"):
        return
    Model._lockstep = True
    make = Model._ddp_init_helper
    assign = dist._compute_bucket_assignment_by_size
    rebuild = dist.Reducer._rebuild_buckets
    look = Model._get_ddp_logging_data

    def _ddp_init_helper(self, parameters, *rest, **named):
        made = []

        def note(*arguments, **options):
            made.append(assign(*arguments, **options))
            return made[-1]

        dist._compute_bucket_assignment_by_size = note
        try:
            make(self, parameters, *rest, **named)
        finally:
            dist._compute_bucket_assignment_by_size = assign
        _note(self, parameters, made)

    def _rebuild_buckets(self):
        rebuilt = rebuild(self)
        if rebuilt:
            for plan in plans:
                model = plan.ddp()
                if model is not None and model.reducer is self:
                    plan.set(_rebuilt(plan, model))
                    plan.is_rebuilt = True
        return rebuilt

    def _get_ddp_logging_data(self):
        said = look(self)
        if said.get("backend_name") == "lockstep":  # for C++ alone
            name = dist.get_backend(self.process_group)
            said["backend_name"] = name
            if name == "gloo":
                said["gloo_num_threads"] = _GLOO_THREADS
                for variable in _VARIABLES:
                    said[variable.lower()] = os.environ.get(variable, "N/A")
        for plan in plans:
            if plan.ddp() is self and not said.get("forward_compute_time"):
                said.update(plan.times)
        return said

    Model._ddp_init_helper = _ddp_init_helper
    Model._get_ddp_logging_data = _get_ddp_logging_data
    dist.Reducer._rebuild_buckets = _rebuild_buckets


def _note(ddp, parameters, made):
    plans[:] = [plan for plan in plans
                 if plan.ddp() is not None and plan.ddp() is not ddp]
    plan = _Plan(ddp, parameters)
    if len(made) == 1:
        # torch 1 returns the buckets alone, later ones their sizes, too.
        buckets = made[0][0] if isinstance(made[0], tuple) else made[0]
        plan.set(list(reversed(buckets)))
    plans.append(plan)


def _rebuilt(plan, ddp):
    """What the logger says; nothing where it has not looked. Between forward
    and backward passes it finds no times, and forgets those of the last."""
    plan.times = {name: value
                  for name, value in ddp._get_ddp_logging_data().items()
                  if "_time" in name or name == "iteration"}
    ddp.logger.set_runtime_stats_and_log()
    said = ddp._get_ddp_logging_data().get("rebuilt_per_bucket_param_indices")
    return [[int(index) for index in bucket.split()]
            for bucket in (said or "").split(",") if bucket.strip()]


def _is_reducers(frame):
    """Whether a call comes from a backward pass, and from no hook of the
    user's there."""
    while frame is not None:
        file = frame.f_code.co_filename
        if source.is_users(file):
            return False
        if _AUTOGRAD in file:
            return True
        frame = frame.f_back
    return True  # a thread of the engine


def come_last(group) -> bool:
    """Whether the buckets that group reduces now come at the end of a backward
    pass: of a static graph, they do in the first."""
    return any(plan.group is group and not plan.is_rebuilt
               and getattr(plan.ddp(), "static_graph", False)
               for plan in plans)


def label(group, frame, tensor):
    """The words of the bucket that tensor holds, which group is about to
    reduce; None: it is none, or more than one could be meant."""
    if not _is_reducers(frame):
        return None
    found = []
    for plan in plans:
        if plan.group is group and plan.ddp() is not None:
            number = plan.find(tensor)
            if number is not None:
                found.append((plan, number))
    if len(found) != 1:
        return None
    plan, number = found[0]
    return plan.take(number)
