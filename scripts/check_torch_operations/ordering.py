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


def check_long_lines(check, device):
    """The first elements of long lines, with equal ones, NaN, infinities and both zeros; on devices in the order of a
    stable sort."""
    dtype = random.choice(REALS)
    sizes = [random.randint(1, 3), random.randint(4_000, 20_000)]
    tensor = values(sizes, dtype, device, small=random.random() < 0.3)
    if dtype.is_floating_point:
        for special in (math.nan, math.inf, -math.inf, 0.0, -0.0):
            tensor = torch.where(torch.rand(sizes, device=device) < 0.001, torch.tensor(special, dtype=dtype), tensor)
    dim = random.randint(0, 1)
    if dim == 0:
        tensor = tensor.t()
    k, largest = random.choice([1, 2, 50, random.randint(1, 4_000)]), random.random() < 0.5
    # On the CPU equal elements have the order of PyTorch's own selection (docs/design/torch_operations.md).
    if torch.device(device).type == "cpu":
        first, kth = torch.topk(tensor, k, dim, largest, True), torch.kthvalue(tensor, k, dim)
    else:
        first = [one.narrow(dim, 0, k) for one in torch.sort(tensor, dim=dim, descending=largest, stable=True)]
        kth = [one.select(dim, k - 1) for one in torch.sort(tensor, dim=dim, stable=True)]
    check.compare("topk", [tensor, Int(k), Int(dim), largest, True], list(first), strides=False)
    check.compare("kthvalue", [tensor, Int(k), Int(dim), False], list(kth), strides=False)


def check_mode(check, device):
    dtype = random.choice(REALS)
    # PyTorch sorts longer lines on the CPU in another way, and names any of the places then.
    sizes = shape(rank=random.randint(0, 3), most=16)
    dim, keep = random.randrange(max(len(sizes), 1)), random.random() < 0.5
    tensor = values(sizes, dtype, device, small=True)
    if device == "cuda" and sizes and dtype != torch.bool:
        # On a device PyTorch returns any of the values that are equally frequent: only one is there twice.
        order = torch.rand(sizes, device=device).argsort(dim)
        tensor = order.clamp(max=max(sizes[dim] - 2, 0)).to(dtype)
    expected = list(torch.mode(tensor, dim, keep))
    # And it names any of the places.
    check.compare("mode", [tensor, Int(dim), keep], expected if device == "cpu" else expected[:1], strides=False,
                  results=2)


def check_counts(check, device):
    if device == "cuda":
        return
    dtype = random.choice([torch.float32, torch.float64])
    tensor = values(shape(rank=random.randint(1, 3), most=9), dtype, device)
    weight = values(list(tensor.shape), dtype, device, small=True) if random.random() < 0.5 else None
    bins, density = random.randint(1, 12), random.random() < 0.5
    ends = random.choice([None, (-1.5, 0.75), (0.25, 0.25)])
    array = None if ends is None else (ctypes.c_double * 2)(*ends)
    pointer = Optional(ctypes.c_void_p, None if ends is None else ctypes.addressof(array))
    expected = torch.histogram(tensor, bins, range=ends, weight=weight, density=density)
    check.compare("histogram_bin_ct",
                  [tensor, Int(bins), pointer, Int(0 if ends is None else 2), Optional(None, weight), density],
                  list(expected))


def check_segments(check, device):
    dtype, whole = random.choice(FLOATS), random.choice([torch.int64, torch.int32])
    axis, count = random.randint(0, 1), random.randint(1, 5)
    sizes = shape(rank=axis + 1 + random.randint(0, 1), most=9)
    lines = sizes[:axis]
    ends = torch.randint(0, sizes[axis] + 1, [*lines, count - 1]).sort(-1)[0]
    full = lambda value: torch.full([*lines, 1], value)
    offsets = torch.cat([full(0), ends, full(sizes[axis])], -1).to(whole).to(device)
    lengths = offsets.diff(dim=-1).contiguous()
    reduce, initial = random.choice(["sum", "mean", "prod", "max", "min"]), random.choice([None, None, 1.5])
    data = values(sizes, dtype, device, small=random.random() < 0.5)
    # PyTorch 2.11 multiplies by the stride of a dimension of one element, which may be anything, and reads behind the
    # tensor's end.
    data = data.contiguous().as_strided(sizes, torch.empty(sizes).stride())
    # PyTorch 2.11 reads offsets of several lines from other places, behind their end too.
    named = {"lengths": lengths} if axis or random.random() < 0.5 else {"offsets": offsets}
    result = torch.segment_reduce(data, reduce, axis=axis, initial=initial, unsafe=True, **named)
    pointers = [Optional(None, named.get(name)) for name in ("lengths", "offsets")]
    first = Optional(ctypes.c_double, initial)
    check.compare("segment_reduce",
                  [data, reduce, pointers[0], Optional(None, None), pointers[1], Int(axis), True, first], [result])
    # PyTorch 2.11's own gradient writes behind the end of its result, and divides positive gradients alone among
    # elements that are equal. So this is the gradient of each segment by itself.
    gradient = torch.randn_like(result)
    leaf = data.double().requires_grad_()
    total = leaf.sum() * 0
    for line in range(sizes[0] if axis else 1):
        of_line = lambda tensor: tensor[line] if axis else tensor
        for at in range(count):
            begin, end = of_line(offsets)[at], of_line(offsets)[at + 1]
            if begin < end:
                segment = of_line(leaf)[begin:end]
                made = {"max": "amax", "min": "amin"}.get(reduce, reduce)
                total = total + (getattr(segment, made)(0) * of_line(gradient)[at].double()).sum()
    expected, = torch.autograd.grad(total, leaf)
    if reduce == "prod" and initial is not None:
        expected = expected * initial
    if reduce in ("max", "min") and initial is not None:
        expected = expected * (data >= initial if reduce == "max" else data <= initial)
    expected = expected.to(dtype)
    check.compare("_segment_reduce_backward", [gradient, result, data, reduce, *pointers, Int(axis), first], [expected],
                  strides=False)


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


def check_rows_of_histograms(check, device):
    """PyTorch has these on the CPU alone."""
    if device == "cuda":
        return
    dtype, dims = random.choice([torch.float32, torch.float64]), random.randint(1, 3)
    sizes = [*shape(random.randint(1, 2)), dims]
    rows, bins = values(sizes, dtype, device), [random.randint(1, 5) for _ in range(dims)]
    limits = [number for _ in range(dims) for number in sorted(random.uniform(-2, 2) for _ in range(2))]
    limits = random.choice([None, limits])
    weight = random.choice([None, torch.rand(sizes[:-1], dtype=dtype)])
    density = random.random() < 0.5
    array = None if limits is None else (ctypes.c_double * len(limits))(*limits)
    pointer = Optional(ctypes.c_void_p, None if limits is None else ctypes.addressof(array))
    expected = torch.ops.aten._histogramdd_from_bin_cts(rows, bins, range=limits, weight=weight, density=density)
    check.compare("_histogramdd_from_bin_cts",
                  [rows, bins, pointer, Int(len(limits or [])), Optional(None, weight), density], [expected])


FAMILIES = [check_masks, check_order, check_long_lines, check_mode, check_counts, check_rows_of_histograms,
            check_segments, check_search, check_running, check_repeats]
