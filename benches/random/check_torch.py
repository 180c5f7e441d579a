#!/usr/bin/env python3
"""Compares the random kernels with PyTorch's own fills on a GPU, bit for bit.

    benches/random/check_torch.py [--cases N] [--golden rng.json] [--kernels FOLDER]

Random seeds, offsets, lengths, alignments and parameters over every distribution and dtype; a few
fills beyond one wave, 32-bit offsets and 2^32 elements; captured states; torch's generator state
after each. Prints a table and exits with 1 if anything differs.
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import random
import sys
import time

import torch

import device
import reference as ref

VIEWS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
DIGITS = {"f32": 24, "f64": 53, "f16": 11, "bf16": 8}
# The lowest bound of integers and the highest (excluded) that torch accepts.
LIMITS = {"i8": (-128, 128), "u8": (0, 256), "i16": (-2**15, 2**15), "bool": (0, 2),
          "i32": (-2**31, 2**31), "i64": (-2**63, 2**63 - 1)}


def to_element(value, dtype):
    return int(torch.tensor(value, dtype=torch.int64).to(device.TORCH_DTYPES[dtype]).double().item())


def settled(low, high, dtype):
    """torch moves the bounds of integers in a real dtype to ones that rounding cannot leave."""
    if dtype not in DIGITS:
        return low, high
    up, down = to_element(low + 1, dtype), to_element(high - 1, dtype)
    if up < low:
        low = up + (1 << max(0, abs(low + 1).bit_length() - DIGITS[dtype]))
    if down >= high:
        high = down - (1 << max(0, abs(high - 1).bit_length() - DIGITS[dtype]))
    return low, high


def parameters(distribution, dtype):
    """(torch's method, its arguments, the kernel's two parameters)."""
    pick, real = random.choice, random.uniform
    if distribution == "uniform":
        low, high = pick([(0.0, 1.0), (0.0, 1.0), (-3.0, 5.0), (-1.0, 0.0), (0.1, 0.3), (2.0, 2.0),
                          (0.0, 1e-6), (-100.5, 1000.25), (real(-9, 0), real(0, 9)), (0.0, 60000.0)])
        return "uniform_", (low, high), (low, high)
    if distribution in ("normal", "log_normal"):
        mean, std = pick([(0.0, 1.0), (0.0, 1.0), (1.5, 0.25), (0.5, 1.25), (-0.0, 0.5),
                          (real(-5, 5), real(0.01, 4)), (1000.0, 1e-3), (real(-1, 1), 1e3)])
        return distribution + "_", (mean, std), (mean, std)
    if distribution == "exponential":
        rate = pick([1.0, 1.5, real(0.01, 10), 10 ** real(-6, 6)])
        return "exponential_", (rate,), (rate, 0)
    if distribution == "cauchy":
        median, sigma = pick([(0.0, 1.0), (real(-5, 5), real(0.01, 4)), (1e3, 1e-2)])
        return "cauchy_", (median, sigma), (median, sigma)
    if distribution == "geometric":
        smallest = {"i8": 0.2, "u8": 0.2, "i16": 1e-3}.get(dtype, 1e-7)
        p = pick([0.2, 0.5, 0.999, real(0.2, 1), math.exp(real(math.log(smallest), -1e-3))])
        return "geometric_", (p,), (p, 0)
    if distribution == "bernoulli":
        p = pick([0.0, 1.0, 0.5, 0.3, real(0, 1), 1e-9, 1 - 1e-9])
        return "bernoulli_", (p,), (p, 0)
    if distribution == "full_range":
        return "random_", (), (0, 0)
    if dtype in DIGITS:
        bound = 2 ** pick([1, 3, DIGITS[dtype] - 1, DIGITS[dtype]])
        smallest, largest = -bound, bound
        if dtype in ("f32", "bf16", "f64") and random.random() < 0.3:
            smallest, largest = -2**30, 2**pick([29, 33, 40])
    else:
        smallest, largest = LIMITS[dtype]
        if random.random() < 0.5:
            smallest, largest = max(smallest, -1000), min(largest, 2**pick([7, 20, 27, 28, 31, 40]))
    low = random.randint(smallest, largest - 1)
    high = random.randint(low + 1, largest)
    if random.random() < 0.3:
        low, high = smallest, largest
    base, end = settled(low, high, dtype)
    if base >= end:
        return parameters(distribution, dtype)
    return "random_", (low, high), (end - base, base)


def ordered(raw, dtype):
    """Bits to integers in the order of the reals they stand for."""
    view = raw.view(VIEWS[ref.SIZES[dtype]]).to(torch.int64)
    if dtype in DIGITS:
        smallest = -(1 << 8 * ref.SIZES[dtype] - 1)
        view = torch.where(view < 0, smallest - view, view)
    return view


class Checker:
    def __init__(self, driver, kernels):
        self.driver, self.kernels = driver, kernels
        self.table = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
        self.failures = []
        self.generator = torch.Generator(device="cuda")

    def check(self, distribution, dtype, n, seed, offset, shift=0, chosen=None, captured=False):
        method, arguments, (first, second) = chosen or parameters(distribution, dtype)
        size, torch_dtype = ref.SIZES[dtype], device.TORCH_DTYPES[dtype]
        theirs = torch.empty(n + shift, dtype=torch_dtype, device="cuda")[shift:]
        raw = torch.full(((n + shift) * size + 64,), device.SENTINEL, dtype=torch.uint8, device="cuda")
        state = seed.to_bytes(8, "little") + offset.to_bytes(8, "little")
        self.generator.set_state(torch.tensor(list(state), dtype=torch.uint8))
        getattr(theirs, method)(*arguments, generator=self.generator)
        if captured:  # the same numbers by way of a state in device memory
            held = torch.tensor([seed - 2**64 if seed >= 2**63 else seed, offset - offset // 8 * 4],
                                dtype=torch.int64, device="cuda")
            after = self.kernels.fill(distribution, dtype, raw.data_ptr() + shift * size, n, 123,
                                     offset // 8 * 4, first, second, held.data_ptr())
            after += offset - offset // 8 * 4
        else:
            after = self.kernels.fill(distribution, dtype, raw.data_ptr() + shift * size, n, seed,
                                     offset, first, second)
        mine = raw[shift * size:shift * size + n * size]
        view = theirs.view(torch.uint8)
        row = self.table[distribution, dtype]
        row[0] += 1
        row[1] += n
        problem = None
        if not torch.equal(mine, view):
            row[2] += 1
            # Only a window round the first difference: big fills leave no room for more.
            where = int((mine[:2**28] != view[:2**28]).to(torch.uint8).argmax()) // size
            begin = max(0, where - 1000)
            end = min(n, begin + 2_000_000)
            a, b = ordered(mine[begin * size:end * size].clone(), dtype), ordered(view[begin * size:end * size].clone(), dtype)
            different = a != b
            row[3] += int(different.sum())
            row[4] = max(row[4], int((a - b).abs().max()))
            at = begin + int(different.to(torch.uint8).argmax())
            problem = f"element {at}: {(int(a[at - begin]), int(b[at - begin]))}"
        if int((raw[:shift * size] != device.SENTINEL).sum() + (raw[shift * size + n * size:] != device.SENTINEL).sum()):
            problem = "wrote outside the buffer"
        reached = bytes(self.generator.get_state().tolist())
        if reached != seed.to_bytes(8, "little") + after.to_bytes(8, "little"):
            problem = f"torch's offset is {int.from_bytes(reached[8:], 'little')}, not {after}"
        if problem:
            self.failures.append(f"{distribution} {dtype} {arguments} n={n} seed={seed} offset={offset} "
                                 f"shift={shift} captured={captured}: {problem}")

    def random_cases(self, cases):
        kinds = [(d, t) for d in ref.DTYPES for t in ref.DTYPES[d]]
        wave = self.driver.sms * self.driver.threads_per_sm
        for case in range(cases):
            distribution, dtype = kinds[case % len(kinds)]
            n = random.choice([int(math.exp(random.uniform(0, math.log(5e6)))), random.randint(1, 5000),
                               max(1, wave * random.randint(1, 9) + random.randint(-9, 9))])
            self.check(distribution, dtype, n,
                       random.choice([0, 42, 2**63 + 5, random.getrandbits(64), random.getrandbits(32)]),
                       4 * random.choice([0, 1, random.getrandbits(20), 2**31 - 2, 2**32 - 3, 2**45]),
                       random.choice([0, 0, 0, 1, 2, 3, 4, 7]), captured=case % 5 == 0)

    def large_cases(self):
        fixed = {"uniform": ("uniform_", (0.0, 1.0), (0.0, 1.0)), "normal": ("normal_", (0.0, 1.0), (0.0, 1.0)),
                 "bernoulli": ("bernoulli_", (0.3,), (0.3, 0)), "full_range": ("random_", (), (0, 0)),
                 "exponential": ("exponential_", (1.5,), (1.5, 0)), "cauchy": ("cauchy_", (0.0, 1.0), (0.0, 1.0)),
                 "log_normal": ("log_normal_", (0.5, 1.25), (0.5, 1.25)), "geometric": ("geometric_", (0.2,), (0.2, 0))}
        for distribution, dtype, n in [
                ("uniform", "f32", 2**29), ("uniform", "f32", 2**29 + 1), ("normal", "f32", 2**30 + 7),
                ("exponential", "f32", 2**28 + 1), ("cauchy", "f32", 2**28 + 5), ("log_normal", "f32", 2**28 + 3),
                ("geometric", "f32", 2**28 + 3), ("normal", "bf16", 2**30 + 3), ("uniform", "f16", 2**31 + 9),
                ("normal", "f64", 2**28 + 1), ("uniform", "f64", 2**28 + 3), ("exponential", "f64", 2**26 + 3),
                ("cauchy", "f64", 2**26 + 1), ("log_normal", "f64", 2**26 + 1), ("full_range", "i64", 2**28 + 1),
                ("bernoulli", "bool", 2**31 + 1001), ("full_range", "u8", 2**32 + 12345)]:
            self.check(distribution, dtype, n, 1234, 8, chosen=fixed[distribution])
            torch.cuda.empty_cache()

    def complex_cases(self):
        """Complex fills are those of the real and imaginary parts, normal ones with std/sqrt(2)."""
        for torch_dtype, dtype in ((torch.complex64, "f32"), (torch.complex128, "f64")):
            for method, a, b in (("uniform_", -1.0, 2.0), ("normal_", 0.5, 1.5)):
                n = 300_001
                theirs = torch.empty(n, dtype=torch_dtype, device="cuda")
                self.generator.manual_seed(7)
                try:
                    getattr(theirs, method)(a, b, generator=self.generator)
                except RuntimeError as error:
                    print(f"torch has no {method} for {torch_dtype}: {str(error).splitlines()[0]}")
                    continue
                mine = torch.empty(2 * n, dtype=device.TORCH_DTYPES[dtype], device="cuda")
                std = b / math.sqrt(2.0) if method == "normal_" else b
                after = self.kernels.fill(method[:-1], dtype, mine.data_ptr(), 2 * n, 7, 0, a, std)
                same = torch.equal(mine.view(torch.uint8), torch.view_as_real(theirs).reshape(-1).view(torch.uint8))
                offset = int.from_bytes(bytes(self.generator.get_state().tolist())[8:], "little")
                if not same or offset != after:
                    self.failures.append(f"{method} {torch_dtype}: equal {same}, offset {offset} and {after}")

    def golden(self, path):
        data = json.loads(path.read_text())
        if (self.driver.sms, self.driver.threads_per_sm) != (data["meta"]["sms"], data["meta"]["max_threads_per_sm"]):
            print("golden: another device, skipped")
            return
        names = {"randint": "integers", "random": "full_range"}
        equal = total = 0
        for case in data["cases"]:
            offset = 0
            for op in case["ops"]:
                distribution, dtype, n = names.get(op["op"], op["op"]), op["dtype"], op["n"]
                first, second = (*op["args"], 0, 0)[:2]
                if distribution == "integers":
                    first, second = int(second) - int(first), int(first)
                mine = torch.empty(n * ref.SIZES[dtype], dtype=torch.uint8, device="cuda")
                offset = self.kernels.fill(distribution, dtype, mine.data_ptr(), n, case["seed"], offset, first, second)
                good = hashlib.sha256(mine.cpu().numpy().tobytes()).hexdigest() == op["sha256"] and \
                    op["state_after"][16:] == offset.to_bytes(8, "little").hex()
                equal, total = equal + good, total + 1
                if not good:
                    self.failures.append(f"golden {case['seed']} {op['op']} {dtype} {op['args']} n={n}")
        print(f"golden: {equal} of {total} fills equal")

    def report(self):
        print(f"{'distribution':<14}{'dtype':<6}{'fills':>7}{'elements':>15}{'differ':>8}{'elements':>10}{'max ulp':>9}")
        for (distribution, dtype), (fills, elements, differ, bad, ulp) in self.table.items():
            print(f"{distribution:<14}{dtype:<6}{fills:>7}{elements:>15}{differ:>8}{bad:>10}{ulp:>9}")
        fills = sum(row[0] for row in self.table.values())
        differ = sum(row[2] for row in self.table.values())
        print(f"{fills - differ} of {fills} fills equal to torch {torch.__version__} on {self.driver.name}; "
              f"{len(self.failures)} failures")
        for failure in self.failures[:40]:
            print("  ", failure)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=3600)
    options.add_argument("--golden", type=pathlib.Path)
    options.add_argument("--kernels", type=pathlib.Path, default=device.KERNELS)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--small", action="store_true", help="leave out the fills of gigabytes")
    chosen = options.parse_args()
    random.seed(chosen.seed)
    driver = device.Driver()
    begin = time.perf_counter()
    checker = Checker(driver, device.Kernels(driver, chosen.kernels))
    checker.complex_cases()
    checker.random_cases(chosen.cases)
    print(f"{time.perf_counter() - begin:.0f} s", flush=True)
    if chosen.golden:
        checker.golden(chosen.golden)
    if not chosen.small:
        checker.large_cases()
    torch.cuda.synchronize()
    checker.report()
    print(f"{time.perf_counter() - begin:.0f} s")
    sys.exit(1 if checker.failures else 0)


if __name__ == "__main__":
    main()
