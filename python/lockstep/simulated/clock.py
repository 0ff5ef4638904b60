"""The time module as a simulated rank sees it: its clock is the simulation's,
which stands still while the rank computes unless --compute charges for that.
LOCKSTEP_CLOCK=real leaves the module as it is.

What a rank forks has no such clock, and sees the real one.
"""

import os
import time

from . import seat


def install():
    if os.environ.get("LOCKSTEP_CLOCK") == "real":
        return
    now_ns = seat.lib.seat_now_ns
    real = {name: getattr(time, name) for name in (
        "sleep", "time_ns", "monotonic_ns", "perf_counter_ns")}
    # Inherited from who forked the ranks, so it is the same for all.
    began_ns = _began_ns

    def clock(name, offset_ns):
        real_ns = real[name]

        def look_ns():
            ns = now_ns()
            return ns + offset_ns if ns >= 0 else real_ns()

        def look():
            return look_ns() * 1e-9

        return look_ns, look

    def sleep(seconds):
        """Lets seconds pass on the simulated clock."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if seat.lib.seat_pass(int(seconds * 1e9)):
            real["sleep"](seconds)

    time.sleep = sleep
    time.time_ns, time.time = clock("time_ns", began_ns)
    time.monotonic_ns, time.monotonic = clock("monotonic_ns", 0)
    time.perf_counter_ns, time.perf_counter = clock("perf_counter_ns", 0)


_began_ns = time.time_ns()
