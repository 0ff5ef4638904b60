"""Rank 1 comes too late for --timeout, of which this script has none."""

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 1:
    time.sleep(600)
dist.all_reduce(torch.ones(1))
