"""Division by the root of the mean square."""

import ctypes
import random

import torch

from .library import Optional
from .operands import FLOATS, shape, values


def check_norms(check, device):
    dtype = random.choice(FLOATS)
    tensor = values(shape(most=9), dtype, device).contiguous()
    sizes = list(tensor.shape[random.randrange(tensor.dim()):])
    weight = random.choice([None, torch.randn(sizes, device=device).to(dtype)])
    eps = random.choice([None, 0.01])
    expected = torch.ops.aten._fused_rms_norm(tensor, sizes, weight, eps)
    # PyTorch rounds the 16-bit types more than once.
    near = 4e-2 if dtype.itemsize == 2 else None
    check.compare("_fused_rms_norm", [tensor, sizes, Optional(None, weight), Optional(ctypes.c_double, eps)],
                  list(expected), near)


FAMILIES = [check_norms]
