#!/usr/bin/env python3
"""Compares views, fills, items, comparisons, convolutions and transforms of random tensors with PyTorch's, on the CPU, and
on a GPU where there is one.

    check_torch_views.py [CASES] [SEED]

A case makes up to five views one from the other; sizes, strides, offsets and elements must be PyTorch's, and what PyTorch
refuses must be refused. Ends in one line: `views CASES cases, N wrong`.
"""

import ctypes
import random
import sys
import warnings
from ctypes import c_bool, c_double, c_int32, c_int64, c_size_t

import torch

from tensors import CPU, Failure, Library, numbers, options, scalar

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
OTHERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64]
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError)
TOLERANCE = {torch.float64: 1e-11, torch.complex128: 1e-11, torch.float16: 2e-2, torch.bfloat16: 8e-2}
END = (1 << 63) - 1


def name(dtype):
    return str(dtype).removeprefix("torch.")


class Cases:
    def __init__(self, library, seed):
        self.library, self.random, self.device = library, random.Random(seed), "cpu"

    def over(self, tensor):
        return self.library.over(tensor, tensor.device.index or 0 if tensor.is_cuda else CPU)

    def sizes(self):
        draw = self.random
        sizes = [draw.choice([1, 2, 3, 4, 6, 8]) for _ in range(draw.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
        if sizes and draw.random() < 0.05:
            sizes[draw.randrange(len(sizes))] = 0
        return sizes

    def values(self, sizes, dtype):
        drawn = torch.randint(0, 2 if dtype == torch.bool else 100, sizes)
        return drawn.to(dtype).to(self.device)

    def dim(self, rank):
        if self.random.random() < 0.03:
            return rank + self.random.choice([0, 1, 5])
        return self.random.randint(-max(rank, 1), max(rank, 1) - 1)

    def regrouped(self, count):
        """Sizes of as many elements, or now and then of another number; one may be left to be found."""
        draw, sizes = self.random, []
        while count > 1 and len(sizes) < 4:
            part = draw.choice([size for size in range(1, count + 1) if count % size == 0])
            sizes.append(part)
            count //= part
        sizes.append(count if draw.random() < 0.97 else count + 1)
        if draw.random() < 0.3:
            sizes[draw.randrange(len(sizes))] = -1
        if draw.random() < 0.2:
            sizes.insert(draw.randint(0, len(sizes)), 1)
        return sizes

    # Each returns PyTorch's function of a tensor and the library's; results are tensors or lists of them.

    def view(self, tensor):
        sizes = self.regrouped(tensor.numel())
        return self.shaped("view", sizes, lambda t: t.view(sizes))

    def reshape(self, tensor):
        sizes = self.regrouped(tensor.numel())
        return self.shaped("reshape", sizes, lambda t: t.reshape(sizes))

    def shaped(self, function, values, theirs):
        return theirs, lambda t: self.library.tensor(function, t, numbers(values), c_size_t(len(values)))

    def expand(self, tensor):
        sizes = [self.random.choice([-1, size, size if size != 1 else 3]) for size in tensor.shape]
        sizes = [self.random.choice([1, 2])] * self.random.choice([0, 0, 1]) + sizes
        return self.shaped("expand", sizes, lambda t: t.expand(sizes))

    def permute(self, tensor):
        dims = list(range(tensor.dim()))
        self.random.shuffle(dims)
        dims = [dim - tensor.dim() if self.random.random() < 0.3 else dim for dim in dims]
        if dims and self.random.random() < 0.05:
            dims[0] = dims[-1]
        return self.shaped("permute", dims, lambda t: t.permute(dims))

    def squeeze(self, tensor):
        if self.random.random() < 0.3:
            return lambda t: t.squeeze(), lambda t: self.library.tensor("squeeze", t, None, c_size_t(0))
        dims = tuple(self.dim(tensor.dim()) for _ in range(self.random.choice([1, 1, 2])))
        return self.shaped("squeeze", dims, lambda t: t.squeeze(dims))

    def unsqueeze(self, tensor):
        dim = self.random.randint(-tensor.dim() - 1, tensor.dim())
        return lambda t: t.unsqueeze(dim), lambda t: self.library.tensor("unsqueeze", t, c_int64(dim))

    def narrow(self, tensor):
        dim = self.dim(tensor.dim())
        size = tensor.shape[dim] if -tensor.dim() <= dim < tensor.dim() else 1
        start = self.random.randint(0, size)
        length = self.random.randint(0, size - start) + (self.random.random() < 0.05)
        return (lambda t: t.narrow(dim, start, length),
                lambda t: self.library.tensor("narrow", t, c_int64(dim), c_int64(start), c_int64(length)))

    def slice(self, tensor):
        dim, draw = self.dim(tensor.dim()), self.random
        start, end = draw.randint(-9, 9), draw.choice([END, draw.randint(-9, 9)])
        step = draw.choice([1, 1, 2, 3, 0])
        return (lambda t: torch.ops.aten.slice(t, dim, start, end, step),
                lambda t: self.library.tensor("slice", t, *map(c_int64, (dim, start, end, step))))

    def select(self, tensor):
        dim = self.dim(tensor.dim())
        size = tensor.shape[dim] if -tensor.dim() <= dim < tensor.dim() else 1
        index = self.random.randint(-size, max(size - 1, 0)) + size * (self.random.random() < 0.03)
        return (lambda t: t.select(dim, index),
                lambda t: self.library.tensor("select", t, c_int64(dim), c_int64(index)))

    def transpose(self, tensor):
        first, second = self.dim(tensor.dim()), self.dim(tensor.dim())
        return (lambda t: t.transpose(first, second),
                lambda t: self.library.tensor("transpose", t, c_int64(first), c_int64(second)))

    def flatten(self, tensor):
        start, end = self.dim(tensor.dim()), self.dim(tensor.dim())
        return (lambda t: t.flatten(start, end),
                lambda t: self.library.tensor("flatten", t, c_int64(start), c_int64(end)))

    def unflatten(self, tensor):
        dim = self.dim(tensor.dim())
        size = tensor.shape[dim] if -tensor.dim() <= dim < tensor.dim() else 1
        sizes = self.regrouped(size)
        return (lambda t: t.unflatten(dim, sizes),
                lambda t: self.library.tensor("unflatten", t, c_int64(dim), numbers(sizes), c_size_t(len(sizes))))

    def diagonal(self, tensor):
        offset, first, second = self.random.randint(-4, 4), self.dim(tensor.dim()), self.dim(tensor.dim())
        return (lambda t: t.diagonal(offset, first, second),
                lambda t: self.library.tensor("diagonal", t, *map(c_int64, (offset, first, second))))

    def as_strided(self, tensor):
        draw = self.random
        sizes = [draw.randint(0, 4) for _ in range(draw.randint(0, 3))]
        strides, offset = [draw.randint(0, 3) for _ in sizes], draw.randint(0, 6)
        return (lambda t: t.as_strided(sizes, strides, offset),
                lambda t: self.library.tensor("as_strided", t, numbers(sizes), numbers(strides), c_size_t(len(sizes)),
                                              c_int64(offset)))

    def pieces(self, tensor):
        draw, dim = self.random, self.dim(tensor.dim())
        kind = draw.choice(["chunk", "split", "unbind", "split_with_sizes"])
        if kind == "unbind":
            return lambda t: list(t.unbind(dim)), lambda t: self.library.several("unbind", t, c_int64(dim))
        if kind == "split_with_sizes":
            size = tensor.shape[dim] if -tensor.dim() <= dim < tensor.dim() else 1
            first = draw.randint(0, size)
            sizes = [first, size - first + (draw.random() < 0.05)]
            return (lambda t: list(t.split_with_sizes(sizes, dim)),
                    lambda t: self.library.several(kind, t, numbers(sizes), c_size_t(2), c_int64(dim)))
        count = draw.randint(1, 4) if draw.random() < 0.95 else 0
        return (lambda t: list(getattr(t, kind)(count, dim)),
                lambda t: self.library.several(kind, t, c_int64(count), c_int64(dim)))

    # A case is a list of pairs of results, or words.

    def views(self):
        theirs = self.values(self.sizes(), self.random.choice(FLOATS + OTHERS))
        ours, done = self.over(theirs), []
        kinds = [self.view, self.reshape, self.expand, self.permute, self.squeeze, self.unsqueeze, self.narrow,
                 self.slice, self.select, self.transpose, self.flatten, self.unflatten, self.diagonal,
                 self.as_strided, self.pieces]
        for _ in range(self.random.randint(1, 5)):
            kind = self.random.choice(kinds)
            at = f"{kind.__name__} of {list(theirs.shape)} strides {list(theirs.stride())}"
            both = self.both(at, *kind(theirs), theirs, ours)
            if isinstance(both, str):
                return both
            if both is None:
                continue
            done.append(at)
            lists = [side if isinstance(side, list) else [side] for side in both]
            if len(lists[0]) != len(lists[1]):
                return f"{at}: {len(lists[1])} pieces, not {len(lists[0])}"
            for one, other in zip(*lists):
                words = self.difference(one, other)
                if words:
                    return f"{' then '.join(done)}: {words}"
            if not lists[0]:
                return None
            place = self.random.randrange(len(lists[0]))
            theirs, ours = lists[0][place], lists[1][place]
        return None

    def both(self, at, theirs, ours, tensor, over):
        refused = refusal = None
        try:
            expected = theirs(tensor)
        except REFUSALS as error:
            refused = str(error).splitlines()[0]
        try:
            found = ours(over)
        except Failure as error:
            refusal = str(error)
        if (refused is None) != (refusal is None):
            return f"{at}: refused {refusal!r}, PyTorch: {refused!r}"
        return None if refused is not None else (expected, found)

    def difference(self, theirs, ours, tolerance=None):
        if ours.dtype != name(theirs.dtype) or ours.shape != list(theirs.shape):
            return f"{ours.dtype} {ours.shape}, not {name(theirs.dtype)} {list(theirs.shape)}"
        if theirs.numel() and tolerance is None:
            if ours.stride != list(theirs.stride()):
                return f"strides {ours.stride}, not {list(theirs.stride())}"
        # Elements of a view may share memory, which those of a copy never do.
        copy = self.library.tensor("clone", ours, 1).to_torch(torch, self.device)
        equal = torch.equal(copy, theirs) if tolerance is None else torch.allclose(
            copy, theirs, rtol=tolerance, atol=tolerance * max(theirs.abs().max().item() if theirs.numel() else 0, 1))
        return None if equal else f"elements {copy.flatten()[:6].tolist()}, not {theirs.flatten()[:6].tolist()}"

    def fills(self):
        dtype, value = self.random.choice(FLOATS + OTHERS), self.random.choice([0, 1, 7, 2.5, True])
        theirs, mine = (self.values(self.sizes(), dtype) for _ in range(2))
        mine = theirs.clone()
        step = self.random.choice([1, 2])
        parts = [t[::step] if t.dim() else t for t in (theirs, mine)]
        parts[0].fill_(value)
        over = self.over(parts[1])
        self.library.call("tensor_fill", over, scalar(value))
        words = self.difference(theirs, self.over(mine))
        if words:
            return f"fill_ {value} of {name(dtype)}: {words}"
        number = CPU if self.device == "cpu" else 0
        full = self.library.tensor("full", numbers(theirs.shape), c_size_t(theirs.dim()), scalar(value),
                                   options(name(dtype), number))
        words = self.difference(torch.full(theirs.shape, value, dtype=dtype, device=self.device), full)
        like = self.library.tensor("full_like", self.over(theirs.t() if theirs.dim() == 2 else theirs), scalar(value),
                                   options(None, -1))
        words = words or self.difference(torch.full_like(theirs.t() if theirs.dim() == 2 else theirs, value), like)
        return words and f"full {value} of {name(dtype)}: {words}"

    def items(self):
        tensor = self.values([1] * self.random.randint(0, 3), self.random.choice(FLOATS + OTHERS))
        place = type(scalar(0)._obj)()
        self.library.call("tensor_item", self.over(tensor), ctypes.byref(place))
        ours = {0: place.integer, 1: place.real, 2: bool(place.integer)}.get(place.kind,
                                                                            complex(place.real, place.imaginary))
        theirs = tensor.item()
        return None if ours == theirs and type(ours) is type(theirs) else f"item {ours!r}, not {theirs!r}"

    def comparisons(self):
        dtype = self.random.choice(FLOATS)
        first = self.values(self.sizes(), dtype)
        second = first.clone()
        if second.numel() and self.random.random() < 0.6:
            second.view(-1)[self.random.randrange(second.numel())] += self.random.choice([1e-6, 0.01, 1, float("nan")])
        if self.random.random() < 0.2 and second.numel():
            first.view(-1)[0] = second.view(-1)[0] = float("nan")
        nan = self.random.random() < 0.5
        answer = c_bool()
        self.library.call("tensor_equal", self.over(first), self.over(second), ctypes.byref(answer))
        if answer.value != torch.equal(first, second):
            return f"equal {answer.value} of {first.flatten().tolist()} and {second.flatten().tolist()}"
        self.library.call("tensor_allclose", self.over(first), self.over(second), c_double(1e-4), c_double(1e-5),
                          c_bool(nan), ctypes.byref(answer))
        theirs = torch.allclose(first, second, 1e-4, 1e-5, nan)
        return None if answer.value == theirs else f"allclose {answer.value}, not {theirs}"

    def convolutions(self):
        draw, spatial = self.random, self.random.choice([1, 2, 2, 3])
        dtype = draw.choice([torch.float32, torch.float64])
        groups = draw.choice([1, 1, 2])
        channels, out = groups * draw.randint(1, 3), groups * draw.randint(1, 3)
        kernel = [draw.randint(1, 3) for _ in range(spatial)]
        dilation, stride, padding = ([draw.randint(*range_of) for _ in range(spatial)]
                                     for range_of in ((1, 2), (1, 2), (0, 2)))
        sizes = [draw.randint(k * d, 9) for k, d in zip(kernel, dilation)]
        tensor = torch.randn([draw.randint(1, 3), channels, *sizes], dtype=dtype, device=self.device)
        weight = torch.randn([out, channels // groups, *kernel], dtype=dtype, device=self.device)
        bias = torch.randn([out], dtype=dtype, device=self.device) if draw.random() < 0.5 else None
        function = getattr(torch.nn.functional, f"conv{spatial}d")
        theirs = function(tensor, weight, bias, stride, padding, dilation, groups)
        ours = self.library.tensor("convolution", self.over(tensor), self.over(weight),
                                   None if bias is None else self.over(bias), *map(numbers, (stride, padding, dilation)),
                                   c_size_t(spatial), c_int64(groups))
        words = self.difference(theirs, ours, TOLERANCE.get(dtype, 1e-5))
        return words and f"convolution of {list(tensor.shape)} with {list(weight.shape)}: {words}"

    def transforms(self):
        draw = self.random
        sizes = [draw.choice([1, 2, 3, 4, 5, 8, 12, 30]) for _ in range(draw.randint(1, 4))]
        dims = draw.sample(range(len(sizes)), draw.randint(1, min(3, len(sizes))))
        kind, inverse = draw.choice([0, 1, 2]), draw.random() < 0.5
        inverse = {1: False, 2: True}.get(kind, inverse)
        norm, number = draw.choice([("backward", 2 if inverse else 0), ("ortho", 1), ("forward", 0 if inverse else 2)])
        real = draw.choice([torch.float32, torch.float64])
        tensor = torch.randn(sizes, dtype=real, device=self.device)
        if kind != 1:
            tensor = torch.complex(tensor, torch.randn_like(tensor))
        function = {(0, False): torch.fft.fftn, (0, True): torch.fft.ifftn, (1, False): torch.fft.rfftn,
                    (2, True): torch.fft.irfftn}[kind, inverse]
        at = f"transform {kind} {norm} of {sizes} along {dims}"
        both = self.both(at, lambda t: function(t, dim=dims, norm=norm),
                         lambda t: self.library.tensor("fft", t, c_int32(kind), c_int32(int(inverse)), c_int32(number),
                                                       numbers(dims), c_size_t(len(dims)), c_int64(-1)),
                         tensor, self.over(tensor))
        if not isinstance(both, tuple):
            return both
        words = self.difference(*both, TOLERANCE.get(both[0].dtype, 2e-5))
        return words and f"{at}: {words}"

    def draw(self):
        kinds = [self.views] * 12 + [self.fills, self.items, self.comparisons, self.convolutions, self.transforms]
        return self.random.choice(kinds)()


def main():
    warnings.filterwarnings("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.manual_seed(seed)
    torch.backends.cudnn.allow_tf32 = False
    cases, wrong = Cases(Library(), seed), 0
    for switch in ("cublas", "cudnn"):
        getattr(cases.library.shared, f"sconce_context_set_allow_tf32_{switch}")(c_bool(False))
    devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
    for index in range(count):
        cases.device = devices[index % len(devices)]
        words = cases.draw()
        if words:
            wrong += 1
            if wrong <= 20:
                print(f"case {index} on {cases.device}: {words}"[:800])
    print(f"views {count} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
