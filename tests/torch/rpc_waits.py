"""Threads of a worker that wait for each other, and calls that cannot end.

lockstep run --nproc-per-node 2 rpc_waits.py WHAT
"""

import os
import sys
import threading
import time

import lockstep.rpc as rpc

RANK = int(os.environ["RANK"])
OTHER = "worker%d" % (1 - RANK)
lock, done = threading.Lock(), threading.Event()


def deeper(depth):
    """Needs a thread more of both workers each time."""
    return rpc.rpc_sync(OTHER, deeper, args=(depth - 1,)) if depth else 0


def set_done():
    done.set()


def leave():
    os._exit(7)


def work_alone(seconds):
    with lock:  # while it is held, others go on
        time.sleep(seconds)
        return rpc.rpc_sync(OTHER, abs, args=(-1,))


def main(what):
    rpc.init_rpc("worker%d" % RANK, rpc_backend_options=rpc.RpcBackendOptions(
        num_worker_threads=1 if what == "circle" else 16, rpc_timeout=0))
    if what == "circle":
        rpc.rpc_sync(OTHER, deeper, args=(9,))
    elif what == "leave" and RANK == 0:
        rpc.rpc_sync(OTHER, leave)
    elif what == "locks" and RANK == 0:
        began = time.time()
        assert rpc.wait_all([rpc.rpc_async(OTHER, work_alone, args=(0.2,))
                             for _ in range(4)]) == [1] * 4
        print("%.1f s" % (time.time() - began))
        rpc.rpc_async(OTHER, set_done)
    elif what == "locks":
        done.wait()
    rpc.shutdown()


main(*sys.argv[1:])
