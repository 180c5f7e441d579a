#!/usr/bin/env python3
"""Compares random operations on tensors with PyTorch's, on one GPU in one process.

    check_torch.py [CASES] [SEED] [KIND]     KIND: one kind of case, such as unary or sort

Both sides work on the same memory. Types, sizes and strides must be equal, integers and truth values too; floating-point
values within the rounding of their type. Where PyTorch refuses, the library must refuse. Ends in one line:
`tensors CASES cases, N wrong`.
"""

import ctypes
import math
import random
import sys
import warnings

import torch

from tensors import BINARY, LINE, REDUCE, SIZES, UNARY, Failure, Library, numbers, options, scalar

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]
ALL = FLOATS + INTS + [torch.bool] + COMPLEX
ZERO = ctypes.c_size_t(0)


def name(dtype):
    return str(dtype).removeprefix("torch.")


class Cases:
    def __init__(self, library, seed, kind):
        self.library, self.random, self.kind = library, random.Random(seed), kind
        # The tensors that the library's side of a case was given.
        self.inputs = []

    def over(self, tensor):
        self.inputs.append(tensor)
        return self.library.over(tensor, tensor.device.index or 0)

    def sizes(self, rank=None, most=9):
        draw = self.random
        rank = draw.choice([0, 1, 1, 2, 2, 3, 3, 4, 5]) if rank is None else rank
        if draw.random() < 0.05:
            most = 300 if rank < 3 else most
        sizes = [draw.choice([1, 2, 3, draw.randint(1, most)]) for _ in range(rank)]
        if rank and draw.random() < 0.05:
            sizes[draw.randrange(rank)] = 0
        return sizes

    def values(self, sizes, dtype):
        if dtype == torch.bool:
            return torch.randint(0, 2, sizes, device="cuda").bool()
        if dtype.is_floating_point or dtype.is_complex:
            tensor = (torch.randn(sizes, dtype=torch.complex128 if dtype.is_complex else torch.float64, device="cuda") * 4)
            if self.random.random() < 0.15 and tensor.numel() and not dtype.is_complex:
                flat = tensor.view(-1)
                for special in (math.nan, math.inf, -math.inf, 0.0, -0.0):
                    flat[self.random.randrange(flat.numel())] = special
            return tensor.to(dtype)
        low = 0 if dtype == torch.uint8 else -12
        return torch.randint(low, 13, sizes, device="cuda").to(dtype)

    def tensor(self, sizes=None, dtype=None):
        """A tensor in some order in memory, perhaps with gaps or repeated."""
        draw = self.random
        sizes = self.sizes() if sizes is None else sizes
        dtype = draw.choice(ALL) if dtype is None else dtype
        order = list(range(len(sizes)))
        if draw.random() < 0.35:
            draw.shuffle(order)
        stretched = [sizes[i] for i in order]
        steps = [1] * len(sizes)
        if draw.random() < 0.2:
            steps = [draw.choice([1, 2]) for _ in sizes]
        tensor = self.values([size * step for size, step in zip(stretched, steps)], dtype)
        tensor = tensor[tuple(slice(None, None, step) for step in steps)] if sizes else tensor
        tensor = tensor.permute([order.index(i) for i in range(len(sizes))]) if sizes else tensor
        if draw.random() < 0.05 and 1 in sizes:
            tensor = tensor.expand([size if size != 1 or draw.random() < 0.5 else draw.randint(2, 4) for size in sizes])
        return tensor

    def partner(self, sizes):
        """Sizes that are repeated to the others, and now and then do not fit."""
        draw = self.random
        sizes = [size if draw.random() < 0.8 else 1 for size in sizes]
        if draw.random() < 0.02 and sizes:
            sizes[draw.randrange(len(sizes))] += 1
        return sizes[draw.randint(0, len(sizes)):] if draw.random() < 0.2 else sizes

    def number(self):
        return self.random.choice([2, -1, 0, 3, 0.5, -2.5, True, 7])

    def dim(self, tensor):
        if self.random.random() < 0.02:
            return tensor.dim() + 1
        return self.random.randint(-tensor.dim(), tensor.dim() - 1) if tensor.dim() else self.random.choice([0, -1])

    # Each case returns two functions without arguments: PyTorch's and the library's; both return a list of tensors.

    def unary(self):
        operation = self.random.choice(UNARY)
        tensor = self.tensor()
        functions = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu,
                     "gelu_tanh": lambda t: torch.nn.functional.gelu(t, approximate="tanh")}
        function = functions.get(operation) or getattr(torch, operation)
        ours = lambda: self.library.tensor("unary", UNARY.index(operation), self.over(tensor), None)
        return operation, lambda: function(tensor), ours, tensor

    def binary(self):
        operation = self.random.choice(BINARY)
        first = self.tensor()
        number = self.number() if self.random.random() < 0.3 and operation not in ("minimum", "maximum") else None
        same = self.random.random() < 0.5
        second = None if number is not None else self.tensor(self.partner(first.shape), first.dtype if same else None)
        functions = {"trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc")}
        function = functions.get(operation) or getattr(torch, operation)
        other = number if second is None else second
        if operation.startswith("logical_") and second is None:
            other = torch.tensor(number, device="cuda")
        if second is not None and (first.is_complex() or second.is_complex()):
            # A sum multiplies the infinite parts of complex numbers by a factor of 1 there, which makes them NaN.
            first, second = torch.nan_to_num(first), torch.nan_to_num(second)
            other = second
        if operation in ("floor_divide", "trunc_divide", "remainder") and not first.is_floating_point():
            # Whole numbers divided by 0 are no defined value.
            if second is not None:
                second = torch.where(second == 0, torch.ones_like(second), second)
                other = second
            elif number == 0:
                other = number = 3

        def ours():
            a = self.over(first)
            b = None if second is None else self.over(second)
            if operation.startswith("logical_") and second is None:
                b = self.over(other)
                return self.library.tensor("binary", BINARY.index(operation), a, None, b, None, None, None)
            return self.library.tensor("binary", BINARY.index(operation), a, None, b,
                                       scalar(number if b is None else None), None, None)
        return operation, lambda: function(first, other), ours, first

    def clamp(self):
        tensor = self.tensor()
        low, high = self.random.choice([(-1, 2), (None, 1), (-0.5, None), (-0.5, 1.5), (3, 1)])
        ours = lambda: self.library.tensor("clamp", self.over(tensor), None, scalar(low), None, scalar(high))
        return "clamp", lambda: torch.clamp(tensor, low, high), ours, tensor

    def where(self):
        first = self.tensor()
        second = self.tensor(self.partner(first.shape), first.dtype if self.random.random() < 0.7 else None)
        condition = self.tensor(self.partner(first.shape), torch.bool)
        ours = lambda: self.library.tensor("where", self.over(condition), self.over(first), None,
                                           self.over(second), None)
        return "where", lambda: torch.where(condition, first, second), ours, first

    def cast(self):
        tensor = self.tensor()
        to = self.random.choice(ALL)
        if tensor.dtype.is_complex and not to.is_complex:
            to = tensor.dtype
        if (tensor.is_floating_point() or tensor.is_complex()) and not (to.is_floating_point or to.is_complex):
            # What leaves the range of whole numbers is no defined value.
            tensor = torch.nan_to_num(tensor, 1, 2, 3).clamp(0 if to == torch.uint8 else -100, 100) \
                if not tensor.is_complex() else tensor
        ours = lambda: self.library.tensor("to", self.over(tensor), options(name(to)), False, False)
        return "to", lambda: tensor.to(to), ours, tensor

    def reduce(self):
        operation = self.random.choice(REDUCE)
        tensor = self.tensor()
        keep = self.random.random() < 0.5
        whole = self.random.random() < 0.3
        if operation in ("argmax", "argmin", "prod", "all", "any") or tensor.dim() < 2 or self.random.random() < 0.6:
            dims = [] if whole else [self.dim(tensor)]
        else:
            dims = self.random.sample(range(tensor.dim()), self.random.randint(1, tensor.dim()))
        function = getattr(torch, operation)

        def theirs():
            if not dims:
                return function(tensor)
            return function(tensor, dims if operation in ("sum", "mean", "amax", "amin") else dims[0], keepdim=keep)

        def ours():
            return self.library.tensor("reduce", REDUCE.index(operation), self.over(tensor), numbers(dims),
                                       ctypes.c_size_t(len(dims)), ctypes.c_bool(keep and bool(dims)), -1)
        return operation, theirs, ours, tensor

    def along(self):
        operation = self.random.choice(LINE)
        soft = "softmax" in operation
        tensor = self.tensor(dtype=self.random.choice(FLOATS) if soft and self.random.random() < 0.9 else None)
        dim = self.dim(tensor)
        ours = lambda: self.library.tensor("along", LINE.index(operation), self.over(tensor), SIZES(dim), -1)
        return operation, lambda: getattr(torch, operation)(tensor, dim), ours, tensor

    def sort(self):
        tensor = self.tensor()
        dim, descending = self.dim(tensor), self.random.random() < 0.5
        theirs = lambda: list(torch.sort(tensor, stable=True, dim=dim, descending=descending))

        def ours():
            values, indices = ctypes.c_void_p(), ctypes.c_void_p()
            self.library.call("tensor_sort", self.over(tensor), SIZES(dim), ctypes.c_bool(descending),
                              ctypes.byref(values), ctypes.byref(indices))
            from tensors import Tensor
            return [Tensor(self.library, values), Tensor(self.library, indices)]
        return "sort", theirs, ours, tensor

    def index_select(self):
        tensor = self.tensor()
        dim = self.dim(tensor)
        size = tensor.shape[dim] if tensor.dim() and -tensor.dim() <= dim < tensor.dim() else 1
        count = self.random.randint(0, 9) if size and tensor.dim() else min(size, 1)
        kind = self.random.choice([torch.int32, torch.int64])
        index = torch.randint(0, max(size, 1), [count], device="cuda").to(kind)
        ours = lambda: self.library.tensor("index_select", self.over(tensor), SIZES(dim), self.over(index))
        return "index_select", lambda: torch.index_select(tensor, dim, index), ours, tensor

    def join(self):
        operation = self.random.choice(["cat", "cat", "stack"])
        sizes = self.sizes()
        dim = self.random.randrange(-len(sizes), len(sizes)) if sizes else 0
        tensors, dtype = [], self.random.choice(ALL)
        for _ in range(self.random.choice([1, 2, 2, 3, 5, 40])):
            own = list(sizes)
            if operation == "cat" and own:
                own[dim] = self.random.randint(0, 4)
            tensors.append(self.tensor(own, dtype if self.random.random() < 0.9 else None))
        ours = lambda: self.library.joined(operation, [self.over(tensor) for tensor in tensors], dim)
        return operation, lambda: getattr(torch, operation)(tensors, dim), ours, tensors[0]

    def product(self):
        operation = self.random.choice(["matmul", "matmul", "bmm", "addmm"])
        dtype = self.random.choice(FLOATS)
        m, n, k, b = (self.random.choice([1, 2, 3, 5, 16, 33]) for _ in range(4))
        made = lambda sizes: self.tensor(sizes, dtype)
        plain = lambda tensor: torch.nan_to_num(tensor, 1.0, 2.0, -2.0)
        if operation == "bmm":
            first, second = plain(made([b, m, k])), plain(made([b, k, n]))
        elif operation == "addmm":
            first, second = plain(made([m, k])), plain(made([k, n]))
            extra = plain(made(self.random.choice([[m, n], [n], [1, n], [m, 1]])))
            ours = lambda: self.library.tensor("addmm", self.over(extra), self.over(first),
                                               self.over(second), ctypes.c_double(1), ctypes.c_double(1))
            return operation, lambda: torch.addmm(extra, first, second), ours, first
        else:
            left = self.random.choice([[k], [m, k], [b, m, k], [2, b, m, k]])
            right = self.random.choice([[k], [k, n], [b, k, n], [1, k, n]])
            first, second = plain(made(left)), plain(made(right))
        ours = lambda: self.library.tensor(operation, self.over(first), self.over(second))
        return operation, lambda: getattr(torch, operation)(first, second), ours, first

    def clone(self):
        tensor = self.tensor()
        format = self.random.choice([0, 1])
        theirs = torch.preserve_format if format == 0 else torch.contiguous_format
        ours = lambda: self.library.tensor("clone", self.over(tensor), format)
        return "clone", lambda: tensor.clone(memory_format=theirs), ours, tensor

    def sequence(self):
        draw = self.random
        dtype = draw.choice(FLOATS + INTS)
        if draw.random() < 0.3:
            low = 0 if dtype == torch.uint8 else -3
            start, end, steps = draw.uniform(low, 3), draw.uniform(low, 9), draw.randint(0, 40)
            ours = lambda: self.library.tensor("linspace", scalar(start), scalar(end), SIZES(steps), options(name(dtype)))
            return "linspace", lambda: torch.linspace(start, end, steps, dtype=dtype, device="cuda"), ours, None
        start = draw.randint(-3, 3)
        # A step of 0 after rounding makes PyTorch divide by 0.
        step = draw.choice([1, 2, 3, 0.5, 0.1] if dtype.is_floating_point else [1, 2, 3])
        start = abs(start) if dtype == torch.uint8 else start
        end = start + draw.randint(0, 50)
        ours = lambda: self.library.tensor("arange", scalar(start), scalar(end), scalar(step), options(name(dtype)))
        return "arange", lambda: torch.arange(start, end, step, dtype=dtype, device="cuda"), ours, None

    def copy(self):
        first = self.tensor()
        second = self.tensor(self.partner(first.shape))
        if second.dtype.is_complex or second.is_floating_point() and not first.is_floating_point():
            second = second.real if second.dtype.is_complex else second
            second = torch.nan_to_num(second, 1, 2, 3).abs().clamp(0, 100)
        target = first.clone(memory_format=torch.preserve_format)

        def ours():
            copy = torch.empty_strided(target.shape, target.stride(), dtype=target.dtype, device="cuda")
            copy.copy_(first)
            over = self.over(copy)
            over.kept = copy
            self.library.call("tensor_copy", over, self.over(second), ctypes.c_bool(False))
            return over
        return "copy_", lambda: target.clone(memory_format=torch.preserve_format).copy_(second), ours, first

    def outputs(self):
        """A result in a tensor of the caller's: of any strides, another shape or type, or in an operand's memory."""
        operation = self.random.choice(list(OUTPUTS))
        operands, theirs, ours = getattr(self, f"{OUTPUTS[operation]}_to")(operation)
        try:
            plain = theirs(None)
        except (RuntimeError, IndexError, TypeError, NotImplementedError, ValueError):
            plain = torch.empty(0, device="cuda")
        plain = plain[0] if isinstance(plain, tuple) else plain
        dtype = plain.dtype if self.random.random() < 0.7 else self.random.choice(ALL)
        if operation == "mean" and not (dtype.is_floating_point or dtype.is_complex):
            # PyTorch calculates means of whole numbers there, which the library does not have.
            dtype = plain.dtype
        way = self.random.random()
        sizes = plain.shape if way < 0.5 else [0] if way < 0.6 else self.sizes()
        out = self.tensor(sizes, dtype)
        if any(stride == 0 and size > 1 for size, stride in zip(out.shape, out.stride())):
            out = out.clone()
        into = self.library.tensor("empty_strided", numbers(out.shape), numbers(out.stride()),
                                   ctypes.c_size_t(out.dim()), options(name(dtype), 0))
        if way > 0.95 and operands[0].numel() > 1:
            # The operand without its first element, as the output of a result of that size.
            shape = operands[0].shape
            memory = self.values([operands[0].numel() + 1], operands[0].dtype)
            first, out = memory[:-1].view(shape), memory[1:].view(shape)
            whole = self.over(memory)
            part, into = [self.library.tensor("as_strided", whole, numbers(shape), numbers(first.stride()),
                                              ctypes.c_size_t(len(shape)), SIZES(offset)) for offset in (0, 1)]
            operation, theirs = "add", lambda out: torch.add(first, first, out=out)
            ours = lambda into: self.library.call("tensor_binary", 0, part, None, part, None, None, into, None)

        def written():
            ours(into)
            return into

        def expected():
            found = theirs(out)
            return found[0] if isinstance(found, tuple) else found
        return f"{operation} into", expected, written, operands[0]

    # Each returns the operands, PyTorch's function of an output or None, and the library's of an output.

    def pair_to(self, operation):
        first = self.tensor()
        second = self.tensor(self.partner(first.shape))
        operands = [torch.nan_to_num(each, 1, 2, -2) for each in (first, second)]

        def ours(into):
            self.library.call("tensor_binary", BINARY.index(operation), self.over(operands[0]), None,
                              self.over(operands[1]), None, None, into, None)
        return operands, lambda out: getattr(torch, operation)(*operands, out=out), ours

    def one_to(self, operation):
        operands = [self.tensor()]
        ours = lambda into: self.library.call("tensor_unary", UNARY.index(operation), self.over(operands[0]), into,
                                              None)
        return operands, lambda out: getattr(torch, operation)(operands[0], out=out), ours

    def clamp_to(self, operation):
        operands = [self.tensor()]
        ours = lambda into: self.library.call("tensor_clamp_out", self.over(operands[0]), None, scalar(-1), None,
                                              scalar(2), into)
        return operands, lambda out: torch.clamp(operands[0], -1, 2, out=out), ours

    def reduce_to(self, operation):
        tensor, keep = self.tensor(), self.random.random() < 0.5
        if tensor.is_floating_point() or tensor.is_complex():
            # What leaves the range of whole numbers is no defined value.
            tensor = torch.nan_to_num(tensor, 1, 2, -2)
        dim = self.random.randrange(tensor.dim()) if tensor.dim() else 0
        ours = lambda into: self.library.call("tensor_reduce_out", REDUCE.index(operation), self.over(tensor),
                                              numbers([dim]), ctypes.c_size_t(1), ctypes.c_bool(keep), -1, into)
        return [tensor], lambda out: getattr(torch, operation)(tensor, dim, keepdim=keep, out=out), ours

    def along_to(self, operation):
        tensor = self.tensor(dtype=self.random.choice(FLOATS) if operation == "softmax" else None)
        tensor = torch.nan_to_num(tensor, 1, 2, -2)
        dim = self.random.randrange(tensor.dim()) if tensor.dim() else 0
        ours = lambda into: self.library.call("tensor_along_out", LINE.index(operation), self.over(tensor), SIZES(dim),
                                              -1, into)
        return [tensor], lambda out: getattr(torch, operation)(tensor, dim, out=out), ours

    def join_to(self, operation):
        sizes = self.sizes(rank=self.random.randint(1, 4))
        tensors = [self.tensor(sizes) for _ in range(self.random.randint(1, 4))]

        def ours(into):
            handles = (ctypes.c_void_p * len(tensors))()
            made = [self.over(tensor) for tensor in tensors]
            handles[:] = [tensor.handle.value for tensor in made]
            self.library.call(f"tensor_{operation}_out", handles, ctypes.c_size_t(len(tensors)), SIZES(0), into)
        return tensors, lambda out: getattr(torch, operation)(tensors, 0, out=out), ours

    def index_to(self, operation):
        tensor = self.tensor(self.sizes(rank=self.random.randint(1, 4)))
        index = torch.randint(0, max(tensor.shape[0], 1), [5 if tensor.shape[0] else 0], device="cuda")
        ours = lambda into: self.library.call("tensor_index_select_out", self.over(tensor), SIZES(0), self.over(index),
                                              into)
        return [tensor], lambda out: torch.index_select(tensor, 0, index, out=out), ours

    def product_to(self, operation):
        dtype = self.random.choice(FLOATS)
        batch = [3] if operation == "bmm" else []
        operands = [torch.nan_to_num(self.tensor([*batch, *sizes], dtype), 1, 2, -2) for sizes in ([4, 5], [5, 6])]
        extra = torch.nan_to_num(self.tensor([6], dtype), 1, 2, -2)

        def ours(into):
            first, second = map(self.over, operands)
            if operation == "addmm":
                self.library.call("tensor_addmm_out", self.over(extra), first, second, ctypes.c_double(1),
                                  ctypes.c_double(1), into)
            else:
                self.library.call(f"tensor_{operation}_out", first, second, into)
        given = [extra, *operands] if operation == "addmm" else operands
        return operands, lambda out: getattr(torch, operation)(*given, out=out), ours

    def sequence_to(self, operation):
        length = self.random.randint(1, 30)
        ours = {
            "arange": lambda into: self.library.call("tensor_arange_out", scalar(0), scalar(length), scalar(1), into),
            "linspace": lambda into: self.library.call("tensor_linspace_out", scalar(0.0), scalar(9.0), SIZES(length),
                                                       into),
            "eye": lambda into: self.library.call("tensor_eye_out", SIZES(length), SIZES(4), into),
        }[operation]
        given = {"arange": (0, length, 1), "linspace": (0.0, 9.0, length), "eye": (length, 4)}[operation]
        theirs = lambda out: getattr(torch, operation)(*given, **({"device": "cuda"} if out is None else {"out": out}))
        return [torch.zeros(1, device="cuda")], theirs, ours

    def draw(self):
        kinds = [self.outputs, self.outputs, self.outputs, self.unary, self.unary, self.binary, self.binary,
                 self.binary, self.clamp, self.where, self.cast,
                 self.cast, self.reduce, self.reduce, self.along, self.sort, self.index_select, self.join, self.product,
                 self.clone, self.sequence, self.copy]
        chosen = [kind for kind in kinds if self.kind in (None, kind.__name__)]
        self.inputs, self.library.calls = [], []
        return self.random.choice(chosen)()


