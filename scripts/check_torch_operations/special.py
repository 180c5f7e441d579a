"""Special functions, which models for devices call by name.

Results are compared with PyTorch's of the same operands in float64, rounded to the type, because its float32 results
lose digits: by factors of thousands near zeros, and for large orders. `NEAR` has the relative differences where those in
float64 are wrong, too.
"""

import random

import torch

from .operands import FLOATS, shape, values

aten = torch.ops.aten
SINGLE_AND_DOUBLE = [torch.float32, torch.float64]
POLYNOMIALS = ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
               "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
               "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
               "shifted_chebyshev_polynomial_w"]
# What results may differ by, relative and absolute: a few units in the last place.
OF_TYPE = {torch.float64: (4e-15, 1e-321), torch.float32: (2.5e-7, 1e-44), torch.float16: (1e-3, 1e-7),
           torch.bfloat16: (8e-3, 1e-40)}
# - Sums of terms of both signs have no exact digits near zeros, here and in PyTorch.
# - PyTorch's constant pi of the incomplete gamma functions near x = a has the digits of float32.
# - It cuts their values below the smallest normal number.
# - It has three terms of trigamma's series.
# - Its Airy function is wrong by 2e-5 near -2.1, and by 1e-7 near -3.
NEAR = {"digamma": (1e-12, 1e-14), "special_airy_ai": (1e-3, 1e-4), "special_ndtri": (4e-15, 4e-16),
        "igamma": (1e-5, 1e-9), "igammac": (1e-5, 1e-9), "polygamma": (2e-13, 1e-14), "trigamma": (1e-9, 1e-14),
        "special_zeta": (1e-13, 1e-14), "polynomial": (1e-9, 1e-11)}


def compare(check, name, arguments, near=None):
    """An operation beside PyTorch's in float64."""
    base, _, overload = name.partition(".")
    call = getattr(getattr(aten, base), overload or "default")
    theirs = call(*arguments)
    # A tensor without dimensions may have another type than the result.
    exact = call(*(one.to(theirs.dtype).double() if isinstance(one, torch.Tensor) else one for one in arguments))
    relative, absolute = OF_TYPE[theirs.dtype]
    wanted = NEAR.get(near or base, (0, 0))
    expected = torch.empty_strided(theirs.shape, theirs.stride(), dtype=theirs.dtype, device=theirs.device)
    check.compare(name, arguments, [expected.copy_(exact)], (max(relative, wanted[0]), max(absolute, wanted[1])),
                  by_name=True)


def of_some_type(sizes, device, dtypes):
    """Random numbers, sometimes whole ones."""
    if random.random() < 0.15:
        return values(sizes, random.choice([torch.int64, torch.int32, torch.uint8, torch.bool]), device, small=True)
    return values(sizes, random.choice(dtypes), device)


def scaled(tensor, change):
    """The tensor, changed in place if it has real numbers."""
    return tensor.copy_(change(tensor)) if tensor.dtype.is_floating_point else tensor


