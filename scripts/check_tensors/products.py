"""Products of matrices, convolutions and Fourier transforms in NumPy."""

import math

import numpy

from . import dtypes, operands
from .compare import Case, Expected, Refusal
from .library import numbers


COMPLEX = ("c64", "c128")


def product_expected(dtype, first, second, own=None, alpha=1.0, beta=1.0):
    exactly = "c16" if dtype in COMPLEX else "f8"
    a, b = [values.astype(exactly) for values in (first.values, second.values)]
    exact, size = alpha * (a @ b), abs(alpha) * (numpy.abs(a) @ numpy.abs(b))
    if own is not None and beta != 0:
        kept = own.values.astype(exactly)
        exact, size = exact + beta * kept, size + abs(beta) * numpy.abs(kept)
    step = 2.0**-52 if dtype in ("f64", "c128") else 2.0**-23
    # A complex product is two real ones, and each part of a number is at most as large as the number.
    sums = (2 if dtype in COMPLEX else 1) * (first.sizes[-1] + 3)
    return Expected(dtype, exact, 1, sums * step * size)


def finite(rng, dtype, sizes):
    while True:
        operand = operands.operand(rng, dtype, sizes)
        if numpy.all(numpy.isfinite(operand.values)):
            return operand


def product(rng, library):
    """matmul of vectors, matrices and batches; bmm; addmm."""
    dtype = str(rng.choice([*dtypes.FLOATS, *COMPLEX]))
    m, n, k = [int(size) for size in rng.choice([0, 1, 2, 3, 5, 8], 3, p=[0.04, 0.16, 0.2, 0.2, 0.2, 0.2])]
    way = rng.integers(3)
    wrong = rng.random() < 0.06
    if way == 0:
        batch = operands.shape(rng, 2, empty=0.05, most=6)
        one = operands.repeated(rng, batch) + [m, k] if rng.random() < 0.8 else [k]
        other = operands.repeated(rng, batch) + [k + wrong, n] if rng.random() < 0.8 else [k + wrong]
        first, second = finite(rng, dtype, one), finite(rng, dtype, other)
        expected = (
            Refusal("cannot be multiplied", "inconsistent tensor size")
            if wrong
            else product_expected(dtype, first, second)
        )
        return Case(
            "matmul",
            [first, second],
            lambda library, device, a, b: library.made("matmul", a.handle, b.handle),
            expected,
        )
    if way == 1:
        count = int(rng.integers(0, 4))
        first, second = finite(rng, dtype, [count, m, k]), finite(rng, dtype, [count, k + wrong, n])
        expected = (
            Refusal("Expected size for first two dimensions") if wrong else product_expected(dtype, first, second)
        )
        return Case(
            "bmm", [first, second], lambda library, device, a, b: library.made("bmm", a.handle, b.handle), expected
        )
    first, second = finite(rng, dtype, [m, k]), finite(rng, dtype, [k + wrong, n])
    own = finite(rng, dtype, operands.repeated(rng, [m, n]))
    beta, alpha = [float(rng.choice([0.0, 1.0, -0.5])) for _ in range(2)]
    expected = Refusal("cannot be multiplied") if wrong else product_expected(dtype, first, second, own, alpha, beta)
    if not wrong:
        expected.values = numpy.broadcast_to(expected.values, (m, n))
    return Case(
        "addmm",
        [own, first, second],
        lambda library, device, c, a, b: library.made("addmm", c.handle, a.handle, b.handle, beta, alpha),
        expected,
        f"beta {beta} alpha {alpha}",
    )


def mixed_product(rng, library):
    """Types that are not multiplied."""
    types = [str(name) for name in rng.choice(dtypes.COMMON, 2)]
    if types[0] == types[1] and types[0] in (*dtypes.FLOATS, *COMPLEX):
        types[1] = "i32"
    first, second = [operands.operand(rng, name, [2, 2], True) for name in types]
    words = ["not implemented for"] if types[0] == types[1] else ["expected m1 and m2 to have the same dtype"]
    return Case(
        "matmul",
        [first, second],
        lambda library, device, a, b: library.made("matmul", a.handle, b.handle),
        Refusal(*words),
    )


