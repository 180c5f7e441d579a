"""Sums, products and powers of elements, views, padding, tensors that are given other sizes."""

import ctypes
import math
import random

import torch

from .library import NUMBERS, Dtype, Int, Optional, Refused
from .operands import FLOATS, REALS, shape, values


def pair(device):
    """Two operands that are repeated to a common shape, of types of their own."""
    sizes = shape(most=5)
    other = [1 if random.random() < 0.3 else size for size in sizes][random.randint(0, len(sizes)):]
    return values(sizes, random.choice(REALS), device, small=True), values(other, random.choice(REALS), device, small=True)


def check_elementwise(check, device):
    aten = torch.ops.aten
    first, second = pair(device)
    check.compare("add_Tensor", [first, second, 2.0], [torch.add(first, second, alpha=2)])
    check.compare("mul_Tensor", [first, second], [torch.mul(first, second)])
    number = random.choice([0.5, 2.0, -3.0])
    check.compare("add_Scalar", [first, number, 1.0], [aten.add.Scalar(first, number, 1.0)])
    check.compare("mul_Scalar", [first, number], [aten.mul.Scalar(first, number)])
    check.compare("pow_Tensor_Scalar", [first, 2.0], [aten.pow.Tensor_Scalar(first, 2.0)])
    small = values(first.shape, random.choice(FLOATS), device)
    check.compare("pow_Scalar", [2.0, small], [aten.pow.Scalar(2.0, small)])
    base = (values(first.shape, torch.float32, device).abs() + 0.5)
    check.compare("pow_Tensor_Tensor", [base, small], [torch.pow(base, small)])
    check.compare("angle", [first], [torch.angle(first)])
    signed = values(first.shape, random.choice(FLOATS), device)
    signed.view(-1)[0:1].fill_(math.nan) if signed.is_contiguous() else None
    check.compare("angle", [signed], [torch.angle(signed)])
    real = random.choice([torch.float32, torch.float64])
    size, turn = values(first.shape, real, device), values(first.shape[-1:], real, device)
    check.compare("polar", [size, turn], [torch.polar(size, turn)])
    filled = torch.empty_like(first)
    check.compare("fill__Scalar", [filled, 3.0], [torch.full_like(first, 3)], out=filled, strides=False)
    target = torch.where(values(first.shape, torch.bool, device), 1.0, -1.0)
    tensor = values(first.shape, torch.float32, device)
    reduction = random.choice([0, 1, 2])
    gradient = values(first.shape if reduction == 0 else [], torch.float32, device)
    check.compare("soft_margin_loss_backward", [gradient, tensor, target, Int(reduction)],
                  [aten.soft_margin_loss_backward(gradient, tensor, target, reduction)])


def check_small(check, device):
    tensor = values(shape(most=6), random.choice(REALS), device)
    check.compare("abs", [tensor], [tensor.abs()])
    dim = random.randint(-tensor.dim(), tensor.dim() - 1)
    start = random.randint(0, tensor.shape[dim])
    length = random.randint(0, tensor.shape[dim] - start)
    check.compare("narrow", [tensor, Int(dim), Int(start), Int(length)], [tensor.narrow(dim, start, length)])
    sizes = random.choice([[-1], [tensor.numel()], [1, -1], list(tensor.shape) + [1], list(tensor.shape[::-1])])
    check.compare("reshape", [tensor, sizes], [tensor.reshape(sizes)])
    kind = random.choice(FLOATS)
    length = random.randint(0, 40)
    passed = [Int(length), Optional(ctypes.c_int32, NUMBERS[kind]), Optional(None, None),
              Optional(ctypes.c_int32, 1 if device == "cuda" else 0), 0, Optional(None, None)]
    check.compare("hann_window", passed, [torch.hann_window(length, dtype=kind, device=device)])


