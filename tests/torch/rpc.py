"""Remote calls of python/lockstep/rpc.py, as torch.distributed.rpc has them.

lockstep run --nproc-per-node 4 rpc.py
"""

import gc
import os
import threading
import time

import lockstep.rpc as rpc

try:
    import torch
except ImportError:
    torch = None

RANK = int(os.environ["RANK"])
SIZE = int(os.environ["WORLD_SIZE"])
NEXT = "worker%d" % ((RANK + 1) % SIZE)
AFTER = "worker%d" % ((RANK + 2) % SIZE)


class CustomError(Exception):
    def __init__(self, flag, text):
        super().__init__(text)


class Counter:
    def __init__(self, start=0):
        self.count = start
        self.lock = threading.Lock()

    def add(self, n):
        with self.lock:
            self.count += n
            return self.count

    def get(self):
        return self.count


def add(x, y=1):
    return x + y


def raise_func():
    raise ValueError("Expected error")


def raise_custom():
    raise CustomError(True, "foo")


def nested(to):
    return rpc.rpc_sync(to, add, args=(1, 2))


def nested_rref(to):
    return rpc.remote(to, add, args=(1,)), rpc.remote(to, add, args=(2,))


def rref_add(rref, n):
    return rref.to_here() + n


def nested_sleep(to, seconds):
    return rpc.rpc_sync(to, sleep, args=(seconds,))


def sleep(seconds):
    time.sleep(seconds)
    return seconds


@rpc.functions.async_execution
def async_add(to, x, y, z):
    return rpc.rpc_async(to, add, args=(x, y)).then(
        lambda future: future.wait() + z)


@rpc.functions.async_execution
def async_raise():
    raise RuntimeError("Expected error")


@rpc.functions.async_execution
def async_wrong_type():
    return 1


