"""torch's own suite of distributed tests, over gloo and over Lockstep under the
name gloo.

judge.py [--ranks N] [--timeout SECONDS] [--over gloo|lockstep] [PATTERN...]

The suite comes with torch (torch.testing._internal.distributed). Its driver
spawns an interpreter a rank and test; this one forks. What fails over Lockstep
and passes over gloo is listed; the status is how many those are, 99 at most.
"""

import argparse
import fnmatch
import importlib.util
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types


def prepare(over, ranks, folder):
    os.environ.update(BACKEND="gloo", WORLD_SIZE=str(ranks), TEMP_DIR=folder,
                      MASTER_ADDR="127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        os.environ.setdefault("MASTER_PORT", str(free.getsockname()[1]))
    if over == "lockstep":
        os.environ["LOCKSTEP_TORCH_BACKEND_AS"] = "gloo"
        __import__("lockstep")
    # What the suite's module needs to be imported.
    if importlib.util.find_spec("expecttest") is None:
        import unittest
        stub = types.ModuleType("expecttest")
        stub.TestCase, stub.ACCEPT = unittest.TestCase, False
        sys.modules["expecttest"] = stub
    sys.argv = sys.argv[:1]
    import torch
    torch.set_num_threads(1)
    from torch.testing._internal.distributed import distributed_test as suite

    if over == "lockstep":
        # The back ends of which the suite knows what they write into a profile:
        # events that begin in one thread and end in another, with shapes. A
        # group in Python can write the one or the other.
        suite.PROFILING_SUPPORTED_BACKENDS.remove("gloo")
        suite.SEND_RECV_PROFILING_SUPPORTED_BACKENDS.remove("gloo")

    class Test(suite.TestDistBackend, suite.DistributedTest._DistTestBase):
        pass

    return suite, Test


def run_rank(suite, test, name, rank, path, pipe, log):
    os.setpgid(0, 0)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    logging.disable(logging.NOTSET)
    status = 70
    try:
        test._run(rank, name, path, pipe)
    except SystemExit as error:
        status = error.code or 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def run_test(suite, test, name, ranks, timeout, folder):
    """How the test ended: "ok", "skip", or why not."""
    suite.initialize_temp_directories()
    suite.Barrier.init()
    pids, logs, pipes = {}, [], []
    for rank in range(ranks):
        logs.append("%s/%s.%d" % (folder, name, rank))
        ours, theirs = multiprocessing.Pipe()
        pipes += ours, theirs
        pid = os.fork()
        if pid == 0:
            run_rank(suite, test, name, rank, "%s/%s" % (folder, name), theirs,
                     logs[-1])
        pids[pid] = rank
    codes, until = {}, time.monotonic() + timeout
    while pids and time.monotonic() < until:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in pids:  # as process 1 it gets others' orphans, too
            codes[pids.pop(pid)] = os.waitstatus_to_exitcode(status)
        elif not pid:
            time.sleep(0.01)
    late = sorted(pids.values())
    for pid in pids:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    for pipe in pipes:
        pipe.close()
    suite.cleanup_temp_dir()
    if late:
        return "late: ranks %s" % late
    skips = {skip.exit_code for skip in suite.TEST_SKIPS.values()}
    if any(code in skips for code in codes.values()):
        return "skip"
    if not any(codes.values()):
        return "ok"
    rank = min(rank for rank, code in codes.items() if code)
    with open(logs[rank], errors="replace") as log:
        lines = [line.strip() for line in log if line.strip()]
    errors = [line for line in lines if "Error" in line or "error:" in line]
    return "rank %d: %s" % (rank, (errors or lines or [codes[rank]])[-1])


def run_all(options):
    with tempfile.TemporaryDirectory() as folder:
        suite, test = prepare(options.over, options.ranks, folder)
        results = {}
        for name in sorted(dir(test)):
            if not name.startswith("test_") or not any(
                    fnmatch.fnmatch(name, pattern)
                    for pattern in options.patterns or ["*"]):
                continue
            started = time.monotonic()
            results[name] = run_test(suite, test, name, options.ranks,
                                     options.timeout, folder)
            print("%-8s %5.1f s %s: %s" % (
                options.over, time.monotonic() - started, name, results[name]),
                flush=True)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--over", choices=("gloo", "lockstep"))
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    if options.over:
        results = run_all(options)
        if options.store:
            with open(options.store, "wb") as file:
                pickle.dump(results, file)
        return any(end not in ("ok", "skip") for end in results.values())
    ends = {}
    with tempfile.TemporaryDirectory() as folder:
        for over in ("gloo", "lockstep"):
            path = os.path.join(folder, over)
            subprocess.run([sys.executable, __file__, "--over", over,
                            "--store", path, "--ranks", str(options.ranks),
                            "--timeout", str(options.timeout),
                            *options.patterns], check=False)
            with open(path, "rb") as file:
                ends[over] = pickle.load(file)
    passed = [name for name, end in ends["gloo"].items() if end == "ok"]
    worse = [name for name in passed if ends["lockstep"][name] != "ok"]
    print("gloo passes %d of %d, Lockstep %d of these" % (
        len(passed), len(ends["gloo"]), len(passed) - len(worse)))
    for name in worse:
        print("%s: %s" % (name, ends["lockstep"][name]))
    return min(len(worse), 99)


if __name__ == "__main__":
    sys.exit(main())
