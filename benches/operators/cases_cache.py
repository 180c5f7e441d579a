"""The cache of keys and values."""

import numpy as np

from checks import exact, near
from values import Case, T, collector, empty, rounded


CASES = {}
case = collector(CASES)


def cached(r, tokens=40, heads=4, width=128, blocks=20, size=16):
    k, v = rounded(r.standard_normal((tokens, heads, width))), rounded(r.standard_normal((tokens, heads, width)))
    slots = r.permutation(blocks * size)[:tokens]
    slots[3] = -1
    return k, v, slots, rounded(r.standard_normal((blocks, size, heads, width)))


@case
def reshape_and_cache_flash(r):
    k, v, slots, old = cached(r)
    one = np.ones(1, np.float32)
    wanted = []
    for x in (k, v):
        want = old.copy().reshape(-1, 4, 128)
        want[slots[slots >= 0]] = x[slots >= 0]
        wanted.append(want)
    return Case("_C_cache_ops::reshape_and_cache_flash",
                [T(k, "bf16"), T(v, "bf16"), T(old, "bf16"), T(old, "bf16"), T(slots, "i64"), "auto", T(one, "f32"),
                 T(one, "f32")], {2: exact(wanted[0]), 3: exact(wanted[1])})


@case
def reshape_and_cache_flash_fp8(r):
    k, v, slots, old = cached(r)
    scales = np.array([0.01], np.float32), np.array([0.02], np.float32)
    wanted = []
    for x, scale in zip((k, v), scales):
        want = np.zeros((320, 4, 128), np.float32)
        want[slots[slots >= 0]] = rounded(x[slots >= 0] / scale, "fp8")
        wanted.append(want)
    zero = empty(20, 16, 4, 128)
    return Case("_C_cache_ops::reshape_and_cache_flash",
                [T(k, "bf16"), T(v, "bf16"), T(zero, "fp8"), T(zero, "fp8"), T(slots, "i64"), "fp8",
                 T(scales[0], "f32"), T(scales[1], "f32")], {2: near(wanted[0]), 3: near(wanted[1])})


@case
def concat_and_cache_mla(r):
    tokens = 40
    c, p = rounded(r.standard_normal((tokens, 512))), rounded(r.standard_normal((tokens, 64)))
    slots = r.permutation(320)[:tokens]
    want = np.zeros((320, 576), np.float32)
    want[slots] = np.concatenate([c, p], 1)
    return Case("_C_cache_ops::concat_and_cache_mla",
                [T(c, "bf16"), T(p, "bf16"), T(empty(20, 16, 576), "bf16"), T(slots, "i64"), "auto",
                 T(np.ones(1, np.float32), "f32")], {2: exact(want)})


@case
def cp_gather_cache(r):
    cache = rounded(r.standard_normal((20, 16, 576)))
    lengths = [30, 1, 47]
    table = np.zeros((3, 4), np.int32)
    at, parts = 0, []
    order = r.permutation(20)
    for i, n in enumerate(lengths):
        need = -(-n // 16)
        table[i, :need] = order[at:at + need]
        parts.append(cache[order[at:at + need]].reshape(-1, 576)[:n])
        at += need
    sums = np.concatenate([[0], np.cumsum(lengths)])
    return Case("_C_cache_ops::cp_gather_cache",
                [T(cache, "bf16"), T(empty(78, 576), "bf16"), T(table, "i32"), T(sums, "i32"), 3, None],
                {1: exact(np.concatenate(parts))})


@case
def swap_blocks(r):
    src, dst = rounded(r.standard_normal((12, 16, 256))), rounded(r.standard_normal((12, 16, 256)))
    mapping = np.array([[0, 5], [3, 1], [11, 2]], np.int64)
    want = dst.copy()
    want[mapping[:, 1]] = src[mapping[:, 0]]
    return Case("_C_cache_ops::swap_blocks",
                [T(src, "bf16"), T(dst, "bf16"), 16 * 256 * 2, T(mapping, "i64", cpu=True)], {1: exact(want)})


@case
def convert_fp8(r):
    x = rounded(r.standard_normal((20, 16, 512)))
    return Case("_C_cache_ops::convert_fp8", [T(empty(*x.shape), "fp8"), T(x, "bf16"), 1.0, "fp8"],
                {0: near(rounded(x, "fp8"))})
