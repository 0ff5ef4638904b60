"""torch.distributed.checkpoint where few ranks stand for all. It checks that
the ranks' parts fill each tensor: here only the parts of the few are there. Of
equal parts it lets any rank write one: here it must be one of the few.
"""

import sys

from .. import hook


def install():
    hook.when_imported("torch.distributed.checkpoint.default_planner", _wrap)


def _wrap(planner):
    if not hasattr(planner, "dedup_save_plans"):  # until torch 2.2
        return
    cut = planner.dedup_save_plans

    def dedup_save_plans(plans, *_, **__):
        return cut(plans, save_to_lowest_rank=True)

    planner.dedup_save_plans = dedup_save_plans
    validate = planner._validate_global_plan

    def _validate_global_plan(plan, metadata):
        found = validate(plan, metadata)
        if isinstance(found, bool):  # it did not say why not
            return True
        rest = [error for error in found if "invalid fill" not in error]
        if len(rest) < len(found):
            print("lockstep: a checkpoint has the parts of the ranks that "
                  "stand for others alone", file=sys.stderr)
        return rest

    planner._validate_global_plan = _validate_global_plan
