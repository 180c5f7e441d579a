"""Elements at indices."""

import ctypes
import random

import torch

from .library import Int, Optional
from .operands import FLOATS, REALS, indices, shape, values


def check_scatter(check, device):
    dtype = random.choice(REALS)
    sizes = shape()
    dim = random.randrange(len(sizes))
    index_sizes = [random.randint(1, size) for size in sizes]
    index_sizes[dim] = random.randint(1, 12)
    tensor, index = values(sizes, dtype, device, small=True), indices(sizes[dim], index_sizes, device)
    source = values([size + random.randint(0, 2) for size in index_sizes], dtype, device, small=True)
    within = source.as_strided(index_sizes, source.stride())
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        include = random.random() < 0.5
        if reduce == "prod" and not dtype.is_floating_point:
            continue
        if not dtype.is_floating_point and reduce == "mean" and dtype in (torch.uint8, torch.int8):
            continue
        expected = tensor.scatter_reduce(dim, index, within, reduce, include_self=include)
        out = torch.empty(0, dtype=dtype, device=device)
        out = torch.empty_strided(expected.shape, expected.stride(), dtype=dtype, device=device)
        check.compare("scatter_reduce_two_out", [out, tensor, Int(dim), index, source, reduce, include], [expected],
                      out=out)
    # Each place once, so that the result does not depend on the order.
    index_sizes[dim] = random.randint(1, sizes[dim])
    index = torch.rand(index_sizes[:dim] + [sizes[dim]] + index_sizes[dim + 1:], device=device).argsort(dim)
    index = index.narrow(dim, 0, index_sizes[dim])
    source = values([size + random.randint(0, 2) for size in index_sizes], dtype, device)
    out = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype, device=device)
    expected = torch.scatter(tensor, dim, index, source)
    check.compare("scatter_src_out", [out, tensor, Int(dim), index, source], [expected], out=out, strides=False)
    out = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype, device=device)
    expected = torch.scatter(tensor, dim, index, 3)
    check.compare("scatter_value_out", [out, tensor, Int(dim), index, 3.0], [expected], out=out, strides=False)


def check_index_reduce(check, device):
    dtype = random.choice(FLOATS)
    sizes = shape()
    dim = random.randrange(len(sizes))
    source_sizes = list(sizes)
    source_sizes[dim] = random.randint(1, 8)
    tensor, source = values(sizes, dtype, device, small=True), values(source_sizes, dtype, device, small=True)
    index = indices(sizes[dim], [source_sizes[dim]], device)
    for reduce in ("prod", "mean", "amax", "amin"):
        include = random.random() < 0.5
        expected = torch.index_reduce(tensor, dim, index, source, reduce, include_self=include)
        check.compare("index_reduce", [tensor, Int(dim), index, source, reduce, include], [expected], strides=False)


def advanced(sizes, device):
    """Random indices of a tensor: lists, masks, and dimensions without any."""
    chosen, dim, common = [], 0, shape(rank=random.randint(1, 2), most=6)
    mask_is_in = False
    while dim < len(sizes):
        kind = random.random()
        if kind < 0.35:
            chosen.append(None)
        elif kind < 0.45 and not mask_is_in and not any(one is not None for one in chosen):
            mask = torch.rand(sizes[dim], device=device) < 0.6
            mask[0] = True
            chosen.append(mask)
            common = [int(mask.sum())]
            mask_is_in = True
        else:
            own = [1 if random.random() < 0.2 else size for size in common]
            chosen.append(indices(sizes[dim], own, device, random.choice([torch.int64, torch.int64, torch.int32]),
                                  negative=True))
        dim += 1
    if all(one is None for one in chosen):
        chosen[-1] = indices(sizes[-1], common, device, negative=True)
    while chosen[-1] is None:
        chosen.pop()
    return chosen