def convolved(values, filters, bias, stride, padding, dilation, groups):
    """The plainest way: a loop over all indices of the result."""
    spatial = values.ndim - 2
    padded = numpy.pad(values, [(0, 0), (0, 0)] + [(each, each) for each in padding])
    reach = [dilation[dim] * (filters.shape[2 + dim] - 1) + 1 for dim in range(spatial)]
    sizes = [(padded.shape[2 + dim] - reach[dim]) // stride[dim] + 1 for dim in range(spatial)]
    result = numpy.zeros([values.shape[0], filters.shape[0]] + sizes)
    each = filters.shape[0] // groups
    for index in numpy.ndindex(*sizes):
        place = tuple(
            slice(at * stride[dim], at * stride[dim] + reach[dim], dilation[dim]) for dim, at in enumerate(index)
        )
        for channel in range(filters.shape[0]):
            first = channel // each * filters.shape[1]
            window = padded[(slice(None), slice(first, first + filters.shape[1])) + place]
            total = numpy.sum(window * filters[channel], axis=tuple(range(1, values.ndim)))
            result[(slice(None), channel) + index] = total
    return result if bias is None else result + bias.reshape([-1] + [1] * spatial)


def convolution(rng, library):
    dtype, spatial, groups = str(rng.choice(["f32", "f64"])), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    each, channels = int(rng.integers(1, 3)), int(rng.integers(1, 3)) * groups
    image = [int(size) for size in rng.integers(3, 6, spatial)]
    reach = [int(size) for size in rng.integers(1, 4, spatial)]
    stride, padding = [[int(size) for size in rng.integers(low, low + 2, spatial)] for low in (1, 0)]
    dilation = [1 if size == 3 else int(rng.integers(1, 3)) for size in reach]
    values = finite(rng, dtype, [int(rng.integers(1, 3)), each * groups] + image)
    filters = finite(rng, dtype, [channels, each] + reach)
    bias = finite(rng, dtype, [channels]) if rng.random() < 0.5 else None
    arrays = [operand.values.astype("f8") for operand in (values, filters)]
    extra = None if bias is None else bias.values.astype("f8")
    exact = convolved(*arrays, extra, stride, padding, dilation, groups)
    size = convolved(
        *map(numpy.abs, arrays), None if bias is None else numpy.abs(extra), stride, padding, dilation, groups
    )
    step = 2.0**-52 if dtype == "f64" else 2.0**-23
    expected = Expected(dtype, exact, 1, (each * math.prod(reach) + 3) * step * size)

    def call(library, device, x, weights, *rest):
        steps = [numbers(step) for step in (stride, padding, dilation)]
        return library.made(
            "convolution", x.handle, weights.handle, rest[0].handle if rest else None, *steps, spatial, groups
        )

    return Case(
        "convolution",
        [values, filters] + ([] if bias is None else [bias]),
        call,
        expected,
        f"stride {stride} padding {padding} dilation {dilation} groups {groups}",
    )


def fft(rng, library):
    kinds = library.operations("SCONCE_FFT_")
    kind = str(rng.choice(["c2c", "r2c", "c2r"]))
    inverse = kind == "c2r" or (kind == "c2c" and rng.random() < 0.5)
    dtype = str(rng.choice(["f32", "f64"] if kind == "r2c" else ["c64", "c128"]))
    sizes = [int(size) for size in rng.choice([1, 2, 3, 4, 6], rng.integers(1, 4))]
    dims = [int(dim) for dim in rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]]
    sizes[dims[-1]] = max(sizes[dims[-1]], 2)
    operand = finite(rng, dtype, sizes)
    exact = operand.values.astype("f8" if kind == "r2c" else "c16")
    if kind == "c2r":
        # Frequencies of a real signal: what else there is, libraries may use or not.
        exact = numpy.fft.rfftn(numpy.fft.irfftn(exact, axes=dims), axes=dims)
        operand = operands.Operand(dtype, dtypes.encode(dtype, exact), sizes, numpy_strides(sizes), 0)
        exact = operand.values.astype("c16")
    function = {"r2c": numpy.fft.rfftn, "c2r": numpy.fft.irfftn, "c2c": numpy.fft.ifftn if inverse else numpy.fft.fftn}[
        kind
    ]
    values = function(exact, axes=dims)
    result = {"r2c": {"f32": "c64", "f64": "c128"}, "c2r": {"c64": "f32", "c128": "f64"}}.get(kind, {dtype: dtype})[
        dtype
    ]
    step = 2.0**-52 if dtype in ("f64", "c128") else 2.0**-23
    slack = 16 * step * (numpy.sum(numpy.abs(exact)) + 1)

    def call(library, device, tensor):
        direction = kinds["inverse"] if inverse else kinds["forward"]
        norm = kinds["norm_by_n"] if inverse else kinds["norm_none"]
        return library.made("fft", tensor.handle, kinds[kind], direction, norm, numbers(dims), len(dims), -1)

    return Case(
        f"fft.{kind}",
        [operand],
        call,
        Expected(result, values, 2, slack),
        f"{dims} inverse {inverse}",
    )


def numpy_strides(sizes):
    return [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
