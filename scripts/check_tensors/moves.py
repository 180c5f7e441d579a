"""Views, joined and selected tensors, copies, conversions: elements that keep their bits, or are converted."""

from ctypes import c_bool

import numpy

from . import dtypes, operands
from .compare import Case, Expected, Refusal, Same, Value
from .library import CONTIGUOUS, PRESERVE, numbers, options, scalar

ANY = dtypes.NAMES[:-1]


def draw(rng, least_rank=0, most_rank=5, types=ANY):
    return operands.operand(rng, str(rng.choice(types)), operands.shape(rng, most_rank, least_rank))


def dim_of(rng, rank):
    """A dimension, counted from either end."""
    dim = int(rng.integers(rank))
    return dim, dim - (rank if rng.random() < 0.4 else 0)


def view_case(name, operand, call, raw, note):
    strides = [stride // raw.dtype.itemsize for stride in raw.strides]
    return Case(
        f"view.{name}",
        [operand],
        lambda library, device, tensor: call(tensor),
        Same(operand.dtype, raw, of=0, strides=strides),
        note,
    )


def part(rng, library):
    operand = draw(rng, 1)
    dim, given = dim_of(rng, operand.rank)
    size, index = operand.sizes[dim], [slice(None)] * operand.rank
    way = rng.integers(4)
    if way == 0:
        start, end, step = int(rng.integers(-9, 9)), int(rng.integers(-9, 9)), int(rng.integers(1, 4))
        index[dim] = slice(start, end, step)
        return view_case(
            "slice",
            operand,
            lambda t: t.made("slice", given, start, end, step),
            operand.raw[tuple(index)],
            f"{given} {start}:{end}:{step}",
        )
    if way == 1 and size:
        at = int(rng.integers(-size, size))
        index[dim] = at
        return view_case(
            "select", operand, lambda t: t.made("select", given, at), operand.raw[tuple(index)], f"{given} at {at}"
        )
    start = int(rng.integers(0, size + 1))
    length = int(rng.integers(0, size - start + 1))
    index[dim] = slice(start, start + length)
    asked = start - size if rng.random() < 0.3 and start < size else start
    return view_case(
        "narrow",
        operand,
        lambda t: t.made("narrow", given, asked, length),
        operand.raw[tuple(index)],
        f"{given} from {asked}, {length}",
    )


def order(rng, library):
    operand = draw(rng)
    way = rng.integers(4)
    if way == 0 and operand.rank:
        (one, asked), (other, wanted) = dim_of(rng, operand.rank), dim_of(rng, operand.rank)
        return view_case(
            "transpose",
            operand,
            lambda t: t.made("transpose", asked, wanted),
            numpy.swapaxes(operand.raw, one, other),
            f"{asked} {wanted}",
        )
    if way == 1 and operand.rank > 1:
        one, other = [int(dim) for dim in rng.permutation(operand.rank)[:2]]
        above = int(rng.integers(-4, 5))
        raw = numpy.diagonal(operand.raw, above, one, other)
        return view_case(
            "diagonal", operand, lambda t: t.made("diagonal", above, one, other), raw, f"{above} of {one} {other}"
        )
    if way == 2:
        dim = int(rng.integers(-operand.rank - 1, operand.rank + 1))
        return Case(
            "view.unsqueeze",
            [operand],
            lambda library, device, t: t.made("unsqueeze", dim),
            Same(operand.dtype, numpy.expand_dims(operand.raw, dim), of=0),
            f"at {dim}",
        )
    dims = [int(dim) for dim in rng.permutation(operand.rank)]
    asked = [dim - (operand.rank if rng.random() < 0.3 else 0) for dim in dims]
    return view_case(
        "permute", operand, lambda t: t.shaped("permute", asked), numpy.transpose(operand.raw, dims), f"to {asked}"
    )


def squeeze(rng, library):
    operand = draw(rng)
    if rng.random() < 0.5:
        return view_case("squeeze", operand, lambda t: t.made("squeeze", None, 0), operand.raw.squeeze(), "all")
    dims = [int(dim) for dim in rng.permutation(operand.rank)[:2]]
    goes = tuple(dim for dim in dims if operand.sizes[dim] == 1)
    return view_case("squeeze", operand, lambda t: t.shaped("squeeze", dims), operand.raw.squeeze(goes), f"of {dims}")


def expand(rng, library):
    sizes = operands.shape(rng, 4)
    own = [1 if rng.random() < 0.5 else size for size in sizes]
    first = int(rng.integers(0, len(own) + 1)) if rng.random() < 0.3 else 0
    operand = operands.operand(rng, str(rng.choice(ANY)), own[first:])
    asked = [-1 if at >= first and own[at] == size and rng.random() < 0.3 else size for at, size in enumerate(sizes)]
    if rng.random() < 0.1 and any(size > 1 for size in own[first:]):
        at = next(at for at, size in enumerate(own) if size > 1 and at >= first)
        asked[at] = own[at] + 1
        expected = Refusal("must match the existing size")
    else:
        expected = Same(operand.dtype, numpy.broadcast_to(operand.raw, sizes), of=0)
    return Case("view.expand", [operand], lambda library, device, t: t.shaped("expand", asked), expected, f"to {asked}")


def other_shape(rng, count):
    """Sizes with so many elements."""
    sizes, rest = [], count
    while rest > 1 and rng.random() < 0.8:
        divisors = [size for size in range(1, rest + 1) if rest % size == 0]
        sizes.append(int(rng.choice(divisors)))
        rest //= sizes[-1]
    sizes += [rest] if rest != 1 or rng.random() < 0.3 else []
    return sizes


def shape(rng, library):
    operand = draw(rng)
    sizes = other_shape(rng, operand.numel) if operand.numel else [0, 3]
    asked = list(sizes)
    if operand.numel and sizes and rng.random() < 0.3:
        asked[rng.integers(len(sizes))] = -1
    raw = numpy.ascontiguousarray(operand.raw).reshape(sizes)
    shares = numpy.shares_memory(operand.raw, operand.raw.reshape(sizes)) or not operand.numel
    if rng.random() < 0.5:
        of = 0 if shares and not operand.numel == 0 else None
        return Case(
            "view.reshape",
            [operand],
            lambda library, device, t: t.shaped("reshape", asked),
            Same(operand.dtype, raw, of=of),
            f"to {asked}",
        )
    expected = (
        Same(operand.dtype, raw, of=0)
        if shares
        else Refusal("view size is not compatible with input tensor's size and stride")
    )
    return Case("view.view", [operand], lambda library, device, t: t.shaped("view", asked), expected, f"to {asked}")


def join_dims(rng, library):
    operand = draw(rng, 1)
    if rng.random() < 0.5:
        start, end = sorted(int(dim) for dim in rng.integers(0, operand.rank, 2))
        sizes = (
            operand.sizes[:start]
            + (int(numpy.prod(operand.sizes[start : end + 1], dtype=int)),)
            + operand.sizes[end + 1 :]
        )
        return Case(
            "view.flatten",
            [operand],
            lambda library, device, t: t.made("flatten", start, end - operand.rank),
            Same(operand.dtype, numpy.ascontiguousarray(operand.raw).reshape(sizes)),
            f"{start} to {end}",
        )
    dim, given = dim_of(rng, operand.rank)
    pieces = other_shape(rng, operand.sizes[dim]) or [operand.sizes[dim]]
    sizes = operand.sizes[:dim] + tuple(pieces) + operand.sizes[dim + 1 :]
    return Case(
        "view.unflatten",
        [operand],
        lambda library, device, t: t.made("unflatten", given, numbers(pieces), len(pieces)),
        Same(operand.dtype, numpy.ascontiguousarray(operand.raw).reshape(sizes), of=0),
        f"{given} to {pieces}",
    )


def pieces(rng, library):
    operand = draw(rng, 1)
    dim, given = dim_of(rng, operand.rank)
    size, raw = operand.sizes[dim], operand.raw
    way = rng.integers(4)
    if way == 0:
        parts = [numpy.take(raw, at, dim) for at in range(size)]
        call, name, note = (lambda t: t.pieces("unbind", given)), "unbind", f"{given}"
    elif way == 1:
        count = int(rng.integers(1, 6))
        each = -(-size // count)
        starts = range(0, size, each) if each else range(count)
        parts = [raw.take(range(start, min(start + each, size)), dim) for start in starts]
        call, name, note = (lambda t: t.pieces("chunk", count, given)), "chunk", f"{given} in {count}"
    elif way == 2:
        each = int(rng.integers(1, 5))
        parts = [raw.take(range(start, min(start + each, size)), dim) for start in range(0, max(size, 1), each)]
        call, name, note = (lambda t: t.pieces("split", each, given)), "split", f"{given} by {each}"
    else:
        cuts = sorted(int(cut) for cut in rng.integers(0, size + 1, 2))
        each = [cuts[0], cuts[1] - cuts[0], size - cuts[1]]
        parts = numpy.split(raw, cuts, dim)
        call, name, note = (
            (lambda t: t.pieces("split_with_sizes", numbers(each), 3, given)),
            "split_with_sizes",
            f"{given} {each}",
        )
    expected = [Same(operand.dtype, part, of=0) for part in parts]
    return Case(f"view.{name}", [operand], lambda library, device, t: call(t), expected, note)


def as_strided(rng, library):
    operand = draw(rng)
    count = len(operand.data) // dtypes.BYTES[operand.dtype]
    other = operands.operand(rng, operand.dtype, operands.shape(rng, 3))
    extent = 1 + sum(max(size - 1, 0) * stride for size, stride in zip(other.sizes, other.strides))
    expected = Refusal("out of bounds", "setStorage")
    if other.numel == 0 or other.offset + extent <= count:
        moved = operands.Operand(operand.dtype, operand.data, other.sizes, other.strides, min(other.offset, count))
        expected = Same(operand.dtype, moved.raw, of=0, strides=other.strides)
        if other.numel == 0 and other.offset > count:
            expected = [expected]
    return Case(
        "view.as_strided",
        [operand],
        lambda library, device, t: t.as_strided(other.sizes, other.strides, other.offset),
        expected,
        f"{other.sizes} {other.strides} {other.offset}",
    )


def joined(rng, library):
    """cat and stack, also of several types and with empty vectors, which are left out."""
    stacks = rng.random() < 0.4
    sizes = operands.shape(rng, 4, 0 if stacks else 1)
    types = (
        [str(rng.choice(dtypes.COMMON))] * 4
        if rng.random() < 0.7
        else [str(name) for name in rng.choice(dtypes.COMMON, 4)]
    )
    if rng.random() < 0.1:
        types = [str(rng.choice(dtypes.NARROW))] * 4
    dim, given = dim_of(rng, len(sizes) + stacks)
    parts = []
    for name in types[: rng.integers(1, 5)]:
        own = list(sizes)
        if not stacks and rng.random() < 0.6:
            own[dim] = int(rng.integers(0, 4))
        if not stacks and rng.random() < 0.1:
            own = [0]
        parts.append(operands.operand(rng, name, own, types[0] != types[-1]))
    name = "stack" if stacks else "cat"
    return Case(
        name,
        parts,
        lambda library, device, *tensors: library.many(name, tensors, given),
        joined_expected(stacks, parts, dim, given, sizes),
        f"along {given}",
    )


def joined_expected(stacks, parts, dim, given, sizes):
    kept = [part for part in parts if stacks or part.sizes != (0,)]
    try:
        dtype = dtypes.result_type([part.type_and_rank for part in parts])
    except dtypes.NoCommonType:
        return Refusal("Promotion for")
    if not kept:
        return Expected(dtype, numpy.zeros([0], dtypes.carrier(dtype)))
    first = kept[0]
    if not stacks and not -first.rank <= given < first.rank:
        return Refusal("Dimension out of range")
    if not stacks and any(part.rank != first.rank for part in kept):
        return Refusal("Tensors must have same number of dimensions")
    join = (lambda arrays: numpy.stack(arrays, dim)) if stacks else (lambda arrays: numpy.concatenate(arrays, given))
    if all(part.dtype == dtype for part in parts):
        return Same(dtype, join([part.raw for part in kept]))
    return Expected(dtype, join([dtypes.convert(dtype, part.values) for part in kept]))


def index_select(rng, library):
    operand = draw(rng, 0, 4)
    dim, given = dim_of(rng, max(operand.rank, 1))
    size = operand.sizes[dim] if operand.rank else 1
    count = int(rng.integers(0, 6)) if size else 0
    count = count if operand.rank else 1
    kind = str(rng.choice(["i32", "i64"]))
    chosen = rng.integers(0, max(size, 1), count)
    step = int(rng.integers(1, 3))
    data = dtypes.encode(kind, numpy.append(numpy.repeat(chosen, step), 0))
    index = operands.Operand(kind, data, [count], [step], 0)
    raw = operand.raw.take(chosen, dim) if operand.rank else operand.raw
    return Case(
        "index_select",
        [operand, index],
        lambda library, device, t, i: t.made("index_select", given, i.handle),
        Same(operand.dtype, raw),
        f"along {given}",
    )


def nonzero(rng, library):
    operand = operands.operand(rng, str(rng.choice(dtypes.COMMON)), operands.shape(rng, 4))
    values = operand.values
    if rng.random() < 0.3 and operand.dtype != "bool":
        operand = operands.operand(rng, "bool", operands.shape(rng, 4))
        values = operand.values
    places = numpy.argwhere(values) if operand.rank else numpy.zeros([int(bool(values)), 0])
    call = lambda library, device, tensor: tensor.made("nonzero")  # noqa: E731
    return Case("nonzero", [operand], call, Expected("i64", places.astype("i8")))


def convertible(rng):
    """An operand and a type to which its numbers may be converted: what does not fit is undefined."""
    source, target = [str(name) for name in rng.choice(dtypes.COMMON, 2)]
    narrows = dtypes.kind_of(source) > 1 and dtypes.kind_of(target) < 2
    return source, target, narrows or target in dtypes.INTEGERS


def to(rng, library):
    source, target, small = convertible(rng)
    operand = operands.operand(rng, source, operands.shape(rng), small)
    expected = Expected(target, dtypes.convert(target, operand.values))

    def call(library, device, tensor):
        return library.made("to", tensor.handle, options(dtypes.NUMBER[target]), False, bool(operand.numel % 2))

    return Case("to", [operand], call, expected, target)


def copy_of(rng, library):
    operand = draw(rng)
    way = rng.integers(4)
    raw = numpy.array(operand.raw)
    if way == 0:

        def call(library, device, tensor):
            copy = tensor.made("clone", PRESERVE)
            return [copy, copy.shares(tensor)]

        return Case("clone", [operand], call, [Same(operand.dtype, raw), Value(False)])
    if way == 1:

        def call(library, device, tensor):
            dense = tensor.made("contiguous", CONTIGUOUS)
            return [dense, dense.get(c_bool, "is_contiguous", CONTIGUOUS)]

        return Case("contiguous", [operand], call, [Same(operand.dtype, raw), Value(True)])
    if way == 2:
        # There and back again, and to the page-locked memory of the host.
        def call(library, device, tensor):
            other = library.made("to", tensor.handle, options(device=-2 if device == 0 else 0), False, False)
            return library.made("to", other.handle, options(device=device), False, False)

        return Case("to.device", [operand], call, Same(operand.dtype, raw))

    def call(library, device, tensor):
        host = library.made("to", tensor.handle, options(device=-2), False, False)
        pinned = host.made("pin_memory")
        back = library.made("to", pinned.handle, options(device=device), False, False)
        return [back, pinned.get(c_bool, "is_pinned")]

    return Case("pin_memory", [operand], call, [Same(operand.dtype, raw), Value(True)])


def written(operand, values):
    """The memory of an operand after values were written to its elements."""
    memory = numpy.array(dtypes.decode(operand.dtype, operand.data))
    operand.view(memory)[...] = values
    return memory


def copy_into(rng, library):
    """copy_: converted, repeated, to any strides; nothing between the elements is written."""
    source, target, small = convertible(rng)
    sizes = operands.shape(rng)
    to = operands.operand(rng, target, sizes, overlapping=False)
    source = operands.operand(rng, source, operands.repeated(rng, sizes), small)
    expected = Expected(target, written(to, dtypes.convert(target, source.values)))

    def call(library, device, tensor, other):
        library.call("copy", tensor.handle, other.handle, False)
        return []

    return Case("copy", [to, source], call, [], changed={0: expected.wrong})


def fill(rng, library):
    dtype = str(rng.choice(dtypes.COMMON))
    operand = operands.operand(rng, dtype, operands.shape(rng), overlapping=False)
    value = operands.number(rng)
    value = abs(value) if dtypes.kind_of(dtype) < 2 and not isinstance(value, bool) else value
    array = numpy.asarray(value)
    expected = Expected(dtype, written(operand, dtypes.convert(dtype, array)))

    def call(library, device, tensor):
        library.call("fill", tensor.handle, scalar(value))
        return []

    return Case("fill", [operand], call, [], f"with {value!r}", changed={0: expected.wrong})