def check_pad_gradients(check, device):
    dims = random.choice([1, 2])
    tensor = values(shape(rank=dims + random.choice([1, 2]), most=6, least=3), random.choice(FLOATS), device)
    pad = [random.randint(-1, 4) for _ in range(2 * dims)]
    forward, backward = ((torch.ops.aten.replication_pad1d, torch.ops.aten.replication_pad1d_backward) if dims == 1
                         else (torch.ops.aten.replication_pad2d, torch.ops.aten.replication_pad2d_backward))
    gradient = values(forward(tensor, pad).shape, tensor.dtype, device)
    near = {torch.float16: 1e-2, torch.bfloat16: 1e-1}.get(tensor.dtype)
    check.compare(f"replication_pad{dims}d_backward", [gradient, tensor, pad], [backward(gradient, tensor, pad)], near,
                  strides=False)


def check_distances(check, device):
    kind = random.choice([torch.float32, torch.float64])
    p = random.choice([0.0, 0.5, 1.0, 2.0, 3.5, math.inf])
    width = random.randint(0 if device == "cpu" else 1, 6)
    batch = random.choice([[], [2], [3, 1]])
    first = values([*batch, random.randint(1, 40), width], kind, device)
    second = values([*random.choice([batch, [1] * len(batch)]), random.randint(1, 40), width], kind, device)
    mode = random.choice([Optional(None, None), Optional(ctypes.c_int64, 2)])
    # 2: PyTorch's product of matrices, which loses digits, is not used.
    expected = torch.ops.aten._cdist_forward(first, second, p, 2)
    check.compare("_cdist_forward", [first, second, p, mode], [expected], 1e-4, strides=False)
    rows = values([random.randint(1, 9), width], kind, device).contiguous()
    apart = torch.ops.aten._pdist_forward(rows, p)
    check.compare("_pdist_forward", [rows, p], [apart], 1e-4)
    gradient = values(list(expected.shape), kind, device)
    batch, second = list(expected.shape[:-2]), second.expand([*expected.shape[:-2], *second.shape[-2:]])
    first, second = first.expand([*batch, *first.shape[-2:]]).contiguous(), second.contiguous()
    made = torch.ops.aten._cdist_backward(gradient.contiguous(), first, second, p, expected)
    check.compare("_cdist_backward", [gradient, first, second, p, expected], [made], 1e-4, strides=False)
    gradient = values(list(apart.shape), kind, device)
    made = torch.ops.aten._pdist_backward(gradient, rows, p, apart)
    check.compare("_pdist_backward", [gradient, rows, p, apart], [made], 1e-4)


def check_trilinear(check, device):
    a, b, c, d = shape(rank=4, most=5)
    inputs = [values(sizes, torch.float64, device) for sizes in ([a, b], [d, b, c], [a, c])]
    passed = [[1, 3], [0], [1, 2], [2, 3], random.randint(0, 3)]
    expected = torch.ops.aten._trilinear(*inputs, *passed)
    check.compare("_trilinear", [*inputs, *passed[:4], Int(passed[4])], [expected], strides=False)


