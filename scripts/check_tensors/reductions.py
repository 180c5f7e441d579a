"""Reductions, running sums, softmax, sorts and comparisons of whole tensors in NumPy, by torch's rules."""

from ctypes import c_bool

import numpy

from . import dtypes, operands
from .compare import Case, Expected, Refusal, Same, Value
from .elementwise import wide
from .library import DEFAULT

UNIT_OF_SUMS = {"f64": 2.0**-52, "c128": 2.0**-52}


def wrapped_sum(values, axes, keep, product=False):
    """Sums or products of integers in 64 bits, wrapping."""
    with numpy.errstate(all="ignore"):
        function = numpy.prod if product else numpy.sum
        return function(values.astype("i8"), axis=axes, keepdims=keep, dtype="i8")


def sum_expected(operation, dtype, values, axes, keep, count):
    if operation != "mean" and dtypes.is_integral(dtype):
        result = wrapped_sum(values, axes, keep, operation == "prod")
        return Expected(dtype, result != 0 if dtype == "bool" else result.astype(dtypes.carrier(dtype)))
    exact = wide(dtype, values)
    step = UNIT_OF_SUMS.get(dtype, 2.0**-23)
    if operation == "prod":
        result = numpy.prod(exact, axis=axes, keepdims=keep)
        return Expected(dtype, result, 1, 2 * (count + 1) * step * numpy.abs(result))
    total = numpy.sum(exact, axis=axes, keepdims=keep)
    slack = (count + 1) * step * numpy.sum(numpy.abs(exact), axis=axes, keepdims=keep)
    if operation == "mean":
        total, slack = total / count if count else total * numpy.nan, slack / max(count, 1)
    return Expected(dtype, total, 1, numpy.where(numpy.isfinite(slack), slack, 0))


def extreme_place(values, largest):
    """The index of the first of the largest (or smallest) numbers; a NaN comes before every number."""
    ranked = values.astype("f8") if values.dtype.kind in "f" else values.astype(object)
    best = None
    for at, value in enumerate(ranked):
        if best is None:
            best = at
        elif ranked[best] == ranked[best] and (
            value != value or (value > ranked[best] if largest else value < ranked[best])
        ):
            best = at
    return best


def place_expected(operation, values, axes, keep):
    rest = [dim for dim in range(values.ndim) if dim not in axes]
    count = int(numpy.prod([values.shape[dim] for dim in axes], dtype=int))
    lines = numpy.transpose(values, rest + list(axes)).reshape([values.shape[dim] for dim in rest] + [count])
    found = numpy.empty(lines.shape[:-1], "i8")
    for index in numpy.ndindex(found.shape):
        found[index] = extreme_place(lines[index], operation == "argmax")
    return Expected("i64", numpy.expand_dims(found, tuple(axes)) if keep else found)


def reduce_expected(operation, operand, dims, keep, dtype):
    values, own = operand.values, operand.dtype
    axes = tuple(sorted(dim % max(operand.rank, 1) for dim in dims)) if dims else tuple(range(operand.rank))
    axes = axes if operand.rank else ()
    count = int(numpy.prod([operand.sizes[dim] for dim in axes], dtype=int))
    name = {"all": numpy.all, "any": numpy.any}.get(operation)
    if name:
        result = name(values != 0, axis=axes, keepdims=keep)
        return Expected("u8" if own == "u8" else "bool", result.astype("u1") if own == "u8" else result)
    if operation in ("sum", "prod", "mean"):
        result = dtype or ("i64" if dtypes.is_integral(own) and operation != "mean" else own)
        if operation == "mean" and dtypes.is_integral(result):
            return Refusal("mean(): could not infer output dtype")
        if operation == "mean" and result == "c32":
            return Refusal('"mean" not implemented for')
        return sum_expected(operation, result, dtypes.convert(result, values), axes, keep, count)
    assert operation in ("amax", "amin", "argmax", "argmin"), f"no oracle for SCONCE_REDUCE_{operation.upper()}"
    if own in dtypes.COMPLEX or (own == "bool" and operation.startswith("arg")):
        return Refusal("does not support")
    if operation.startswith("arg") and len(dims) > 1:
        return Refusal("takes one dimension or none")
    if operand.numel == 0 and (not dims or count == 0):
        return Refusal("Expected reduction dim")
    if operation.startswith("arg"):
        return place_expected(operation, values, axes, keep)
    return Expected(own, (numpy.max if operation == "amax" else numpy.min)(values, axis=axes, keepdims=keep))


def draw_dims(rng, rank):
    """Some dimensions, counted from either end; none are all."""
    chosen = rng.permutation(max(rank, 1))[: rng.choice([0, 1, 1, 2, 3])]
    return [int(dim) - (max(rank, 1) if rng.random() < 0.3 else 0) for dim in chosen]


