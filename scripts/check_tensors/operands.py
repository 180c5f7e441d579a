"""Operands of random types, shapes and strides: dense in any order, with steps, repeated, overlapping, empty."""

from ctypes import c_int64

import numpy
from numpy.lib.stride_tricks import as_strided

from . import dtypes

SPECIAL = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 0.5]


class Operand:
    """Elements with strides in memory: `data` holds the bytes, `offset` and `strides` count elements."""

    def __init__(self, dtype, data, sizes, strides, offset):
        self.dtype, self.data = dtype, data
        self.sizes, self.strides, self.offset = tuple(sizes), tuple(strides), offset

    def view(self, memory):
        """An array of one entry for each element of the memory, as this operand sees it."""
        step = memory.dtype.itemsize
        return as_strided(memory[self.offset :], self.sizes, [stride * step for stride in self.strides])

    @property
    def values(self):
        return self.view(dtypes.decode(self.dtype, self.data))

    @property
    def raw(self):
        """The elements as opaque bytes."""
        return self.view(numpy.frombuffer(self.data, f"V{dtypes.BYTES[self.dtype]}"))

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def numel(self):
        return int(numpy.prod(self.sizes, dtype=int))

    @property
    def type_and_rank(self):
        return self.dtype, self.rank

    def make(self, library, device):
        """The tensor, and the one that covers its memory."""
        memory = library.from_bytes(
            self.data, [len(self.data) // dtypes.BYTES[self.dtype]], dtypes.NUMBER[self.dtype], device
        )
        return memory.as_strided(self.sizes, self.strides, self.offset), memory

    def __str__(self):
        return f"{self.dtype}{list(self.sizes)} by {list(self.strides)} from {self.offset}"


def numbers(rng, dtype, count, small=False):
    """Bytes of random numbers; small ones are whole and fit into every type."""
    if dtype in dtypes.NARROW or dtype not in dtypes.COMMON:
        return rng.integers(0, 256, count, "u1").tobytes()
    if dtype == "bool":
        return rng.integers(0, 2, count, "u1").tobytes()
    if dtype in dtypes.INTEGERS:
        native = numpy.dtype(dtypes.NATIVE[dtype])
        limits = numpy.iinfo(native)
        low = 0 if limits.min == 0 else -9
        values = rng.integers(low, 10, count).astype(native)
        if not small:
            wide = rng.integers(limits.min, limits.max, count, native, endpoint=True)
            values = numpy.where(rng.random(count) < 0.2, wide, values)
        return values.tobytes()
    if small:
        values = rng.integers(0, 10, count).astype("f8")
    else:
        values = rng.standard_normal(count) * rng.choice([0.1, 1.0, 1.0, 4.0])
    if dtype in dtypes.COMPLEX:
        return dtypes.encode(dtype, values + 1j * (0 if small else rng.standard_normal(count)))
    if not small and rng.random() < 0.3:
        values = numpy.where(rng.random(count) < 0.2, rng.choice(SPECIAL, count), values)
    return dtypes.encode(dtype, values)


def shape(rng, most_rank=5, least_rank=0, empty=0.07, most=40):
    """Sizes of a few elements, some of them 1, rarely 0."""
    sizes = []
    for _ in range(rng.integers(least_rank, most_rank + 1)):
        room = max(most // max(int(numpy.prod(sizes)), 1), 1)
        size = int(rng.choice([1, 2, 3, 4, 5, 7]))
        sizes.append(0 if rng.random() < empty / 2 else min(size, room))
    return sizes


def strides_for(rng, sizes, overlapping=True):
    """Strides of one of the ways in which tensors lie in memory."""
    way = rng.random()
    order = list(range(len(sizes)))[::-1]
    if way > 0.35:
        rng.shuffle(order)
    strides, next_stride = [0] * len(sizes), 1
    for dim in order:
        if way > 0.6 and rng.random() < 0.3:
            next_stride *= int(rng.integers(2, 4))
        strides[dim] = next_stride
        next_stride *= max(sizes[dim], 1)
    if overlapping and way > 0.75:
        for dim in range(len(sizes)):
            if rng.random() < 0.4:
                strides[dim] = 0 if rng.random() < 0.6 else int(rng.integers(0, 4))
    return strides


def operand(rng, dtype, sizes, small=False, overlapping=True):
    sizes = [int(size) for size in sizes]
    strides = strides_for(rng, sizes, overlapping)
    offset = int(rng.choice([0, 0, 1, 2, 5]))
    extent = 1 + sum(max(size - 1, 0) * stride for size, stride in zip(sizes, strides))
    data = numbers(rng, dtype, offset + extent + int(rng.integers(0, 3)), small)
    return Operand(dtype, data, sizes, strides, offset)


def repeated(rng, sizes):
    """A shape that is repeated to the given one: sizes of 1, leading dimensions left out."""
    own = [1 if rng.random() < 0.25 else size for size in sizes]
    first = int(rng.integers(0, len(own) + 1)) if rng.random() < 0.3 else 0
    return own[first:]


def number(rng, kinds=(bool, int, float)):
    """A number that all types of its kind hold."""
    kind = kinds[rng.integers(len(kinds))]
    if kind is complex:
        return complex(int(rng.integers(-8, 9)) / 4, int(rng.integers(-8, 9)) / 4)
    return (
        kind(rng.integers(0, 2))
        if kind is bool
        else kind(rng.integers(0, 9)) if kind is int else int(rng.integers(-16, 17)) / 4
    )


def numbers_or_null(values):
    return (c_int64 * len(values))(*values) if values else None
