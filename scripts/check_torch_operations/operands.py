"""Random operands."""

import random

import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
REALS = FLOATS + [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


def values(sizes, dtype, device, small=False):
    """Random numbers with dimensions that lie in a random order, and sometimes gaps."""
    order = random.sample(range(len(sizes)), len(sizes)) if random.random() < 0.5 else list(range(len(sizes)))
    gap = random.choice([1, 1, 2])
    room = [sizes[at] for at in order]
    if room:
        room[-1] *= gap
    if dtype == torch.bool:
        made = torch.rand(room) < 0.5
    elif dtype.is_floating_point and not small:
        made = torch.randn(room, dtype=torch.float64)
    else:
        made = torch.randint(0, 5 if small else 100, room)
    made = made.to(dtype).to(device)
    if room and gap == 2:
        made = made[..., ::2]
    return made.permute([order.index(at) for at in range(len(sizes))]) if room else made


def shape(rank=None, most=9, least=1):
    rank = random.randint(1, 4) if rank is None else rank
    return [random.randint(least, most) for _ in range(rank)]


def indices(size, sizes, device, dtype=torch.int64, negative=False):
    low = -size if negative else 0
    return torch.randint(low, size, sizes, device=device, dtype=dtype)


def distinct(sizes, dtype, device, dim):
    """Values that differ along a dimension, so that the order is the only one."""
    made = torch.rand(sizes).argsort(dim) - 3
    return made.to(dtype).to(device)
