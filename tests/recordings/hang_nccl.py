"""Hangs over NCCL for the dumps of recorder.sh: hang_nccl.py KIND FOLDER."""
import datetime, os, sys, time  # noqa: E401
import torch, torch.distributed as dist  # noqa: E401
kind, folder, rank, ranks = *sys.argv[1:3], int(os.environ["RANK"]), 3
torch.cuda.set_device(0)
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=6))
tp = dist.new_group(list(range(ranks)), group_desc="tp")
x = torch.ones(1024, device="cuda")


def step(x):
    dist.all_reduce(x)
    dist.broadcast(x, 0)


step(x)
dist.all_reduce(x, group=tp)
torch.cuda.synchronize()
if kind == "absent":
    if rank < ranks - 1:
        dist.all_reduce(x)
elif kind == "abba":
    groups = [dist.group.WORLD, tp]
    for group in groups[::-1] if rank == 1 else groups:
        dist.all_reduce(x, group=group)
elif kind == "size":
    dist.all_reduce(x if rank < ranks - 1 else x[:1000])
elif kind == "recv":
    if rank == 0:
        dist.send(x, 1)
        dist.recv(x, 1)
    elif rank == 1:
        dist.recv(x[:512], 2)
elif kind == "op":
    if rank == 0:
        dist.broadcast(x, 0)
    else:
        dist.all_reduce(x)
torch.cuda.synchronize()
if kind == "well":
    from torch._C._distributed_c10d import _dump_nccl_trace
    with open("%s/nccl_trace_rank_%d" % (folder, rank), "wb") as out:
        out.write(_dump_nccl_trace())
else:
    time.sleep(25)
os._exit(0)