def reduce(rng, library):
    names = library.operations("SCONCE_REDUCE_")
    operation = str(rng.choice(list(names)))
    own = str(rng.choice(dtypes.COMMON))
    sizes = operands.shape(rng, most=rng.choice([40, 40, 400]), empty=0.1)
    operand = operands.operand(rng, own, sizes, operation == "prod" and own != "bool")
    while own in dtypes.COMPLEX and not numpy.all(numpy.isfinite(operand.values)):
        operand = operands.operand(rng, own, sizes, True)
    dims, keep, dtype = draw_dims(rng, operand.rank), bool(rng.random() < 0.4), None
    if operation in ("sum", "mean", "prod") and rng.random() < 0.25:
        dtype = str(
            rng.choice([name for name in ("i64", "f32", "f64", "c64") if dtypes.kind_of(name) >= dtypes.kind_of(own)])
        )
    with numpy.errstate(all="ignore"):
        expected = reduce_expected(operation, operand, dims, keep, dtype)

    def call(library, device, tensor):
        wanted = dtypes.NUMBER[dtype] if dtype else DEFAULT
        places = operands.numbers_or_null(dims)
        return library.made("reduce", names[operation], tensor.handle, places, len(dims), keep, wanted)

    return Case(f"reduce.{operation}", [operand], call, expected, f"over {dims or 'all'} keep {keep} as {dtype}")


def along_expected(operation, operand, dim, dtype):
    values, own = operand.values, operand.dtype
    axis = dim % max(operand.rank, 1)
    lines = values.reshape(1) if operand.rank == 0 else values
    if operation in ("cumsum", "cumprod"):
        result = dtype or ("i64" if dtypes.is_integral(own) else own)
        converted = dtypes.convert(result, lines)
        function = numpy.cumsum if operation == "cumsum" else numpy.cumprod
        if dtypes.is_integral(result):
            return Expected(result, function(converted.astype("i8"), axis=axis, dtype="i8").reshape(operand.sizes))
        exact, step = wide(result, converted), UNIT_OF_SUMS.get(result, 2.0**-23)
        total = function(exact, axis=axis)
        size = function(numpy.abs(exact), axis=axis)
        slack = (lines.shape[axis] + 1) * 2 * step * size
        return Expected(
            result, total.reshape(operand.sizes), 1, numpy.where(numpy.isfinite(slack), slack, 0).reshape(operand.sizes)
        )
    assert operation in ("softmax", "log_softmax"), f"no oracle for SCONCE_LINE_{operation.upper()}"
    result = dtype or own
    if result not in dtypes.FLOATS:
        return (
            Refusal("softmax", "not implemented for")
            if operand.numel
            else Expected(result, numpy.zeros(operand.sizes, dtypes.carrier(result)))
        )
    exact = wide(result, dtypes.convert(result, lines))
    if not exact.size:
        return Expected(result, exact.reshape(operand.sizes))
    shifted = exact - numpy.max(exact, axis=axis, keepdims=True)
    total = numpy.sum(numpy.exp(shifted), axis=axis, keepdims=True)
    found = numpy.exp(shifted) / total if operation == "softmax" else shifted - numpy.log(total)
    step = UNIT_OF_SUMS.get(result, 2.0**-23)
    slack = 8 * step * (numpy.abs(numpy.where(numpy.isfinite(exact), exact, 0)) + 1 + numpy.log(total))
    if operation == "softmax":
        slack = numpy.where(numpy.isfinite(slack), slack, 0) * found
    return Expected(
        result, found.reshape(operand.sizes), 4, numpy.where(numpy.isfinite(slack), slack, 0).reshape(operand.sizes)
    )


def along(rng, library):
    names = library.operations("SCONCE_LINE_")
    operation = str(rng.choice(list(names)))
    types = dtypes.COMMON if operation.startswith("cum") or rng.random() < 0.2 else dtypes.FLOATS
    own = str(rng.choice(types))
    sizes = operands.shape(rng, 4, most=rng.choice([40, 40, 400]))
    operand = operands.operand(rng, own, sizes, operation == "cumprod" and own in dtypes.COMPLEX)
    dim = int(rng.integers(-max(len(sizes), 1), max(len(sizes), 1)))
    dtype = None
    if rng.random() < 0.2 and dtypes.kind_of(own) < 3:
        dtype = str(rng.choice([name for name in ("i64", "f32", "f64") if dtypes.kind_of(name) >= dtypes.kind_of(own)]))
    while own in dtypes.COMPLEX and not numpy.all(numpy.isfinite(operand.values)):
        operand = operands.operand(rng, own, sizes, True)
    with numpy.errstate(all="ignore"):
        expected = along_expected(operation, operand, dim, dtype)

    def call(library, device, tensor):
        return library.made("along", names[operation], tensor.handle, dim, dtypes.NUMBER[dtype] if dtype else DEFAULT)

    return Case(f"along.{operation}", [operand], call, expected, f"along {dim} as {dtype}")


