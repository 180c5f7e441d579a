"""Linear equations and factors of matrices."""

import random

import torch

from .library import Refused
from .operands import values

FIELDS = [torch.float32, torch.float64, torch.complex64, torch.complex128]
NEAR = {torch.float32: 2e-3, torch.float64: 1e-9, torch.complex64: 2e-3, torch.complex128: 1e-9}


def matrices(sizes, dtype, device):
    """Random numbers with dimensions in a random order."""
    if not dtype.is_complex:
        return values(list(sizes), dtype, device)
    real = torch.float32 if dtype == torch.complex64 else torch.float64
    return torch.complex(*(values(list(sizes), real, device).contiguous() for _ in range(2)))


def size():
    """Mostly small ones; some with several panels of 32 columns."""
    return random.choice([random.randint(1, 9), random.randint(1, 9), random.randint(28, 36), random.randint(60, 100)])


def batch():
    return [random.randint(1, 3) for _ in range(random.choice([0, 0, 1, 2]))]


def dominated(sizes, dtype, device):
    """Triangles whose equations have no large solutions."""
    made = matrices(sizes, dtype, device) * (0.5 / sizes[-1] ** 0.5)
    return made + (1 + torch.rand(1).item()) * torch.eye(sizes[-1], dtype=dtype, device=device)


def check_triangles(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), size(), size()
    a = dominated([*outer, rows, rows], dtype, device)
    b = matrices([*(random.choice([1, one]) for one in outer), rows, columns], dtype, device)
    flags = [random.random() < 0.5 for _ in range(3)]
    near = NEAR[dtype]
    check.compare("triangular_solve", [b, a, *flags], aten.triangular_solve(b, a, *flags), near)
    check.compare("cholesky_solve", [b, a, flags[0]], [aten.cholesky_solve(b, a, flags[0])], near)
    # A factor of Cholesky has real numbers on its diagonal, and only of these LAPACK's inverse is right.
    if dtype.is_complex:
        a = a - 1j * torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).imag)
    check.compare("cholesky_inverse", [a, flags[0]], [aten.cholesky_inverse(a, flags[0])], near)


def check_reflections(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns, others = random.choice(FIELDS), batch(), size(), size(), size()
    a = matrices([*outer, rows, columns], dtype, device)
    factors, tau = aten.geqrf(a)
    near = NEAR[dtype]
    check.compare("geqrf", [a], [factors, tau], near)
    left, transpose = random.random() < 0.5, random.random() < 0.5
    other = matrices([*outer, *((rows, others) if left else (others, rows))], dtype, device)
    check.compare("ormqr", [factors, tau, other, left, transpose], [aten.ormqr(factors, tau, other, left, transpose)],
                  near)


def check_unpacking(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), size(), size()
    packed, pivots = torch.linalg.lu_factor(matrices([*outer, rows, columns], dtype, device))
    flags = [random.random() < 0.7 for _ in range(2)]
    check.compare("lu_unpack", [packed, pivots, *flags], aten.lu_unpack(packed, pivots, *flags), 0)


def check_refusals(check, device):
    """A factor with a zero on its diagonal, on the CPU alone: on devices PyTorch does not look."""
    if device == "cuda" or (check.wanted and not any(word in "cholesky_inverse" for word in check.wanted)):
        return
    count, order, zero = random.randint(1, 3), random.randint(1, 40), 0
    a = dominated([count, order, order], torch.float64, device)
    entry, zero = random.randrange(count), random.randrange(order)
    a[entry, zero, zero] = 0
    try:
        torch.ops.aten.cholesky_inverse(a)
        expected = "nothing"
    except RuntimeError as error:
        expected = str(error)
    try:
        check.library.call("cholesky_inverse", [a, False], 1, device)
        check.failures.append(f"cholesky_inverse on {device} of a singular factor: not refused, but: {expected}")
    except Refused as error:
        if expected not in str(error):
            check.failures.append(f"cholesky_inverse on {device} of a singular factor: {error} instead of {expected}")


FAMILIES = [check_triangles, check_reflections, check_unpacking, check_refusals]
