"""Masks, sorted lines, searches in them, running extremes."""

import ctypes
import math
import random

import torch

from .library import Int, Optional
from .operands import FLOATS, REALS, distinct, shape, values


def check_masks(check, device):
    dtype = random.choice(REALS)
    sizes = shape(rank=random.randint(1, 3), least=0, most=7)
    tensor, mask = values(sizes, dtype, device, small=True), values(sizes, torch.bool, device)
    check.compare("nonzero", [tensor], [torch.nonzero(tensor)], strides=False)
    check.compare("nonzero_static", [tensor, Int(5), Int(-1)],
                  [torch.ops.aten.nonzero_static(tensor, size=5, fill_value=-1)], strides=False)
    check.compare("masked_select", [tensor, mask], [torch.masked_select(tensor, mask)])
    source = values([tensor.numel() + 2], dtype, device)
    check.compare("masked_scatter", [tensor, mask, source], [torch.masked_scatter(tensor, mask, source)], strides=False)
    count = int(mask.sum())
    back = torch.ops.aten.masked_scatter_backward(tensor, mask, [count + 1])
    check.compare("masked_scatter_backward", [tensor, mask, [count + 1]], [back])


def check_order(check, device):
    dtype = random.choice([one for one in REALS if one != torch.uint8])
    sizes = shape(most=30)
    dim = random.randrange(len(sizes))
    tensor, k, keep = distinct(sizes, dtype, device, dim), random.randint(1, sizes[dim]), random.random() < 0.5
    largest = random.random() < 0.5
    check.compare("topk", [tensor, Int(k), Int(dim), largest, True], list(torch.topk(tensor, k, dim, largest, True)))
    check.compare("sort", [tensor, Int(dim), largest], list(torch.sort(tensor, dim, largest)), strides=False)
    check.compare("sort_stable", [tensor, Optional(ctypes.c_int32, 1), Int(dim), largest],
                  list(torch.sort(tensor, dim=dim, descending=largest, stable=True)), strides=False)
    check.compare("kthvalue", [tensor, Int(k), Int(dim), keep], list(torch.kthvalue(tensor, k, dim, keep)),
                  strides=False)
    some = tensor.clone()
    if dtype.is_floating_point and random.random() < 0.5:
        some.view(-1)[random.randrange(some.numel())] = math.nan
    check.compare("median", [some], [torch.median(some)])
    check.compare("nanmedian", [some], [torch.nanmedian(some)])


def check_search(check, device):
    dtype = random.choice(REALS)
    lines, length = random.randint(1, 4), random.randint(1, 20)
    ordered = values([lines, length], dtype, device).sort(-1)[0]
    wanted = values([lines, random.randint(1, 9)], dtype, device)
    narrow, right = random.random() < 0.5, random.random() < 0.5
    side = Optional(ctypes.c_char_p, None)
    expected = torch.searchsorted(ordered, wanted, out_int32=narrow, right=right)
    sorter = Optional(ctypes.c_void_p, None)
    check.compare("searchsorted_Tensor", [ordered, wanted, narrow, right, side, sorter], [expected])
    expected = torch.bucketize(wanted, ordered[0].contiguous(), out_int32=narrow, right=right)
    check.compare("bucketize_Tensor", [wanted, ordered[0].contiguous(), narrow, right], [expected], strides=False)
    expected = torch.searchsorted(ordered[0].contiguous(), 3.0, right=right)
    check.compare("searchsorted_Scalar", [ordered[0].contiguous(), 3.0, False, right, side, sorter], [expected])


def check_running(check, device):
    dtype = random.choice(FLOATS + [torch.int64, torch.int32])
    sizes = shape(most=40, rank=random.randint(1, 3))
    dim = random.randrange(len(sizes))
    tensor = values(sizes, dtype, device, small=not dtype.is_floating_point)
    for name, of in (("cummax", torch.cummax), ("cummin", torch.cummin)):
        check.compare(name, [tensor, Int(dim)], list(of(tensor, dim)), strides=False)
    if dtype.is_floating_point:
        # 16-bit results are rounded at each step of a line there, and once here.
        near = 0.1 if dtype.itemsize == 2 else None
        check.compare("logcumsumexp", [tensor, Int(dim)], [torch.logcumsumexp(tensor, dim)], near, strides=False)
        check.compare("cumprod", [tensor, Int(dim), None], [torch.cumprod(tensor, dim)], near, strides=False)


def check_repeats(check, device):
    repeats = torch.randint(0, 4, [random.randint(1, 12)], device=device)
    expected = torch.repeat_interleave(repeats)
    size = Optional(ctypes.c_int64, random.choice([None, int(repeats.sum())]))
    check.compare("repeat_interleave_Tensor", [repeats, size], [expected])
    tensors = [values([3, random.randint(1, 4)], torch.float32, device) for _ in range(3)]
    check.compare("cat", [("tensors", tensors), Int(1)], [torch.cat(tensors, 1)])
    dtype = random.choice([torch.float32, torch.float64] + ([torch.int32, torch.int64] if device == "cuda" else []))
    numbers = values([random.randint(1, 200)], dtype, device)
    low, high = random.choice([(0.0, 0.0), (-1.0, 2.0)]) if dtype.is_floating_point else (0.0, 50.0)
    check.compare("histc", [numbers, Int(10), low, high], [torch.histc(numbers, 10, low, high)])


FAMILIES = [check_masks, check_order, check_search, check_running, check_repeats]