def order_of(line, descending):
    """Where the elements of a sorted line were: stable, a NaN larger than all numbers."""
    number = (lambda value: float(value)) if line.dtype.kind == "f" else (lambda value: int(value))
    keys = [(value != value, 0 if value != value else number(value)) for value in line]
    sign = -1 if descending else 1
    return sorted(range(len(line)), key=lambda at: (sign * keys[at][0], sign * keys[at][1]))


def sort(rng, library):
    dtype = str(rng.choice(dtypes.COMMON + dtypes.NARROW))
    operand = operands.operand(rng, dtype, operands.shape(rng, 4, most=rng.choice([40, 200])))
    dim, descending = int(rng.integers(-max(operand.rank, 1), max(operand.rank, 1))), bool(rng.random() < 0.5)
    expected = Refusal("Sort currently does not support complex dtypes")
    if dtype in dtypes.NARROW and operand.numel:
        expected = Refusal("sort takes integers, bool and real floats of 16 bits and more")
    elif dtype not in dtypes.COMPLEX:
        raised = operand.raw.reshape(operand.sizes or (1,))
        values = operand.values.reshape(operand.sizes or (1,))
        places = numpy.empty(raised.shape, "i8")
        moved, lines = numpy.moveaxis(places, dim, -1), numpy.moveaxis(values, dim, -1)
        for index in numpy.ndindex(lines.shape[:-1]):
            moved[index] = order_of(lines[index], descending)
        chosen = numpy.take_along_axis(raised, places, dim) if raised.size else raised
        expected = [Same(dtype, chosen.reshape(operand.sizes)), Expected("i64", places.reshape(operand.sizes))]

    def call(library, device, tensor):
        return library.made_all(2, "sort", tensor.handle, dim, descending)

    return Case("sort", [operand], call, expected, f"along {dim} descending {descending}")


def compared_pair(rng):
    dtype = str(rng.choice(dtypes.COMMON))
    sizes = operands.shape(rng, 4)
    first = operands.operand(rng, dtype, sizes)
    if rng.random() < 0.5:
        return first, operands.operand(rng, dtype, sizes, bool(rng.random() < 0.5))
    # The same numbers at other strides, one of them perhaps a little different.
    values = numpy.array(first.values).reshape(-1)
    if values.size and dtype != "bool" and rng.random() < 0.5:
        at = rng.integers(values.size)
        with numpy.errstate(all="ignore"):
            values[at] += dtypes.carrier(dtype).type(1 if dtypes.is_integral(dtype) else rng.choice([1e-6, 1e-3, 1.0]))
    order = list(rng.permutation(len(sizes)))
    turned = numpy.transpose(values.reshape(sizes), order)
    data = dtypes.encode(dtype, numpy.append(numpy.ascontiguousarray(turned).reshape(-1), values.dtype.type(0)))
    strides = [0] * len(sizes)
    for place, dim in enumerate(order):
        strides[dim] = int(numpy.prod([max(sizes[later], 1) for later in order[place + 1 :]], dtype=int))
    return first, operands.Operand(dtype, data, sizes, strides, 0)


def equal(rng, library):
    first, second = compared_pair(rng)
    if rng.random() < 0.1:
        second = operands.operand(rng, first.dtype, operands.shape(rng, 3))
    same = first.sizes == second.sizes and bool(numpy.all(first.values == second.values))

    def call(library, device, one, other):
        return library.out(c_bool, "equal", one.handle, other.handle)

    return Case("equal", [first, second], call, Value(same))


def allclose(rng, library):
    first, second = compared_pair(rng)
    rtol, atol = [float(rng.choice([0.0, 1e-5, 1e-2])) for _ in range(2)]
    equal_nan = bool(rng.random() < 0.5)
    if first.dtype in ("bool",):
        rtol = atol = 0.0
    types = {"f16": "f4", "bf16": "f4"}
    one, other = [operand.values.astype(types.get(operand.dtype, operand.values.dtype)) for operand in (first, second)]
    if dtypes.is_integral(first.dtype):
        one, other = one.astype("f4"), other.astype("f4")
    with numpy.errstate(all="ignore"):
        near = (one == other) | (numpy.isnan(one) & numpy.isnan(other) & equal_nan)
        distance, allowed = numpy.abs(one - other), atol + numpy.abs(rtol * other)
        near |= numpy.isfinite(distance) & (distance <= allowed)
        # Where the rounding of the arithmetic decides, nothing is said.
        unclear = bool(
            numpy.any(
                numpy.isfinite(distance) & (distance != 0) & (numpy.abs(distance - allowed) <= 0.02 * allowed + 1e-30)
            )
        )
    if unclear or dtypes.is_integral(first.dtype):
        rtol = atol = 0.0
        near = (first.values == second.values) | (numpy.isnan(one) & numpy.isnan(other) & equal_nan)

    def call(library, device, left, right):
        return library.out(c_bool, "allclose", left.handle, right.handle, rtol, atol, equal_nan)

    return Case("allclose", [first, second], call, Value(bool(numpy.all(near))), f"rtol {rtol} atol {atol} {equal_nan}")
