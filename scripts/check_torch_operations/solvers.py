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


def check_spectra(check, device):
    """Values beside PyTorch's. Vectors are some of many: their products make the matrix."""
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), min(size(), 70), min(size(), 70)
    near = NEAR[dtype]
    named = lambda name: not check.wanted or any(word in name for word in check.wanted)
    a, full = matrices([*outer, rows, columns], dtype, device), random.random() < 0.5
    if random.random() < 0.3:
        a = a * torch.tensor([1e-3, 0, 1.0], device=device)[torch.randint(0, 3, (columns,), device=device)]
    expected = aten._linalg_svd(a, full)
    check.compare("linalg_svdvals", [a, None], [expected[1]], near, by_name=True)
    if named("_linalg_svd"):
        u, s, v = check.library.call_by_name("_linalg_svd", [a, full, True, None], 3, device)
        least = min(rows, columns)
        check.same("_linalg_svd", device, [a, full], [
            ("values", s, expected[1]), ("product", (u[..., :least] * s.unsqueeze(-2).to(dtype)) @ v[..., :least, :], a),
            ("left", u.mH @ u, torch.eye(u.shape[-1], dtype=dtype, device=device).expand(*outer, -1, -1)),
            ("right", v @ v.mH, torch.eye(v.shape[-2], dtype=dtype, device=device).expand(*outer, -1, -1))], near)
        check.same("_linalg_svd", device, [a, full], [("left", u, expected[0]), ("right", v, expected[2])], None)
    b, uplo = matrices([*outer, rows, rows], dtype, device), random.choice(["L", "U"])
    expected = aten._linalg_eigh(b, uplo)
    check.compare("linalg_eigvalsh", [b, uplo], [expected[0]], near, by_name=True)
    if named("_linalg_eigh"):
        values, vectors = check.library.call_by_name("_linalg_eigh", [b, uplo, True], 2, device)
        one = torch.eye(rows, dtype=dtype, device=device)
        whole = b.tril(-1) + b.tril(-1).mH if uplo == "L" else b.triu(1) + b.triu(1).mH
        whole = whole + one * b.diagonal(dim1=-2, dim2=-1).real.unsqueeze(-1)
        check.same("_linalg_eigh", device, [b, uplo], [
            ("values", values, expected[0]), ("product", whole @ vectors, vectors * values.unsqueeze(-2).to(dtype)),
            ("vectors", vectors.mH @ vectors, one.expand(*outer, -1, -1))], near)
        check.same("_linalg_eigh", device, [b, uplo], [("vectors", vectors, expected[1])], None)


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


def well(sizes, dtype, device):
    """Square matrices whose equations have no large solutions, in one of several orders of memory."""
    order = sizes[-1]
    made = matrices(sizes, dtype, device) + 2 * order ** 0.5 * torch.eye(order, dtype=dtype, device=device)
    return random.choice([made, made.contiguous(), made.mT.contiguous().mT])


def check_equations(check, device):
    """Operations that models call by name, through their proxy executor."""
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), size(), size()
    a = well([*outer, rows, rows], dtype, device)
    near = NEAR[dtype]
    compare = lambda name, arguments, expected: check.compare(
        name, arguments, [one.resolve_conj() for one in expected], near, by_name=True)
    left, vector = random.random() < 0.5, random.random() < 0.2
    b = matrices([*(random.choice([1, one]) for one in outer), *((rows, columns) if left else (columns, rows))], dtype,
                 device)
    if vector:
        left, b = True, matrices([*outer, rows], dtype, device)
    compare("_linalg_solve_ex", [a, b, left, True], aten._linalg_solve_ex(a, b, left=left, check_errors=True))
    compare("linalg_solve", [a, b, left], [aten.linalg_solve(a, b, left=left)])
    compare("linalg_inv_ex", [a, True], aten.linalg_inv_ex(a, check_errors=True))
    compare("_linalg_det", [a / (2 * rows ** 0.5)], aten._linalg_det(a / (2 * rows ** 0.5)))
    compare("_linalg_slogdet", [a], aten._linalg_slogdet(a))
    if not vector:
        factors, pivots, _ = aten.linalg_lu_factor_ex(a)
        adjoint = random.random() < 0.5
        compare("linalg_lu_solve", [factors, pivots, b, left, adjoint],
                [aten.linalg_lu_solve(factors, pivots, b, left=left, adjoint=adjoint)])
        flags = [random.random() < 0.5, left, random.random() < 0.5]
        triangle = dominated([*outer, rows, rows], dtype, device)
        expected = aten.linalg_solve_triangular(triangle, b, upper=flags[0], left=left, unitriangular=flags[2])
        check.compare("linalg_solve_triangular", [triangle, b, *flags], [expected.resolve_conj()], near, by_name=True, strides=False)


