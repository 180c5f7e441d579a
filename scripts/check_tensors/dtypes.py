"""Element types: how their bytes are read, how numbers are rounded to them, and torch's table of common types."""

import numpy

NAMES = """f32 f64 f16 bf16 i8 i16 i32 i64 u8 bool c64 c128 u16 u32 u64 c32
f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz f8_e8m0fnu f4_e2m1fn_x2""".split()
NUMBER = {name: number for number, name in enumerate(NAMES)}
NATIVE = {
    "f32": "f4",
    "f64": "f8",
    "f16": "f2",
    "i8": "i1",
    "i16": "i2",
    "i32": "i4",
    "i64": "i8",
    "u8": "u1",
    "bool": "?",
    "c64": "c8",
    "c128": "c16",
    "u16": "u2",
    "u32": "u4",
    "u64": "u8",
}
NARROW = [name for name in NAMES if name.startswith("f8")]
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c32", "c64", "c128"]
SIGNED, UNSIGNED = ["i8", "i16", "i32", "i64"], ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
# Types that calculations take.
COMMON = FLOATS + COMPLEX + INTEGERS + ["bool"]
BYTES = {
    "bf16": 2,
    "c32": 4,
    "f4_e2m1fn_x2": 1,
    **{name: 1 for name in NARROW},
    **{name: numpy.dtype(native).itemsize for name, native in NATIVE.items()},
}
REAL_OF = {"c32": "f16", "c64": "f32", "c128": "f64"}
# Bits of the fraction and the exponent of the smallest normal number.
PRECISION = {"f64": (52, -1022), "f32": (23, -126), "f16": (10, -14), "bf16": (7, -126)}


def is_integral(name):
    return name in INTEGERS or name == "bool"


def kind_of(name):
    """Truth values, whole, real, complex numbers."""
    return 0 if name == "bool" else 1 if name in INTEGERS else 3 if name in COMPLEX else 2


# torch.promote_types, by rows; a dot is refused.
COLUMNS = "u8 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 bool bf16 u16 u32 u64".split()
ROWS = """
u8   u8   i16  i16  i32  i64  f16  f32  f64  c32  c64  c128 u8   bf16 .    .    .
i8   i16  i8   i16  i32  i64  f16  f32  f64  c32  c64  c128 i8   bf16 .    .    .
i16  i16  i16  i16  i32  i64  f16  f32  f64  c32  c64  c128 i16  bf16 .    .    .
i32  i32  i32  i32  i32  i64  f16  f32  f64  c32  c64  c128 i32  bf16 .    .    .
i64  i64  i64  i64  i64  i64  f16  f32  f64  c32  c64  c128 i64  bf16 .    .    .
f16  f16  f16  f16  f16  f16  f16  f32  f64  c32  c64  c128 f16  f32  f16  f16  f16
f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c64  c128 f32  f32  f32  f32  f32
f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128 c128 f64  f64  f64  f64  f64
c32  c32  c32  c32  c32  c32  c32  c64  c128 c32  c64  c128 c32  c64  .    .    .
c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c64  c128 c64  c64  .    .    .
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 .    .    .
bool u8   i8   i16  i32  i64  f16  f32  f64  c32  c64  c128 bool bf16 .    .    .
bf16 bf16 bf16 bf16 bf16 bf16 f32  f32  f64  c64  c64  c128 bf16 bf16 bf16 bf16 bf16
u16  .    .    .    .    .    f16  f32  f64  .    .    .    .    bf16 u16  .    .
u32  .    .    .    .    .    f16  f32  f64  .    .    .    .    bf16 .    u32  .
u64  .    .    .    .    .    f16  f32  f64  .    .    .    .    bf16 .    .    u64
"""
TABLE = {
    (row.split()[0], column): both
    for row in ROWS.strip().splitlines()
    for column, both in zip(COLUMNS, row.split()[1:])
}


class NoCommonType(Exception):
    pass


def promote(first, second):
    if first is None or second is None:
        return first or second
    both = first if first == second else TABLE.get((first, second), ".")
    if both == ".":
        raise NoCommonType(f"{first} and {second}")
    return both


def number_type(number):
    return {bool: "bool", int: "i64", float: "f32"}.get(type(number), "c64")


