"""Calls that the program's own frames do not show: aside.py WHAT.

left: nobody asks how the call ended. submitted, started: a thread makes it that
runs torch's own function. step: an optimizer takes what a call is to write.
unused: nobody looks at what a functional collective gives.
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
    dist.barrier()
    thread = threading.Thread(target=dist.all_reduce, name="saver",
                              args=[torch.ones(4 + rank)])
    thread.start()  # started
    thread.join()
    dist.barrier()


def step(rank):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for waits in (True, False):
        model(torch.ones(4)).sum().backward()
        works = [dist.all_reduce(p.grad, async_op=True)  # reduced
                 for p in model.parameters()]
        if waits:
            works.pop().wait()  # so the one before has ended, too
        optimizer.step()  # step
    for work in works:
        work.wait()
    dist.destroy_process_group()


def unused(rank):
    from torch.distributed._functional_collectives import all_reduce
    all_reduce(torch.ones(1), "sum", list(range(dist.get_world_size())))
    dist.destroy_process_group()


dist.init_process_group("gloo")
globals()[sys.argv[1]](dist.get_rank())
