"""Hangs over gloo and leaves the dumps of torch's Flight Recorder:
hang.py RANK RANKS KIND FOLDER, a process a rank. KIND is absent (the last rank
does not come), abba (two groups in other order), well, or size (of the last
rank; gloo notices)."""
import datetime
import os
import sys
import threading
import time

os.environ["TORCH_FR_BUFFER_SIZE"] = "2000"

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch._C._distributed_c10d import (  # noqa: E402
    _dump_fr_trace, _dump_fr_trace_json)


def step(x):
    dist.all_reduce(x)
    dist.broadcast(x, 0)


def reduce_on(group, x):
    dist.all_reduce(x, group=group)


def main():
    rank, ranks, kind, folder = (int(sys.argv[1]), int(sys.argv[2]),
                                 sys.argv[3], sys.argv[4])
    live = folder.endswith("live")
    dist.init_process_group(
        "gloo", init_method="file://" + folder + "/store", rank=rank,
        world_size=ranks, timeout=datetime.timedelta(seconds=20 if live else 2))
    tp = dist.new_group(list(range(ranks)), group_desc="tp")
    x = torch.ones(1024)
    step(x)
    reduce_on(tp, x)

    def dump():
        # in the middle of the hang; asked for at the end where it is past
        time.sleep(1 if live else 3)
        with open("%s/comm_lib_trace_rank_%d" % (folder, rank), "wb") as out:
            out.write(_dump_fr_trace())
        with open("%s/trace_%d.json" % (folder, rank), "w") as out:
            text = _dump_fr_trace_json()
            out.write(text if isinstance(text, str) else text.decode())
        # Who leaves ends the others' calls: not before they have written.
        done = [folder + "/done_%d" % one for one in range(ranks)]
        open(done[rank], "w").close()
        while not all(map(os.path.exists, done)):
            time.sleep(0.05)
        os._exit(0)
    threading.Thread(target=dump).start()
    try:
        if kind == "absent" and rank < ranks - 1:
            dist.all_reduce(x)
        elif kind == "abba":
            groups = [dist.group.WORLD, tp]
            for group in groups[::-1] if rank == 1 else groups:
                reduce_on(group, x)
        elif kind == "size":
            dist.all_reduce(x if rank < ranks - 1 else x[:1000])
    except RuntimeError:
        pass
    time.sleep(5)


main()
