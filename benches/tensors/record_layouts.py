#!/usr/bin/env python3
"""Records how results of PyTorch lie in memory, for tests/golden/tensor/layouts.json.lzma.

    record_layouts.py FILE [CASES]

Inputs have dimensions of one element, with strides of every kind, orders of dimensions such as channels_last, and gaps.
PyTorch runs on the CPU. There it converts operands before it looks at how they lie; on a device it does not. Where that
makes a difference, `device_stride` holds how the result lies on a device: as that of operands that need no conversion.
"""

import json
import lzma
import math
import random
import sys

import torch

FORMATS = {
    0: torch.preserve_format,
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
}
# Operations that convert their operands to one type.
CONVERTS = ("sqrt", "add", "mul", "minimum", "eq", "lt")
BY_RANK = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def strides_in(sizes, order):
    """The strides of dense elements; the last dimension of `order` is the innermost."""
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return strides


class Recorder:
    def __init__(self, seed):
        self.random, self.cases = random.Random(seed), []

    def sizes(self):
        draw = self.random
        rank = draw.choice([2, 3, 4, 4, 4, 4, 5])
        sizes = [draw.choice([1, 1, 2, 3, 5]) for _ in range(rank)]
        if draw.random() < 0.06:
            sizes[draw.randrange(rank)] = 0
        return sizes

    def strides(self, sizes):
        """An order of dimensions, often a usual one; dimensions of one element may have any stride."""
        draw, rank = self.random, len(sizes)
        order = list(range(rank))
        if draw.random() < 0.6:
            order = list(BY_RANK.get(rank, order))
        elif draw.random() < 0.5:
            draw.shuffle(order)
        strides = strides_in(sizes, order)
        if draw.random() < 0.15:
            dim = draw.randrange(rank)
            wide = list(sizes)
            wide[dim] += 1
            strides = strides_in(wide, order)
        if draw.random() < 0.08:
            strides[draw.randrange(rank)] = 0
        if draw.random() < 0.6:
            for dim in range(rank):
                if sizes[dim] == 1 and draw.random() < 0.6:
                    strides[dim] = draw.choice([0, 1, 2, 3, 7, 15, 100, draw.choice(strides)])
        return strides

    def tensor(self, sizes, strides, dtype=torch.float32):
        extent = 1 + sum(max(size - 1, 0) * stride for size, stride in zip(sizes, strides))
        # Numbers whose roots are whole.
        memory = torch.tensor([self.random.choice([0, 1, 1, 4]) for _ in range(extent)]).to(dtype)
        return memory.as_strided(sizes, strides)

    def dtype(self):
        return self.random.choice([torch.float32, torch.float32, torch.float32, torch.int64, torch.float64, torch.bool])

    def like(self, first):
        """An operand for the same elements: alike, in another order, or with dimensions that are repeated."""
        draw, sizes = self.random, list(first.shape)
        kind = draw.randrange(5)
        if kind < 2:
            return self.tensor(sizes, list(first.stride()), self.dtype())
        if kind == 2:
            return self.tensor(sizes, self.strides(sizes), self.dtype())
        if kind == 3:
            return self.tensor([], [], self.dtype())
        sizes = [1 if draw.random() < 0.4 else size for size in sizes][draw.choice([0, 0, 0, 1]) :]
        return self.tensor(sizes, self.strides(sizes), self.dtype())

    def case(self):
        draw = self.random
        sizes = self.sizes()
        rank = len(sizes)
        first = self.tensor(sizes, self.strides(sizes), self.dtype())
        dim = draw.randrange(rank)
        ops = {
            "neg": lambda: ({}, [first.float()], lambda x: -x),
            "sqrt": lambda: ({}, [first], torch.sqrt),
            "logical_not": lambda: ({}, [first], torch.logical_not),
            "clamp": lambda: ({"min": 1, "max": 3}, [first.float()], lambda x: x.clamp(1, 3)),
            "where": lambda: ({}, [first.bool(), self.like(first), self.like(first)], torch.where),
            "cumsum": lambda: ({"dim": dim}, [first], lambda x: x.cumsum(dim)),
            "softmax": lambda: ({"dim": dim}, [first.float()], lambda x: x.softmax(dim)),
            "cat": lambda: self.joined(first, dim, "cat"),
            "stack": lambda: self.joined(first, dim, "stack"),
            "index_select": lambda: self.selected(first, dim),
            "sort": lambda: self.sorted(first, dim),
            "nonzero": lambda: ({}, [first], torch.nonzero),
            "to": lambda: self.converted(first),
            "clone": lambda: self.formatted(first, lambda x, f: x.clone(memory_format=f), (0, 1, 2, 3)),
            "contiguous": lambda: self.formatted(first, lambda x, f: x.contiguous(memory_format=f), (1, 2, 3)),
            "full_like": lambda: self.formatted(first, filled_with_ones, (0, 1, 2, 3)),
        }
        for name in ("sum", "mean", "amax"):
            ops[name] = lambda name=name: self.reduced(first, dim, name)
        for name in ("add", "mul", "minimum", "eq", "lt"):
            ops[name] = lambda name=name: self.binary(first, name)
        name = draw.choice(list(ops) + ["add", "mul", "where", "neg"] * 4)
        attrs, inputs, function = ops[name]()
        self.record(name, attrs, inputs, function)

    def binary(self, first, name):
        if self.random.random() < 0.2:
            return {"scalar": 2}, [first], lambda x: getattr(torch, name)(x, 2)
        second = self.like(first)
        pair = [second, first] if self.random.random() < 0.3 else [first, second]
        return {}, pair, getattr(torch, name)

    def reduced(self, first, dim, name):
        keep = self.random.random() < 0.5
        return {"dim": dim, "keepdim": keep}, [first.float()], lambda x: getattr(torch, name)(x, dim, keepdim=keep)

    def joined(self, first, dim, name):
        parts = [first]
        for _ in range(self.random.randrange(3)):
            sizes = list(first.shape)
            if name == "cat":
                sizes[dim] = self.random.choice([1, 2, sizes[dim]])
            same = sizes == list(first.shape) and self.random.random() < 0.6
            parts.append(self.tensor(sizes, list(first.stride()) if same else self.strides(sizes), first.dtype))
        return {"dim": dim}, parts, lambda *parts: getattr(torch, name)(parts, dim)

    def selected(self, first, dim):
        count = first.shape[dim]
        places = [self.random.randrange(count) for _ in range(self.random.choice([1, 2, 4]))] if count else []
        index = torch.tensor(places, dtype=torch.int64)
        return {"dim": dim}, [first, index], lambda x, index: x.index_select(dim, index)

    def sorted(self, first, dim):
        attrs = {"dim": dim, "descending": False, "stable": True}
        return attrs, [first], lambda x: x.sort(dim=dim, stable=True)

    def converted(self, first):
        dtype = self.dtype()
        return {"dtype": str(dtype).removeprefix("torch.")}, [first], lambda x: x.to(dtype)

    def formatted(self, first, function, formats):
        number = self.random.choice([f for f in formats if f < 2 or first.dim() == (4 if f == 2 else 5)])
        return {"format": number}, [first], lambda x: function(x, FORMATS[number])

    def record(self, name, attrs, inputs, function):
        described = [describe(tensor) for tensor in inputs]
        try:
            results = function(*inputs)
        except Exception as error:
            # Only layouts are of interest.
            print(f"left out: {name}: {str(error).splitlines()[0]}", file=sys.stderr)
            return
        results = results if isinstance(results, tuple) else [results]
        outputs = [describe(result) for result in results]
        if name in CONVERTS:
            strides = function(*map(as_float, inputs)).stride()
            if strides != results[0].stride():
                outputs[0]["device_stride"] = list(strides)
        self.cases.append({"op": name, "attrs": attrs, "inputs": described, "outputs": outputs})


