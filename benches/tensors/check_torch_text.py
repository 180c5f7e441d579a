#!/usr/bin/env python3
"""Compares the text of random tensors with PyTorch's, character by character, on the CPU and on a GPU where there is one.

    check_torch_text.py [CASES]

Numbers of all sizes, infinities, zeros, empty and large tensors, views with strides. Ends in one line:
`texts N compared, M wrong`.
"""

import ctypes
import random
import sys

import torch

from tensors import CPU, Library

REALS = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex32, torch.complex64, torch.complex128]
KINDS = ["plain", "whole", "large", "small", "mixed", "special", "zeros", "large whole"]


def reals(draw, sizes):
    """Doubles of one kind."""
    kind, drawn = draw.choice(KINDS), torch.randn(sizes, dtype=torch.float64)
    if kind == "whole":
        return (drawn * 10).round()
    if kind == "large":
        return drawn * 10.0 ** draw.randint(3, 12)
    if kind == "small":
        return drawn * 10.0 ** -draw.randint(3, 12)
    if kind == "mixed":
        return drawn * torch.pow(10.0, torch.randint(-5, 6, sizes).double())
    if kind == "zeros":
        return drawn * 0
    if kind == "large whole":
        return (drawn * 10).round() * 10.0 ** draw.randint(3, 9)
    if kind == "special":
        special = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 1.0], dtype=torch.float64)
        return torch.where(torch.rand(sizes) < 0.4, special[torch.randint(0, len(special), sizes)], drawn)
    return drawn


def elements(draw, dtype, sizes):
    if dtype == torch.bool:
        return torch.rand(sizes) < 0.5
    if dtype in COMPLEX:
        return torch.complex(reals(draw, sizes), reals(draw, sizes)).to(dtype)
    if dtype in REALS:
        return reals(draw, sizes).to(dtype)
    range_of, most = torch.iinfo(dtype), draw.choice([10, 1000, 10**6, 10**12])
    return torch.randint(max(range_of.min, -most), min(range_of.max, most), sizes, dtype=torch.int64).to(dtype)


def sizes_of(draw):
    sizes = [draw.choice([0, 1, 2, 3, 4, 5, 7]) for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4]))]
    if sizes and draw.random() < 0.1:
        sizes[draw.randrange(len(sizes))] = draw.choice([40, 400, 1200])
    return sizes


def view(draw, tensor):
    if tensor.dim() > 1 and draw.random() < 0.3:
        tensor = tensor.transpose(0, draw.randrange(1, tensor.dim()))
    if tensor.dim() and draw.random() < 0.2:
        tensor = tensor[::2]
    return tensor


def text_of(library, tensor):
    over = library.over(tensor, tensor.device.index if tensor.is_cuda else CPU)
    place = ctypes.c_char_p()
    library.call("tensor_to_string", over, ctypes.byref(place))
    text = place.value.decode()
    library.shared.sconce_string_free(place)
    return text


def main():
    draw, library, compared, wrong = random.Random(7), Library(), 0, 0
    torch.manual_seed(7)
    devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3000):
        dtype = draw.choice(REALS + INTEGERS + COMPLEX + [torch.bool])
        tensor = view(draw, elements(draw, dtype, sizes_of(draw)).to(draw.choice(devices)))
        try:
            theirs = str(tensor)
        except (RuntimeError, NotImplementedError):
            continue  # PyTorch has no arithmetic of this type there, which it prints with.
        compared += 1
        ours = text_of(library, tensor)
        if ours != theirs:
            wrong += 1
            if wrong <= 3:
                print(f"{ours[:400]}\nis PyTorch's\n{theirs[:400]}")
    print(f"texts {compared} compared, {wrong} wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
