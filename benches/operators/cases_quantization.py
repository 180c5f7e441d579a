"""Quantization, products of quantized matrices, and weights of 4 bits."""

import numpy as np

from cases_elements import rms, silu
from checks import close, exact, near
from values import Case, Made, T, Type, collector, empty, rounded


CASES = {}
case = collector(CASES)


@case
def static_scaled_fp8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    return Case("_C::static_scaled_fp8_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(np.array([0.0125], np.float32), "f32")],
                {0: near(rounded(x / np.float32(0.0125), "fp8"))})


@case
def dynamic_scaled_fp8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    scale = np.abs(x).max() / 448
    return Case("_C::dynamic_scaled_fp8_quant", [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(empty(1), "f32")],
                {0: near(rounded(x / scale, "fp8")), 2: close(scale, 1e-5)})


@case
def dynamic_per_token_scaled_fp8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    scale = np.abs(x).max(-1, keepdims=True) / 448
    return Case("_C::dynamic_per_token_scaled_fp8_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(empty(64, 1), "f32"), None],
                {0: near(rounded(x / scale, "fp8")), 2: close(scale, 1e-5)})


@case
def per_token_group_fp8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    g = x.reshape(64, 32, 128)
    scale = np.maximum(np.abs(g).max(-1, keepdims=True), 1e-10) / 448
    return Case("_C::per_token_group_fp8_quant",
                [T(x, "bf16"), T(empty(*x.shape), "fp8"), T(empty(64, 32), "f32"), 128, 1e-10, -448.0, 448.0, False,
                 False, False], {1: near(rounded(g / scale, "fp8")), 2: close(scale, 1e-5)})


@case
def static_scaled_int8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    want = np.clip(np.rint(x / np.float32(0.031)), -128, 127)
    return Case("_C::static_scaled_int8_quant",
                [T(np.zeros(x.shape, np.int8), "i8"), T(x, "bf16"), T(np.array([0.031], np.float32), "f32"), None],
                {0: near(want)})


@case
def dynamic_scaled_int8_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    scale = np.abs(x).max(-1, keepdims=True) / 127
    return Case("_C::dynamic_scaled_int8_quant",
                [T(np.zeros(x.shape, np.int8), "i8"), T(x, "bf16"), T(empty(64, 1), "f32"), None],
                {0: near(np.clip(np.rint(x / scale), -128, 127)), 2: close(scale, 1e-5)})


@case
def static_scaled_fp8_quant_of_a_group(r):
    x = rounded(r.standard_normal((64, 4096)))
    return Case("_C::static_scaled_fp8_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(np.array([0.0125], np.float32), "f32"), [-1, -1]],
                {0: near(rounded(x / np.float32(0.0125), "fp8"))})


@case
def dynamic_scaled_int8_quant_with_zero_points(r):
    x = rounded(r.standard_normal((64, 4096)) + 0.5)
    least, most = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    scale = (most - least) / 255
    zero = np.rint(-128 - least / scale)
    return Case("_C::dynamic_scaled_int8_quant",
                [T(np.zeros(x.shape, np.int8), "i8"), T(x, "bf16"), T(empty(64, 1), "f32"),
                 T(np.zeros((64, 1), np.int32), "i32")],
                {0: near(np.clip(np.rint(x / scale) + zero, -128, 127)), 2: close(scale, 1e-5), 3: exact(zero)})


@case
def per_token_group_quant_int8(r):
    x = rounded(r.standard_normal((64, 4096)))
    groups = x.reshape(64, 32, 128)
    scale = np.maximum(np.abs(groups).max(-1, keepdims=True), 1e-10) / 127
    # The kernel cuts off what is behind the point.
    return Case("_C::per_token_group_quant_int8",
                [T(x, "bf16"), T(np.zeros(x.shape, np.int8), "i8"), T(empty(64, 32), "f32"), 128, 1e-10, -128.0, 127.0],
                {1: near(np.clip(np.trunc(groups / scale), -128, 127)), 2: close(scale, 1e-5)})


def grouped(y):
    """Numbers of y in groups of 128, quantized, and their scales."""
    groups = y.reshape(64, -1, 128)
    scale = np.abs(groups).max(-1, keepdims=True) / 448
    return near(rounded(groups / scale, "fp8"), 0.1), close(scale, 1e-2)


@case
def rms_norm_per_block_quant(r):
    x, w = rounded(r.standard_normal((64, 4096))), rounded(1 + 0.1 * r.standard_normal(4096))
    quantized, scale = grouped(rms(x, w))
    return Case("_C::rms_norm_per_block_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(w, "bf16"), T(empty(64, 32), "f32"), 1e-6, None, None, 128,
                 False], {0: quantized, 3: scale})


@case
def silu_and_mul_per_block_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    quantized, scale = grouped(silu(x[:, :2048]) * x[:, 2048:])
    return Case("_C::silu_and_mul_per_block_quant",
                [T(empty(64, 2048), "fp8"), T(x, "bf16"), T(empty(64, 16), "f32"), 128, None, False],
                {0: quantized, 2: scale})