def check_ties(check, device):
    """Pivots among small whole numbers, many of which have the same size. On devices PyTorch breaks ties otherwise."""
    if device == "cuda":
        return
    sizes, most = [random.randint(1, 6), random.randint(1, 6)], random.choice([1, 2, 5])
    a = torch.complex(*(torch.randint(-most, most + 1, sizes).double() for _ in range(2)))
    a = a.to(random.choice([torch.complex64, torch.complex128]))
    expected = [one.resolve_conj() for one in torch.ops.aten.linalg_lu_factor_ex(a)]
    check.compare("linalg_lu_factor_ex", [a, True], expected, NEAR[a.dtype], by_name=True)


def check_symmetric(check, device):
    """Bunch and Kaufman's factors. On devices PyTorch's pivots are another library's, so only solutions are compared."""
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), size(), size()
    near = NEAR[dtype]
    # PyTorch has no Hermitian factors of complex matrices on CUDA.
    hermitian = random.random() < 0.5 and not (device == "cuda" and dtype.is_complex)
    a = matrices([*outer, rows, rows], dtype, device)
    a = a + (a.mH if hermitian else a.mT)
    if random.random() < 0.5:
        a = a - torch.diag_embed(a.diagonal(dim1=-2, dim2=-1))
    if rows == 1:
        a = a + 1
    factors, pivots, info = aten.linalg_ldl_factor_ex(a, hermitian=hermitian)
    if device == "cpu":
        check.compare("linalg_ldl_factor_ex", [a, hermitian], [factors, pivots, info], near, by_name=True)
        check.compare("linalg_ldl_factor", [a, hermitian], [factors, pivots], near, by_name=True)
    # PyTorch 2.11 reads behind the pivots where the batches differ.
    b = matrices([*outer, rows, columns], dtype, device)
    check.compare("linalg_ldl_solve", [factors, pivots, b, hermitian],
                  [aten.linalg_ldl_solve(factors, pivots, b, hermitian=hermitian)], near, by_name=True)


def check_factors(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), size(), size()
    near = NEAR[dtype]
    compare = lambda name, arguments, expected: check.compare(
        name, arguments, [one.resolve_conj() for one in expected], near, by_name=True)
    a = well([*outer, rows, rows], dtype, device)
    definite, upper = a @ a.mH, random.random() < 0.5
    compare("linalg_cholesky_ex", [definite, upper, True], aten.linalg_cholesky_ex(definite, upper=upper))
    a = matrices([*outer, rows, columns], dtype, device)
    mode = random.choice(["reduced", "complete", "r"])
    compare("linalg_qr", [a, mode], aten.linalg_qr(a, mode))
    compare("linalg_lu", [a, True], aten.linalg_lu(a))
    compare("linalg_lu_factor_ex", [a, True, False], aten.linalg_lu_factor_ex(a))
    if rows >= columns:
        factors, tau = aten.geqrf(a)
        compare("linalg_householder_product", [factors, tau], [aten.linalg_householder_product(factors, tau)])


def sorted_apart(values, expected):
    """Eigenvalues in the order of PyTorch's: each takes the nearest one that is left."""
    flat, wanted = values.reshape(-1, values.shape[-1]), expected.reshape(-1, expected.shape[-1])
    rows = []
    for ours, theirs in zip(flat, wanted):
        left = list(range(len(ours)))
        order = [left.pop(min(range(len(left)), key=lambda at: abs(ours[left[at]] - one).item())) for one in theirs]
        rows.append(ours[order])
    return torch.stack(rows).reshape(values.shape) if rows else values


