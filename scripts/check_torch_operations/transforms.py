"""Fourier transforms."""

import random

import torch

from .library import Int
from .operands import shape, values


def check_transforms(check, device):
    aten = torch.ops.aten
    real = random.choice([torch.float32, torch.float64])
    near = 1e-4 if real == torch.float32 else 1e-10
    sizes = shape(most=9)
    count = random.randint(1, len(sizes))
    dims = sorted(random.sample(range(len(sizes)), count)) if random.random() < 0.5 else random.sample(
        range(len(sizes)), count)
    normalization, forward = random.choice([0, 1, 2]), random.random() < 0.5
    parts = [values(sizes, real, device) for _ in range(2)]
    tensor = torch.complex(*parts)
    check.compare("_fft_c2c", [tensor, dims, Int(normalization), forward],
                  [aten._fft_c2c(tensor, dims, normalization, forward)], near)
    onesided = random.random() < 0.7
    check.compare("_fft_r2c", [parts[0], dims, Int(normalization), onesided],
                  [aten._fft_r2c(parts[0], dims, normalization, onesided)], near)


FAMILIES = [check_transforms]