def product(r, m, kind, per_token, bias=False):
    k, n = 512, 1024
    if kind == "fp8":
        a, b = rounded(r.standard_normal((m, k)), "fp8"), rounded(r.standard_normal((k, n)), "fp8")
    else:
        a, b = r.integers(-127, 128, (m, k)), r.integers(-127, 128, (k, n))
    sa = (0.5 + r.random((m, 1) if per_token else (1, 1))).astype(np.float32)
    sb = (0.5 + r.random((1, n) if per_token else (1, 1))).astype(np.float32)
    add = rounded(r.standard_normal(n)) if bias else None
    want = (a.astype(np.float64) @ b.astype(np.float64)) * sa * sb + (add if bias else 0)
    if kind == "i8":
        a, b = a.astype(np.int8), b.astype(np.int8)
    return Case("_C::cutlass_scaled_mm",
                [T(empty(m, n), "bf16"), T(a, kind), T(b, kind, turned=True), T(sa, "f32"), T(sb, "f32"),
                 T(add, "bf16") if bias else None], {0: close(want)})


@case
def cutlass_scaled_mm_fp8(r):
    return product(r, 64, "fp8", False)


@case
def cutlass_scaled_mm_fp8_per_token(r):
    return product(r, 300, "fp8", True, True)


@case
def cutlass_scaled_mm_int8(r):
    return product(r, 64, "i8", True)


def pack_rows(q):  # [K, N] numbers of 4 bits, eight rows a word
    k, n = q.shape
    q = q.reshape(k // 8, 8, n).astype(np.uint32)
    return sum(q[:, i] << np.uint32(4 * i) for i in range(8)).astype(np.uint32).view(np.int32)


def pack_columns(q, order=range(8)):
    k, n = q.shape
    q = q.reshape(k, n // 8, 8).astype(np.uint32)
    return sum(q[:, :, o] << np.uint32(4 * i) for i, o in enumerate(order)).astype(np.uint32).view(np.int32)


def weights(r, k=512, n=256, group=128):
    q, z = r.integers(0, 16, (k, n)), r.integers(0, 15, (k // group, n))
    s = rounded(0.01 + 0.02 * r.random((k // group, n)), "f16")
    return q, z, s, np.repeat(z, group, 0), np.repeat(s, group, 0)


def gptq(r, m):
    q, z, s, zz, ss = weights(r)
    a = rounded(r.standard_normal((m, 512)), "f16")
    words = T(pack_rows(q), "i32")
    return Case("_C::gptq_gemm", [T(a, "f16"), words, T(pack_columns(z), "i32"), T(s, "f16"), True, False, 4],
                {-1: close(a @ ((q - zz - 1) * ss), 1e-2)}, before=[("_C::gptq_shuffle", [words, 4])])


@case
def gptq_gemm_few_rows(r):
    return gptq(r, 8)


@case
def gptq_gemm_cublas(r):
    return gptq(r, 200)


AWQ = [0, 2, 4, 6, 1, 3, 5, 7]


@case
def awq_dequantize(r):
    q, z, s, zz, ss = weights(r)
    return Case("_C::awq_dequantize",
                [T(pack_columns(q, AWQ), "i32"), T(s, "f16"), T(pack_columns(z, AWQ), "i32"), 0, 0, 0],
                {-1: close((q - zz) * ss, 2e-3)})


@case
def awq_gemm(r):
    q, z, s, zz, ss = weights(r)
    a = rounded(r.standard_normal((16, 512)), "f16")
    return Case("_C::awq_gemm",
                [T(a, "f16"), T(pack_columns(q, AWQ), "i32"), T(s, "f16"), T(pack_columns(z, AWQ), "i32"), 8],
                {-1: close(a @ ((q - zz) * ss), 1e-2)})


# vLLM's number of its type uint4b8: 4 bits, from which 8 is subtracted.
UINT4_LESS_8 = 1125899907892224


@case
def machete_mm(r):
    k, n, group, m = 512, 512, 128, 64
    q = r.integers(0, 16, (k, n))
    s = rounded(0.01 + 0.02 * r.random((k // group, n)))
    a = rounded(r.standard_normal((m, k)))
    packed = Made()
    return Case("_C::machete_mm",
                [T(a, "bf16"), packed, UINT4_LESS_8, None, T(s, "bf16"), None, group, None, None, None],
                {-1: close(a @ ((q - 8) * np.repeat(s, group, 0)), 1e-2)},
                before=[("_C::machete_prepack_B",
                         [T(pack_rows(q), "i32", turned=True), Type("bf16"), UINT4_LESS_8, Type("bf16")], packed)])


@case
def marlin_gemm(r):
    k, n, group, m = 512, 256, 128, 16
    q = r.integers(0, 16, (k, n))
    s = rounded(0.01 + 0.02 * r.random((k // group, n)))
    a = rounded(r.standard_normal((m, k)))
    order = [i + 8 * j for i in range(8) for j in range(8)]
    turned = s.reshape(-1, 64)[:, order].reshape(-1, n)
    repacked = Made()
    return Case("_C::marlin_gemm",
                [T(a, "bf16"), None, repacked, None, T(turned, "bf16"), None, None, None,
                 T(np.zeros(1024, np.int32), "i32"), UINT4_LESS_8, m, n, k, False, True, False],
                {-1: close(a @ ((q - 8) * np.repeat(s, group, 0)), 1e-2)},
                before=[("_C::gptq_marlin_repack", [T(pack_rows(q), "i32"), k, n, 4, False], repacked)])
