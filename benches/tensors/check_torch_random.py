#!/usr/bin/env python3
"""Compares random numbers of tensors with PyTorch's: permutations on the GPU, all fills and permutations on the CPU.

    check_torch_random.py [ROUNDS]

Elements must be equal to the bit, and so must the states of the CPU's generators afterwards. Without a GPU the first part
is left out. Ends in one line: `random numbers N compared, M wrong`.
"""

import ctypes
import random
import sys

import torch

from tensors import CPU, SIZES, HANDLE, Library, options

MOST = {torch.uint8: 255, torch.int8: 127, torch.int16: 32767, torch.int32: 1 << 22, torch.int64: 1 << 22,
        torch.float16: 2049, torch.bfloat16: 257, torch.float32: 1 << 22, torch.float64: 1 << 22}
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]
# Of a fill: the types, and how its parameters are drawn.
FILLS = {
    "uniform": (FLOATS + COMPLEX, lambda draw: (draw.uniform(-3, 1), draw.uniform(1, 4))),
    "normal": (FLOATS + COMPLEX, lambda draw: (draw.uniform(-2, 2), draw.choice([0.0, 1.0, draw.uniform(0.1, 3)]))),
    "log_normal": (FLOATS, lambda draw: (draw.uniform(-1, 1), draw.uniform(0.1, 1))),
    "exponential": (FLOATS, lambda draw: (draw.uniform(0.1, 4),)),
    "cauchy": (FLOATS, lambda draw: (draw.uniform(-1, 1), draw.uniform(0.1, 2))),
    "geometric": (FLOATS + INTS, lambda draw: (draw.uniform(0.05, 0.95),)),
    "bernoulli": (FLOATS + INTS + [torch.bool], lambda draw: (draw.choice([0.0, 1.0, draw.random()]),)),
    "random": (FLOATS + INTS + [torch.bool], lambda draw: ()),
    "random_integers": (FLOATS + INTS, lambda draw: (draw.randint(0, 20), draw.randint(21, 100))),
    "wide_integers": ([torch.int64], lambda draw: (draw.randint(-(1 << 60), 0), draw.randint(1 << 27, 1 << 60))),
}


def name(dtype):
    return str(dtype).removeprefix("torch.")


def raw(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8).cpu() if tensor.numel() else torch.zeros(0, dtype=torch.uint8)


class Check:
    def __init__(self):
        self.library, self.compared, self.wrong = Library(), 0, {}

    def note(self, what, ours, theirs):
        self.compared += 1
        if torch.equal(raw(ours), raw(theirs)):
            return
        key = what.split()[0] + " " + what.split()[1]
        self.wrong[key] = self.wrong.get(key, 0) + 1
        if self.wrong[key] <= 2:
            places = (raw(ours) != raw(theirs)).nonzero().view(-1) // ours.element_size()
            at = places.unique()[:3].tolist()
            flat = [side.contiguous().view(-1)[at].tolist() for side in (ours, theirs)]
            print(f"{what}: {len(places.unique())} of {theirs.numel()} differ, at {at}: {flat[0]}, not {flat[1]}")

    def permutation(self, n, dtype, device):
        made = self.library.tensor("randperm", SIZES(n), None, options(name(dtype), CPU if device == "cpu" else 0))
        return made.to_torch(torch, device)

    def device(self):
        torch.zeros(1, device="cuda")
        for dtype, most in MOST.items():
            if dtype == torch.bfloat16:
                continue  # PyTorch permutes no such numbers on a GPU.
            for n in [0, 1, 2, 3, 100, 127, 255, 257, 1000, 2049, 4096, 16384, 30000, 32767, 100000, 1 << 20, 3000001]:
                if n > most:
                    continue
                torch.cuda.manual_seed(n + 5)
                self.library.call("random_manual_seed", ctypes.c_uint64(n + 5))
                for turn in range(2):
                    theirs = torch.randperm(n, dtype=dtype, device="cuda")
                    self.note(f"randperm cuda {name(dtype)} {n} turn {turn}", self.permutation(n, dtype, "cuda"), theirs)

    def host(self, rounds):
        draw = random.Random(3)
        state = (ctypes.c_uint8 * 5056)()
        default = HANDLE()
        self.library.call("generator_get_default", ctypes.c_int32(CPU), ctypes.byref(default))
        for _ in range(rounds):
            seed = draw.getrandbits(63)
            torch.manual_seed(seed)
            self.library.call("generator_set_seed", default, ctypes.c_uint64(seed))
            for fill, (dtypes, drawn) in FILLS.items():
                dtype, parameters = draw.choice(dtypes), drawn(draw)
                sizes = [draw.choice([1, 3, 7, 15, 16, 17, 33, 100, 5000])] + draw.choice([[], [2], [5]])
                both = []
                for _ in range(2):
                    tensor = torch.zeros(sizes + [draw.choice([1, 1, 2])] if not both else both[0].shape, dtype=dtype)
                    both.append(tensor)
                step = draw.choice([1, 1, 1, 2])
                theirs, ours = [tensor[..., ::step] for tensor in both]
                if draw.random() < 0.2:
                    theirs, ours = theirs.transpose(0, 1), ours.transpose(0, 1)
                method = {"random_integers": "random", "wide_integers": "random"}.get(fill, fill)
                getattr(theirs, method + "_")(*parameters)
                over = self.library.over(ours, CPU)
                kind = ctypes.c_int64 if method == "random" else ctypes.c_double
                called = "random_integers" if fill == "wide_integers" else fill
                self.library.call("tensor_" + called, over, *map(kind, parameters), None)
                self.note(f"{fill} cpu {name(dtype)} {list(ours.shape)} {list(ours.stride())} {parameters}", both[1], both[0])
            dtype = draw.choice(list(MOST))
            n = min(draw.choice([0, 1, 2, 50, 257, 2049, 30000]), MOST[dtype])
            self.note(f"randperm cpu {name(dtype)} {n}", self.permutation(n, dtype, "cpu"), torch.randperm(n, dtype=dtype))
            self.library.call("generator_get_cpu_state", default, state)
            self.note("state cpu", torch.tensor(list(state), dtype=torch.uint8), torch.get_rng_state())


def main():
    check = Check()
    check.host(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    if torch.cuda.is_available():
        check.device()
    print("wrong:", check.wrong)
    print(f"random numbers {check.compared} compared, {sum(check.wrong.values())} wrong")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
