"""What torch's random fills are, for the checks here: geometry, generator, exact distributions.

Written straight from the formulas in docs/design/random_kernels.md, element by element, with no
regard for speed: it shares nothing with the kernels.
"""

import struct

import numpy as np

BLOCK = 256
SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1,
         "bool": 1}
FLOATS = ["f32", "f64", "f16", "bf16"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8"]
DTYPES = {
    "uniform": FLOATS, "normal": FLOATS, "log_normal": FLOATS, "exponential": FLOATS,
    "cauchy": FLOATS, "geometric": FLOATS + INTEGERS, "bernoulli": FLOATS + INTEGERS + ["bool"],
    "integers": FLOATS + INTEGERS + ["bool"], "full_range": FLOATS + INTEGERS + ["bool"],
}
WIDE_RANGE = 1 << 28


def takes_words(distribution):
    return distribution in ("integers", "full_range")


def is_wide(distribution, dtype, value_range=0):
    """Whether the fill takes 64-bit draws of words (the kernels with the suffix `_wide`)."""
    if distribution == "full_range":
        return dtype in ("i64", "f64")
    return distribution == "integers" and value_range >= WIDE_RANGE


def draws_a_block(distribution, dtype, value_range=0):
    if takes_words(distribution):
        return 2 if is_wide(distribution, dtype, value_range) else 4
    return 2 if dtype == "f64" else 4


def kernel_name(distribution, dtype, value_range=0):
    wide = "_wide" if is_wide(distribution, dtype, value_range) else ""
    return f"sconce_random_{distribution}_{dtype}{wide}"


def virtual_threads(n, sms, threads_per_sm):
    return BLOCK * min(sms * (threads_per_sm // BLOCK), -(-n // BLOCK))


def increment(n, threads, draws):
    return ((n - 1) // (threads * draws) + 1) * 4 if n else 0


def parts(n, size):
    """The lengths torch splits a contiguous fill into: each must be reachable by 32-bit offsets."""
    if (n - 1) * size + 1 <= 2**31 - 1:
        return [n]
    return parts(n // 2, size) + parts(n - n // 2, size)


def launches(n, size, draws, sms, threads_per_sm, offset):
    """[(first element, elements, offset)] of a fill, and the offset after it."""
    whole = increment(n, virtual_threads(n, sms, threads_per_sm), draws)
    lengths = parts(n, size) if n else []
    if len(lengths) < 2:
        return [(0, n, offset)] if n else [], offset + whole
    offset += whole  # reserved for the whole tensor, and never drawn from
    result, first = [], 0
    for length in lengths:
        result.append((first, length, offset))
        offset += increment(length, virtual_threads(length, sms, threads_per_sm), draws)
        first += length
    return result, offset


def launch_shape(n, threads, draws, size, sms, blocks_per_sm=48):
    """A grid. With an element a subsequence, a thread for each, but at most two blocks a
    multiprocessor. Else x covers the columns of a row (which are two blocks a multiprocessor, or
    four) and y the blocks drawn, five or more to a thread if there are as many."""
    if n <= threads:
        return min(-(-n // BLOCK), 2 * sms), 1
    lanes = 2 if size == 8 else 4
    x = -(-threads // (lanes * BLOCK))
    y = n // (threads * draws) // 5
    return x, max(1, min(y, -(-(sms * blocks_per_sm) // x)))


def bits(real):
    return struct.unpack("<Q", struct.pack("<d", real))[0]


def arguments(distribution, address, n, seed, offset, threads, first=0, second=0, state=0):
    """The kernel's eight slots. Words take (range, base), everything else two reals."""
    if takes_words(distribution):
        pair = [first & (2**64 - 1), second & (2**64 - 1)]
    else:
        pair = [bits(float(first)), bits(float(second))]
    return [address, n, seed & (2**64 - 1), offset, threads, *pair, state]


def philox(seed, block, subsequence):
    """Arrays of 64-bit counters to an array [4, n] of words."""
    low, mask = np.uint64(0xFFFFFFFF), 0xFFFFFFFF
    shift = np.uint64(32)
    c = [block & low, block >> shift, subsequence & low, subsequence >> shift]
    k = [seed & mask, seed >> 32 & mask]
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [p1 >> shift ^ c[1] ^ np.uint64(k[0]), p1 & low,
             p0 >> shift ^ c[3] ^ np.uint64(k[1]), p0 & low]
        k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
    return np.stack(c)


def words(n, seed, offset, threads, draws):
    """The 32-bit (draws = 4) or 64-bit (2) word of each element, and for 64 bits its halves too."""
    i = np.arange(n, dtype=np.uint64)
    t, q = i % np.uint64(threads), i // np.uint64(threads)
    j = (q % np.uint64(draws)).astype(np.int64)
    w = philox(seed, q // np.uint64(draws) + np.uint64(offset // 4), t)
    columns = np.arange(n)
    if draws == 4:
        return w[j, columns]
    return w[2 * j, columns], w[2 * j + 1, columns]


def rounded(values, dtype):
    """Float64 or int64 values as raw little-endian elements."""
    if dtype == "bf16":
        b = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        return ((b + (b >> np.uint64(16) & np.uint64(1)) + np.uint64(0x7FFF)) >> np.uint64(16)).astype("<u2")
    if dtype == "f16":
        return values.astype(np.float32).astype(np.float16)
    if dtype == "bool":
        return (values != 0).astype(np.uint8)
    names = {"f32": "<f4", "f64": "<f8", "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1"}
    return values.astype(names[dtype])


def decoded(raw, dtype):
    if dtype == "bf16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    return raw.view(np.float16) if dtype == "f16" else raw


def exact(distribution, dtype, n, seed, offset, threads, first=0, second=0):
    """The elements of a fill whose bits need no GPU: uniform, Bernoulli, integers, full range."""
    draws = draws_a_block(distribution, dtype, first)
    if takes_words(distribution):
        w = words(n, seed, offset, threads, draws)
        if draws == 2:
            w = w[0] << np.uint64(32) | w[1]
        if distribution == "integers":
            value_range, base = np.uint64(first), np.int64(second)
            return rounded((w % value_range).astype(np.int64) + base, dtype)
        count = {"i8": 1 << 7, "u8": 1 << 8, "i16": 1 << 15, "i32": 1 << 31, "i64": 1 << 63, "bool": 2,
                 "f16": (1 << 11) + 1, "bf16": (1 << 8) + 1, "f32": (1 << 24) + 1, "f64": (1 << 53) + 1}
        return rounded((w % np.uint64(count[dtype])).astype(np.int64), dtype)
    if dtype == "f64":
        x, y = words(n, seed, offset, threads, draws)
        # Exact until the addition, which rounds once.
        u = (x ^ y << np.uint64(21)).astype(np.float64) * 2.0**-53 + 2.0**-54
    else:
        w = words(n, seed, offset, threads, draws)
        u = (w.astype(np.float32).astype(np.float64) * 2.0**-32 + 2.0**-33).astype(np.float32)
    if distribution == "bernoulli":
        return rounded((u < u.dtype.type(first)).astype(np.float64), dtype)
    # The product of two floats is exact in float64, and for the ranges checked so is the sum.
    element = lambda v: decoded(rounded(np.array([v]), dtype), dtype)[0].astype(u.dtype)
    low, high = element(first), element(second)
    span = element(high - low)
    value = rounded((u.astype(np.float64) * np.float64(span) + np.float64(low)).astype(u.dtype), dtype)
    value[decoded(value, dtype).astype(u.dtype) == high] = rounded(np.array([low]), dtype)[0]
    return value
