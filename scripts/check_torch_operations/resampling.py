"""Gradients of images of another size; images at the places of a grid."""

import ctypes
import random

import torch

from .library import Flags, Int, Optional
from .operands import FLOATS, values
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
    # With smaller scales PyTorch's kernels for devices read and write behind the image.
    least = [to / of if device == "cuda" else 0.4 for to, of in zip(output, input_[2:])]
    scales = [random.choice([None, random.uniform(low, max(low, 3))]) for low in least]
    backward = getattr(torch.ops.aten, f"upsample_{name}_backward")
    expected = backward(gradient, output, input_, align, *scales)
    # PyTorch adds weights of 16-bit gradients that it rounds first.
    near = 0.1 if dtype in (torch.bfloat16, torch.float16) else 1e-4
    check.compare(f"upsample_{name}_backward",
                  [gradient, output, input_, align, *[Optional(ctypes.c_double, scale) for scale in scales]], [expected],
                  near)


def check_grids(check, device):
    dims = random.choice([2, 3])
    dtype = random.choice([torch.float32, torch.float64] + ([torch.float16] if device == "cuda" else []))
    batch, channels = random.randint(1, 3), random.randint(1, 4)
    size = lambda most: [random.randint(1, most) for _ in range(dims)]
    of_image = values([batch, channels, *size(6)], dtype, device)
    if random.random() < 0.3:
        of_image = of_image.contiguous(memory_format=torch.channels_last if dims == 2 else torch.channels_last_3d)
    places = size(5)
    # Some places are outside of the image.
    grid = (torch.rand([batch, *places, dims], device=device, dtype=torch.float64) * 3 - 1.5).to(dtype)
    mode, padding, align = random.randint(0, 2 if dims == 2 else 1), random.randint(0, 2), random.random() < 0.5
    how = [Int(mode), Int(padding), align]
    near = {torch.float16: 5e-2, torch.float32: 1e-3, torch.float64: 1e-9}[dtype]
    aten = torch.ops.aten
    if dims == 3:
        check.compare("grid_sampler_3d", [of_image, grid, *how],
                      [aten.grid_sampler_3d(of_image, grid, mode, padding, align)], near)
    if dtype == torch.float16:
        # PyTorch rounds places to 16 bits for gradients, and finds other elements then.
        return
    gradient = values([batch, channels, *places], dtype, device).contiguous()
    backward = getattr(aten, f"grid_sampler_{dims}d_backward")
    expected = backward(gradient, of_image, grid, mode, padding, align, [True, True])
    # Where a place lies on an element, rounding decides which of two slopes its gradient has.
    check.compare(f"grid_sampler_{dims}d_backward", [gradient, of_image, grid, *how, Flags([1, 1])],
                  list(expected) if dtype == torch.float64 else [expected[0]], near, results=2)


FAMILIES = [check_resampling, check_grids]
