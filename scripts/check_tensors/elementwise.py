"""Element-wise operations in NumPy, by torch's rules."""

import math

import numpy

from . import dtypes, operands
from .compare import Case, Expected, Refusal
from .library import scalar

FLOAT_ONLY = {"gelu", "gelu_tanh", "silu"}
REAL_FUNCTIONS = {"exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid", "erf"}
ROUNDINGS = {"floor": numpy.floor, "ceil": numpy.ceil, "round": numpy.rint, "trunc": numpy.trunc}
erf = numpy.vectorize(math.erf, otypes=["f8"])


def gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


FUNCTIONS = {
    "exp": numpy.exp,
    "log": numpy.log,
    "sqrt": numpy.sqrt,
    "sin": numpy.sin,
    "cos": numpy.cos,
    "tanh": numpy.tanh,
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "erf": erf,
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "gelu_tanh": gelu_tanh,
    "silu": lambda x: x / (1 + numpy.exp(-x)),
}


def wide(name, values):
    """More precision than a type has."""
    double = "c16" if name in dtypes.COMPLEX else "f8"
    return values.astype({"f64": numpy.longdouble, "c128": numpy.clongdouble}.get(name, double))


def computed(name, values):
    """The type in which elements of a type are calculated."""
    return values.astype({"f16": "f4", "bf16": "f4", "c32": "c8"}.get(name, dtypes.carrier(name)))


def is_tensor(operand):
    return isinstance(operand, operands.Operand)


def passed(given, made):
    """The arguments of operands that are tensors, numbers or missing."""
    made, arguments = list(made), []
    for operand in given:
        arguments += [made.pop(0).handle, None] if is_tensor(operand) else [None, scalar(operand)]
    return arguments


def described(given):
    return str(["tensor" if is_tensor(operand) else operand for operand in given])


def common_type(given):
    return dtypes.result_type([operand.type_and_rank if is_tensor(operand) else operand for operand in given])


def unary_expected(operation, dtype, values):
    """What torch returns for an operation of one operand."""
    integral, is_complex = dtypes.is_integral(dtype), dtype in dtypes.COMPLEX
    if operation == "neg":
        return Refusal("on a bool tensor is not supported") if dtype == "bool" else Expected(dtype, -values)
    if operation == "abs":
        if is_complex:
            return Expected(dtypes.REAL_OF[dtype], numpy.abs(wide(dtype, values)), 2)
        return Expected(dtype, numpy.abs(values))
    if operation == "sign":
        if is_complex:
            return Refusal("sign doesn't allow complex tensors")
        sign = numpy.sign(values.astype("i1")).astype("?") if dtype == "bool" else numpy.sign(values)
        return Expected(dtype, numpy.where(numpy.isnan(values), 0, sign).astype(sign.dtype))
    if operation == "relu":
        if dtype == "bool" or is_complex:
            return Refusal("relu")
        return Expected(dtype, numpy.maximum(values, numpy.zeros_like(values)))
    if operation in ROUNDINGS:
        if is_complex or dtype == "bool":
            return Refusal(f'"{operation}" not implemented for')
        return Expected(dtype, values if integral else ROUNDINGS[operation](values))
    if operation == "logical_not":
        return Expected("bool", values == 0)
    if operation == "bitwise_not":
        return Expected(dtype, ~values) if integral else Refusal('"bitwise_not" not implemented for')
    if operation in ("is_nan", "is_finite"):
        return Expected("bool", {"is_nan": numpy.isnan, "is_finite": numpy.isfinite}[operation](values))
    if operation in FLOAT_ONLY and (integral or is_complex and operation != "silu"):
        return Refusal(f'"{operation[:4]}" not implemented for')
    if operation == "erf" and is_complex:
        return Refusal('"erf" not implemented for')
    assert operation in FUNCTIONS, f"no oracle for SCONCE_UNARY_{operation.upper()}"
    result = "f32" if integral else dtype
    exact = wide(result, dtypes.convert(result, values))
    values = FUNCTIONS[operation](exact)
    slack = 0.0
    if is_complex:
        slack = 8 * dtypes.unit(result, numpy.abs(values)) + 4 * dtypes.unit(result, numpy.abs(exact))
        if operation == "tanh":
            # Near a pole, what the argument is rounded by counts as much as the derivative is large.
            slack = slack + 4 * dtypes.unit(result, numpy.abs(exact)) * numpy.abs(1 - values**2)
    elif operation in FLOAT_ONLY or (operation in ("sin", "cos") and result == "f64"):
        slack = 4 * dtypes.unit(result, numpy.maximum(numpy.abs(exact), 1))
    elif operation == "erf" and result == "f64":
        slack = 4 * dtypes.unit(result, values)
    elif operation == "sigmoid":
        # The exponential of a number below -88 is infinite.
        slack = numpy.finfo("f4").tiny if result != "f64" else 0.0
    return Expected(result, values, 4 if result in ("f32", "f64") else 1, slack)


