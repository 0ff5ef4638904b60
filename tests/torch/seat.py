"""Ranks of a simulation. What they do, their words say."""

import datetime
import os
import random
import sys
import threading
import time
import traceback

import torch
import torch.distributed as dist


def clock():
    began, ticks = time.time(), time.perf_counter_ns()
    time.sleep(100.0 * (dist.get_rank() + 1))
    dist.barrier()
    assert 100 * dist.get_world_size() <= time.time() - began < 1000
    assert time.perf_counter_ns() - ticks >= 100_000_000_000
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass


def stores():
    began = time.time()
    store = dist.PrefixStore("test", dist.TCPStore("nowhere", 1))
    rank = dist.get_rank()
    if rank == 0:
        time.sleep(2)
        store.set("key", "value")
    assert store.get("key") == b"value"
    assert time.time() >= began + 2
    store.add("sum", rank + 1)
    dist.barrier()
    assert store.add("sum", 0) == sum(range(dist.get_world_size() + 1))
    objects = [None] * dist.get_world_size()
    dist.all_gather_object(objects, {"rank": rank})
    assert objects[-1] == {"rank": dist.get_world_size() - 1}
    limit = datetime.timedelta(seconds=7)
    mine = dist.TCPStore("127.0.0.1", 0, 1, True, limit)
    assert mine.host == "127.0.0.1" and mine.port > 0
    assert mine.timeout == limit
    mine.set("key", str(rank))  # a store of this rank alone
    dist.barrier()
    assert mine.get("key") == str(rank).encode()
    for other in (dist.TCPStore("nowhere", 2), dist.FileStore("here", 2)):
        assert not other.check(["sum", "test/key"])
        other.add("sum", 1)
        other.wait(["sum"])
    assert dist.TCPStore("nowhere", 1).check(["test/key"])


def drawn():
    numbers = [0] * dist.get_world_size()
    dist.all_gather_object(numbers, random.random())
    if dist.get_rank() == 0:
        print(numbers, hash("text"))


def threads():
    """Another thread waits for that of the other rank, the first for the
    first: as in training beside an asynchronous checkpoint."""
    group, rank, x = dist.new_group(), dist.get_rank(), torch.ones(1)

    def run():
        pause.wait(0.3 * rank)
        dist.all_reduce(x, group=group)

    pause = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    pause.wait(0.3 * (1 - rank))
    dist.barrier()
    thread.join()
    assert x.item() == 2


def thread_alone():
    """Another thread makes a call that the other rank does not make."""
    group = dist.new_group()

    def run():
        dist.all_reduce(torch.ones(1), group=group)  # aside

    if dist.get_rank() == 0:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join()
    dist.barrier()


def end_beside():
    """A rank ends its groups while another thread of it is in a call."""
    group, rank, x = dist.new_group(), dist.get_rank(), torch.ones(1)

    def run():
        pause.wait(0.3 * rank)
        dist.all_reduce(x, group=group)

    def is_in_call():
        frame = sys._current_frames()[thread.ident]
        return any(call.name == "allreduce"
                   for call in traceback.extract_stack(frame))

    pause = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    if rank == 1:
        thread.join()
    while rank == 0 and not is_in_call():
        pause.wait(0.01)
    dist.destroy_process_group()
    thread.join()
    assert x.item() == 2


def members():
    """torch counts the groups of a rank, and its own back ends hang."""
    if dist.get_rank() == 0:
        dist.new_group([0])  # alone
    dist.new_group([0, 1])  # third


def pairs():
    """Each pair asks for its own group alone, as ranks do for one of their
    own, which harms nobody."""
    rank = dist.get_rank()
    for _ in range(10):
        dist.new_group([rank])
    mine = dist.new_group([0, 1] if rank < 2 else [2, 3])  # pair
    dist.barrier(mine)


def place():
    """What torchrun says of a rank, which libraries look for."""
    for name, value in (("ROLE_NAME", "default"),
                        ("TORCHELASTIC_RESTART_COUNT", "0"),
                        ("TORCHELASTIC_MAX_RESTARTS", "0"),
                        ("ROLE_WORLD_SIZE", os.environ["WORLD_SIZE"]),
                        ("GROUP_WORLD_SIZE", "1")):
        assert os.environ[name] == value, name
    assert dist.is_torchelastic_launched()


def abba():
    a, b = dist.new_group([0, 1]), dist.new_group([0, 1])
    x = torch.ones(4)
    if dist.get_rank() == 0:
        dist.all_reduce(x, group=a)  # first
        dist.all_reduce(x, group=b)
    else:
        dist.all_reduce(x, group=b)  # second
        dist.all_reduce(x, group=a)


def leave():
    if dist.get_rank() == 1:
        sys.exit("no more")  # out
    dist.barrier()


def fail():
    """In a backward pass, while a call is in flight that nobody else makes."""
    if dist.get_rank() == 0:
        return
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda _: {}["of rank %s" % os.environ["RANK"]])
    work = dist.all_reduce(torch.ones(1), async_op=True)
    x.sum().backward()
    work.wait()


def main(words, functions):
    dist.init_process_group("gloo")
    for word in words:
        functions[word]()
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:], globals())
