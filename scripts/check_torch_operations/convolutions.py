"""Convolutions, transposed ones, and gradients."""

import random

import torch

from .library import Flags, Int, Optional
from .operands import FLOATS, values


def check_convolutions(check, device):
    spatial = random.randint(1, 3)
    groups = random.randint(1, 3)
    # Sums of products in 16 bits are rounded otherwise here and there, and TF32 by other engines.
    dtype = random.choice(FLOATS[:2] if device == "cpu" else FLOATS)
    each = lambda least, most: [random.randint(least, most) for _ in range(spatial)]
    stride, padding, dilation, taps = each(1, 3), each(0, 2), each(1, 2), each(1, 3)
    reach = [gap * (tap - 1) + 1 for gap, tap in zip(dilation, taps)]
    images = [max(size - 2 * zeros, 1) + more for size, zeros, more in zip(reach, padding, each(0, 6))]
    batch, channels, features = (random.randint(1, 4) for _ in range(3))
    image = values([batch, channels * groups, *images], dtype, device)
    weight = values([features * groups, channels, *taps], dtype, device)
    bias = values([features * groups], dtype, device) if random.random() < 0.5 else None
    none = [0] * spatial
    aten = torch.ops.aten
    near = {torch.float32: 5e-3 if device == "cuda" else 1e-4, torch.float64: 1e-10}.get(dtype, 5e-2)
    of_bias = Optional(None, bias)
    expected = aten.convolution(image, weight, bias, stride, padding, dilation, False, none, groups)
    check.compare("convolution", [image, weight, of_bias, stride, padding, dilation, False, none, Int(groups)],
                  [expected], near=near, strides=False)
    gradient = values(list(expected.shape), dtype, device)
    theirs = aten.convolution_backward(gradient, image, weight, [features * groups], stride, padding, dilation, False,
                                       none, groups, [True, True, True])
    mask = Flags([1, 1, 1])
    check.compare("convolution_backward", [gradient, image, weight, None, Int(0), stride, padding, dilation, False, none,
                                           Int(groups), mask], list(theirs), near=near * 4, strides=False)

    more = [random.randrange(max(step, gap)) for step, gap in zip(stride, dilation)]
    across = values([batch, features * groups, *each(1, 5)], dtype, device)
    bias = values([channels * groups], dtype, device) if random.random() < 0.5 else None
    try:
        expected = aten.convolution(across, weight, bias, stride, padding, dilation, True, more, groups)
    except RuntimeError:
        # Padding leaves nothing.
        return
    check.compare("convolution", [across, weight, Optional(None, bias), stride, padding, dilation, True, more, Int(groups)],
                  [expected], near=near, strides=False)
    if device == "cuda" and any(extra >= step for extra, step in zip(more, stride)):
        # cuDNN has no such gradients, and PyTorch fails.
        return
    gradient = values(list(expected.shape), dtype, device)
    theirs = aten.convolution_backward(gradient, across, weight, [channels * groups], stride, padding, dilation, True,
                                       more, groups, [True, True, True])
    check.compare("convolution_backward", [gradient, across, weight, None, Int(0), stride, padding, dilation, True, more,
                                           Int(groups), mask], list(theirs), near=near * 4, strides=False)


FAMILIES = [check_convolutions]