# The functions of PyTorch with an output, and which kind of case they are.
OUTPUTS = {**{operation: "pair" for operation in ("add", "sub", "mul", "div", "minimum", "lt", "logical_and")},
           **{operation: "one" for operation in ("neg", "abs", "exp", "floor", "logical_not")},
           "clamp": "clamp", **{operation: "reduce" for operation in REDUCE},
           **{operation: "along" for operation in ("softmax", "cumsum")}, "cat": "join", "stack": "join",
           "index_select": "index", "matmul": "product", "bmm": "product", "addmm": "product",
           "arange": "sequence", "linspace": "sequence", "eye": "sequence"}
TOLERANCE = {torch.float64: 1e-12, torch.complex128: 1e-12, torch.float32: 2e-5, torch.complex64: 4e-5,
             torch.float16: 4e-3, torch.bfloat16: 3e-2}


def difference(operation, theirs, ours, inputs):
    """What is different, in words; None if nothing is."""
    if name(theirs.dtype) != ours.dtype:
        return f"dtype {ours.dtype}, not {name(theirs.dtype)}"
    if list(theirs.shape) != ours.shape:
        return f"sizes {ours.shape}, not {list(theirs.shape)}"
    if theirs.numel() and list(theirs.stride()) != ours.stride:
        same = all(size == 1 or one == other for size, one, other in zip(theirs.shape, theirs.stride(), ours.stride))
        if not same:
            return f"strides {ours.stride}, not {list(theirs.stride())}"
    copy = ours.to_torch(torch, "cuda")
    if theirs.dtype in TOLERANCE:
        tolerance = TOLERANCE[theirs.dtype]
        operation = operation.removesuffix(" into")
        if inputs is not None and operation in ("matmul", "bmm", "addmm"):
            tolerance = {torch.float32: 4e-2, torch.float16: 4e-2, torch.bfloat16: 0.2}.get(theirs.dtype, 1e-11)
        if operation in ("cumsum", "cumprod", "sum", "mean", "prod"):
            tolerance *= 10
        if torch.allclose(copy, theirs, rtol=tolerance, atol=tolerance, equal_nan=True):
            return None
        close = torch.isclose(copy, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
        return differences(copy, theirs, ~close)
    if torch.equal(copy, theirs):
        return None
    return differences(copy, theirs, copy != theirs)


def steps(value, dtype):
    """The place of a floating-point number among all of its type, so that neighbours are 1 apart."""
    number = value.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]).item()
    return number if number >= 0 else -(number & ((1 << (8 * dtype.itemsize - 1)) - 1))


