"""all_reduce through torch, over Lockstep and over gloo, interleaved.

torch_all_reduce.py [RANKS...]: for each number of ranks (2 and 4) a table of
median microseconds a call from 1 KiB to 64 MiB, of three rounds in which the
two take turns, and the geometric mean of gloo's time over ours. The last line
is what a call costs above the C library: of one rank, which has nobody to wait
for.
"""

import importlib
import math
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist

torch.set_num_threads(1)
SIZES = [1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 16 << 20, 64 << 20]
ROUNDS = 3


def measure(tensor, group):
    """The median seconds of a call; rank 0's decides how many there are."""
    calls = max(5, min(400, (32 << 20) // tensor.nbytes))
    times = []
    for _ in range(calls + 3):
        start = time.perf_counter()
        dist.all_reduce(tensor, group=group)
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:])


def rank_main(rank, size, folder, path):
    importlib.import_module("lockstep")
    dist.init_process_group("lockstep", init_method="file://" + folder + "/a",
                            rank=rank, world_size=size)
    ours = dist.group.WORLD
    gloo = dist.new_group(backend="gloo")
    rows = []
    for nbytes in SIZES:
        tensor = torch.zeros(nbytes // 4)
        times = {ours: [], gloo: []}
        for _ in range(ROUNDS):
            for group, seen in times.items():
                dist.barrier(group)
                seen.append(measure(tensor, group))
        rows.append((nbytes, times[gloo], times[ours]))
    if rank == 0:
        torch.save(rows, path)
    dist.destroy_process_group()


def overhead(folder):
    """Of the Python layer: a call through torch, without the C call in it."""
    importlib.import_module("lockstep")
    dist.init_process_group("lockstep", init_method="file://" + folder + "/b",
                            rank=0, world_size=1)
    tensor = torch.zeros(256)
    through_torch = min(measure(tensor, dist.group.WORLD) for _ in range(5))
    group = dist.group.WORLD
    view = group._tensor("all_reduce", tensor)
    times = []
    for _ in range(2000):
        start = time.perf_counter()
        group.lib.all_reduce(group.handle, view, 0, None)
        times.append(time.perf_counter() - start)
    bare = statistics.median(times)
    dist.destroy_process_group()
    print("overhead of torch and the Python layer: %.1f us a call "
          "(%.1f - %.1f)" % ((through_torch - bare) * 1e6,
                             through_torch * 1e6, bare * 1e6))


def main():
    for size in [int(text) for text in sys.argv[1:]] or [2, 4]:
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/rows"
            pids = []
            for rank in range(size):
                pids.append(os.fork())
                if pids[-1] == 0:
                    rank_main(rank, size, folder, path)
                    os._exit(0)
            if any([os.waitpid(pid, 0)[1] for pid in pids]):
                return 1
            rows = torch.load(path)
        print("%d ranks %12s %22s %22s %6s" % (
            size, "bytes", "gloo us (range)", "lockstep us (range)", "ratio"))
        ratios = []
        for nbytes, gloo, ours in rows:
            ratios.append(statistics.median(gloo) / statistics.median(ours))
            print("%20d" % nbytes + "".join(
                " %8.0f (%5.0f-%6.0f)" % (statistics.median(times) * 1e6,
                                          min(times) * 1e6, max(times) * 1e6)
                for times in (gloo, ours)) + " %6.2f" % ratios[-1])
        print("geometric mean %.2f, least %.2f" % (
            math.exp(statistics.mean(map(math.log, ratios))), min(ratios)))
    with tempfile.TemporaryDirectory() as folder:
        overhead(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