def result_type(operands):
    """torch.result_type of (type, rank) pairs and numbers. A later category counts only if its kind is higher."""
    categories = [None, None, None]
    for operand in operands:
        at, name = (0 if operand[1] else 1, operand[0]) if isinstance(operand, tuple) else (2, number_type(operand))
        categories[at] = promote(categories[at], name)
    found = categories[0]
    for lower in categories[1:]:
        if lower is None or found is None:
            found = found or lower
        elif kind_of(found) == 2:
            if kind_of(lower) == 3:
                found = {"f16": "c32", "bf16": "c64", "f32": "c64", "f64": "c128"}[found]
        elif found == "bool" or (kind_of(found) < 2 and kind_of(lower) >= 2):
            found = promote(found, lower)
    return found


def narrow_values(name):
    """The values of all bytes of an 8-bit floating-point type."""
    values = numpy.zeros(256)
    for bits in range(256):
        if name == "f8_e8m0fnu":
            values[bits] = numpy.nan if bits == 255 else 2.0 ** (bits - 127)
            continue
        width, bias = (
            (3, {"f8_e4m3fn": 7, "f8_e4m3fnuz": 8}.get(name))
            if "e4m3" in name
            else (2, {"f8_e5m2": 15, "f8_e5m2fnuz": 16}[name])
        )
        exponent, fraction = bits % 128 >> width, bits % (1 << width)
        size = (fraction / (1 << width) + (exponent > 0)) * 2.0 ** (max(exponent, 1) - bias)
        if name == "f8_e5m2" and exponent == 31:
            size = numpy.nan if fraction else numpy.inf
        if (name == "f8_e4m3fn" and bits % 128 == 127) or (name.endswith("uz") and bits == 128):
            size = numpy.nan
        values[bits] = -size if bits > 127 else size
    return values


NARROW_VALUES = {name: narrow_values(name) for name in NARROW}


def decode(name, data):
    """The numbers of a type's bytes, exactly."""
    if name in NATIVE:
        return numpy.frombuffer(data, NATIVE[name])
    if name == "bf16":
        return (numpy.frombuffer(data, "u2").astype("u4") << 16).view("f4")
    if name == "c32":
        return numpy.frombuffer(data, "f2").astype("f4").view("c8")
    return NARROW_VALUES[name][numpy.frombuffer(data, "u1")].astype("f4")


def encode(name, values):
    """The bytes of numbers, rounded to a type."""
    if name in NATIVE:
        return values.astype(NATIVE[name]).tobytes()
    if name == "bf16":
        return (round_to("bf16", values).view("u4") >> 16).astype("u2").tobytes()
    if name == "c32":
        return numpy.ascontiguousarray(values.astype("c8")).view("f4").astype("f2").tobytes()
    raise ValueError(name)


def carrier(name):
    """NumPy's type that holds the values of a type."""
    return numpy.dtype(NATIVE.get(name) or {"c32": "c8"}.get(name, "f4"))


def round_to(name, values):
    """Numbers of the same kind rounded to a floating-point or complex type; integers become such numbers."""
    with numpy.errstate(all="ignore"):
        if name == "bf16":
            bits = numpy.ascontiguousarray(values, "f4").view("u4").reshape(numpy.shape(values))
            rounded = numpy.asarray(bits + 0x7FFF + (bits >> 16 & 1) & numpy.uint32(0xFFFF0000)).view("f4")
            return numpy.where(numpy.isnan(values), numpy.float32(numpy.nan), rounded)
        if name == "c32":
            parts = numpy.ascontiguousarray(values, "c8").reshape(-1).view("f4").astype("f2").astype("f4")
            return parts.view("c8").reshape(numpy.shape(values))
        if name == "f16":
            return numpy.asarray(values, "f4").astype("f2")
        return numpy.asarray(values).astype(carrier(name))


def convert(name, values):
    """As torch converts numbers to a type."""
    with numpy.errstate(all="ignore"):
        if name == "bool":
            return values != 0
        if numpy.iscomplexobj(values) and name not in COMPLEX:
            values = values.real
        if name in INTEGERS and values.dtype.kind == "f":
            return numpy.trunc(values).astype("i8" if name != "u64" else "u8").astype(NATIVE[name])
        return round_to(name, values)


def unit(name, numbers):
    """The distance between neighbours of numbers in a type."""
    bits, least = PRECISION[REAL_OF.get(name, name)]
    size = numpy.abs(numbers).astype("f8")
    exponents = numpy.frexp(numpy.where(numpy.isfinite(size), size, 0))[1] - 1
    return numpy.ldexp(1.0, numpy.maximum(exponents, least) - bits)