def finite_complex(operand):
    """Whether NumPy and torch need not agree on infinities and zeros of complex functions."""
    values = operand.values
    return operand.dtype in dtypes.COMPLEX and not (numpy.all(numpy.isfinite(values)) and numpy.all(values != 0))


def unary(rng, library):
    names = library.operations("SCONCE_UNARY_")
    operation = str(rng.choice(list(names)))
    dtype = str(rng.choice(dtypes.COMMON))
    operand = operands.operand(rng, dtype, operands.shape(rng), dtype in dtypes.COMPLEX and rng.random() < 0.2)
    while finite_complex(operand) and operation in REAL_FUNCTIONS | {"silu"}:
        operand = operands.operand(rng, dtype, operands.shape(rng))
    with numpy.errstate(all="ignore"):
        expected = unary_expected(operation, dtype, operand.values)

    def call(library, device, tensor):
        return library.made("unary", names[operation], tensor.handle, None)

    return Case(f"unary.{operation}", [operand], call, expected)


def wrapping_power(base, exponent, name):
    bits, wrapped = dtypes.BYTES[name] * 8, 0
    if exponent >= 0:
        wrapped = pow(int(base), int(exponent), 1 << bits)
    elif abs(int(base)) == 1:
        return 1 if int(exponent) % 2 == 0 else int(base)
    signed = name in dtypes.SIGNED and wrapped >> (bits - 1)
    return wrapped - (1 << bits) if signed else wrapped


