"""Sconce's tensors for Python, through the C API: as much as check_torch.py needs."""

import ctypes
import os
import sys

# In the folder of gpu-check it lies beside this file.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))

import sconce_structures  # noqa: E402
from sconce_structures import CPU, DTYPES, Options, Scalar, numbers, open_library  # noqa: E402, F401

SIZES = ctypes.c_int64
HANDLE = ctypes.c_void_p
UNARY = ["neg", "abs", "sign", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid", "relu",
         "gelu", "gelu_tanh", "silu", "erf", "floor", "ceil", "round", "trunc", "logical_not", "bitwise_not", "isnan",
         "isfinite"]
BINARY = ["add", "sub", "mul", "div", "floor_divide", "trunc_divide", "remainder", "pow", "minimum", "maximum", "eq",
          "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or",
          "logical_xor"]
REDUCE = ["sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "all", "any"]
LINE = ["softmax", "log_softmax", "cumsum", "cumprod"]


class Failure(Exception):
    """A status other than OK, with the library's message."""


def scalar(value):
    """A number as the C API takes it; None is NULL."""
    return None if value is None else ctypes.byref(sconce_structures.scalar(value))


def options(dtype=None, device=-1, memory_format=0):
    number = -1 if dtype is None else DTYPES.index(dtype)
    return ctypes.byref(sconce_structures.options(number, device, memory_format))


def readable(argument):
    """An argument of a call, as a report shows it."""
    held = getattr(argument, "_obj", argument)
    if isinstance(held, Scalar):
        return ["integer", "real", "bool", "complex"][held.kind] + f" {held.integer if held.kind in (0, 2) else held.real}"
    if isinstance(held, Options):
        return f"dtype {held.dtype} device {held.device}"
    if isinstance(held, ctypes.Array):
        return str(list(held))
    if isinstance(held, Tensor):
        return "tensor"
    return "out" if isinstance(held, HANDLE) else str(getattr(held, "value", held))


class Library:
    def __init__(self, path=None):
        self.shared = open_library(path or os.environ.get("SCONCE_LIBRARY", "libsconce.so"))
        # What was called last, for reports.
        self.calls = []

    def call(self, name, *arguments):
        function = getattr(self.shared, "sconce_" + name)
        if not name.startswith(("tensor_from_memory", "tensor_get_")):
            self.calls.append(f"{name}({', '.join(map(readable, arguments))})")
        if function(*arguments) != 0:
            raise Failure(self.shared.sconce_last_error_message().decode())

    def tensor(self, name, *arguments):
        """A call whose last argument receives a tensor."""
        place = HANDLE()
        self.call("tensor_" + name, *arguments, ctypes.byref(place))
        return Tensor(self, place)

    def over(self, torch_tensor, device):
        """A tensor over the memory of one of PyTorch's, which is kept alive by the caller."""
        storage = torch_tensor.untyped_storage()
        dtype = str(torch_tensor.dtype).removeprefix("torch.")
        offset = torch_tensor.storage_offset() * torch_tensor.element_size()
        # Without elements PyTorch gives no address, whatever the storage has.
        reach = max(storage.nbytes() - offset, 0) if torch_tensor.numel() else 0
        return self.tensor(
            "from_memory", ctypes.c_void_p(torch_tensor.data_ptr()),
            ctypes.c_size_t(reach), numbers(torch_tensor.shape),
            numbers(torch_tensor.stride()), ctypes.c_size_t(torch_tensor.dim()), ctypes.c_int32(DTYPES.index(dtype)),
            ctypes.c_int32(device), None, None)

    def several(self, name, tensor, *arguments, room=256):
        """A call that returns several tensors."""
        places, count = (HANDLE * room)(), ctypes.c_size_t()
        self.call("tensor_" + name, tensor, *arguments, places, ctypes.c_size_t(room), ctypes.byref(count))
        return [Tensor(self, HANDLE(place)) for place in places[: count.value]]

    def joined(self, name, tensors, dim):
        handles = (HANDLE * max(len(tensors), 1))(*[tensor.handle for tensor in tensors])
        return self.tensor(name, handles, ctypes.c_size_t(len(tensors)), SIZES(dim))


class Tensor:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        # A call that takes the tensor keeps it alive until it returns.
        self._as_parameter_ = handle

    def __del__(self):
        self.library.shared.sconce_tensor_release(self.handle)

    def value(self, name, kind):
        place = kind()
        self.library.call("tensor_" + name, self.handle, ctypes.byref(place))
        return place.value

    def dims(self, name):
        rank = self.value("get_rank", ctypes.c_size_t)
        place = (SIZES * max(rank, 1))()
        self.library.call("tensor_" + name, self.handle, place, ctypes.c_size_t(rank))
        return list(place[:rank])

    @property
    def dtype(self):
        return DTYPES[self.value("get_dtype", ctypes.c_int32)]

    @property
    def shape(self):
        return self.dims("get_sizes")

    @property
    def stride(self):
        return self.dims("get_strides")

    def to_torch(self, torch, device):
        """A copy of the elements, with the same strides."""
        repeated = any(size > 1 and stride == 0 for size, stride in zip(self.shape, self.stride))
        dtype = getattr(torch, self.dtype)
        copy = torch.empty(self.shape, dtype=dtype, device=device) if repeated else torch.empty_strided(
            self.shape, self.stride, dtype=dtype, device=device)
        if copy.numel():
            index = copy.device.index or 0 if copy.is_cuda else CPU
            over = self.library.over(copy, index)
            self.library.call("tensor_copy", over, self, ctypes.c_bool(False))
        return copy