def check_index(check, device):
    dtype = random.choice(REALS + [torch.bool, torch.complex64, torch.complex128])
    sizes = shape()
    tensor, chosen = values(sizes, dtype, device), advanced(sizes, device)
    passed = ("pointers", chosen)
    expected = torch.ops.aten.index.Tensor(tensor, chosen)
    check.compare("index_Tensor", [tensor, passed], [expected])
    dtype = random.choice(REALS)
    tensor = values(sizes, dtype, device, small=True)
    expected = torch.ops.aten.index.Tensor(tensor, chosen)
    source = values(list(expected.shape), dtype, device, small=True)
    if random.random() < 0.3:
        source = source[..., :1] if source.dim() else source
    added = torch.ops.aten.index_put(tensor, chosen, source, True)
    check.compare("index_put", [tensor, passed, source, True], [added], strides=False)
    one = torch.full([], 7, dtype=dtype, device=device)
    put = torch.ops.aten.index_put(tensor, chosen, one, False)
    check.compare("index_put", [tensor, passed, one, False], [put], strides=False)


def check_bags(check, device):
    """Embeddings of bags. Values that differ, so that the largest is one; results without a meaning are not compared."""
    dtype, whole = random.choice(FLOATS), random.choice([torch.int64, torch.int32])
    rows, columns, count = random.randint(1, 9), random.randint(1, 6), random.randint(0, 20)
    bags, last = random.randint(1, 6), random.random() < 0.5
    offsets = [0, *sorted(random.randint(0, count) for _ in range(bags - 1)), *([count] if last else [])]
    offsets = torch.tensor(offsets, dtype=whole, device=device)
    table = (torch.randperm(rows * columns, device=device).reshape(rows, columns) / 4).to(dtype)
    if random.random() < 0.3:
        table = table.t().contiguous().t()
    index = indices(rows, [count], device, whole)
    mode, padding, often = random.randint(0, 2), random.choice([-1, -1, random.randrange(rows)]), random.random() < 0.5
    factors = values([count], dtype, device) if mode == 0 and random.random() < 0.5 else None
    passed = [table, index, offsets, often, Int(mode), False, Optional(None, factors), last, Int(padding)]
    called = [table, index, offsets, often, mode, False, factors, last, padding]
    whole_result = torch.ops.aten._embedding_bag(*called)
    # On a device PyTorch leaves the size of the bag behind the last one as it was in memory.
    known = 2 if device == "cuda" and last else 2 + mode
    check.compare("_embedding_bag", passed, whole_result[:known], results=4)
    expected = torch.ops.aten._embedding_bag_forward_only(*called)
    check.compare("_embedding_bag_forward_only", passed, expected[:1], results=4)
    # PyTorch's sums on the CPU leave the bag of each index out, and make it before the gradient.
    bag_of_index = torch.searchsorted(offsets[:bags], torch.arange(count, device=device, dtype=whole), right=True) - 1
    bag_of_index, sizes, largest = bag_of_index.to(whole), whole_result[2], whole_result[3]
    gradient = values([bags, columns], dtype, device).contiguous()
    made = torch.ops.aten._embedding_bag_dense_backward(
        gradient, index, bag_of_index, sizes, largest, rows, False, mode, factors, padding)
    if often and mode != 2:
        # PyTorch's kernel on the CPU divides by the number of another index. The sum is linear in rows of the table.
        made = made / torch.bincount(index, minlength=rows).clamp(min=1)[:, None]
        made = made.to(dtype)
    check.compare("_embedding_bag_dense_backward",
                  [gradient, index, bag_of_index, sizes, largest, Int(rows), often, Int(mode), Optional(None, factors),
                   Int(padding)], [made])
    if mode == 0 and dtype in (torch.float32, torch.float64):
        places = [gradient, table, index, offsets, bag_of_index]
        made = torch.ops.aten._embedding_bag_per_sample_weights_backward(*places, mode, padding)
        check.compare("_embedding_bag_per_sample_weights_backward", [*places, Int(mode), Int(padding)], [made])


FAMILIES = [check_scatter, check_index_reduce, check_index, check_bags]