def quotient(operation, name, a, b):
    """Integer divisions; by 0 the quotient is -1 and the remainder the dividend on a device, the CPU refuses it."""
    by_zero, by_minus_one = b == 0, (b == -1) & (name in dtypes.SIGNED)
    divisor = numpy.where(by_zero | by_minus_one, 1, b).astype(b.dtype)
    floor = numpy.where(by_minus_one, -a, a // divisor)
    rest = numpy.where(by_minus_one, 0, a - (a // divisor) * divisor)
    if operation == "remainder":
        return numpy.where(by_zero, a, rest).astype(a.dtype)
    if operation == "trunc_divide":
        floor = floor + ((rest != 0) & ((a < 0) != (b < 0)))
    return numpy.where(by_zero, numpy.array(-1).astype(a.dtype), floor).astype(a.dtype)


COMPARISONS = {
    "eq": numpy.equal,
    "ne": numpy.not_equal,
    "lt": numpy.less,
    "le": numpy.less_equal,
    "gt": numpy.greater,
    "ge": numpy.greater_equal,
}
LOGICAL = {"logical_and": numpy.logical_and, "logical_or": numpy.logical_or, "logical_xor": numpy.logical_xor}
BITWISE = {"bitwise_and": numpy.bitwise_and, "bitwise_or": numpy.bitwise_or, "bitwise_xor": numpy.bitwise_xor}


def sum_expected(operation, common, a, b, alpha):
    if common == "bool":
        return Expected(common, a | (b & bool(alpha)))
    factor = numpy.asarray(alpha).astype(a.dtype)
    term = b if alpha == 1 else factor * b
    slack = 0.0
    if dtypes.kind_of(common) > 1 and alpha != 1:
        slack = 2 * dtypes.unit(common if a.dtype != numpy.dtype("f4") else "f32", numpy.abs(term))
        slack = slack + (dtypes.unit(common, numpy.abs(a) + numpy.abs(term)) if common != "f32" else 0)
    return Expected(common, a + term if operation == "add" else a - term, 0.5, slack)


def binary_expected(operation, common, a, b, alpha, by_number):
    """What torch returns for operands of their common type; numbers are not rounded to it before."""
    integral, is_complex = dtypes.is_integral(common), common in dtypes.COMPLEX
    if operation in COMPARISONS:
        if is_complex and operation not in ("eq", "ne"):
            return Refusal(f'"{operation}" not implemented for')
        return Expected("bool", COMPARISONS[operation](a, b))
    if operation in LOGICAL:
        return Expected("bool", LOGICAL[operation](a != 0, b != 0))
    if operation in BITWISE:
        return Expected(common, BITWISE[operation](a, b)) if integral else Refusal(f'"{operation}" not implemented for')
    if operation in ("add", "sub"):
        return sum_expected(operation, common, a, b, alpha)
    if operation == "mul":
        slack = 4 * dtypes.unit(common, numpy.abs(a) * numpy.abs(b)) if is_complex else 0.0
        return Expected(common, a & b if common == "bool" else a * b, 0.5, slack)
    if operation == "div":
        result = "f32" if integral else common
        a, b = [computed(result, numpy.asarray(value)) for value in (a, b)]
        return Expected(result, a / b, 8 if is_complex else 2 if by_number else 0.5)
    if operation in ("minimum", "maximum"):
        if is_complex:
            return Refusal(f'"{operation}" not implemented for')
        return Expected(common, {"minimum": numpy.minimum, "maximum": numpy.maximum}[operation](a, b))
    if operation == "pow" and common == "bool" and by_number:
        return Expected("bool", a | ~b)
    if common == "bool" or (is_complex and operation != "pow"):
        return Refusal("not implemented for", "not supported")
    if operation == "pow":
        if integral:
            return Expected(common, numpy.vectorize(lambda x, y: wrapping_power(x, y, common), otypes=[a.dtype])(a, b))
        exact = wide(common, a) ** wide(common, b)
        return Expected(common, exact, 32 if is_complex else 4 if common in ("f32", "f64") else 1)
    if integral:
        return Expected(common, quotient(operation, common, a, b))
    if operation == "trunc_divide":
        # A quotient of a narrow type is rounded to it first.
        return Expected(common, numpy.trunc(dtypes.round_to(common, a / b)))
    whole, rest = numpy.floor_divide(a, b), numpy.remainder(a, b)
    assert operation in ("floor_divide", "remainder"), f"no oracle for SCONCE_BINARY_{operation.upper()}"
    return Expected(common, whole if operation == "floor_divide" else rest)


def drawn_values(operand, common):
    """An operand's values in the common type, ready to be calculated with."""
    if is_tensor(operand):
        return computed(common, dtypes.convert(common, operand.values))
    with numpy.errstate(all="ignore"):
        return computed(common, numpy.asarray(operand))


NO_COMMON_TYPE = Refusal("Promotion for uint16, uint32, uint64 types is not supported")


def refused_before(operation, pair, common, alpha):
    """What is refused whatever the values are."""
    types = [operand.dtype if is_tensor(operand) else dtypes.number_type(operand) for operand in pair]
    if operation == "sub" and "bool" in types:
        return Refusal("Subtraction, the `-` operator")
    if operation in ("add", "sub"):
        if isinstance(alpha, bool) and common != "bool":
            return Refusal("Boolean alpha only supported for Boolean results.")
        if isinstance(alpha, float) and dtypes.is_integral(common):
            return Refusal("argument alpha must not be a floating point number.")
    is_negative = isinstance(pair[1], int) and not isinstance(pair[1], bool) and pair[1] < 0
    if operation == "pow" and is_negative and common in dtypes.INTEGERS:
        return Refusal("Integers to negative integer powers are not allowed.")
    return None


def calm(rng, operation, operand):
    """Whether NumPy and torch agree on an operand: no huge powers, no infinities in complex numbers."""
    if not is_tensor(operand):
        return True
    values = operand.values
    if operand.dtype in dtypes.COMPLEX:
        return bool(numpy.all(numpy.isfinite(values)) and (operation not in ("div", "pow") or numpy.all(values != 0)))
    return operation != "pow" or bool(numpy.all(numpy.abs(values.astype("f8")) < 20))


def overflows(pair):
    """Whether numbers become infinite as complex ones, whose product with 1 then is no number for some libraries."""
    try:
        common = common_type(pair)
    except dtypes.NoCommonType:
        return False
    return common in dtypes.COMPLEX and not all(numpy.all(numpy.isfinite(drawn_values(each, common))) for each in pair)


def draw_pair(rng, operation):
    sizes = operands.shape(rng, 4)
    while True:
        types = [str(name) for name in rng.choice(dtypes.COMMON, 2)]
        if rng.random() < 0.4:
            types[1] = types[0]
        pair = [operands.operand(rng, name, operands.repeated(rng, sizes), operation == "pow") for name in types]
        if rng.random() < 0.25:
            kinds = (bool, int, float, complex) if types[0] in dtypes.COMPLEX else (bool, int, float)
            pair[int(rng.random() < 0.7)] = operands.number(rng, kinds)
        if all(calm(rng, operation, operand) for operand in pair) and not overflows(pair):
            return pair


def binary(rng, library):
    names = library.operations("SCONCE_BINARY_")
    operation = str(rng.choice(list(names)))
    pair = draw_pair(rng, operation)
    alpha = None
    if operation in ("add", "sub") and rng.random() < 0.3:
        alpha = operands.number(rng)
    tensors = [operand for operand in pair if is_tensor(operand)]
    with numpy.errstate(all="ignore"):
        expected = expected_of_pair(operation, pair, alpha)

    def call(library, device, *made):
        return library.made("binary", names[operation], *passed(pair, made), scalar(alpha), None)

    note, on_cpu = f"{described(pair)} alpha {alpha!r}", refused_zero(operation, pair, expected)
    return Case(f"binary.{operation}", tensors, call, expected, note, refused_on_cpu=on_cpu)


def refused_zero(operation, pair, expected):
    """What the CPU says to divisions of whole numbers by 0."""
    is_quotient = operation in ("floor_divide", "trunc_divide", "remainder") and isinstance(expected, Expected)
    if not is_quotient or not dtypes.is_integral(expected.dtype) or expected.values.size == 0:
        return None
    divisor = drawn_values(pair[1], expected.dtype)
    return Refusal("ZeroDivisionError") if numpy.any(divisor == 0) else None


def expected_of_pair(operation, pair, alpha):
    try:
        common = common_type(pair)
    except dtypes.NoCommonType:
        return NO_COMMON_TYPE
    refused = refused_before(operation, pair, common, alpha)
    if refused:
        return refused
    # Quotients of whole numbers are calculated as real ones, which numbers of all types become at once.
    computed_in = "f32" if operation == "div" and dtypes.is_integral(common) else common
    a, b = [drawn_values(operand, computed_in) for operand in pair]
    return binary_expected(operation, common, a, b, 1 if alpha is None else alpha, not is_tensor(pair[1]))


def clamp(rng, library):
    dtype = str(rng.choice(dtypes.COMMON))
    sizes = operands.shape(rng, 4)
    own = operands.operand(rng, dtype, sizes)
    bounds = []
    for _ in range(2):
        way = rng.random()
        bounds.append(
            None
            if way < 0.25
            else operands.number(rng) if way < 0.6 else operands.operand(rng, dtype, operands.repeated(rng, sizes))
        )
    given = [own] + [bound for bound in bounds if bound is not None]
    with numpy.errstate(all="ignore"):
        expected = clamp_expected(own, bounds, given)

    def call(library, device, tensor, *made):
        return library.made("clamp", tensor.handle, *passed(bounds, made))

    tensors = [own] + [bound for bound in bounds if is_tensor(bound)]
    return Case("clamp", tensors, call, expected, f"to {described(bounds)}")


def clamp_expected(own, bounds, given):
    dtype = common_type(given)
    if dtype in dtypes.COMPLEX:
        return Refusal("clamp is not supported for complex types")
    if dtype == "bool":
        return Refusal('"clamp" not implemented for')
    if bounds == [None, None]:
        return Refusal("At least one of 'min' and 'max' must be given")
    values = drawn_values(own, dtype)
    for bound, move in zip(bounds, (numpy.maximum, numpy.minimum)):
        if bound is not None:
            values = move(values, drawn_values(bound, dtype))
    return Expected(dtype, values)


def where(rng, library):
    sizes = operands.shape(rng, 4)
    condition = operands.operand(rng, str(rng.choice(["bool", "bool", "u8"])), operands.repeated(rng, sizes))
    types = [str(name) for name in rng.choice(dtypes.COMMON, 2)]
    pair = [operands.operand(rng, name, operands.repeated(rng, sizes)) for name in types]
    if rng.random() < 0.4:
        pair[rng.integers(2)] = operands.number(rng)
    try:
        dtype = common_type(pair)
        a, b = [dtypes.round_to(dtype, drawn_values(operand, dtype)) for operand in pair]
        expected = Expected(dtype, numpy.where(condition.values != 0, a, b))
    except dtypes.NoCommonType:
        expected = NO_COMMON_TYPE

    def call(library, device, chosen, *made):
        return library.made("where", chosen.handle, *passed(pair, made))

    tensors = [condition] + [operand for operand in pair if is_tensor(operand)]
    return Case("where", tensors, call, expected, described(pair))