def check_of_one(check, device):
    sizes = shape(random.randint(0, 3), 7)
    factor = random.choice([0.1, 1, 5])
    for name in ("digamma", "special_i0e", "special_i1e"):
        compare(check, name, [scaled(of_some_type(sizes, device, FLOATS), lambda given: given * factor)])
    for name in ("special_airy_ai", "special_spherical_bessel_j0"):
        compare(check, name, [scaled(of_some_type(sizes, device, SINGLE_AND_DOUBLE), lambda given: given * factor)])
    for name in ("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):
        given = of_some_type(sizes, device, SINGLE_AND_DOUBLE)
        compare(check, f"special_{name}", [scaled(given, lambda given: given.abs() * factor)])
    given = of_some_type(sizes, device, SINGLE_AND_DOUBLE)
    compare(check, "special_ndtri", [scaled(given, lambda given: (given * factor).sigmoid())])
    order = random.choice([0, 1, 2, 3, 7])
    given = scaled(of_some_type(sizes, device, FLOATS), lambda given: given * factor)
    if order == 1:
        # At negative whole numbers PyTorch returns large numbers instead of infinities.
        given = scaled(given, lambda given: given.masked_fill((given < 0) & (given == given.round()), 0.5))
    compare(check, "polygamma", [order, given], "trigamma" if order == 1 else None)


def check_of_two(check, device):
    sizes = shape(random.randint(0, 3), 7)
    other = [random.choice([1, size]) for size in sizes][random.randint(0, len(sizes)):]
    factor = random.choice([0.5, 3, 30, 300])
    for name in ("igamma", "igammac"):
        given = scaled(values(sizes, random.choice(FLOATS), device), lambda given: given.abs() * factor)
        bound = scaled(of_some_type(other, device, FLOATS), lambda given: given.abs() * factor)
        compare(check, name, [given, bound])
    for name in POLYNOMIALS:
        near = "polynomial"
        given = scaled(of_some_type(sizes, device, SINGLE_AND_DOUBLE),
                       lambda given: given * random.choice([0.3, 1, 2]))
        order = scaled(of_some_type(other, device, SINGLE_AND_DOUBLE),
                       lambda given: (given * random.choice([2, 8])).trunc())
        which = random.choice(["", ".n_scalar", ".x_scalar"])
        operands = {"": [given, order], ".n_scalar": [given, random.randint(-1, 20)],
                    ".x_scalar": [random.choice([-1, 0.25, 1, 1.5, 2]), order]}
        compare(check, f"special_{name}{which}", operands[which], near)
    given = scaled(of_some_type(sizes, device, SINGLE_AND_DOUBLE), lambda given: given.abs() * 5 + 1.01)
    bound = scaled(of_some_type(other, device, SINGLE_AND_DOUBLE), lambda given: given.abs() * 20)
    which = random.choice(["", ".other_scalar", ".self_scalar"])
    operands = {"": [given, bound], ".other_scalar": [given, random.choice([1, 0.25, 2.5])],
                ".self_scalar": [random.choice([1, 0.5, 2, 3.5]), bound]}
    compare(check, f"special_zeta{which}", operands[which])


def check_edges(check, device):
    """Poles, infinities and NaN beside PyTorch's results in the same type."""
    inf, nan = float("inf"), float("nan")
    dtype = random.choice(SINGLE_AND_DOUBLE)
    edges = torch.tensor([0, -0.0, 1, -1, 0.5, -0.5, 2, -2, inf, -inf, nan, 50, -50], dtype=dtype, device=device)
    near = (1e-3, 1e-4)
    same = lambda name, *arguments: check.compare(name, list(arguments), [getattr(aten, name)(*arguments)], near,
                                                  by_name=True)
    for name in ("digamma", "special_airy_ai", "special_i0e", "special_i1e", "special_modified_bessel_k0",
                 "special_modified_bessel_k1", "special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1",
                 "special_ndtri", "special_spherical_bessel_j0"):
        same(name, edges)
    same("polygamma", 2, edges)
    pairs = edges.repeat(len(edges)), edges.repeat_interleave(len(edges))
    for name in ("igamma", "igammac"):
        same(name, *pairs)
    # In float32 PyTorch divides 0 by 0 on CUDA where powers are too small.
    compare(check, "special_zeta", list(pairs))
    # Of orders that are not finite a device may compute forever; of operands that are NaN PyTorch returns what lies in
    # memory.
    orders = torch.tensor([-3, -0.5, 0, 0.5, 1, 2, 3, 4], dtype=dtype, device=device)
    operands = edges[~edges.isnan()]
    for name in POLYNOMIALS:
        same(f"special_{name}", operands.repeat(len(orders)), orders.repeat_interleave(len(operands)))


FAMILIES = [check_of_one, check_of_two, check_edges]
