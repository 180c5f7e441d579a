"""Products of integers, of 8-bit floating-point numbers, and with weights of 8 bits."""

import ctypes
import random

import torch

from .library import NUMBERS, Dtype, Optional
from .operands import shape, values

EIGHTS = [torch.float8_e4m3fn, torch.float8_e5m2]


def check_integers(check, device):
    # cuBLASLt takes sizes that are multiples of 8, and more than 16 rows.
    rows, inner, columns = shape(3, 20) if device == "cpu" else [17 + random.randrange(9), 8 * random.randint(1, 9), 16]
    # PyTorch 2.11 is wrong for one column whose stride is 1.
    inner = max(2, random.choice([inner, inner, inner * 128]))
    first, second = (torch.randint(-128, 128, sizes, dtype=torch.int8) for sizes in ([rows, inner], [columns, inner]))
    first, second = first.to(device), second.to(device).t()
    if random.random() < 0.5 and device == "cpu":
        first, second = first.t().contiguous().t(), second.contiguous()
    expected = torch._int_mm(first, second)
    out = torch.empty_like(expected)
    check.compare("_int_mm_out", [out, first, second], [expected], out=out)


def check_short(check, device):
    dtype = random.choice([torch.float16, torch.bfloat16])
    rows, inner, columns = shape(3, 20)
    first, second = values([rows, inner], dtype, device), values([inner, columns], dtype, device)
    wanted = random.choice([dtype, torch.float32])
    if device == "cpu":
        # PyTorch's CPU has no such function; it multiplies numbers of 16 bits in float32.
        expected = (first.float() @ second.float()).to(wanted)
    else:
        expected = torch.mm(first, second, out_dtype=wanted)
    out = torch.empty_like(expected)
    near = 1e-5 * inner if wanted == torch.float32 else None
    check.compare("mm_dtype_out", [out, first, second, Dtype(NUMBERS[wanted])], [expected], near, out=out, of="cuda")


def check_scaled(check, device):
    rows, inner, columns = shape(3, 20) if device == "cpu" else [16 * random.randint(1, 3) for _ in range(3)]
    kinds = random.choice([(EIGHTS[0], EIGHTS[0]), (EIGHTS[0], EIGHTS[1]), (EIGHTS[1], EIGHTS[0])])
    first = torch.randn(rows, inner, device=device).to(kinds[0])
    second = torch.randn(columns, inner, device=device).to(kinds[1]).t()
    wanted = random.choice([torch.float32, torch.float16, torch.bfloat16] + (EIGHTS if device == "cpu" else []))
    one = lambda: torch.rand(random.choice([(), (1,), (1, 1)]), device=device) + 0.1
    scales = [one(), one()]
    bias = random.choice([None, torch.randn(columns, device=device)])
    if bias is not None and device == "cuda":
        wanted = torch.bfloat16
    if bias is not None:
        bias = bias.to(torch.float16 if wanted in EIGHTS else wanted)
    result = random.choice([None, one()]) if wanted in EIGHTS else None
    options = dict(bias=bias, scale_result=result, out_dtype=wanted)
    expected = torch._scaled_mm(first, second, *scales, **options)
    near = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}.get(wanted, 0.13)
    # Tensor cores add products of 8-bit numbers with fewer bits than float32 has.
    near = max(near, 2e-3) if device == "cuda" else near
    passed = [first, second, *scales, Optional(None, bias), Optional(None, result)]
    number = Optional(ctypes.c_int32, NUMBERS[wanted])
    check.compare("_scaled_mm", [*passed, number, False], [expected], near)
    out = torch.empty_like(expected)
    number = random.choice([number, Optional(None, None)])
    check.compare("_scaled_mm_out", [out, *passed, number, False], [expected], near, out=out)


def check_scaled_lines(check, device):
    # PyTorch 2.11 has scales of lines and blocks on devices alone.
    rows, inner, columns = [16 * random.randint(1, 20) for _ in range(3)]
    first = torch.randn(rows, inner, device=device).to(EIGHTS[0])
    second = torch.randn(columns, inner, device=device).to(EIGHTS[0]).t()
    whole = lambda scale, count, high: scale.repeat_interleave(high, 0).repeat_interleave(128, 1)[:count, :inner]
    blocks = lambda count: (count + 127) // 128
    if random.random() < 0.5:
        scales = [torch.rand(rows, 1, device=device), torch.rand(1, columns, device=device)]
        factors = scales
    else:
        scales = [torch.rand(rows, blocks(inner), device=device),
                  torch.rand(blocks(columns), blocks(inner), device=device).t()]
        factors = [whole(scales[0], rows, 1), whole(scales[1].t(), columns, 128).t()]
    expected = ((first.float() * factors[0]) @ (second.float() * factors[1])).bfloat16()
    number = Optional(ctypes.c_int32, NUMBERS[torch.bfloat16])
    check.compare("_scaled_mm", [first, second, *scales, None, None, number, False], [expected], 5e-2)


def check_weights(check, device):
    dtype = random.choice([torch.float32, torch.float16, torch.bfloat16] if device == "cpu" else [torch.bfloat16])
    rows, inner, columns = shape(3, 20)
    # PyTorch's kernels read past the end of lines of bfloat16 that are no multiple of 16.
    inner *= 16 if dtype == torch.bfloat16 else 1
    first = torch.randn(rows, inner, device=device).to(dtype)
    weights = torch.randint(-128, 128, [columns, inner], dtype=torch.int8, device=device)
    scales = (torch.rand(columns, device=device) * 0.02).to(dtype)
    expected = torch.ops.aten._weight_int8pack_mm(first, weights, scales)
    near = 1e-4 if dtype == torch.float32 else None
    check.compare("_weight_int8pack_mm", [first, weights, scales], [expected], near)


FAMILIES = [check_integers, check_short, check_scaled, check_scaled_lines, check_weights]
