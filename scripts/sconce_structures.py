"""Structures and numbers of the C API for Python programs, over ctypes."""

import ctypes
from ctypes import c_bool, c_double, c_int32, c_int64, c_uint8, c_uint32

CPU = -2
DEFAULT = -1
PRESERVE, CONTIGUOUS = 0, 1
# Names of PyTorch in the order of SCONCE_DTYPE_….
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64",
          "complex128", "uint16", "uint32", "uint64", "complex32", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
          "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"]


class Options(ctypes.Structure):
    """struct sconce_tensor_options"""

    _fields_ = [("struct_size", c_uint32), ("dtype", c_int32), ("device", c_int32), ("memory_format", c_int32),
                ("pinned", c_bool), ("reserved", c_uint8 * 7)]


class Scalar(ctypes.Structure):
    """struct sconce_scalar"""

    _fields_ = [("kind", c_int32), ("reserved", c_int32), ("integer", c_int64), ("real", c_double),
                ("imaginary", c_double)]


class Stream(ctypes.Structure):
    """struct sconce_stream"""

    _fields_ = [("id", c_int64), ("device", c_int32), ("reserved", c_int32)]


def options(dtype=DEFAULT, device=DEFAULT, memory_format=PRESERVE):
    """Options with the number of a type."""
    return Options(ctypes.sizeof(Options), dtype, device, memory_format)


def scalar(number):
    """A Python number; `None` stays, and is NULL."""
    if number is None:
        return None
    if isinstance(number, bool):
        return Scalar(2, 0, number, 0, 0)
    if isinstance(number, int):
        return Scalar(0, 0, number, 0, 0)
    if isinstance(number, float):
        return Scalar(1, 0, 0, number, 0)
    return Scalar(3, 0, 0, number.real, number.imag)


def numbers(values):
    """A C array of int64_t."""
    return (c_int64 * len(values))(*values)


def open_library(path):
    """The library, whose message of the last error is text."""
    shared = ctypes.CDLL(path)
    shared.sconce_last_error_message.restype = ctypes.c_char_p
    return shared
