"""Random numbers after both libraries' generators got the same seed: the same bits."""

import ctypes
import random

import torch

from .library import NUMBERS, Int, Optional
from .operands import FLOATS, shape, values

DEVICES = {"cpu": 0, "cuda": 1}


def number(value):
    return Optional(ctypes.c_int32, value)


def seed(check, device):
    """Seeds both default generators of a device with the same number."""
    chosen = random.randrange(1 << 40)
    torch.manual_seed(chosen)
    check.library.seed(device, chosen)


def check_factories(check, device):
    size = shape(random.choice([1, 2]), random.choice([9, 99]))
    dtype = random.choice(FLOATS)
    whole = random.choice([torch.int64, torch.int32, torch.int16])
    low, high = sorted(random.sample(range(-100, 100), 2))
    new = lambda kind: [number(NUMBERS[kind]), None, number(DEVICES[device]), 0, None]
    with_type = dict(device=device, dtype=dtype)
    of_whole = dict(device=device, dtype=whole)
    # The order in memory is kept, too.
    like = values(shape(2, 9), dtype, device).t()
    same = [None, None, None, 0, None, None]
    for name, arguments, theirs in [
        ("rand", [size, *new(dtype)], lambda: torch.rand(size, **with_type)),
        ("rand_generator", [size, None, *new(dtype)], lambda: torch.rand(size, **with_type)),
        ("randn", [size, *new(dtype)], lambda: torch.randn(size, **with_type)),
        ("randn_generator", [size, None, *new(dtype)], lambda: torch.randn(size, **with_type)),
        ("randint", [Int(abs(high) + 1), size, *new(whole)],
         lambda: torch.randint(abs(high) + 1, size, **of_whole)),
        ("randint_generator", [Int(abs(high) + 1), size, None, *new(whole)],
         lambda: torch.randint(abs(high) + 1, size, **of_whole)),
        ("randint_low", [Int(low), Int(high), size, *new(whole)], lambda: torch.randint(low, high, size, **of_whole)),
        ("randperm", [Int(size[0]), *new(whole)], lambda: torch.randperm(size[0], **of_whole)),
        ("rand_like", [like, *same], lambda: torch.rand_like(like)),
        ("rand_like_generator", [like, None, *same], lambda: torch.rand_like(like)),
        ("randn_like", [like, *same], lambda: torch.randn_like(like)),
        ("randn_like_generator", [like, None, *same], lambda: torch.randn_like(like)),
        ("randint_like", [like, Int(abs(high) + 1), *same], lambda: torch.randint_like(like, abs(high) + 1)),
        ("randint_like_low_dtype", [like, Int(low), Int(high), *same],
         lambda: torch.randint_like(like, low, high)),
    ]:
        seed(check, device)
        check.compare(name, arguments, [theirs()], near=0)


def check_fills(check, device):
    dtype = random.choice(FLOATS)
    tensor = values(shape(random.choice([1, 3]), random.choice([5, 20])), dtype, device)
    aten = torch.ops.aten
    for name, arguments, theirs in [
        ("uniform", [tensor, -1.5, 2.0, None], lambda: aten.uniform(tensor, -1.5, 2.0)),
        ("normal_functional", [tensor, 1.0, 0.5, None], lambda: aten.normal_functional(tensor, 1.0, 0.5)),
        ("exponential", [tensor, 1.5, None], lambda: aten.exponential(tensor, 1.5)),
    ]:
        seed(check, device)
        check.compare(name, arguments, [theirs()], near=0)
    out, theirs = torch.empty_like(tensor), torch.empty_like(tensor)
    seed(check, device)
    check.compare("bernoulli__float", [out, 0.3, None], [theirs.bernoulli_(0.3)], near=0, out=out)
    if device == "cpu":
        # PyTorch's kernels for these two draw other numbers on a device.
        chances = torch.rand(tensor.shape, dtype=random.choice([torch.float32, torch.float64]))
        seed(check, device)
        check.compare("bernoulli__Tensor", [out, chances, None], [theirs.bernoulli_(chances)], near=0, out=out)
        seed(check, device)
        check.compare("native_dropout", [tensor, 0.25, number(1)], list(aten.native_dropout(tensor, 0.25, True)))


def check_distributions(check, device):
    """Means and deviations of numbers whose bits differ from those of PyTorch's kernels."""
    aten, count = torch.ops.aten, 20000
    dtype = random.choice([torch.float32, torch.float64])
    size = random.choice([0.5, 3, 9.9, 10, 40, 1000])
    rates = torch.full([count], size, dtype=dtype, device=device)
    counts = torch.full([count], 1 + random.choice([1, 20, 1000]), dtype=dtype, device=device)
    chance = torch.full([], random.choice([0.1, 0.5, 0.9]), dtype=dtype, device=device)
    for name, arguments in (("poisson", [rates]), ("binomial", [counts, chance]), ("_standard_gamma", [rates]),
                            ("_sample_dirichlet", [rates.reshape(-1, 4)])):
        if check.wanted and not any(word in name for word in check.wanted):
            continue
        seed(check, device)
        theirs = getattr(aten, name)(*arguments).double()
        found = check.library.call_by_name(name, arguments, 1, device)[0]
        ours, scale = found.double(), theirs.std()
        pairs = [("the mean", ours.mean() / scale, theirs.mean() / scale), ("the deviation", ours.std() / scale, scale / scale)]
        check.same(name, device, [], [(what, a.reshape(1), b.reshape(1)) for what, a, b in pairs], (0, 0.08))
        check.same(name, device, arguments, [("the form", found, theirs.to(found.dtype))], None)


def check_rejection(check, device):
    """Numbers that are drawn until one fits, by name, and what is drawn after them."""
    if device != "cpu":
        check_distributions(check, device)
        return
    aten = torch.ops.aten
    sizes = shape(random.randint(0, 3), 6)
    dtype = random.choice([torch.float32, torch.float64])
    part = [random.choice([1, size]) for size in sizes]
    size = random.choice([0.3, 3, 40, 1000])
    real = lambda sizes, dtype: values(sizes, dtype, device).abs()
    rates = real(sizes, random.choice(FLOATS)) * size
    counts = (real(sizes, dtype) * size).round()
    chances = torch.rand(part, dtype=dtype)
    shapes = real(sizes, dtype) * random.choice([0.05, 1, 20])
    shapes[torch.rand(shapes.shape) < 0.05] = 0
    # Dirichlet's shares are quotients of sums, whose last bits in float64 depend on the order.
    near = {torch.float64: 1e-14, torch.float32: 0}[dtype]
    high = torch.tensor(random.randint(1, 50), dtype=random.choice([torch.int64, torch.int32, torch.float32]))
    for name, arguments, within in (("poisson", [rates], 0), ("binomial", [counts, chances], 0),
                                    ("_standard_gamma", [shapes], 0), ("_sample_dirichlet", [shapes], near),
                                    ("randint_like.Tensor", [rates, high], 0)):
        base, _, overload = name.partition(".")
        seed(check, device)
        expected = getattr(getattr(aten, base), overload or "default")(*arguments)
        behind = torch.randn(3)
        check.compare(name, arguments, [expected], within, by_name=True)
        if not check.wanted or any(word in name for word in check.wanted):
            ours = check.library.call_by_name("randn", [[3]], 1, device)[0]
            check.same(name, device, arguments, [("behind it", ours, behind)], 0)


FAMILIES = [check_factories, check_fills, check_rejection]
