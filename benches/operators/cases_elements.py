"""Norms, activations and positions: operators over the elements of hidden states."""

import numpy as np

from checks import close, near
from values import Case, T, collector, empty, rounded


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def erf(x):
    # Abramowitz and Stegun 7.1.26, error below 1.5e-7.
    t = 1 / (1 + 0.3275911 * np.abs(x))
    powers = np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0], t)
    return np.sign(x) * (1 - powers * np.exp(-x * x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def rms(x, weight, eps=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


CASES = {}
case = collector(CASES)


def pair(r, tokens=64, width=4096):
    return rounded(r.standard_normal((tokens, width))), rounded(1 + 0.1 * r.standard_normal(width))


@case
def rms_norm(r):
    x, w = pair(r)
    return Case("_C::rms_norm", [T(empty(*x.shape), "bf16"), T(x, "bf16"), T(w, "bf16"), 1e-6], {0: close(rms(x, w))})


@case
def fused_add_rms_norm(r):
    x, w = pair(r)
    y = rounded(r.standard_normal(x.shape))
    z = x + y
    return Case("_C::fused_add_rms_norm", [T(x, "bf16"), T(y, "bf16"), T(w, "bf16"), 1e-6],
                {0: close(rms(z, w)), 1: close(z)})


@case
def rms_norm_static_fp8_quant(r):
    x, w = pair(r)
    scale = np.array([0.02], np.float32)
    return Case("_C::rms_norm_static_fp8_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(w, "bf16"), T(scale, "f32"), 1e-6],
                {0: near(rounded(rms(x, w) / scale[0], "fp8"), 0.05)})


@case
def rms_norm_dynamic_per_token_quant(r):
    x, w = pair(r)
    y = rms(x, w)
    scale = np.abs(y).max(-1, keepdims=True) / 448
    return Case("_C::rms_norm_dynamic_per_token_quant",
                [T(empty(*x.shape), "fp8"), T(x, "bf16"), T(w, "bf16"), T(empty(64, 1), "f32"), 1e-6, None, None],
                {0: near(rounded(y / scale, "fp8"), 0.1), 3: close(scale, 1e-2)})


def gated(name, function, r, most=8e-3, extra=()):
    x = rounded(r.standard_normal((64, 2 * 2048)))
    a, b = x[:, :2048], x[:, 2048:]
    return Case(f"_C::{name}", [T(empty(64, 2048), "bf16"), T(x, "bf16"), *extra], {0: close(function(a, b), most)})


@case
def silu_and_mul(r):
    return gated("silu_and_mul", lambda a, b: silu(a) * b, r)


@case
def mul_and_silu(r):
    return gated("mul_and_silu", lambda a, b: a * silu(b), r)


@case
def gelu_and_mul(r):
    return gated("gelu_and_mul", lambda a, b: gelu(a) * b, r)


@case
def gelu_tanh_and_mul(r):
    return gated("gelu_tanh_and_mul", lambda a, b: gelu_tanh(a) * b, r)


@case
def fatrelu_and_mul(r):
    return gated("fatrelu_and_mul", lambda a, b: np.where(a > 0.5, a, 0) * b, r, extra=[0.5])


@case
def swigluoai_and_mul(r):
    x = rounded(3 * r.standard_normal((64, 2 * 2048)))
    gate, up = np.minimum(x[:, ::2], 7), np.clip(x[:, 1::2], -7, 7)
    return Case("_C::swigluoai_and_mul", [T(empty(64, 2048), "bf16"), T(x, "bf16"), 1.702, 7.0],
                {0: close((up + 1) * gate * sigmoid(1.702 * gate))})


def lone(name, function, r):
    x = rounded(r.standard_normal((64, 4096)))
    return Case(f"_C::{name}", [T(empty(64, 4096), "bf16"), T(x, "bf16")], {0: close(function(x))})


@case
def gelu_new(r):
    return lone("gelu_new", gelu_tanh, r)


@case
def gelu_quick(r):
    return lone("gelu_quick", lambda x: x * sigmoid(1.702 * x), r)


@case
def relu_squared(r):
    return lone("relu_squared", lambda x: np.maximum(x, 0) ** 2, r)


@case
def silu_and_mul_quant(r):
    x = rounded(r.standard_normal((64, 4096)))
    y = silu(x[:, :2048]) * x[:, 2048:]
    scale = np.array([0.02], np.float32)
    return Case("_C::silu_and_mul_quant", [T(empty(64, 2048), "fp8"), T(x, "bf16"), T(scale, "f32")],
                {0: near(rounded(rounded(y) / np.float32(0.02), "fp8"), 0.1)})


def turn(x, cos, sin):
    half = cos.shape[-1]
    a, b = x[..., :half], x[..., half:2 * half]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def angles(positions, width, limit=512):
    t = np.arange(limit)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    cache = rounded(np.concatenate([np.cos(t), np.sin(t)], -1))
    return cache, cache[positions][:, None, :width // 2], cache[positions][:, None, width // 2:]


@case
def rotary_embedding(r):
    tokens, heads, few, width = 50, 16, 4, 128
    positions = r.integers(0, 512, tokens)
    cache, cos, sin = angles(positions, width)
    q, k = rounded(r.standard_normal((tokens, heads, width))), rounded(r.standard_normal((tokens, few, width)))
    return Case("_C::rotary_embedding",
                [T(positions, "i64"), T(q.reshape(tokens, -1), "bf16"), T(k.reshape(tokens, -1), "bf16"), width,
                 T(cache, "bf16"), True], {1: close(turn(q, cos, sin)), 2: close(turn(k, cos, sin))})


@case
def fused_qk_norm_rope(r):
    tokens, hq, hk, width = 37, 16, 4, 128
    positions = r.integers(0, 512, tokens)
    cache, cos, sin = angles(positions, width)
    qkv = rounded(r.standard_normal((tokens, hq + 2 * hk, width)))
    qw, kw = rounded(1 + 0.1 * r.standard_normal(width)), rounded(1 + 0.1 * r.standard_normal(width))
    want = qkv.copy()
    want[:, :hq] = turn(rms(qkv[:, :hq], qw), cos, sin)
    want[:, hq:hq + hk] = turn(rms(qkv[:, hq:hq + hk], kw), cos, sin)
    return Case("_C::fused_qk_norm_rope",
                [T(qkv.reshape(tokens, -1), "bf16"), hq, hk, hk, width, 1e-6, T(qw, "bf16"), T(kw, "bf16"),
                 T(cache, "bf16"), True, T(positions, "i64")], {0: close(want, 2e-2)})
