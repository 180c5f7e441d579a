"""This library's memory figures, read through the C API by programs whose allocator it is."""

import ctypes
import json


class Library:
    """libsconce, the same copy that the program allocates from."""

    def __init__(self, path):
        self.shared = ctypes.CDLL(path)
        self.shared.sconce_last_error_message.restype = ctypes.c_char_p
        self.shared.sconce_string_free.argtypes = [ctypes.c_void_p]

    def call(self, name, *arguments):
        if getattr(self.shared, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.shared.sconce_last_error_message().decode()}")

    def address(self, name):
        """Of a function of the library."""
        return ctypes.cast(getattr(self.shared, name), ctypes.c_void_p).value

    def stats(self, device=0):
        """The figures under the names of `torch.cuda.memory_stats()`."""
        text = ctypes.c_void_p()
        self.call("sconce_memory_get_stats_json", ctypes.c_int32(device), ctypes.byref(text))
        try:
            return json.loads(ctypes.string_at(text.value))
        finally:
            self.shared.sconce_string_free(text)


def summary(stats):
    """One line of what matters most."""
    return (f"{stats['allocation.all.allocated']} allocations, peak allocated "
            f"{stats['allocated_bytes.all.peak'] / 2**20:.1f} MiB, peak reserved "
            f"{stats['reserved_bytes.all.peak'] / 2**20:.1f} MiB, "
            f"{stats['num_device_alloc']} from the driver")
