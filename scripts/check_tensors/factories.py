"""New tensors, in-place and random fills, and what a tensor says of itself."""

import ctypes
from ctypes import c_bool, c_size_t, c_void_p

import numpy

from . import dtypes, elementwise, operands
from .compare import Case, Expected, Refusal, Same, Value
from .library import CPU, DEFAULT, Stream, numbers, options, scalar

NOTHING = []


def asked_type(rng, default, types=dtypes.COMMON):
    """A type that is named, and its number; or the default."""
    if rng.random() < 0.3:
        return default, DEFAULT
    name = str(rng.choice(types))
    return name, dtypes.NUMBER[name]


def full(rng, library):
    value = operands.number(rng, (bool, int, float, complex))
    value = abs(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    types = dtypes.COMPLEX if isinstance(value, complex) else dtypes.COMMON
    sizes = operands.shape(rng)
    if rng.random() < 0.5:
        name, asked = asked_type(rng, dtypes.number_type(value), types)
        values = numpy.broadcast_to(dtypes.convert(name, numpy.asarray(value)), sizes)
        return Case(
            "full",
            NOTHING,
            lambda library, device: library.made(
                "full", numbers(sizes), len(sizes), scalar(value), options(asked, device)
            ),
            Expected(name, values),
            f"{value!r}",
        )
    like = operands.operand(rng, str(rng.choice(types)), sizes)
    name, asked = asked_type(rng, like.dtype, types)
    values = numpy.broadcast_to(dtypes.convert(name, numpy.asarray(value)), sizes)
    return Case(
        "full_like",
        [like],
        lambda library, device, t: library.made("full_like", t.handle, scalar(value), options(asked)),
        Expected(name, values),
        f"{value!r}",
    )


def of_one_value(rng, library):
    """Zeros and ones."""
    function, value = ("zeros", 0) if rng.random() < 0.5 else ("ones", 1)
    sizes = operands.shape(rng)
    name, asked = asked_type(rng, "f32", dtypes.COMMON)
    return Case(
        function,
        NOTHING,
        lambda library, device: library.made(function, numbers(sizes), len(sizes), options(asked, device)),
        Expected(name, numpy.broadcast_to(dtypes.convert(name, numpy.asarray(value)), sizes)),
    )


def arange(rng, library):
    kinds = (int,) if rng.random() < 0.5 else (int, float)
    start, end = [operands.number(rng, kinds) for _ in range(2)]
    step = operands.number(rng, kinds) or 1
    step = abs(step) if end > start else -abs(step) if end < start else step
    if rng.random() < 0.1 and start != end:
        step = -step
        return Case(
            "arange",
            NOTHING,
            lambda library, device: library.made(
                "arange", scalar(start), scalar(end), scalar(step), options(DEFAULT, device)
            ),
            Refusal("upper bound and lower bound inconsistent with step sign"),
            f"{start} {end} {step}",
        )
    whole = all(isinstance(number, int) for number in (start, end, step))
    name, asked = asked_type(
        rng, "i64" if whole else "f32", ["i32", "i64", "f32", "f64", "f16"] if whole else ["f32", "f64"]
    )
    values = numpy.arange(start, end, step, "i8" if whole else "f8")
    return Case(
        "arange",
        NOTHING,
        lambda library, device: library.made(
            "arange", scalar(start), scalar(end), scalar(step), options(asked, device)
        ),
        Expected(name, values.astype(dtypes.carrier(name)), 2),
        f"{start} {end} {step}",
    )


def linspace(rng, library):
    start, end, steps = operands.number(rng, (float,)), operands.number(rng, (float,)), int(rng.integers(0, 9))
    name, asked = asked_type(rng, "f32", dtypes.FLOATS)
    values = numpy.linspace(start, end, steps)
    # torch rounds the distance of two numbers to the type, and multiplies it.
    slack = 3 * dtypes.unit(name, numpy.asarray(max(abs(start), abs(end))))
    return Case(
        "linspace",
        NOTHING,
        lambda library, device: library.made("linspace", scalar(start), scalar(end), steps, options(asked, device)),
        Expected(name, values, 1, slack),
        f"{start} {end} {steps}",
    )


def eye(rng, library):
    rows, columns = [int(size) for size in rng.integers(0, 6, 2)]
    name, asked = asked_type(rng, "f32")
    return Case(
        "eye",
        NOTHING,
        lambda library, device: library.made("eye", rows, columns, options(asked, device)),
        Expected(name, numpy.eye(rows, columns).astype(dtypes.carrier(name))),
    )


def empty(rng, library):
    """Sizes and strides; the values are any."""
    sizes = operands.shape(rng)
    strides = operands.strides_for(rng, sizes, overlapping=False)
    name, asked = asked_type(rng, "f32", dtypes.NAMES)
    like = operands.operand(rng, str(rng.choice(dtypes.COMMON)), sizes)

    def call(library, device, tensor):
        plain = library.made("empty", numbers(sizes), len(sizes), options(asked, device))
        chosen = library.made("empty_strided", numbers(sizes), numbers(strides), len(sizes), options(asked, device))
        similar = library.made("empty_like", tensor.handle, None)
        zeros = [1] * len(sizes)
        for dim in range(len(sizes) - 2, -1, -1):
            zeros[dim] = zeros[dim + 1] * max(sizes[dim + 1], 1)
        storage, size = c_void_p(), c_size_t()
        library.call("get_storage", plain.handle, ctypes.byref(storage), ctypes.byref(size))
        return [
            plain.sizes == tuple(sizes),
            plain.strides == tuple(zeros),
            chosen.strides == tuple(strides),
            plain.dtype == chosen.dtype == dtypes.NUMBER[name],
            similar.dtype == dtypes.NUMBER[like.dtype],
            similar.sizes == tuple(sizes),
            (plain.device, similar.device) == (device, device),
            size.value == int(numpy.prod(sizes, dtype=int)) * dtypes.BYTES[name],
            plain.offset == 0,
            plain.get(c_size_t, "get_rank") == len(sizes),
            (plain.get(c_void_p, "get_data") or 0) == (storage.value or 0),
        ]

    return Case("empty", [like], call, [Value(True)] * 11, f"{name} {sizes} {strides}")


def from_memory(rng, library):
    """A tensor over memory of others, at any strides."""
    operand = operands.operand(rng, str(rng.choice(dtypes.NAMES[:-1])), operands.shape(rng, 3))
    element = dtypes.BYTES[operand.dtype]

    def call(library, device, tensor):
        address = tensor.get(c_void_p, "get_data") or 0
        count = len(operand.data) // element - operand.offset
        return library.made(
            "from_memory",
            address,
            count * element,
            numbers(operand.sizes),
            numbers(operand.strides),
            operand.rank,
            dtypes.NUMBER[operand.dtype],
            device,
            None,
            None,
        )

    return Case("from_memory", [operand], call, Same(operand.dtype, operand.raw, strides=operand.strides))


def from_blob(rng, library):
    """A tensor over memory of others, whose end follows from its strides, and its device from the address."""
    operand = operands.operand(rng, str(rng.choice(dtypes.NAMES[:-1])), operands.shape(rng, 3))
    named = rng.random() < 0.5 or not operand.raw.size

    def call(library, device, tensor):
        return library.made(
            "from_blob",
            tensor.get(c_void_p, "get_data") or 0,
            numbers(operand.sizes),
            numbers(operand.strides),
            operand.rank,
            options(dtypes.NUMBER[operand.dtype], device if named else -1),
            None,
            None,
        )

    return Case("from_blob", [operand], call, Same(operand.dtype, operand.raw, strides=operand.strides))


def into(rng, library):
    """In place, or with the result written to a tensor of the caller's choice."""
    sizes = operands.shape(rng, 4)
    target = operands.operand(rng, str(rng.choice(dtypes.COMMON)), sizes, overlapping=False)
    first = (
        target
        if rng.random() < 0.5
        else operands.operand(rng, str(rng.choice(dtypes.COMMON)), operands.repeated(rng, sizes))
    )
    second = operands.operand(rng, str(rng.choice(dtypes.COMMON)), operands.repeated(rng, sizes))
    names = library.operations("SCONCE_BINARY_")
    operation = str(rng.choice(["add", "sub", "mul", "minimum", "maximum", "eq", "lt", "logical_and", "div"]))
    pair = [first, second]
    if not all(elementwise.calm(rng, operation, operand) for operand in pair) or elementwise.overflows(pair):
        return into(rng, library)
    with numpy.errstate(all="ignore"):
        expected = elementwise.expected_of_pair(operation, pair, None)
        # Only an output that is an operand keeps its shape; `outputs` draws others.
        if first is not target and not isinstance(expected, Refusal) and expected.sizes != target.sizes:
            return into(rng, library)
        changed, expected = into_expected(target, expected, first, second)

    def call(library, device, output, *made):
        one = output if first is target else made[0]
        library.call("binary", names[operation], one.handle, None, made[-1].handle, None, None, output.handle, None)
        return []

    given = [target] + ([] if first is target else [first]) + [second]
    return Case(
        f"into.{operation}", given, call, expected, "in place" if first is target else "into", changed={0: changed}
    )


def into_expected(target, expected, first, second):
    """What the memory of the output is afterwards, or why it is refused."""
    if isinstance(expected, Refusal):
        return target.data, expected
    if expected.sizes != target.sizes:
        return target.data, Refusal("doesn't match the broadcast shape")
    if dtypes.kind_of(expected.dtype) > dtypes.kind_of(target.dtype) and (
        dtypes.kind_of(target.dtype) == 0 or dtypes.kind_of(expected.dtype) > 1
    ):
        return target.data, Refusal("can't be cast to the desired output type")
    rounded = expected.values
    if dtypes.kind_of(expected.dtype) > 1:
        rounded = dtypes.round_to(expected.dtype, expected.values)
    memory = numpy.array(dtypes.decode(target.dtype, target.data))
    slack = numpy.zeros(memory.shape)
    target.view(memory)[...] = dtypes.convert(target.dtype, rounded)
    if dtypes.kind_of(target.dtype) > 1:
        # A result of fewer bits than the output's was rounded before.
        narrow = expected.dtype if dtypes.kind_of(expected.dtype) > 1 else target.dtype
        target.view(slack)[...] = expected.slack + (expected.units > 0.5) * 2 * dtypes.unit(narrow, expected.values)
        if narrow != target.dtype and expected.units:
            target.view(slack)[...] += dtypes.unit(narrow, expected.values)
    found = Expected(target.dtype, memory, 1 if narrows(target, expected) else 0.5, slack)
    return found.wrong, []


def narrows(target, expected):
    return dtypes.kind_of(expected.dtype) > 1 and dtypes.kind_of(target.dtype) > 1 and target.dtype != expected.dtype


def unary_into(rng, library):
    target = operands.operand(rng, str(rng.choice(dtypes.FLOATS)), operands.shape(rng, 4), overlapping=False)
    names = library.operations("SCONCE_UNARY_")
    operation = str(rng.choice(["neg", "abs", "floor", "relu", "sign"]))
    with numpy.errstate(all="ignore"):
        expected = elementwise.unary_expected(operation, target.dtype, target.values)
        changed, expected = into_expected(target, expected, target, target)

    def call(library, device, tensor):
        library.call("unary", names[operation], tensor.handle, tensor.handle, None)
        return []

    return Case(f"into.{operation}", [target], call, expected, changed={0: changed})


# What each fill draws: its parameters, and whether numbers may be so.
FILLS = {
    "uniform": ([-1.0, 3.0], lambda x: (x >= -1) & (x <= 3)),
    "normal": ([2.0, 0.5], lambda x: numpy.abs(x - 2) < 5),
    "log_normal": ([0.0, 0.25], lambda x: x > 0),
    "exponential": ([2.0], lambda x: x >= 0),
    "cauchy": ([0.0, 1.0], lambda x: x == x),
    "geometric": ([0.3], lambda x: (x >= 1) & (x == numpy.floor(x))),
    "bernoulli": ([0.4], lambda x: (x == 0) | (x == 1)),
    "random_integers": ([2, 9], lambda x: (x >= 2) & (x < 9)),
    "random": ([], lambda x: x >= 0),
}


def random_fill(rng, library):
    """Numbers of the right range, none of them twice the same array, and nothing between the elements is written."""
    name = str(rng.choice(list(FILLS)))
    parameters, fits = FILLS[name]
    sizes = operands.shape(rng, 4, most=200)
    operand = operands.operand(rng, str(rng.choice(["f32", "f64", "f16", "bf16"])), sizes, overlapping=False)
    mask = numpy.zeros(len(operand.data) // dtypes.BYTES[operand.dtype], bool)
    operand.view(mask)[...] = True

    def call(library, device, tensor):
        library.call(name, tensor.handle, *parameters, None)
        first = tensor.bytes(dtypes.BYTES[operand.dtype])
        library.call(name, tensor.handle, *parameters, None)
        return [first != tensor.bytes(dtypes.BYTES[operand.dtype]) or operand.numel < 40]

    def memory_is_right(memory):
        element = dtypes.BYTES[operand.dtype]
        ours = memory.bytes(element)
        before, after = [numpy.frombuffer(data, f"V{element}") for data in (operand.data, ours)]
        if before[~mask].tobytes() != after[~mask].tobytes():
            return "something between the elements was written"
        drawn = dtypes.decode(operand.dtype, ours)[mask].astype("f8")
        return None if numpy.all(fits(drawn)) else f"numbers out of range: {drawn[~fits(drawn)][:4]}"

    return Case(f"random.{name}", [operand], call, [Value(True)], changed={0: memory_is_right})


def randperm(rng, library):
    n = int(rng.integers(0, 300))

    def call(library, device):
        permuted = library.made("randperm", n, None, options(DEFAULT, device))
        return sorted(numpy.frombuffer(permuted.bytes(8), "i8")) == list(range(n))

    return Case("randperm", NOTHING, call, Value(True), f"{n}")


def resize(rng, library):
    """Other sizes: elements stay where they are in memory."""
    operand = operands.operand(rng, str(rng.choice(dtypes.NAMES[:-1])), operands.shape(rng))
    sizes = operands.shape(rng, 4, most=60)
    element, numel = dtypes.BYTES[operand.dtype], int(numpy.prod(sizes, dtype=int))
    kept = operand.data[operand.offset * element :][: numel * element]
    stays = len(kept) == numel * element

    def call(library, device, tensor):
        view = tensor.as_strided(operand.sizes, operand.strides, operand.offset)
        library.call("resize", view.handle, numbers(sizes), len(sizes))
        if tuple(sizes) == operand.sizes:
            return [view.strides == operand.strides, view.bytes(element) == operand.raw.tobytes(), True]
        return [view.sizes == tuple(sizes), view.bytes(element)[: len(kept)] == kept, view.shares(tensor) == stays]

    return Case("resize", [operand], call, [Value(True)] * 3, f"{sizes}")


def about(rng, library):
    """What a tensor says of itself, and handles that are owned twice or hold another tensor."""
    operand = operands.operand(rng, str(rng.choice(dtypes.COMMON)), operands.shape(rng))
    other = operands.operand(rng, "f32", [1])

    def call(library, device, tensor, second):
        library.call("retain", tensor.handle)
        library.call("release", tensor.handle)
        holder = library.made("undefined")
        before = holder.get(c_bool, "is_defined")
        library.call("assign", holder.handle, tensor.handle)
        text = library.text(holder)
        if device != CPU:
            library.call("record_stream", holder.handle, Stream(0, device, 0))
        ours = [
            before,
            holder.get(c_bool, "is_defined"),
            text.startswith("tensor("),
            ("device='cuda:0'" in text) == (device == 0),
            holder.get(c_bool, "is_read_only"),
            tensor.strides == operand.strides,
            tensor.offset == operand.offset,
            holder.shares(tensor),
            holder.shares(second),
            holder.get(c_bool, "is_pinned"),
        ]
        value = dtypes.decode("f32", other.data)[other.offset]
        return ours + [bool(second.item() == value or numpy.isnan(value))]

    expected = [False, True, True, True, False, True, True, True, False, False, True]
    return Case("about", [operand, other], call, [Value(value) for value in expected])


def item(rng, library):
    operand = operands.operand(rng, str(rng.choice(dtypes.COMMON)), [1] * int(rng.integers(0, 4)))
    value = operand.values.reshape(1)[0].item()
    if operand.dtype == "u64" and value >= 1 << 63:
        value -= 1 << 64
    return Case("item", [operand], lambda library, device, tensor: tensor.item(), Value(value))
