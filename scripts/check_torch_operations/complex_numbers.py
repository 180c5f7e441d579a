"""Operations that models call by name for tensors of complex numbers."""

import random

import torch

from .by_name import aten, compare, complex_values
from .operands import FLOATS, REALS, indices, shape, values

FUNCTIONS = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "expm1", "log10", "log1p", "log2", "sinh", "tan"]
REAL_AND_COMPLEX = REALS + [torch.bool, torch.complex64, torch.complex128, torch.complex64, torch.complex128]


def any_values(sizes, device, types=REAL_AND_COMPLEX):
    dtype = random.choice(types)
    return complex_values(sizes, device) if dtype.is_complex else values(sizes, dtype, device, small=True)


def laid_out(tensor):
    """The same numbers with dimensions in another order in memory."""
    order = random.sample(range(tensor.dim()), tensor.dim())
    return tensor.permute(order).contiguous().permute([order.index(at) for at in range(tensor.dim())])


def check_functions(check, device):
    given = any_values(shape(random.randint(0, 3), 6), device)
    if given.dim():
        given = laid_out(given)
    near = {torch.float16: 4e-3, torch.bfloat16: 4e-2}.get(given.dtype, 1e-10 if given.dtype == torch.complex128 else 2e-5)
    for name in FUNCTIONS:
        compare(check, name, [given], near)
    compare(check, "exp2", [given], near)
    holes = given.clone()
    if given.dtype in FLOATS or given.is_complex():
        holes[torch.rand(holes.shape, device=device) < 0.3] = random.choice([float("inf"), float("-inf"), float("nan")])
    compare(check, "isinf", [holes], 0)
    if given.is_complex():
        compare(check, "angle", [given], near)


def check_signs(check, device):
    """Both sides of the cuts, and the signs of zeros. On CUDA PyTorch has another library's signs."""
    ends = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0]
    dtype = random.choice([torch.float32, torch.float64])
    parts = torch.tensor([(re, im) for re in ends for im in ends], dtype=dtype, device=device)
    given = torch.view_as_complex(parts)
    for name in FUNCTIONS:
        if device == "cuda" or (check.wanted and not any(word in name for word in check.wanted)):
            continue
        compare(check, name, [given], 2e-6)
        expected = torch.view_as_real(getattr(torch, name)(given))
        found = torch.view_as_real(check.library.call_by_name(name, [given], 1, device)[0])
        both = (expected == 0) & (found == 0)
        if name == "acos" and dtype == torch.float64:
            # PyTorch 2.11 has C's signs in complex64 alone.
            continue
        check.same(name, device, ["signs"], [("signs", found[both].signbit().float(), expected[both].signbit().float())], 0)


def check_products(check, device):
    """Of complex numbers, and the two that by name alone have other types, too."""
    batch, rows, inner, columns = shape(4, random.choice([4, 40]), 0 if random.random() < 0.1 else 1)
    dtype = random.choice([torch.complex64, torch.complex128])
    one = lambda sizes: laid_out(torch.randn(sizes, dtype=dtype, device=device))
    near = 1e-4 if dtype == torch.complex64 else 1e-11
    first, second = one([rows, inner]), one([inner, columns])
    compare(check, "mm", [first, second], near)
    numbers = [random.choice([0, 1, 0.5]), random.choice([1, 2])]
    added = one(random.choice([[rows, columns], [columns], [1, columns]]))
    compare(check, "addmm", [added, first, second, *numbers], near)
    left, right = one([batch, rows, inner]), one([batch, inner, columns])
    compare(check, "bmm", [left, right], near)
    compare(check, "baddbmm", [one([batch, rows, columns]), left, right, *numbers], near)
    compare(check, "matmul", [left, second], near, strides=False)
    compare(check, "matmul", [first, one([inner])], near, strides=False)
    compare(check, "matmul", [one([2, 1, rows, inner]), right], near, strides=False)
    real = random.choice([torch.float32, torch.float64])
    one = lambda sizes: values(sizes, real, device)
    compare(check, "addmm", [one([columns]), one([rows, inner]), one([inner, columns]), *numbers], 1e-4)
    compare(check, "baddbmm", [one([batch, rows, columns]), one([batch, rows, inner]), one([batch, inner, columns]),
                               *numbers], 1e-4)


def check_others(check, device):
    sizes = shape(random.randint(1, 3), 6)
    given = any_values(sizes, device, [torch.float32, torch.float64, torch.bfloat16, torch.complex64, torch.complex128])
    dims = random.choice([None, [], random.sample(range(-len(sizes), 0), random.randint(1, len(sizes)))])
    correction = random.choice([None, 0, 1, 2])
    keep = random.random() < 0.5
    near = 4e-2 if given.dtype == torch.bfloat16 else 1e-5
    compare(check, "var.correction", [given, dims, correction, keep], near, strides=False)
    compare(check, "var_mean.correction", [given, dims, correction, keep], near, strides=False)
    compare(check, "var.dim", [given, dims, correction == 1, keep], near, strides=False)
    whole = random.choice([torch.int32, torch.int64])
    table = any_values([random.randint(1, 9), random.randint(1, 5)], device)
    compare(check, "embedding", [table, indices(len(table), shape(random.randint(0, 2), 4), device, whole)], 0)
    places = [random.choice([None, indices(size, [3], device)]) for size in sizes]
    if any(one is not None for one in places):
        compare(check, "_unsafe_index.Tensor", [given, places], 0)
    first, second = (any_values(sizes, device) for _ in range(2))
    mode = random.choice([None, "floor", "trunc"])
    if first.is_complex() or second.is_complex() or first.dtype == torch.bool or second.dtype == torch.bool:
        mode = None
    # The remainder of a division of integers by 0 is undefined.
    second = torch.where(second == 0, torch.ones_like(second), second)
    compare(check, "div.Tensor_mode", [first, second, mode], near, strides=False)
    compare(check, "div.Scalar_mode", [first, random.choice([2, -3, 0.75]), mode], near, strides=False)
    dim = random.randrange(len(sizes))
    compare(check, "unfold", [given, dim, random.randint(0, sizes[dim]), random.randint(1, 3)], 0)


FAMILIES = [check_functions, check_signs, check_products, check_others]
