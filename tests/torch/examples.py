"""examples.py FOLDER "SCRIPT WORDS"... - runs scripts one after the other, each
as python3 would with these words, in forks of this process, so that torch is
imported once; all WORLD_SIZE ranks are, where no RANK is given. In the empty
folder the ranks tell each other that a script has ended: its store must be gone
before the next one is made on the same port.
"""
import importlib
import os
import runpy
import shlex
import sys
import time

where = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../python/examples")
for module in ("torch.distributed", "torch._dynamo", "torch.optim",
               "torch.distributed.fsdp", "torch.distributed.tensor.parallel"):
    try:
        importlib.import_module(module)
    except Exception:  # this version lacks it, or its packager broke it
        pass
folder, commands = sys.argv[1], sys.argv[2:]
if "RANK" not in os.environ:
    size = int(os.environ["WORLD_SIZE"])
    for rank in range(size):
        if os.fork() == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
            break
    else:
        sys.exit(any(os.wait()[1] for _ in range(size)))
for n, command in enumerate(commands):
    child = os.fork()
    if child == 0:
        sys.argv = shlex.split(command)
        runpy.run_path(os.path.join(where, sys.argv[0]), run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # Gloo's groups may hang when the interpreter ends
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        sys.exit(f"{command}: status {status}")
    open(f"{folder}/{n}.{os.environ['RANK']}", "w").close()
    for rank in range(int(os.environ["WORLD_SIZE"])):
        while not os.path.exists(f"{folder}/{n}.{rank}"):
            time.sleep(0.005)