def check_eigenvalues(check, device):
    """Values in any order; vectors by what they are. On CUDA PyTorch 2.11 overwrites a matrix that lies by columns, so it
    gets copies."""
    dtype, outer, rows = random.choice(FIELDS), batch(), min(size(), 40)
    named = lambda name: not check.wanted or any(word in name for word in check.wanted)
    if not named("linalg_eig") and not named("_linalg_eigvals"):
        return
    a = matrices([*outer, rows, rows], dtype, device)
    kind = random.choice(["plain", "plain", "triangle", "repeated", "rows of other sizes", "symmetric", "rotation"])
    if kind == "triangle":
        a = a.triu()
    elif kind == "repeated":
        a = torch.eye(rows, dtype=dtype, device=device).expand_as(a) * 3 + 0 * a
    elif kind == "rows of other sizes":
        a = a * torch.logspace(-3, 3, rows, device=device, dtype=a.real.dtype).unsqueeze(-1)
    elif kind == "symmetric":
        a = a + a.mT
    elif kind == "rotation":
        a = torch.eye(rows, dtype=dtype, device=device).roll(1, -1).expand_as(a) + 0 * a
    near = {torch.float32: 2e-3, torch.float64: 1e-7}.get(a.real.dtype)
    if kind == "rows of other sizes":
        near *= 20
    for name in ("_linalg_eigvals", "linalg_eigvals"):
        if named(name):
            found, = check.library.call_by_name(name, [a], 1, device)
            expected = torch.linalg.eigvals(a.clone())
            check.same(name, device, [a], [("values", sorted_apart(found, expected), expected)], near)
            check.same(name, device, [a], [("strides", found, expected)], None)
    if named("linalg_eig"):
        values, vectors = check.library.call_by_name("linalg_eig", [a], 2, device)
        expected = torch.linalg.eig(a.clone())
        wide = a.to(values.dtype)
        scale = wide.abs().amax().clamp(min=1) * rows
        check.same("linalg_eig", device, [kind, a], [
            ("values", sorted_apart(values, expected[0]), expected[0]),
            ("product", wide @ vectors / scale, vectors * values.unsqueeze(-2) / scale),
            ("lengths", torch.linalg.vector_norm(vectors, dim=-2), torch.ones_like(values.real))], near)
        check.same("linalg_eig", device, [a], [("values", values, expected[0]), ("vectors", vectors, expected[1])], None)
        if not dtype.is_complex and kind == "symmetric" and values.imag.any():
            check.failures.append(f"linalg_eig on {device} of {kind}: values of a symmetric matrix are not real")


def check_least_squares(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), min(size(), 40), min(size(), 40)
    near = 10 * NEAR[dtype]
    driver = random.choice([None, "gels"] if device == "cuda" else [None, "gels", "gelsy", "gelsd", "gelss"])
    a = matrices([*outer, rows, columns], dtype, device)
    if abs(rows - columns) < 4:
        a = a + 2 * max(rows, columns) ** 0.5 * torch.eye(rows, columns, dtype=dtype, device=device)
    # PyTorch's gelsy now and then counts too few columns of a matrix without full rank.
    if random.random() < 0.2 and driver in ("gelsd", "gelss") and columns > 1:
        a = torch.cat([a[..., :-1], a[..., :1]], -1)
    b = matrices([*outer, rows, *([] if random.random() < 0.2 else [random.randint(1, 5)])], dtype, device)
    rcond = random.choice([None, None, 1e-3])
    expected = aten.linalg_lstsq(a, b, rcond, driver=driver)
    check.compare("linalg_lstsq", [a, b, rcond, driver], [one.resolve_conj() for one in expected], near, by_name=True)


def check_functions_of_matrices(check, device):
    aten = torch.ops.aten
    dtype, outer, rows, columns = random.choice(FIELDS), batch(), min(size(), 40), min(size(), 40)
    near = 10 * NEAR[dtype]
    a = matrices([*outer, rows, columns], dtype, device)
    if abs(rows - columns) < 4:
        a = a + 2 * max(rows, columns) ** 0.5 * torch.eye(rows, columns, dtype=dtype, device=device)
    hermitian = rows == columns and random.random() < 0.5
    if hermitian:
        a = a + a.mH
    real = a.real.dtype
    one = lambda: random.choice([None, torch.tensor(random.choice([0.0, 1e-2, 0.3]), dtype=real, device=device)])
    tolerances = [one(), one(), hermitian]
    name = "linalg_pinv.atol_rtol_tensor"
    check.compare(name, [a, *tolerances], [aten.linalg_pinv.atol_rtol_tensor(
        a, atol=tolerances[0], rtol=tolerances[1], hermitian=hermitian).resolve_conj()], near, by_name=True, strides=False)
    square = matrices([*outer, rows, rows], dtype, device) * random.choice([1e-3, 0.1, 3 / rows ** 0.5])
    check.compare("linalg_matrix_exp", [square], [torch.linalg.matrix_exp(square.contiguous())], near, by_name=True)


FAMILIES = [check_eigenvalues, check_least_squares, check_functions_of_matrices, check_triangles, check_reflections, check_unpacking, check_equations, check_factors, check_spectra,
            check_refusals, check_symmetric, check_ties]
