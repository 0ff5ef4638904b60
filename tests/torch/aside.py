"""Calls that the program's own frames do not show: aside.py WHAT.

left: nobody asks how the call ended. submitted, started: a thread makes it that
runs torch's own function.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist


def left(rank):
    if rank == 0:
        dist.all_reduce(torch.ones(4), async_op=True)  # left


def submitted(rank):
    pool = ThreadPoolExecutor(1)
    pool.submit(int).result()
    call = pool.submit(dist.all_reduce, torch.ones(4 + rank))  # submitted
    call.result()


def started(rank):
    thread = threading.Thread(target=dist.all_reduce,
                              args=[torch.ones(4 + rank)])
    thread.start()  # started
    thread.join()
    dist.barrier()


dist.init_process_group("gloo")
globals()[sys.argv[1]](dist.get_rank())