def differences(ours, theirs, wrong):
    """The elements that are wrong: how many, and of the first few the place, both values and their distance."""
    places = wrong.nonzero()
    lines = [f"{len(places) if wrong.dim() else 1} of {theirs.numel()} elements are wrong"]
    for place in places[:6].tolist() if wrong.dim() else [[]]:
        one, other = ours[tuple(place)].cpu(), theirs[tuple(place)].cpu()
        pairs = zip(torch.view_as_real(one), torch.view_as_real(other)) if one.is_complex() else [(one, other)]
        apart = [f"{abs(steps(a, a.dtype) - steps(b, b.dtype))} ulp" for a, b in pairs if a.is_floating_point()]
        lines.append(f"at {place}: {one.item()!r}, not {other.item()!r} {' '.join(apart)}")
    return "\n    ".join(lines)


def described(tensor):
    text = f"{name(tensor.dtype)} sizes {list(tensor.shape)} strides {list(tensor.stride())} offset {tensor.storage_offset()}"
    return text if tensor.numel() > 40 else f"{text} values {tensor.tolist()}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.manual_seed(seed)
    # Outputs of other shapes.
    warnings.filterwarnings("ignore")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")
    cases = Cases(Library(), seed, sys.argv[3] if len(sys.argv) > 3 else None)
    cases.library.shared.sconce_context_set_allow_tf32_cublas(ctypes.c_bool(False))
    wrong, counts = 0, {}
    for index in range(count):
        operation, theirs, ours, example = cases.draw()
        refused = refusal = None
        try:
            expected = theirs()
        except (RuntimeError, IndexError, TypeError, NotImplementedError, ValueError) as error:
            expected, refused = None, str(error).splitlines()[0]
            if operation.endswith(" into") and ("Found dtype" in refused or "not implemented for" in refused):
                # The library converts more results to the type of an output, and calculates in more types.
                continue
        try:
            found = ours()
        except Failure as error:
            found, refusal = None, str(error)
        if refused is not None or refusal is not None:
            words = None if (refused is None) == (refusal is None) else f"refused: {refusal!r}, PyTorch: {refused!r}"
        else:
            pairs = zip(expected, found) if isinstance(expected, list) else [(expected, found)]
            words = next(filter(None, (difference(operation, *pair, example) for pair in pairs)), None)
        if words:
            wrong += 1
            counts[operation] = counts.get(operation, 0) + 1
            if counts[operation] <= 10:
                print(f"case {index}: {operation}: {words}")
                for call in cases.library.calls:
                    print(f"    call {call}"[:600])
                for place, tensor in enumerate(cases.inputs):
                    print(f"    input {place}: {described(tensor)}"[:1200])
    print("wrong by operation:", dict(sorted(counts.items())))
    print(f"tensors {count} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
