"""libsconce_torch.so through ctypes: handles over PyTorch's memory, and calls of the functions of its ABI."""

import ctypes

import torch

NUMBERS = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
    torch.float64: 7, torch.complex64: 9, torch.complex128: 10, torch.bool: 11, torch.bfloat16: 15,
    torch.float8_e5m2: 23, torch.float8_e4m3fn: 24, torch.uint64: 29,
}
DTYPES = {number: dtype for dtype, number in NUMBERS.items()}


class Refused(RuntimeError):
    """A failed call."""


class Int(int):
    """An int64_t argument; plain numbers and bools are int32_t."""


class Dtype(int):
    """An int32_t argument with the number of a data type."""


class Flags(list):
    """An array of int32_t."""


class Numbers(list):
    """An array of pointers to doubles, of which None is NULL."""


class Optional:
    """A pointer to a number or a text, or NULL."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Memory:
    """Memory of a device as PyTorch reads it."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


class Library:
    def __init__(self, folder):
        self.core = ctypes.CDLL(f"{folder}/libsconce.so.0")
        self.code = ctypes.CDLL(f"{folder}/libsconce_torch.so.0")
        self.code.sconce_torch_last_error_message.restype = ctypes.c_char_p

    def check(self, name, status):
        if status != 0:
            raise Refused(f"{name}: {self.code.sconce_torch_last_error_message().decode()}")

    def seed(self, device, seed):
        """Seeds the default generator of a kind of device."""
        generator = ctypes.c_void_p()
        for status in (
            self.core.sconce_generator_get_default(0 if device == "cuda" else -2, ctypes.byref(generator)),
            self.core.sconce_generator_set_seed(generator, ctypes.c_uint64(seed)),
        ):
            if status != 0:
                raise Refused(f"a generator of {device}: status {status}")

    def packed(self, tensor):
        """A handle of a tensor that oneDNN packed, as compiled models make one of a constant."""
        handle = ctypes.c_void_p()
        described = torch.ops.mkldnn._get_mkldnn_serialized_md(tensor)
        rank = tensor.dim()
        numbers = lambda values: (ctypes.c_int64 * rank)(*values)
        self.check("from_blob_v2", self.code.aoti_torch_create_tensor_from_blob_v2(
            ctypes.c_void_p(torch.ops.mkldnn.data_ptr(tensor)), ctypes.c_int64(rank), numbers(tensor.shape),
            numbers([1] * rank), ctypes.c_int64(0), NUMBERS[tensor.dtype], 0, -1, ctypes.byref(handle), 3,
            ctypes.c_void_p(described.data_ptr()), ctypes.c_int64(described.numel())))
        return handle

    def handle(self, tensor):
        """A handle of a tensor over PyTorch's memory."""
        if tensor.is_mkldnn:
            return self.packed(tensor)
        handle = ctypes.c_void_p()
        rank = tensor.dim()
        numbers = lambda values: (ctypes.c_int64 * max(rank, 1))(*values)
        is_cuda = int(tensor.is_cuda)
        self.check("from_blob", self.code.aoti_torch_create_tensor_from_blob(
            ctypes.c_void_p(tensor.data_ptr()), ctypes.c_int64(rank), numbers(tensor.shape), numbers(tensor.stride()),
            ctypes.c_int64(0), NUMBERS[tensor.dtype], is_cuda, 0 if is_cuda else -1, ctypes.byref(handle)))
        return handle

    def delete(self, handle):
        self.check("delete", self.code.aoti_torch_delete_tensor_object(handle))

    def number(self, name, handle, kind):
        value = kind()
        self.check(name, getattr(self.code, name)(handle, ctypes.byref(value)))
        return value.value

    def read(self, handle):
        """A copy of a tensor of the library, with its strides; None of an undefined one."""
        if not self.number("aoti_torch_is_defined", handle, ctypes.c_bool):
            return None
        rank = self.number("aoti_torch_get_dim", handle, ctypes.c_int64)
        dtype = DTYPES[self.number("aoti_torch_get_dtype", handle, ctypes.c_int32)]
        sizes, strides = ([pointer[at] for at in range(rank)] for pointer in (
            ctypes.cast(self.number(f"aoti_torch_get_{what}", handle, ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64))
            for what in ("sizes", "strides")))
        is_cuda = self.number("aoti_torch_get_device_type", handle, ctypes.c_int32) == 1
        address = self.number("aoti_torch_get_data_ptr", handle, ctypes.c_void_p)
        device = "cuda" if is_cuda else "cpu"
        if 0 in sizes:
            return torch.empty_strided(sizes, strides, dtype=dtype, device=device)
        reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        count = reach * dtype.itemsize
        if is_cuda:
            memory = torch.as_tensor(Memory(address, count), device="cuda")
        else:
            memory = torch.frombuffer((ctypes.c_ubyte * count).from_address(address), dtype=torch.uint8)
        return memory.clone().view(dtype).as_strided(sizes, strides)

    def call(self, name, arguments, results, kind, of=None, numbers=0):
        """Calls an operation of a kind of device, or the function `of` another kind. Returns new tensors. The numbers
        that it returns behind these are not read."""
        handles, kept = [], []

        def handle(tensor):
            handles.append(self.handle(tensor))
            return handles[-1]

        def convert(value):
            if isinstance(value, torch.Tensor):
                return [handle(value)]
            if value is None:
                return [ctypes.c_void_p()]
            if isinstance(value, (bool, Dtype)):
                return [ctypes.c_int32(value)]
            if isinstance(value, Int):
                return [ctypes.c_int64(value)]
            if isinstance(value, int):
                return [ctypes.c_int32(value)]
            if isinstance(value, float):
                return [ctypes.c_double(value)]
            if isinstance(value, str):
                return [ctypes.c_char_p(value.encode())]
            if isinstance(value, Optional):
                if value.value is None:
                    return [ctypes.c_void_p()]
                inner = handle(value.value) if isinstance(value.value, torch.Tensor) else value.kind(value.value)
                kept.append(inner)
                return [ctypes.byref(inner)]
            if isinstance(value, tuple):
                # Tensors, or pointers to tensors of which some are NULL.
                inner = [handle(tensor) if tensor is not None else None for tensor in value[1]]
                kept.append(inner)
                if value[0] == "tensors":
                    array = (ctypes.c_void_p * len(inner))(*inner)
                else:
                    array = (ctypes.c_void_p * len(inner))(*[
                        None if one is None else ctypes.addressof(one) for one in inner])
                return [array, ctypes.c_int64(len(inner))]
            if isinstance(value, Numbers):
                kept.append([None if one is None else ctypes.c_double(one) for one in value])
                kept.append((ctypes.c_void_p * max(len(value), 1))(*[
                    None if one is None else ctypes.addressof(one) for one in kept[-1]]))
                return [kept[-1], ctypes.c_int64(len(value))]
            if isinstance(value, Flags):
                return [(ctypes.c_int32 * len(value))(*value), ctypes.c_int64(len(value))]
            if isinstance(value, list):
                return [(ctypes.c_int64 * max(len(value), 1))(*value), ctypes.c_int64(len(value))]
            raise TypeError(value)

        returned = [ctypes.c_void_p() for _ in range(results)]
        try:
            # Both libraries have streams and memory of their own.
            if kind == "cuda":
                torch.cuda.synchronize()
            passed = [one for value in arguments for one in convert(value)]
            self.check(name, getattr(self.code, f"aoti_torch_{of or kind}_{name}")(
                *passed, *[ctypes.byref(place) for place in returned], *[ctypes.c_void_p()] * numbers))
            found = [self.read(place) for place in returned]
            if kind == "cuda":
                torch.cuda.synchronize()
            return found
        finally:
            for one in [*handles, *[place for place in returned if place.value]]:
                self.delete(one)

    def call_by_name(self, name, arguments, results, kind):
        """Calls an operation of `aten`, with its overload after a point, through the dispatcher, as kernel libraries and
        models do. Arguments that are left out have their defaults. The call owns what words own. Returns new tensors."""
        base, _, overload = name.partition(".")
        schema = getattr(getattr(torch.ops.aten, base), overload or "default")._schema

        def boxed(number):
            place = ctypes.POINTER(ctypes.c_uint64)()
            self.check("stable_ivalue", self.code.torch_new_stable_ivalue(ctypes.byref(place)))
            place[0] = number
            return ctypes.cast(place, ctypes.c_void_p).value

        def word(value, what):
            if what.startswith("Optional["):
                return 0 if value is None else boxed(word(value, what[9:-1]))
            if what.startswith("List["):
                values = value if isinstance(value, (list, tuple)) else [value]
                made = ctypes.c_void_p()
                self.check("list", self.code.torch_new_list_reserve_size(
                    ctypes.c_size_t(len(values)), ctypes.byref(made)))
                for one in values:
                    self.check("push_back", self.code.torch_list_push_back(
                        made, ctypes.c_uint64(word(one, what[5:-1]))))
                return made.value
            if what == "Tensor":
                return self.handle(value).value
            if what == "str":
                text = ctypes.c_void_p()
                self.check("string", self.code.torch_new_string_handle(
                    value.encode(), ctypes.c_size_t(len(value)), ctypes.byref(text)))
                return text.value
            if what == "number":
                return self.scalar(value)
            if what == "float":
                return ctypes.c_uint64.from_buffer(ctypes.c_double(value)).value
            if what == "ScalarType":
                return NUMBERS[value] if isinstance(value, torch.dtype) else value
            if what == "Device":
                return (1 << 32) | 0 if value == "cuda" else 0xffffffff
            return int(value) & (1 << 64) - 1

        if kind == "cuda":
            torch.cuda.synchronize()
        filled = [*arguments, *[one.default_value for one in schema.arguments[len(arguments):]]]
        words = [word(value, str(one.real_type)) for value, one in zip(filled, schema.arguments)]
        stack = (ctypes.c_uint64 * max(len(words), results))(*words)
        self.check(name, self.code.torch_call_dispatcher(
            f"aten::{base}".encode(), overload.encode(), stack, ctypes.c_uint64(2 << 56 | 11 << 48)))
        places = [ctypes.c_void_p(stack[at]) for at in range(results)]
        try:
            found = [self.read(place) for place in places]
            if kind == "cuda":
                torch.cuda.synchronize()
            return found
        finally:
            for place in places:
                self.delete(place)

    def scalar(self, value):
        """A number as an object of the ABI."""
        made = ctypes.c_void_p()
        if isinstance(value, bool):
            status = self.code.torch_new_scalar_bool(ctypes.c_bool(value), ctypes.byref(made))
        elif isinstance(value, int):
            status = self.code.torch_new_scalar_int(ctypes.c_int64(value), ctypes.byref(made))
        else:
            status = self.code.torch_new_scalar_double(ctypes.c_double(value), ctypes.byref(made))
        self.check("scalar", status)
        return made.value
