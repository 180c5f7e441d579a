"""Fills through libsconce's C API, beside PyTorch in one process: the legacy default stream is both
sides' current stream, and the primary context is shared."""

import ctypes
import re


def constants(header):
    """The numbers of the C header's SCONCE_DTYPE_… by the name behind that, in lower case."""
    found = re.findall(r"^\s+SCONCE_DTYPE_(\w+) = (\d+),?$", header.read_text(), re.MULTILINE)
    return {name.lower(): int(number) for name, number in found}


class Library:
    """What `device.Kernels` does, by the functions that users call."""

    def __init__(self, path, header):
        self.shared = ctypes.CDLL(str(path))
        self.shared.sconce_last_error_message.restype = ctypes.c_char_p
        self.dtypes = constants(header)
        self.generator = ctypes.c_void_p()
        self.call("sconce_generator_create", 0, ctypes.byref(self.generator))

    def call(self, name, *arguments):
        if getattr(self.shared, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.shared.sconce_last_error_message().decode()}")

    def draw(self, distribution, dtype, address, n, arguments):
        """A fill with torch's arguments from the generator as it is."""
        kind = ctypes.c_int64 if distribution == "integers" else ctypes.c_double
        self.call(f"sconce_random_{distribution}", ctypes.c_void_p(address), ctypes.c_size_t(n),
                  ctypes.c_int32(self.dtypes[dtype]), *(kind(value) for value in arguments), self.generator)

    def fill(self, distribution, dtype, address, n, seed, offset, arguments):
        """The same from a given state; returns the offset after it."""
        state = (ctypes.c_uint8 * 16)(*seed.to_bytes(8, "little"), *offset.to_bytes(8, "little"))
        self.call("sconce_generator_set_state", self.generator, state, ctypes.c_size_t(16))
        self.draw(distribution, dtype, address, n, arguments)
        self.call("sconce_generator_get_state", self.generator, state)
        return int.from_bytes(bytes(state)[8:], "little")
