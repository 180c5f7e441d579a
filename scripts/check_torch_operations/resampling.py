"""Gradients of images of another size."""

import ctypes
import random

import torch

from .library import Optional
from .operands import FLOATS
from .pooling import image

RESAMPLINGS = [("linear1d", 1), ("bicubic2d", 2), ("trilinear3d", 3)]


def check_resampling(check, device):
    name, dims = random.choice(RESAMPLINGS)
    dtype = random.choice(FLOATS if device == "cuda" else [torch.float32, torch.float64, torch.bfloat16])
    output = [random.randint(1, 12) for _ in range(dims)]
    like = image(dims, dtype, device, batched=True) if dims > 1 else torch.empty([2, 3, 7], device=device)
    gradient = torch.randn([*like.shape[:2], *output], dtype=dtype, device=device)
    if dims > 1 and random.random() < 0.4:
        gradient = gradient.contiguous(
            memory_format=torch.channels_last if dims == 2 else torch.channels_last_3d)
    input_ = list(like.shape)
    if random.random() < 0.2:
        input_[2:] = output
    align = random.random() < 0.5
    scales = [random.choice([None, random.uniform(0.4, 3)]) for _ in range(dims)]
    backward = getattr(torch.ops.aten, f"upsample_{name}_backward")
    expected = backward(gradient, output, input_, align, *scales)
    # PyTorch adds weights of 16-bit gradients that it rounds first.
    near = 0.1 if dtype in (torch.bfloat16, torch.float16) else 1e-4
    check.compare(f"upsample_{name}_backward",
                  [gradient, output, input_, align, *[Optional(ctypes.c_double, scale) for scale in scales]], [expected],
                  near)


FAMILIES = [check_resampling]
