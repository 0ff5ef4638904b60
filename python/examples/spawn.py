"""Ranks that a script starts itself, and how they find each other.

    python3 spawn.py --size 3                      # a file that all can see
    python3 spawn.py --size 3 --init tcp           # a port of this machine
    python3 spawn.py --size 3 --init env           # MASTER_ADDR, MASTER_PORT
"""
import argparse
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def worker(rank, args, where):
    if args.init == "env":
        host, port = where.split(":")
        os.environ.update(MASTER_ADDR=host, MASTER_PORT=port)
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(args.size))
        dist.init_process_group(args.backend)
    elif args.init == "file":
        store = dist.FileStore(where, args.size)
        dist.init_process_group(args.backend, store=store, rank=rank,
                                world_size=args.size)
    else:
        dist.init_process_group(args.backend, init_method=f"tcp://{where}",
                                rank=rank, world_size=args.size)
    total = torch.tensor([float(rank)])
    dist.all_reduce(total)
    print(f"rank {rank} of {dist.get_world_size()}: "
          f"the ranks' sum is {total.item():g}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--init", default="file",
                        choices=("file", "tcp", "env"))
    parser.add_argument("--start-method", default="spawn",
                        choices=("spawn", "fork", "forkserver"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = f"127.0.0.1:{free_port()}"
        if args.init == "file":
            where = os.path.join(folder, "store")
        mp.start_processes(worker, args=(args, where), nprocs=args.size,
                           start_method=args.start_method)


if __name__ == "__main__":
    main()
