"""A script that knows nothing of Lockstep: launch.py gloo|lockstep WHAT."""

import os
import sys
import time

import torch
import torch.distributed as dist


def add():
    t = torch.full((4,), float(dist.get_rank() + 1))
    dist.all_reduce(t)
    return t[0].item()


def disagree():
    if dist.get_rank() == 1:
        dist.broadcast(torch.ones(4), 0)
    else:
        dist.all_reduce(torch.ones(4))


def stay():
    if dist.get_rank() == 1:
        time.sleep(600)
    add()


backend, what = sys.argv[1:]
dist.init_process_group(backend)
attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
sys.stdout.write("rank %d of %d at %d adds %g, start %s\n" % (
    dist.get_rank(), dist.get_world_size(), int(os.environ["GROUP_RANK"]),
    add(), attempt))
sys.stdout.flush()
if what == "fails" and attempt == "0":
    if dist.get_rank() == 1:
        raise ValueError("no luck")
    time.sleep(600)
if what == "dies" and dist.get_rank() == 1:
    os.kill(os.getpid(), 9)
if what == "disagrees":
    disagree()
if what == "stays":
    stay()
dist.barrier()
dist.destroy_process_group()