def filled_with_ones(tensor, format):
    return torch.full_like(tensor, 1, memory_format=format)


def as_float(tensor):
    """A tensor of another type that lies in the same way."""
    extent = 1 + sum(max(size - 1, 0) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return torch.zeros(extent).as_strided(tensor.shape, tensor.stride())


def describe(tensor):
    values = [number(value) for value in tensor.double().reshape(-1).tolist()]
    dtype = str(tensor.dtype).removeprefix("torch.")
    return {"dtype": dtype, "size": list(tensor.shape), "stride": list(tensor.stride()), "values": values}


def number(value):
    if not math.isfinite(value):
        return str(value)
    is_whole = value == int(value) and math.copysign(1, value) > 0
    return int(value) if is_whole else value


def classified(tensor):
    """What PyTorch says about how a tensor lies."""
    formats = [number for number in (1, 2, 3) if number == 1 or tensor.dim() == number + 2]
    return {
        "size": list(tensor.shape),
        "stride": list(tensor.stride()),
        "is_dense": torch.ops.aten.is_non_overlapping_and_dense(tensor),
        "contiguous_as": [number for number in formats if tensor.is_contiguous(memory_format=FORMATS[number])],
    }


def main():
    recorder = Recorder(35)
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    while len(recorder.cases) < wanted:
        recorder.case()
    tensors = [recorder.tensor(sizes, recorder.strides(sizes)) for sizes in (recorder.sizes() for _ in range(400))]
    recording = {"torch": torch.__version__, "cases": recorder.cases, "classified": [classified(x) for x in tensors]}
    text = json.dumps(recording, separators=(",", ":"))
    with open(sys.argv[1], "wb") as file:
        file.write(lzma.compress(text.encode(), format=lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(recorder.cases)} cases of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
