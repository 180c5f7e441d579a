#!/usr/bin/env python3
"""Runs the random kernels' source on the CPU and checks what needs no GPU.

    benches/random/emulate.py [GOLDEN]

Every element written exactly once, from the counter torch's formula names, whatever the grid,
length, alignment or virtual thread count; the bits of uniform, Bernoulli, integers and full range,
and of the logarithm inside normal numbers.
GOLDEN (torch's own outputs: rng.json with rng.npz beside it) adds torch's answers; of distributions
with fast functions those are compared loosely. Needs g++ and NumPy.
"""

import ctypes
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

import reference as ref

HERE = pathlib.Path(__file__).resolve().parent
GUARD = 64


def build(folder):
    library = pathlib.Path(folder) / "emulator.so"
    subprocess.run(
        ["g++", "-std=c++17", "-O2", "-mfma", "-mf16c", "-ffp-contract=off", "-Wno-unknown-pragmas",
         "-shared", "-fPIC", "-include", HERE / "emulator" / "machine.hpp",
         HERE / "emulator" / "emulator.cpp", "-o", library], check=True)
    library = ctypes.CDLL(str(library))
    library.emulate.restype = ctypes.c_uint64
    library.different_logarithms.restype = ctypes.c_uint64
    return library


def fill(library, distribution, dtype, n, seed, offset, threads, first=0, second=0, grid=None,
         shift=0, captured=False):
    """Runs a kernel into a buffer `shift` elements off 16-byte alignment; returns the raw elements."""
    size = ref.SIZES[dtype]
    buffer = np.full((n + shift) * size + 2 * GUARD + 16, 0xA5, dtype=np.uint8)
    start = GUARD + -(buffer.ctypes.data + GUARD) % 16 + shift * size
    state = np.array([seed, max(offset - 4, 0)], dtype=np.uint64)
    slots = ref.arguments(distribution, buffer.ctypes.data + start, n, 99 if captured else seed,
                          4 if captured else offset, threads, first, second,
                          state.ctypes.data if captured else 0)
    x, y = grid or ref.launch_shape(n, threads, ref.draws_a_block(distribution, dtype, first), size, 4)
    kernel = getattr(library, ref.kernel_name(distribution, dtype, first))
    stored = library.emulate(kernel, int(not ref.takes_words(distribution)), x, y,
                             (ctypes.c_uint64 * 8)(*slots))
    what = f"{distribution} {dtype} n={n} T={threads} grid={x}x{y} shift={shift}"
    assert stored == n * size, f"{what}: {stored} bytes stored, not {n * size}"
    outside = np.concatenate([buffer[:start], buffer[start + n * size:]])
    assert (outside == 0xA5).all(), f"{what}: wrote outside the buffer"
    return buffer[start:start + n * size].copy()


def check_geometry(library, cases=400):
    random.seed(5)
    kinds = [("uniform", d, 0.0, 1.0) for d in ref.FLOATS]
    kinds += [("bernoulli", d, 0.25, 0) for d in ref.DTYPES["bernoulli"]]
    kinds += [("integers", d, 100, -7 if d[0] != "u" and d != "bool" else 0) for d in ref.DTYPES["integers"]]
    kinds += [("integers", d, (1 << 40) + 3, -11) for d in ("i64", "i32", "f64")]
    kinds += [("full_range", d, 0, 0) for d in ref.DTYPES["full_range"]]
    for case in range(cases):
        distribution, dtype, first, second = kinds[case % len(kinds)]
        threads = 256 * random.choice([1, 2, 3, 5])
        edge = random.choice([1, threads, 2 * threads, 4 * threads, 7 * threads, 8 * threads, 9 * threads])
        n = max(1, edge + random.choice([-3, -1, 0, 1, 2, 6, random.randrange(-250, 250)]))
        threads = min(threads, 256 * -(-n // 256))
        grid = random.choice([None, (1, 1), (2, 3), (5, 2), (1, 7)])
        shift = random.choice([0, 0, 1, 2, 3, 5])
        seed = random.choice([0, 1, 2**32 + 7, 2**64 - 1, random.getrandbits(64)])
        offset = 4 * random.choice([0, 1, 2**32 - 1, 2**40 + 5, 2**62 - 2**20])
        raw = fill(library, distribution, dtype, n, seed, offset, threads, first, second, grid, shift,
                   captured=offset >= 4 and case % 3 == 0)
        wanted = ref.exact(distribution, dtype, n, seed, offset, threads, first, second)
        assert raw.tobytes() == wanted.tobytes(), \
            f"{distribution} {dtype} n={n} T={threads} grid={grid} shift={shift}: other elements"
    print(f"geometry: {cases} fills, every element once and from its counter")


# The loosest that the distributions with fast functions may be off by, from a CPU.
CLOSE = {"f32": 1e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}
OPERATIONS = {"randint": "integers", "random": "full_range"}


def check_golden(library, path, largest=1_100_000):
    golden = json.loads(path.read_text())
    arrays = np.load(path.with_suffix(".npz"))
    sms, threads_per_sm = golden["meta"]["sms"], golden["meta"]["max_threads_per_sm"]
    equal, close, skipped = 0, 0, 0
    for case in golden["cases"]:
        offset = 0
        for op in case["ops"]:
            distribution, dtype, n = OPERATIONS.get(op["op"], op["op"]), op["dtype"], op["n"]
            first, second = (*op["args"], 0, 0)[:2]
            if distribution == "integers":
                first, second = int(second) - int(first), int(first)
            draws = ref.draws_a_block(distribution, dtype, first)
            plan, after = ref.launches(n, ref.SIZES[dtype], draws, sms, threads_per_sm, offset)
            state = bytes.fromhex(op["state_after"])
            assert state == case["seed"].to_bytes(8, "little") + after.to_bytes(8, "little"), op
            if n > largest:
                skipped += 1
                offset = after
                continue
            threads = ref.virtual_threads(n, sms, threads_per_sm)
            raw = fill(library, distribution, dtype, n, case["seed"], offset, threads, first, second)
            offset = after
            if hashlib.sha256(raw.tobytes()).hexdigest() == op["sha256"]:
                equal += 1
                continue
            assert distribution not in ("uniform", "bernoulli", "integers", "full_range"), \
                f"{op}: not torch's bits"
            key = op.get("array") or op["sample"]
            values = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2"}[dtype]
            mine = ref.decoded(raw.view(values), dtype).astype(np.float64)
            theirs = ref.decoded(arrays[key].view(values), dtype).astype(np.float64)
            if "array" not in op:
                mine = np.concatenate([mine[:64], mine[n // 2:n // 2 + 64], mine[-64:]])
            error = np.abs(mine - theirs) / np.maximum(1, np.abs(theirs))
            if distribution == "geometric":
                assert (error > 0).mean() < 1e-2, f"{op}: geometric numbers differ"
            elif distribution == "cauchy":
                assert np.quantile(error, 0.99) < 1e-3, f"{op}: off by {error.max()}"
            else:
                assert error.max() <= 4 * CLOSE[dtype], f"{op}: off by {error.max()}"
            close += 1
    print(f"golden: {equal} fills with torch's bits, {close} close, {skipped} states only")


def main():
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        check_geometry(library)
        different = library.different_logarithms()
        assert different == 0, f"{different} logarithms are not logf's"
        print("logarithm: every float of [2^-33, 1] with logf's bits")
        if len(sys.argv) > 1:
            check_golden(library, pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
