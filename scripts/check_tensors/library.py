"""The C API of tensors over ctypes. Types of parameters are those of the header's prototypes."""

import contextlib
import ctypes
import pathlib
import re
from collections import Counter
from ctypes import byref, c_bool, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

from sconce_structures import (  # noqa: F401
    CONTIGUOUS,
    CPU,
    DEFAULT,
    PRESERVE,
    Options,
    Scalar,
    Stream,
    numbers,
    open_library,
    options,
    scalar,
)


def number_of(value):
    return {0: value.integer, 1: value.real, 2: bool(value.integer)}.get(
        value.kind, complex(value.real, value.imaginary)
    )


class Refused(Exception):
    """A status other than success, with the message."""

    def __init__(self, name, status, message):
        super().__init__(f"{name}: {status}: {message}")
        self.status, self.message = status, message


TYPES = {
    "int64_t": c_int64,
    "int32_t": c_int32,
    "size_t": c_size_t,
    "double": c_double,
    "bool": c_bool,
    "struct sconce_stream": Stream,
}


class Library:
    def __init__(self, path, headers):
        self.shared = open_library(path)
        text = "".join(file.read_text(encoding="utf-8") for file in pathlib.Path(headers).glob("*.h"))
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.constants = {name: int(value) for name, value in re.findall(r"(SCONCE_[A-Z0-9_]+) = (-?\d+)", code)}
        self.functions = {}
        for name, parameters in re.findall(r"\b(sconce_tensor_\w+)\(([^()]*)\);", code):
            self.functions[name] = [self.kind(parameter) for parameter in parameters.split(",")]
        for name, kinds in self.functions.items():
            getattr(self.shared, name).argtypes = [kind for kind in kinds if kind]
        self.shared.sconce_tensor_live_count.restype = c_size_t
        # Products of F32 are compared with those of doubles.
        for switch in ("cublas", "cudnn"):
            getattr(self.shared, f"sconce_context_set_allow_tf32_{switch}")(c_bool(False))
        self.called = Counter()
        # The stream that calls name, if they are to name one.
        self.stream = None
        # What draws outputs for the calls of a case, if they are to be made with outputs.
        self.outputs = None

    @staticmethod
    def kind(parameter):
        parameter = parameter.strip()
        if parameter == "void":
            return None
        if "*" in parameter or "deleter" in parameter:
            return c_void_p
        return TYPES[parameter.rsplit(" ", 1)[0]]

    def operations(self, prefix):
        """The names of an enumeration with their numbers."""
        return {name[len(prefix) :].lower(): value for name, value in self.constants.items() if name.startswith(prefix)}

    def pooled(self):
        """A stream of device 0 that is not current."""
        stream = Stream()
        status = self.shared.sconce_stream_get_from_pool(0, 0, byref(stream))
        if status != 0:
            raise Refused("sconce_stream_get_from_pool", status, self.shared.sconce_last_error_message().decode())
        return stream

    def call(self, function, *arguments):
        name = f"sconce_tensor_{function}"
        self.called[name] += 1
        passed = [
            byref(argument) if isinstance(argument, ctypes.Structure) and not isinstance(argument, Stream) else argument
            for argument in arguments
        ]
        with self.current_stream():
            status = getattr(self.shared, name)(*passed)
            if status != 0:
                raise Refused(name, status, self.shared.sconce_last_error_message().decode())

    @contextlib.contextmanager
    def current_stream(self):
        """Makes the stream of the calls current, if they have one, and then the one that was current before."""
        if self.stream is None:
            yield
            return
        previous, device = Stream(), ctypes.c_int32()
        status = self.shared.sconce_stream_exchange(self.stream, byref(previous), byref(device))
        if status != 0:
            raise Refused("sconce_stream_exchange", status, self.shared.sconce_last_error_message().decode())
        try:
            yield
        finally:
            self.shared.sconce_stream_restore(previous, device)

    def out(self, kind, function, *arguments):
        """What a call returns in its last parameter."""
        place = kind()
        self.call(function, *arguments, byref(place))
        return place if isinstance(place, ctypes.Structure) else place.value

    def made(self, function, *arguments):
        """The tensor that a call returns, or the output of its form with one."""
        return self.made_all(1, function, *arguments)[0]

    def made_all(self, count, function, *arguments):
        """The tensors that a call returns in its last parameters, or the outputs of its form with such."""
        outputs, places = self.outputs, [c_void_p() for _ in range(count)]
        chosen = outputs is not None and outputs.has(function)
        try:
            self.call(function, *arguments, *map(byref, places))
        except Refused:
            if chosen and count == 1:
                outputs.refused(function, arguments)
            raise
        made = [Tensor(self, place.value) for place in places]
        return outputs.written(function, arguments, made) if chosen else made

    def pieces(self, function, *arguments, room=64):
        """The tensors that a call returns."""
        handles, count = (c_void_p * room)(), c_size_t()
        self.call(function, *arguments, handles, room, byref(count))
        return [Tensor(self, handle) for handle in handles[: count.value]]

    def live(self):
        self.called["sconce_tensor_live_count"] += 1
        return self.shared.sconce_tensor_live_count()

    def text(self, tensor):
        place = c_char_p()
        self.call("to_string", tensor.handle, byref(place))
        text = place.value.decode()
        self.shared.sconce_string_free(place)
        return text

    def from_bytes(self, data, sizes, dtype, device):
        return self.made("from_values", data, len(data), numbers(sizes), len(sizes), options(dtype, device))

    def many(self, function, tensors, dim):
        """Joins tensors."""
        handles = (c_void_p * len(tensors))(*[tensor.handle for tensor in tensors])
        return self.made(function, handles, len(tensors), dim)


class Tensor:
    """An owned handle."""

    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def __del__(self):
        if self.handle:
            self.library.call("release", self.handle)
            self.handle = None

    def get(self, kind, name, *arguments):
        return self.library.out(kind, name, self.handle, *arguments)

    def made(self, function, *arguments):
        return self.library.made(function, self.handle, *arguments)

    def shaped(self, function, values):
        """A call that takes a list of numbers."""
        return self.made(function, numbers(values), len(values))

    def as_strided(self, sizes, strides, offset):
        return self.made("as_strided", numbers(sizes), numbers(strides), len(sizes), offset)

    def pieces(self, function, *arguments):
        return self.library.pieces(function, self.handle, *arguments)

    @property
    def dtype(self):
        return self.get(c_int32, "get_dtype")

    @property
    def device(self):
        return self.get(c_int32, "get_device")

    def dims(self, what):
        """Sizes or strides, which are the same copied and borrowed."""
        room = (c_int64 * self.get(c_size_t, "get_rank"))()
        self.library.call(f"get_{what}", self.handle, room, len(room))
        address = self.get(c_void_p, f"borrow_{what}")
        if len(room) and tuple((c_int64 * len(room)).from_address(address)) != tuple(room):
            raise AssertionError(f"borrowed {what} are not {tuple(room)}")
        return tuple(room)

    @property
    def sizes(self):
        return self.dims("sizes")

    @property
    def strides(self):
        return self.dims("strides")

    @property
    def offset(self):
        return self.get(c_int64, "get_storage_offset")

    def shares(self, other):
        return self.get(c_bool, "shares_storage", other.handle)

    def bytes(self, element):
        """The elements in row-major order."""
        size = self.get(c_int64, "get_numel") * element
        buffer = ctypes.create_string_buffer(max(size, 1))
        self.library.call("to_values", self.handle, buffer, size)
        return buffer.raw[:size]

    def item(self):
        return number_of(self.get(Scalar, "item"))
