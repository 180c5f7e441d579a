"""Ranges observed while training, and elements rounded."""

import random

import torch

from .library import Int
from .operands import values


def check_observers(check, device):
    by_row, symmetric = random.random() < 0.5, random.random() < 0.5
    rows, columns = random.randint(1, 6), random.randint(1, 30)
    given = values([rows, columns], torch.float32, device) * random.choice([1.0, 1.0, 1e-6, 0.0])
    given = given + random.choice([0.0, 0.0, 3.0, -3.0])
    count = rows if by_row else 1
    flags = [torch.tensor([random.choice([1, 1, 1, 0])], device=device) for _ in range(2)]
    if random.random() < 0.3:
        ends = [torch.full([count], sign * float("inf"), device=device) for sign in (1, -1)]
    else:
        ends = [torch.rand(count, device=device) * sign for sign in (-1, 1)]
    state = [*ends, torch.rand(count, device=device), torch.randint(0, 9, [count], device=device, dtype=torch.int32)]
    if not flags[0].item() and ends[0][0].isinf():
        flags[0].fill_(1)
    low, high = random.choice([(0, 255), (-128, 127), (0, 127), (-8, 7)])
    rule = [random.choice([0.01, 0.5, 1.0]), low, high, 0, by_row, symmetric]
    expected = torch.ops.aten._fused_moving_avg_obs_fq_helper_functional(given, *flags, *state, *rule)
    arguments = [given, *flags, *state, rule[0], Int(low), Int(high), Int(0), by_row, symmetric]
    name = "_fused_moving_avg_obs_fq_helper_functional"
    # A state that is not observed is left as it is, which PyTorch's functional form returns as a copy.
    check.compare(name, arguments, list(expected), strides=False)
    theirs, ours = [one.clone() for one in state], [one.clone() for one in state]
    expected = torch.ops.aten._fused_moving_avg_obs_fq_helper(given, *flags, *theirs, *rule)
    arguments = [given, *flags, *ours, *arguments[7:]]
    check.compare("_fused_moving_avg_obs_fq_helper", arguments, list(expected), strides=False)
    if check.wanted:
        return
    for what, own, other in zip(("running_min", "running_max", "scale", "zero_point"), ours, theirs):
        if not torch.allclose(own.double(), other.double(), 1e-5, 1e-5):
            check.failures.append(f"_fused_moving_avg_obs_fq_helper on {device} of {what}: {own} instead of {other}")


FAMILIES = [check_observers]
