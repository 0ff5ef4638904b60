"""Tensors without values in files and messages: torch.save, distributed
checkpoints and object collectives pickle their shapes, and values where these
are known. Such a file is small, and says what it is to who reads it elsewhere.
safetensors writes files of the size that a GPU's would have, with holes.
"""

import copy
import json
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import answers

_DTYPES = {getattr(torch, name): text for name, text in (
    ("float64", "F64"), ("float32", "F32"), ("float16", "F16"),
    ("bfloat16", "BF16"), ("float8_e4m3fn", "F8_E4M3"),
    ("float8_e5m2", "F8_E5M2"), ("int64", "I64"), ("int32", "I32"),
    ("int16", "I16"), ("int8", "I8"), ("uint8", "U8"), ("bool", "BOOL"),
)}
_mode = None  # of the script that runs
_where = None  # map_location of the torch.load() that runs


def install(patch, mode):
    """patch(object, name, value) replaces and remembers; mode is the Mode."""
    patch(sys.modules[__name__], "_mode", mode)
    load, reduce = torch.load, FakeTensor.__reduce_ex__

    def host_load(f, map_location=None, *args, **kwargs):
        global _where
        before, _where = _where, map_location
        try:
            return load(f, "cpu", *args, **kwargs)
        finally:
            _where = before

    def reduce_ex(tensor, protocol):
        if sys._getframe(1).f_code.co_filename == copy.__file__:
            return reduce(tensor, protocol)
        answers.say(
            "save",
            "tensors have no values under roofline: their shapes are saved",
        )
        with torch._C.DisableTorchFunction():
            shape, stride = tuple(tensor.shape), tensor.stride()
            known = mode.values.are_known([tensor])
            value = mode.values.real(tensor).clone() if known else None
        return made, (
            shape, stride, tensor.dtype, mode.on_gpu(tensor), value,
            tensor.requires_grad, isinstance(tensor, torch.nn.Parameter),
        )  # fmt: skip

    address = torch.UntypedStorage.data_ptr

    def data_ptr(storage):  # which tells tensors that share one
        fake = storage.device.type == "meta"
        return storage._cdata if fake else address(storage)

    patch(torch.UntypedStorage, "data_ptr", data_ptr)
    patch(torch, "load", host_load)
    patch(FakeTensor, "__reduce_ex__", reduce_ex)
    torch.serialization.add_safe_globals([made])
    _install_safetensors(patch)


def _install_safetensors(patch):
    try:
        from safetensors import torch as safetensors
    except ImportError:
        return
    save = safetensors.save_file

    def save_file(tensors, filename, metadata=None):
        if not any(isinstance(t, FakeTensor) for t in tensors.values()):
            return save(tensors, filename, metadata)
        answers.say("safetensors", "values are saved as zeros under roofline")
        head = {"__metadata__": metadata} if metadata else {}
        end = 0
        for name, tensor in tensors.items():
            begin, end = end, end + tensor.numel() * tensor.element_size()
            head[name] = {"dtype": _DTYPES[tensor.dtype],
                          "shape": list(tensor.shape),
                          "data_offsets": [begin, end]}
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        with open(filename, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + end)

    patch(safetensors, "save_file", save_file)


def _is_moved(on_gpu):
    """Whether what lay there lies on the GPU once it is loaded."""
    where = _where
    if isinstance(where, dict):
        tags = ["cuda:%d" % torch.cuda.current_device(), "cuda"]
        found = [where[tag] for tag in (tags if on_gpu else ["cpu"])
                 if tag in where]
        where = found[0] if found else None
    if where is None:
        return on_gpu
    if callable(where):  # lambda storage, place: storage
        return False
    return torch.device(where).type == "cuda"


def made(shape, stride, dtype, on_gpu, value, requires_grad, is_parameter):
    """The tensor that a file or a message has the shape of."""
    mode = _mode
    if mode is None:
        raise RuntimeError(
            "lockstep: saved under --compute roofline or table, where tensors "
            "have no values: expected to be loaded there"
        )
    on_gpu = _is_moved(on_gpu)
    if on_gpu:
        mode.first_cuda()
    before, mode.place = mode.place, "cuda" if on_gpu else "host"
    try:
        with torch._C.DisableTorchFunction():
            tensor = torch.empty_strided(shape, stride, dtype=dtype)
            mode.memory.entry(tensor).known = False
            if value is not None:
                mode.values.keep(tensor, value)
    finally:
        mode.place = before
    if is_parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)