def check_views(check, device):
    tensor = values(shape(most=6), random.choice(REALS), device)
    order = random.sample(range(tensor.dim()), tensor.dim())
    check.compare("permute", [tensor, order], [tensor.permute(order)])
    dim, step = random.randrange(tensor.dim()), random.randint(1, 3)
    start, end = (random.choice([None, random.randint(-8, 8)]) for _ in range(2))
    ends = [Optional(ctypes.c_int64, one) for one in (start, end)]
    check.compare("slice_Tensor", [tensor, Int(dim), *ends, Int(step)],
                  [torch.ops.aten.slice.Tensor(tensor, dim, start, end, step)])
    check.compare("squeeze_dim", [tensor, Int(dim)], [tensor.squeeze(dim)])
    complex_ = torch.randn([*shape(rank=2), 3], dtype=random.choice([torch.complex64, torch.complex128]), device=device)
    complex_ = complex_.permute(random.sample(range(3), 3))
    check.compare("view_as_real", [complex_], [torch.view_as_real(complex_)])
    parts = torch.view_as_real(complex_)
    check.compare("view_as_complex", [parts], [torch.view_as_complex(parts)])
    whole = torch.randint(0, 99, [3, 4, 8], device=device, dtype=torch.int32).transpose(0, 1)
    number, to = random.choice([(2, torch.int16), (1, torch.int8), (4, torch.int64), (6, torch.float32)])
    check.compare("view_dtype", [whole, Dtype(number)], [whole.view(to)])
    wide = values([2, 3, 4], torch.float32, device)
    mode = random.choice(["constant", "reflect", "replicate", "circular"])
    pads = [random.randint(0, 2) for _ in range(4 if mode == "constant" else 2)]
    check.compare("pad", [wide, pads, mode, Optional(ctypes.c_double, None)],
                  [torch.nn.functional.pad(wide, pads, mode)], strides=False)
    # Models rely on the order of the dimensions: channels stay innermost.
    images = values([2, 3, 4, 5], torch.float32, device).contiguous(memory_format=torch.channels_last)
    check.compare("pad", [images, [1, 0, 2, 1], "constant", Optional(ctypes.c_double, None)],
                  [torch.nn.functional.pad(images, [1, 0, 2, 1])])


def check_in_place(check, device):
    """Operations that change a handle: the results are what the handle then shows."""
    dtype = random.choice(REALS)
    tensor, other = values([2, 3, 4, 5], dtype, device).contiguous(), values([3, 2], dtype, device)
    sizes = random.choice([[5, 2, 3, 4], [1, 2, 2, 3], [2, 3, 4, 5]])
    format_, number = random.choice([(None, None), (torch.contiguous_format, 0), (torch.channels_last, 2)])
    formats = {} if format_ is None else {"memory_format": format_}
    pointer = None if number is None else ctypes.byref(ctypes.c_int32(number))
    # PyTorch's own memory, which is large enough, is behind both.
    whole = tensor.flatten()
    viewed = lambda made: torch.as_strided(whole, made.shape, made.stride())
    resized = viewed(torch.empty([1], device=device).resize_(sizes, **formats))
    array = (ctypes.c_int64 * len(sizes))(*sizes)
    changed(check, device, "resize_", tensor, [array, ctypes.c_int64(len(sizes)), pointer], resized)
    template = torch.empty(sizes, device=device)
    changed(check, device, "resize_as_", tensor, [template, pointer], resized)
    changed(check, device, "set__source_Tensor", tensor, [other], other)


def changed(check, device, name, tensor, arguments, expected):
    from .compare import difference
    if check.wanted and not any(word in name for word in check.wanted):
        return
    library = check.library
    check.counts[device, name] = check.counts.get((device, name), 0) + 1
    if device == "cuda":
        torch.cuda.synchronize()
    handles = [library.handle(tensor)]
    for one in arguments:
        if isinstance(one, torch.Tensor):
            handles.append(library.handle(one))
    later = iter(handles[1:])
    passed = [next(later) if isinstance(one, torch.Tensor) else one for one in arguments]
    try:
        library.check(name, getattr(library.code, f"aoti_torch_{device}_{name}")(handles[0], *passed))
        problem = difference(library.read(handles[0]), expected, None, True)
    except Refused as error:
        problem = str(error)
    finally:
        for handle in handles:
            library.delete(handle)
    if problem:
        check.failures.append(f"{name} on {device} of {tuple(tensor.shape)}: {problem}")


def check_divisors(check, device):
    dtypes = [random.choice([torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]) for _ in range(2)]
    sizes = shape()
    other = [random.choice([1, one]) for one in sizes]
    first, second = ((values(each, dtype, device, small=random.random() < 0.3) - 50 * dtype.is_signed).to(dtype)
                     for each, dtype in zip((sizes, other), dtypes))
    check.compare("gcd", [first, second], [torch.gcd(first, second)])


FAMILIES = [check_divisors, check_elementwise, check_trilinear, check_small, check_pad_gradients, check_distances, check_views, check_in_place]
