"""torch.cuda, answered by the simulated device."""

import contextlib
import os
import types

import torch

from . import answers

STREAMS = iter(range(1, 1 << 62))
NCCL = (2, 27, 3)
GRAPH_HOST_NS = 10000  # assumed: to launch a graph


def install(patch, mode):
    """patch(object, name, value) replaces and remembers; mode is the Mode."""
    device, memory = mode.device, mode.memory
    cuda, gpu = torch.cuda, mode.device.gpu
    here = [int(os.environ.get("LOCAL_RANK", 0) or 0)]
    count = max(int(os.environ.get("LOCAL_WORLD_SIZE", 1) or 1), here[0] + 1)

    def index_of(which):
        if which is None:
            return here[0]
        if isinstance(which, torch.device):
            which = which.index
        elif isinstance(which, str):
            which = torch.device(which).index
        return here[0] if which is None else which

    def set_device(which):
        here[0] = index_of(which)

    class Stream:
        def __init__(self, device=None, priority=0, number=None, **_):
            self.stream_id = next(STREAMS) if number is None else number
            self.cuda_stream = self.stream_id
            self.device = torch.device("cuda", index_of(device))
            self.device_index, self.device_type = self.device.index, 1
            self.priority = priority

        def wait_stream(self, other):
            with stream(self):
                settle()
                device.wait_stream(other.stream_id)

        def wait_event(self, event):
            with stream(self):
                settle()
                device.wait_until(event.time)

        def record_event(self, event=None):
            event = event or Event()
            event.record(self)
            return event

        def synchronize(self):
            synchronize()

        def query(self):
            return True

        def is_capturing(self):
            return device.captured is not None

        def __eq__(self, other):
            return isinstance(other, Stream) and (
                other.stream_id == self.stream_id
            )

        def __hash__(self):
            return hash(self.stream_id)

        def __enter__(self):
            self.before = device.stream
            settle()
            device.stream = self.stream_id

        def __exit__(self, *_):
            settle()
            device.stream = self.before

    class Event:
        def __init__(self, enable_timing=False, **_):
            self.time = 0

        def record(self, on=None):
            settle()
            which = device.stream if on is None else on.stream_id
            self.time = max(device.free.get(which, 0), device.host)

        def wait(self, on=None):
            (on or current_stream()).wait_event(self)

        def synchronize(self):
            settle()
            device.charge_until(self.time)
            device.host = max(device.host, device.clock.now())

        def query(self):
            return True

        def elapsed_time(self, other):
            return (other.time - self.time) / 1e6

    streams = {0: Stream(number=0)}

    def settle():
        mode.settle()

    @contextlib.contextmanager
    def stream(which):
        if which is None:
            yield
            return
        with which:
            yield

    def current_stream(which=None):
        number = device.stream
        if number not in streams:
            streams[number] = Stream(number=number)
        return streams[number]

    def set_stream(which):
        settle()
        device.stream = which.stream_id

    def synchronize(which=None):
        settle()
        device.synchronize()

    def reset_peak(which=None):
        memory.reset_peak()

    def properties(which=None):
        major, minor = capability()
        return types.SimpleNamespace(
            name=gpu.name, total_memory=int(gpu.memory), major=major,
            minor=minor, multi_processor_count=gpu.multiprocessors,
            is_integrated=0, is_multi_gpu_board=0, warp_size=32,
            L2_cache_size=40 << 20, max_threads_per_multi_processor=2048,
            regs_per_multiprocessor=65536, gcnArchName=gpu.name,
            uuid="00000000-0000-0000-0000-000000000000",
        )  # fmt: skip

    def capability(which=None):
        kinds = (("V100", (7, 0)), ("2080", (7, 5)), ("T4", (7, 5)),
                 ("A100", (8, 0)), ("A10", (8, 6)), ("3090", (8, 6)),
                 ("L4", (8, 9)), ("4090", (8, 9)), ("B200", (10, 0)),
                 ("H", (9, 0)))  # fmt: skip
        found = [version for kind, version in kinds if kind in gpu.name]
        return found[0] if found else (9, 0)

    class Device:
        def __init__(self, which):
            self.idx = index_of(which)

        def __enter__(self):
            self.before, here[0] = here[0], self.idx

        def __exit__(self, *_):
            here[0] = self.before

    def reserved(which=None):
        return -(-memory.peak // (2 << 20)) * (2 << 20)

    def statistics(which=None):
        return {
            "allocated_bytes.all.current": memory.used,
            "allocated_bytes.all.peak": memory.peak,
            "reserved_bytes.all.current": reserved(),
            "reserved_bytes.all.peak": reserved(),
            "num_alloc_retries": 0,
            "num_ooms": 0,
            "active_bytes.all.current": memory.used,
            "active_bytes.all.peak": memory.peak,
        }

    class CUDAGraph:
        """Kernels noted while they are captured; a replay launches all."""

        def __init__(self, *_, **__):
            self.kernels = []

        def capture_begin(self, *_, **__):
            settle()
            device.captured = self.kernels

        def capture_end(self):
            settle()
            device.captured = None

        def replay(self):
            for launch in self.kernels:
                if launch is None:
                    device.on_step()
                else:
                    device.launch(*launch, 0)
            device.host += GRAPH_HOST_NS

        def reset(self):
            self.kernels.clear()

        def pool(self):
            return (0, 0)

    class graph:
        def __init__(self, cuda_graph, *_, **__):
            self.graph = cuda_graph

        def __enter__(self):
            self.graph.capture_begin()

        def __exit__(self, *_):
            self.graph.capture_end()

    def make_graphed_callables(callables, *_, **__):
        answers.say(
            "make_graphed_callables",
            "make_graphed_callables: each kernel is launched by the host",
        )
        return callables

    class Generator(torch.Generator):
        def __new__(cls, device="cpu"):
            return super().__new__(cls, "cpu")

    def nothing(*_, **__):
        return None

    new = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *_, **__: capability() >= (8, 0),
        "init": nothing,
        "_lazy_init": nothing,
        "device_count": lambda: count,
        "current_device": lambda: here[0],
        "set_device": set_device,
        "device": Device,
        "device_of": lambda t: Device(None),
        "synchronize": synchronize,
        "Stream": Stream,
        "Event": Event,
        "stream": stream,
        "StreamContext": stream,
        "current_stream": current_stream,
        "default_stream": lambda which=None: streams[0],
        "set_stream": set_stream,
        "CUDAGraph": CUDAGraph,
        "graph": graph,
        "make_graphed_callables": make_graphed_callables,
        "graph_pool_handle": lambda: (0, 0),
        "is_current_stream_capturing": lambda: device.captured is not None,
        "empty_cache": nothing,
        "ipc_collect": nothing,
        "memory_allocated": lambda which=None: memory.used,
        "max_memory_allocated": lambda which=None: memory.peak,
        "memory_reserved": reserved,
        "max_memory_reserved": reserved,
        "memory_cached": reserved,
        "max_memory_cached": reserved,
        "reset_peak_memory_stats": reset_peak,
        "reset_max_memory_allocated": reset_peak,
        "reset_max_memory_cached": reset_peak,
        "reset_accumulated_memory_stats": nothing,
        "memory_stats": statistics,
        "memory_summary": lambda *_, **__: "%d bytes of %s are allocated"
        % (memory.used, gpu.name),
        "mem_get_info": lambda which=None: (
            int(gpu.memory) - memory.used, int(gpu.memory)
        ),
        "set_per_process_memory_fraction": nothing,
        "get_device_name": lambda which=None: gpu.name,
        "get_device_properties": properties,
        "get_device_capability": capability,
        "can_device_access_peer": lambda *_: True,
        "manual_seed": nothing,
        "manual_seed_all": nothing,
        "seed": nothing,
        "seed_all": nothing,
        "initial_seed": lambda: 0,
        "get_rng_state": lambda *_: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": nothing,
        "get_rng_state_all": lambda: [torch.zeros(16, dtype=torch.uint8)],
        "set_rng_state_all": nothing,
        "utilization": lambda which=None: 100,
        "_sleep": nothing,
    }  # fmt: skip
    for name, value in new.items():
        if hasattr(cuda, name):
            patch(cuda, name, value)
        if "memory" in name:
            patch(cuda.memory, name, value)
    new.update(
        current_accelerator=lambda *_, **__: torch.device("cuda"),
        current_device_index=new["current_device"],
        set_device_index=set_device,
        get_memory_info=new["mem_get_info"],
    )
    accelerator = getattr(torch, "accelerator", None)  # since 2.6
    for name in set(new) & set(getattr(accelerator, "__all__", ())):
        patch(accelerator, name, new[name])
    if hasattr(torch._C, "_get_accelerator"):  # of FSDP2 without a mesh
        patch(torch._C, "_get_accelerator", new["current_accelerator"])
    patch(torch, "Generator", Generator)
    patch(cuda.nccl, "version", lambda: NCCL)
    for name in ("_record_memory_history", "_dump_snapshot"):
        patch(cuda.memory, name, nothing)
    patch(cuda.nvtx, "range_push", nothing)
    patch(cuda.nvtx, "range_pop", nothing)
    patch(cuda.nvtx, "mark", nothing)
    return here