def fails(kind, text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError("expected %s: %s" % (kind.__name__, text))


def test_worker_id():
    info = rpc.get_worker_info()
    assert info.id == RANK and info.name == "worker%d" % RANK
    assert rpc.get_worker_info("worker0").id == 0
    fails(RuntimeError, "unknown destination worker",
          rpc.get_worker_info, "WorkerUnknown")


def test_calls():
    for to in (NEXT, (RANK + 1) % SIZE, rpc.get_worker_info(NEXT), RANK):
        assert rpc.rpc_sync(to, add, args=(1, 2)) == 3
        assert rpc.rpc_async(to, add, args=(1,), kwargs={"y": 5}).wait() == 6
        assert rpc.remote(to, add, args=(1, 2)).to_here() == 3
    assert rpc.rpc_sync(NEXT, max, args=(1, 7)) == 7
    assert rpc.rpc_sync(NEXT, nested, args=(AFTER,)) == 3
    futures = [rpc.rpc_async(NEXT, add, args=(i, i)) for i in range(200)]
    assert rpc.wait_all(futures) == [2 * i for i in range(200)]
    assert rpc.rpc_sync(NEXT, len, args=(b"x" * 3000000,)) == 3000000


def test_py_raise_in_user_func():
    fails(ValueError, "Expected error", rpc.rpc_sync, NEXT, raise_func)
    fails(ValueError, "in raise_func", rpc.rpc_sync, NEXT, raise_func)
    fails(ValueError, NEXT, rpc.rpc_async(NEXT, raise_func).wait)
    fails(ValueError, "Expected error", rpc.remote(NEXT, raise_func).to_here)
    fails(RuntimeError, "CustomError", rpc.rpc_sync, NEXT, raise_custom)
    fails(TypeError, "add()", rpc.rpc_sync, NEXT, add)
    fails(RuntimeError, "unknown destination", rpc.rpc_sync, "nobody", add)


def test_rpc_timeouts():
    fails(TimeoutError, "timed out", rpc.rpc_sync, NEXT, sleep, (1,),
          timeout=0.1)
    fails(TimeoutError, "timed out",
          rpc.rpc_async(NEXT, sleep, (1,), timeout=0.1).wait)
    assert rpc.rpc_sync(NEXT, sleep, (0.1,), timeout=0) == 0.1


def test_futures():
    seen = []
    future = rpc.rpc_async(NEXT, add, args=(1, 2))
    chain = future.then(lambda f: f.wait() + 1).then(lambda f: f.wait() * 2)
    assert chain.wait() == 8 and future.done() and future.wait() == 3
    done = threading.Event()
    future.add_done_callback(lambda f: (seen.append(f.value()), done.set()))
    done.wait()
    assert seen == [3]
    failed = rpc.rpc_async(NEXT, raise_func).then(lambda f: f.wait())
    fails(ValueError, "Expected error", failed.wait)
    fails(ValueError, "Expected error", rpc.wait_all,
          [rpc.rpc_async(NEXT, add, (1,)), rpc.rpc_async(NEXT, raise_func)])


def test_async_execution():
    for call in (rpc.rpc_sync,
                 lambda *a, **k: rpc.rpc_async(*a, **k).wait(),
                 lambda *a, **k: rpc.remote(*a, **k).to_here()):
        assert call(NEXT, async_add, args=(AFTER, 1, 2, 3)) == 6
        fails(RuntimeError, "Expected error", call, NEXT, async_raise)
    fails(RuntimeError, "expected a Future", rpc.rpc_sync, NEXT,
          async_wrong_type)


def test_rrefs():
    rref = rpc.remote(NEXT, Counter, args=(10,))
    assert rref.owner_name() == NEXT and not rref.is_owner()
    assert rref.rpc_sync().add(5) == 15
    assert rref.rpc_async().add(5).wait() == 20
    assert rref.remote().get().to_here() == 20
    fails(RuntimeError, "local_value of an RRef", rref.local_value)
    one, two = rpc.rpc_sync(NEXT, nested_rref, args=(AFTER,))
    assert one.owner_name() == AFTER
    assert (one.to_here(), two.to_here()) == (2, 3)
    local = rpc.RRef(40)
    assert local.is_owner() and local.local_value() == 40
    assert rpc.rpc_sync(NEXT, rref_add, args=(local, 2)) == 42
    assert rpc.remote(AFTER, rref_add, args=(one, 5)).to_here() == 7
    assert rpc.remote(NEXT, rref_add, args=(one, 5)).to_here() == 7
    slow = rpc.remote(NEXT, sleep, args=(0.3,))
    assert rpc.rpc_sync(AFTER, rref_add, args=(slow, 1)) == 1.3
    fails(TimeoutError, "timed out",
          rpc.remote(NEXT, sleep, args=(1,)).to_here, 0.1)


def count_of(key):
    return rpc._values[key].count


def test_late_fetch():
    """One whose caller has given up, and the reference with it."""
    rref = rpc.remote(NEXT, add, args=(1,))
    assert rref.to_here() == 2
    key = rref._key
    rref._fetches += 1
    del rref
    while rpc.rpc_sync(NEXT, count_of, args=(key,)) != -1:
        time.sleep(0.01)
    assert rpc.rpc_sync(NEXT, rpc._fetch, args=(key,), timeout=5) == 2


def test_last_reference_goes_as_the_value_comes():
    key = (RANK, -1)
    value = rpc._count(key, 0)
    value.future.add_done_callback(lambda _: rpc._count(key, -1))
    rpc._make(key, add, (1,), {})
    assert key not in rpc._values


def test_z_rref_leak():
    """What nobody refers to any more is given up by its owner."""
    rrefs = [rpc.remote(NEXT, add, args=(i,)) for i in range(20)]
    assert rpc.rpc_sync(AFTER, rref_add, args=(rrefs[0], 1)) == 2
    assert rpc.rpc_sync(NEXT, held) >= 20
    del rrefs
    for _ in range(1000):
        if rpc.rpc_sync(NEXT, held) == 0:
            return
        time.sleep(0.01)
    raise AssertionError("left: %s" % rpc.rpc_sync(NEXT, left))


def left():
    return str({key: (value.count, value.made, value.future._outcome)
                for key, value in rpc._values.items()})


def held():
    gc.collect()  # of exceptions, whose frames are in a circle with them
    return len(rpc._values)


def test_tensors():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(rpc.rpc_sync(NEXT, torch.add, args=(x, x)), 2 * x)
    assert torch.equal(rpc.rpc_sync(NEXT, add, args=(x.t(), 1)), x.t() + 1)
    y = rpc.remote(NEXT, torch.ones, args=(300, 1000)).to_here()
    assert y.shape == (300, 1000) and y.sum() == 300000
    y.add_(1)  # it is the caller's own
    for dtype in (torch.int8, torch.bool, torch.bfloat16, torch.complex64):
        x = torch.zeros(3, 0, dtype=dtype)
        assert rpc.rpc_sync(NEXT, torch.Tensor.clone, args=(x,)).dtype == dtype
        x = torch.ones(3, dtype=dtype)
        assert torch.equal(
            rpc.rpc_sync(NEXT, torch.Tensor.clone, args=(x,)), x)
    x = torch.eye(3).to_sparse()
    z = rpc.rpc_sync(NEXT, add, args=(x, x))
    assert torch.equal(z.to_dense(), 2 * torch.eye(3))
    layer = rpc.remote(NEXT, torch.nn.Linear, args=(3, 2))
    out = layer.rpc_sync().forward(torch.ones(4, 3))
    assert out.shape == (4, 2) and not out.requires_grad


def leave_at_work():
    """Workers come to the shutdown while they serve calls, which go on."""
    times = [i / 100 for i in range(16)] if RANK == 0 else []
    futures = [rpc.rpc_async(1, nested_sleep, args=(2, seconds))
               for seconds in times]
    seen = []
    for future in futures:
        future.add_done_callback(lambda future: seen.append(future.wait()))
    rpc.shutdown()
    assert sorted(seen) == times, seen
    assert rpc.wait_all(futures) == times and all(f.done() for f in futures)


def main():
    rpc.init_rpc("worker%d" % RANK, rank=RANK, world_size=SIZE)
    fails(RuntimeError, "already initialized", rpc.init_rpc, "again")
    for name, test in sorted(globals().items()):
        if name.startswith("test_") and (torch or name != "test_tensors"):
            test()
    rpc.shutdown()
    fails(RuntimeError, "has not been initialized", rpc.rpc_sync, NEXT, add)
    rpc.init_rpc("again%d" % RANK, rpc_backend_options=rpc.RpcBackendOptions(
        num_worker_threads=20, rpc_timeout=20))
    assert rpc.rpc_sync((RANK + 1) % SIZE, add, args=(1, 2)) == 3
    leave_at_work()
    if RANK == 0:
        print("remote calls: right on %d workers" % SIZE)


if __name__ == "__main__":
    main()
