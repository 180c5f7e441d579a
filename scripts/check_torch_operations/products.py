"""Products of matrices."""

import random

import torch

from .library import Optional
from .operands import FLOATS, shape, values


def check_products(check, device):
    dtype = random.choice(FLOATS)
    batch, rows, inner, columns = shape(4, 20)
    make = lambda *sizes: values(list(sizes), dtype, device)
    first, second = make(rows, inner), make(inner, columns)
    firsts, seconds = make(batch, rows, inner), make(batch, inner, columns)
    beta, alpha = random.choice([1.0, 0.5, 0.0]), random.choice([1.0, -2.0])
    bias, column, whole, all_of = make(columns), make(rows), make(rows, columns), make(batch, rows, columns)
    vector = make(inner)
    factors = dict(beta=beta, alpha=alpha)
    near = {torch.float32: 1e-4, torch.float64: 1e-10, torch.float16: 5e-2, torch.bfloat16: 4e-1}[dtype]
    near *= max(1, inner * batch / 20)
    aten = torch.ops.aten
    for name, arguments, expected in [
        ("mm_out", [first, second], first @ second),
        ("bmm_out", [firsts, seconds], torch.bmm(firsts, seconds)),
        ("addmm_out", [bias, first, second, beta, alpha], torch.addmm(bias, first, second, **factors)),
        ("baddbmm_out", [all_of, firsts, seconds, beta, alpha], torch.baddbmm(all_of, firsts, seconds, **factors)),
    ]:
        out = torch.empty_like(expected)
        check.compare(name, [out, *arguments], [expected], near=near, out=out)
    for name, arguments, expected in [
        ("addbmm", [whole, firsts, seconds, beta, alpha], torch.addbmm(whole, firsts, seconds, **factors)),
        ("addmv", [column, first, vector, beta, alpha], torch.addmv(column, first, vector, **factors)),
        ("_addmm_activation", [bias, first, second, beta, alpha, True],
         aten._addmm_activation(bias, first, second, **factors, use_gelu=True)),
        ("_addmm_activation", [bias, first, second, beta, alpha, False],
         aten._addmm_activation(bias, first, second, **factors, use_gelu=False)),
    ]:
        # cuBLAS has GELU in an epilogue, with single precision.
        precise = max(near, 1e-7) if name == "_addmm_activation" else near
        check.compare(name, arguments, [expected], near=precise)


def check_groups(check, device):
    """Groups that reach to the end: PyTorch leaves what is behind the last one undefined."""
    dtype = random.choice([torch.float32, torch.float16, torch.bfloat16])
    groups, rows, inner, columns = random.randint(1, 4), *(8 * random.randint(1, 4) for _ in range(3))
    # On devices PyTorch asserts that groups are multiples of 16 bytes.
    step = 8 if device == "cuda" else 1
    offsets = sorted(step * random.randint(0, inner // step) for _ in range(groups - 1)) + [inner]
    make = lambda *sizes: values(list(sizes), dtype, device).contiguous()
    forms = [
        ("rows", [inner, rows], [groups, rows, columns]), ("columns", [groups, rows, columns], [columns, inner]),
        ("inner", [rows, inner], [inner, columns]), ("batch", [groups, rows, inner], [groups, inner, columns]),
    ]
    form, first, second = random.choice(forms)
    offsets = None if form == "batch" else torch.tensor(offsets, dtype=torch.int32, device=device)
    first, second = make(*first), make(*second)
    if random.random() < 0.5:
        second = second.transpose(-1, -2).contiguous().transpose(-1, -2)
    near = {torch.float32: 1e-4, torch.float16: 5e-2, torch.bfloat16: 4e-1}[dtype]
    # On devices PyTorch has fast kernels of some types and orders alone.
    expected = torch._grouped_mm(first, second, offs=offsets)
    empty = Optional(None, None)
    check.compare("_grouped_mm", [first, second, Optional(None, offsets), empty, empty], [expected], near=near)


FAMILIES = [check_products, check_groups]
