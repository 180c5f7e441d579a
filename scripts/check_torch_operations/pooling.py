"""Windows of images."""

import ctypes
import math
import random

import torch

from .library import Optional
from .operands import FLOATS, values


def image(dims, dtype, device, batched=None):
    batched = random.random() < 0.7 if batched is None else batched
    sizes = ([random.randint(1, 3)] if batched else []) + [random.randint(1, 5)]
    sizes += [random.randint(5, 12) for _ in range(dims)]
    tensor = values(sizes, dtype, device)
    if batched and random.random() < 0.4:
        tensor = tensor.contiguous(memory_format=torch.channels_last if dims == 2 else torch.channels_last_3d)
    elif random.random() < 0.5:
        tensor = tensor.contiguous()
    elif not batched and random.random() < 0.5:
        tensor = tensor.movedim(0, -1).contiguous().movedim(-1, 0)
    return tensor


def check_pooling(check, device):
    aten = torch.ops.aten
    dims = random.choice([2, 3])
    dtype = random.choice(FLOATS if device == "cuda" else [torch.float32, torch.float64])
    tensor = image(dims, dtype, device)
    kernel = [random.randint(1, 3) for _ in range(dims)]
    padding = [random.randint(0, k // 2) for k in kernel]
    stride = random.choice([[], [random.randint(1, 3) for _ in range(dims)]])
    dilation = [random.randint(1, 2) for _ in range(dims)]
    ceil = random.random() < 0.5
    if random.random() < 0.15:
        tensor[..., 2, 3] = math.nan
    forward, backward = (
        (aten.max_pool2d_with_indices, aten.max_pool2d_with_indices_backward) if dims == 2
        else (aten.max_pool3d_with_indices, aten.max_pool3d_with_indices_backward))
    largest, places = forward(tensor, kernel, stride, padding, dilation, ceil)
    passed = [kernel, stride, padding, dilation, ceil]
    check.compare(f"max_pool{dims}d_with_indices", [tensor, *passed], [largest, places])
    if not tensor.isnan().any():
        output = list(tensor.shape[-dims:])
        if dims == 2:
            check.compare("max_unpool2d", [largest, places, output], [aten.max_unpool2d(largest, places, output)],
                          strides=False)
        else:
            check.compare("max_unpool3d", [largest, places, output, [1, 1, 1], [0, 0, 0]],
                          [aten.max_unpool3d(largest, places, output, [1, 1, 1], [0, 0, 0])], strides=False)
    gradient = torch.randn_like(largest)
    expected = backward(gradient, tensor, kernel, stride, padding, dilation, ceil, places)
    # On CUDA PyTorch 2.11 returns the gradient of a single volume whose channels are innermost with a batch of one.
    check.compare(f"max_pool{dims}d_with_indices_backward", [gradient, tensor, *passed, places],
                  [expected.reshape(tensor.shape)], strides=False)
    count_padding = random.random() < 0.5
    by = random.choice([None, None, 3])
    forward, backward = ((aten.avg_pool2d, aten.avg_pool2d_backward) if dims == 2
                         else (aten.avg_pool3d, aten.avg_pool3d_backward))
    passed = [kernel, stride, padding, ceil, count_padding, Optional(ctypes.c_int64, by)]
    mean = forward(tensor, kernel, stride, padding, ceil, count_padding, by)
    check.compare(f"avg_pool{dims}d", [tensor, *passed], [mean])
    gradient = torch.randn_like(mean)
    # PyTorch 2.11 leaves the padding out for images whose channels are innermost, on CUDA.
    plain = [one.clone(memory_format=torch.contiguous_format) for one in (gradient, tensor)]
    check.compare(f"avg_pool{dims}d_backward", [gradient, tensor, *passed],
                  [backward(*plain, kernel, stride, padding, ceil, count_padding, by)], strides=False)
    output = [random.randint(1, 14) for _ in range(dims)]
    forward, backward = ((aten._adaptive_avg_pool2d, aten._adaptive_avg_pool2d_backward) if dims == 2
                         else (aten._adaptive_avg_pool3d, aten._adaptive_avg_pool3d_backward))
    mean = forward(tensor, output)
    # PyTorch 2.11 reads other elements where an image of one channel has channels of another stride, on CUDA.
    check.compare(f"_adaptive_avg_pool{dims}d", [tensor, output], [mean.copy_(forward(plain[1], output))])
    gradient = torch.randn_like(mean)
    check.compare(f"_adaptive_avg_pool{dims}d_backward", [gradient, tensor], [backward(gradient, tensor)], strides=False)
    forward, backward = ((aten.adaptive_max_pool2d, aten.adaptive_max_pool2d_backward) if dims == 2
                         else (aten.adaptive_max_pool3d, aten.adaptive_max_pool3d_backward))
    largest, places = forward(tensor, output)
    check.compare(f"adaptive_max_pool{dims}d", [tensor, output], [largest, places])
    gradient = torch.randn_like(largest)
    # On CUDA PyTorch adds in the tensor's type, in any order.
    wide = torch.promote_types(tensor.dtype, torch.float32)
    expected = backward(gradient.to(wide), tensor.to(wide), places).to(tensor.dtype)
    check.compare(f"adaptive_max_pool{dims}d_backward", [gradient, tensor, places], [expected], strides=False)


def check_fractional(check, device):
    """Windows that begin at random places, of values that differ, so that one is the largest."""
    dims = random.choice([2, 3])
    dtype = random.choice([torch.float32, torch.float64])
    tensor = image(dims, dtype, device)
    kernel = [random.randint(1, 3) for _ in range(dims)]
    # In three dimensions PyTorch wants one element more than the windows need.
    output = [random.randint(1, size - of + (dims == 2)) for size, of in zip(tensor.shape[-dims:], kernel)]
    batch = tensor.shape[0] if tensor.dim() == dims + 2 else 1
    samples = torch.rand([batch, tensor.shape[-dims - 1], dims], dtype=dtype, device=device)
    aten = torch.ops.aten
    forward, backward = (
        (aten.fractional_max_pool2d, aten.fractional_max_pool2d_backward) if dims == 2
        else (aten.fractional_max_pool3d, aten.fractional_max_pool3d_backward))
    largest, places = forward(tensor, kernel, output, samples)
    check.compare(f"fractional_max_pool{dims}d", [tensor, kernel, output, samples], [largest, places])
    gradient = torch.randn_like(largest)
    check.compare(f"fractional_max_pool{dims}d_backward", [gradient, tensor, kernel, output, places],
                  [backward(gradient, tensor, kernel, output, places)], near=1e-5, strides=False)


FAMILIES = [check_fractional, check_pooling]
