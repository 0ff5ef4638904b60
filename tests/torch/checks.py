"""Runs functions on four ranks: PROGRAM [--backend NAME] [FUNCTION...].

Started plainly, each function gets a world of its own: four forks of this
interpreter, which meet in a file. Started as a rank (RANK is set), all of them
run one after the other in the world that the launcher made.
"""
import argparse
import datetime
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

import torch
import torch.distributed as dist

SIZE = 4
LIMIT = 60


def init(backend, **how):
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=30),
                            **how)


def run_forked(rank, backend, function, folder):
    """What one fork does; never returns."""
    status = 1
    sys.stdout = sys.stderr = open(f"{folder}/{rank}", "w", buffering=1)
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stdout.fileno(), 2)
    try:
        os.environ["LOCAL_RANK"] = str(rank)
        if not getattr(function, "own_world", False):
            init(backend, init_method=f"file://{folder}/meet", rank=rank,
                 world_size=SIZE)
            function()
            dist.barrier()
            dist.destroy_process_group()
        else:
            function(backend, rank, f"{folder}/meet")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def fork_world(backend, function):
    """The statuses of four ranks, and what the first that failed printed."""
    folder = tempfile.mkdtemp()
    pids = []
    for rank in range(SIZE):
        pid = os.fork()
        if pid == 0:
            run_forked(rank, backend, function, folder)
        pids.append(pid)
    status, until = {}, time.time() + LIMIT
    while len(status) < SIZE and time.time() < until:
        pid, how = os.waitpid(-1, os.WNOHANG)
        if pid in pids:  # as process 1 it gets others' orphans, too
            rank = pids.index(pid)
            status[rank] = os.waitstatus_to_exitcode(how)
            if status[rank]:  # the others get a moment to say what they saw
                until = min(until, time.time() + 5)
        elif not pid:
            time.sleep(0.005)
    for rank in sorted(set(range(SIZE)) - set(status)):
        os.kill(pids[rank], signal.SIGKILL)
        os.waitpid(pids[rank], 0)
        status.setdefault(rank, "hangs")
    bad = [rank for rank in status if status[rank]]
    text = ", ".join(f"rank {rank}: {status[rank]}" for rank in sorted(bad))
    if bad:
        with open(f"{folder}/{bad[0]}") as out:
            text += f"; rank {bad[0]} says:\n{out.read()[-1200:]}"
    shutil.rmtree(folder)
    return text


def main(functions):
    """Runs the functions whose names are on the command line, else all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    ours = args.backend == "lockstep" or \
        "gloo" in os.environ.get("LOCKSTEP_TORCH_BACKEND_AS", "")
    if ours:
        importlib.import_module("lockstep")
    torch.set_num_threads(1)
    by_name = {f.__name__: f for f in functions}
    chosen = [by_name[name] for name in args.names] or [
        f for f in functions if ours or not getattr(f, "beyond_gloo", False)]
    if "RANK" in os.environ:
        init(args.backend)
        for function in chosen:
            if not getattr(function, "own_world", False):
                function()
        dist.barrier()
        dist.destroy_process_group()
        return
    equal(torch.ones(1), torch.ones(1))  # imports much, once for all forks
    torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=1).zero_grad()
    failed = 0
    for function in chosen:
        begin = time.time()
        text = fork_world(args.backend, function)
        failed += bool(text)
        print(f"{'FAIL' if text else 'ok'} {function.__name__} "
              f"{time.time() - begin:.2f} s", flush=True)
        if text:
            print(text, flush=True)
    print(f"{len(chosen)} functions, {failed} failed")
    sys.exit(failed > 0)


def equal(got, want, **tolerance):
    torch.testing.assert_close(got, want, **tolerance)


def refuses(kind, call, *args, **named):
    """The call raises that kind of error; returns its text."""
    try:
        call(*args, **named)
    except kind as error:
        return str(error)
    raise AssertionError(f"{call} raised nothing, wanted {kind}")
