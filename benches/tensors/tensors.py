"""Sconce's tensors for Python, through the C API: as much as check_torch.py needs."""

import ctypes
import os

SIZES = ctypes.c_int64
HANDLE = ctypes.c_void_p
CPU = -2
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64",
          "complex128", "uint16", "uint32", "uint64", "complex32", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
          "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"]
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


class Scalar(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("integer", ctypes.c_int64),
                ("real", ctypes.c_double), ("imaginary", ctypes.c_double)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("device", ctypes.c_int32),
                ("memory_format", ctypes.c_int32), ("pinned", ctypes.c_bool), ("reserved", ctypes.c_uint8 * 7)]


def scalar(value):
    """A number as the C API takes it; None is NULL."""
    if value is None:
        return None
    if isinstance(value, bool):
        made = Scalar(2, 0, int(value), 0.0, 0.0)
    elif isinstance(value, int):
        made = Scalar(0, 0, value, 0.0, 0.0)
    elif isinstance(value, float):
        made = Scalar(1, 0, 0, value, 0.0)
    else:
        made = Scalar(3, 0, 0, value.real, value.imag)
    return ctypes.byref(made)


def options(dtype=None, device=-1, memory_format=0):
    number = -1 if dtype is None else DTYPES.index(dtype)
    return ctypes.byref(Options(ctypes.sizeof(Options), number, device, memory_format, False))


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


def numbers(values):
    return (SIZES * max(len(values), 1))(*values)


class Library:
    def __init__(self, path=None):
        self.shared = ctypes.CDLL(path or os.environ.get("SCONCE_LIBRARY", "libsconce.so"))
        self.shared.sconce_last_error_message.restype = ctypes.c_char_p
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
