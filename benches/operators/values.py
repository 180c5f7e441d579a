"""Numbers of the types that kernels take, and cases: an operator, its arguments, and what it must compute."""

import numpy as np

RAW = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "fp8": np.uint8, "i8": np.int8, "i32": np.int32,
       "i64": np.int64, "u8": np.uint8, "bool": np.bool_}


def to_bf16(x):
    u = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


def fp8_table():
    values = []
    for code in range(127):
        exponent, mantissa = code >> 3, code & 7
        values.append(mantissa * 2.0 ** -9 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.array(values, np.float32)


FP8 = fp8_table()
MIDDLES = (FP8[1:].astype(np.float64) + FP8[:-1]) / 2


def to_fp8(x):
    x = np.asarray(x, np.float32)
    a = np.minimum(np.abs(x), 448.0).astype(np.float64)
    below = np.searchsorted(MIDDLES, a, side="left")
    above = np.searchsorted(MIDDLES, a, side="right")
    code = np.where(below % 2 == 0, below, above)  # a tie goes to the even code
    return (code | (np.signbit(x).astype(np.int64) << 7)).astype(np.uint8)


def from_fp8(code):
    v = np.append(FP8, np.float32("nan"))[code & 127]
    return np.where(code & 128, -v, v).astype(np.float32)


def raw(x, kind):
    if kind == "bf16":
        return to_bf16(x)
    if kind == "fp8":
        return to_fp8(x)
    return np.ascontiguousarray(x, RAW[kind])


def real(x, kind):
    if kind == "bf16":
        return from_bf16(x)
    if kind == "fp8":
        return from_fp8(x)
    return x.astype(np.float64) if kind in ("f16", "f32") else x


def rounded(x, kind="bf16"):
    return real(raw(x, kind), kind).astype(np.float32)


LIBRARIES = {"C": "_C_stable_libtorch.abi3.so", "moe": "_moe_C_stable_libtorch.abi3.so",
             "fa2": "_vllm_fa2_C.abi3.so", "fa3": "_vllm_fa3_C.abi3.so"}


class T:
    """A tensor: values, element type, device; `turned` makes a view of the transposed memory."""

    def __init__(self, values, kind, turned=False, cpu=False):
        self.kind, self.turned, self.cpu = kind, turned, cpu
        values = np.ascontiguousarray(values.T if turned else values)
        # Whole numbers in the array's own type are codes already.
        coded = values.dtype == RAW[kind] and kind not in ("f16", "f32")
        self.raw = values if coded else raw(values, kind)


class Made:
    """A tensor that an operator of `Case.before` makes."""


class Type:
    """An element type as an argument."""

    def __init__(self, kind):
        self.kind = kind


class Case:
    """An operator and its arguments. `expect` maps an argument's index, or -1, -2 … for results, to a check. `before`
    lists operators that run before the call: a name, arguments, and the `Made` that the first result is, if the call
    takes it."""

    def __init__(self, op, args, expect, before=(), library="C"):
        self.op, self.args, self.expect, self.before, self.library = op, args, expect, list(before), library


def empty(*sizes):
    return np.zeros(sizes, np.float32)


def collector(cases):
    """A decorator that enters a function, which makes a case of random numbers, under its name."""
    def case(function):
        cases[function.__name__] = function
        return function
    return case
