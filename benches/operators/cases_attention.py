"""FlashAttention 2 and 3, states of attention that are merged, and a selective scan."""

import numpy as np

from checks import close, exact
from values import Case, Made, T, Type, collector, empty, rounded


CASES = {}
case = collector(CASES)


@case
def merge_attn_states(r):
    tokens, heads, width = 30, 16, 128
    a, b = (rounded(r.standard_normal((tokens, heads, width))) for _ in range(2))
    la, lb = (r.standard_normal((heads, tokens)).astype(np.float32) for _ in range(2))
    lse = np.logaddexp(la, lb)
    want = a * np.exp(la - lse).T[..., None] + b * np.exp(lb - lse).T[..., None]
    return Case("_C::merge_attn_states",
                [T(empty(tokens, heads, width), "bf16"), T(empty(heads, tokens), "f32"), T(a, "bf16"), T(la, "f32"),
                 T(b, "bf16"), T(lb, "f32"), None, None], {0: close(want), 1: close(lse, 1e-5)})


@case
def apply_repetition_penalties(r):
    x = r.standard_normal((5, 32000)).astype(np.float32)
    p, o = r.random(x.shape) < 0.1, r.random(x.shape) < 0.1
    penalty = (1 + r.random(5)).astype(np.float32)
    by = np.where(p | o, penalty[:, None], 1)
    return Case("_C::apply_repetition_penalties_", [T(x, "f32"), T(p, "bool"), T(o, "bool"), T(penalty, "f32")],
                {0: close(np.where(x > 0, x / by, x * by), 1e-6)})


@case
def vocab_parallel_embedding(r):
    table = rounded(r.standard_normal((500, 1024)))
    ids = r.integers(0, 1000, 70)
    inside = (ids >= 200) & (ids < 700)
    want = np.where(inside[:, None], table[np.where(inside, ids - 200, 0)], 0)
    return Case("_C::vocab_parallel_embedding",
                [T(empty(70, 1024), "bf16"), T(ids, "i64"), T(table, "bf16"), 200, 700, 0, 1000, 1000],
                {0: exact(want)})


@case
def weak_ref_tensor(r):
    x = rounded(r.standard_normal((30, 128)))
    return Case("_C::weak_ref_tensor", [T(x, "bf16")], {-1: exact(x)})


@case
def selective_scan_fwd(r):
    dim, state, lengths = 64, 16, [37, 5, 60]
    total = sum(lengths)
    u, dt = r.standard_normal((dim, total)), r.standard_normal((dim, total)) * 0.5
    a = -np.exp(0.5 * r.standard_normal((dim, state)))
    b, c = r.standard_normal((1, state, total)), r.standard_normal((1, state, total))
    d, bias = r.standard_normal(dim), 0.1 * r.standard_normal(dim)
    u, dt, a, b, c, d, bias = (x.astype(np.float32) for x in (u, dt, a, b, c, d, bias))
    old = r.standard_normal((5, dim, state)).astype(np.float32)
    where, begun = np.array([2, 4, 1], np.int32), np.array([True, False, True])
    new, y, at = old.copy().astype(np.float64), np.zeros((dim, total)), 0
    for i, n in enumerate(lengths):
        h = old[where[i]].astype(np.float64) if begun[i] else np.zeros((dim, state))
        for t in range(at, at + n):
            step = np.log1p(np.exp(dt[:, t].astype(np.float64) + bias))
            h = np.exp(step[:, None] * a) * h + (step * u[:, t])[:, None] * b[0, :, t]
            y[:, t] = (h * c[0, :, t]).sum(-1) + d * u[:, t]
        new[where[i]] = h
        at += n
    sums = np.concatenate([[0], np.cumsum(lengths)])
    return Case("_C::selective_scan_fwd",
                [T(u, "f32"), T(dt, "f32"), T(a, "f32"), T(b, "f32"), T(c, "f32"), T(d, "f32"), None, T(bias, "f32"),
                 True, T(sums, "i32"), T(where, "i32"), T(begun, "bool"), T(old, "f32"), 0, 1024, None, None, None,
                 None, None], {1: close(y, 1e-4), 12: close(new, 1e-4)})


HEADS, FEW, WIDTH = 8, 2, 128


def attend(q, k, v):
    """Causal attention, aligned to the end: q of [Q, H, D], k and v of [K, KH, D]."""
    k, v = (np.repeat(x, HEADS // FEW, 1).astype(np.float64) for x in (k, v))
    s = np.einsum("qhd,khd->hqk", q.astype(np.float64), k) / np.sqrt(WIDTH)
    shift = k.shape[0] - q.shape[0]
    s = np.where(np.arange(k.shape[0])[None, :] > np.arange(q.shape[0])[:, None] + shift, -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", p / p.sum(-1, keepdims=True), v)


def plain(r, lengths=(70, 200, 33)):
    total = sum(lengths)
    q = rounded(r.standard_normal((total, HEADS, WIDTH)))
    k, v = (rounded(r.standard_normal((total, FEW, WIDTH))) for _ in range(2))
    sums = np.concatenate([[0], np.cumsum(lengths)])
    want = np.concatenate([attend(q[a:b], k[a:b], v[a:b]) for a, b in zip(sums[:-1], sums[1:])])
    return q, k, v, sums, max(lengths), want


def paged(r, news, lengths, size=16):
    blocks = 64
    kc, vc = (rounded(r.standard_normal((blocks, size, FEW, WIDTH))) for _ in range(2))
    table = np.zeros((len(lengths), -(-max(lengths) // size)), np.int32)
    order, at = r.permutation(blocks), 0
    q = rounded(r.standard_normal((sum(news), HEADS, WIDTH)))
    sums = np.concatenate([[0], np.cumsum(news)])
    want = []
    for i, n in enumerate(lengths):
        need = -(-n // size)
        mine = order[at:at + need]
        table[i, :need] = mine
        at += need
        k, v = (x[mine].reshape(-1, FEW, WIDTH)[:n] for x in (kc, vc))
        want.append(attend(q[sums[i]:sums[i + 1]], k, v))
    return q, kc, vc, sums, table, np.concatenate(want)


SCALE = WIDTH ** -0.5
DECODE = ([1, 1, 1, 1], [100, 17, 250, 64])
PREFILL = ([40, 7, 1, 64], [100, 17, 250, 64])


@case
def fa2_prefill(r):
    q, k, v, sums, most, want = plain(r)
    return Case("_vllm_fa2_C::varlen_fwd",
                [T(q, "bf16"), T(k, "bf16"), T(v, "bf16"), None, T(sums, "i32"), T(sums, "i32"), None, None, None, None,
                 most, most, 0.0, SCALE, False, True, -1, -1, 0.0, False, 0, None],
                {-1: close(want, 1e-2)}, library="fa2")


def fa2_paged(r, news, lengths):
    q, k, v, sums, table, want = paged(r, news, lengths)
    out = T(empty(*q.shape), "bf16")
    return Case("_vllm_fa2_C::varlen_fwd",
                [T(q, "bf16"), T(k, "bf16"), T(v, "bf16"), out, T(sums, "i32"), T(np.zeros_like(sums), "i32"),
                 T(np.array(lengths), "i32"), None, T(table, "i32"), None, max(news), max(lengths), 0.0, SCALE, False,
                 True, -1, -1, 0.0, False, 0, None], {3: close(want, 1e-2)}, library="fa2")


@case
def fa2_paged_prefill(r):
    return fa2_paged(r, *PREFILL)


@case
def fa2_paged_decode(r):
    return fa2_paged(r, *DECODE)


def fa3(q, k, v, out, sums, sums_k, used, most, most_k, table, plan=None):
    return [q, k, v, None, None, None, out, sums, sums_k, None, None, used, most, most_k, table, None, None, None, None,
            None, None, None, None, SCALE, True, -1, -1, 0.0, True, plan, 0, None, 0, None, 1, 0, None]


@case
def fa3_prefill(r):
    q, k, v, sums, most, want = plain(r)
    return Case("_vllm_fa3_C::fwd",
                fa3(T(q, "bf16"), T(k, "bf16"), T(v, "bf16"), None, T(sums, "i32"), T(sums, "i32"), None, most, most,
                    None),
                {-1: close(want, 1e-2)}, library="fa3")


def fa3_paged(r, news, lengths):
    q, k, v, sums, table, want = paged(r, news, lengths)
    return Case("_vllm_fa3_C::fwd",
                fa3(T(q, "bf16"), T(k, "bf16"), T(v, "bf16"), T(empty(*q.shape), "bf16"), T(sums, "i32"), None,
                    T(np.array(lengths), "i32"), max(news), max(lengths), T(table, "i32")),
                {6: close(want, 1e-2)}, library="fa3")


@case
def fa3_paged_prefill(r):
    return fa3_paged(r, *PREFILL)


@case
def fa3_paged_decode(r):
    return fa3_paged(r, *DECODE)


@case
def fa3_paged_decode_planned(r):
    news, lengths = DECODE
    q, k, v, sums, table, want = paged(r, news, lengths)
    used, starts, plan = T(np.array(lengths), "i32"), T(sums, "i32"), Made()
    return Case("_vllm_fa3_C::fwd",
                fa3(T(q, "bf16"), T(k, "bf16"), T(v, "bf16"), T(empty(*q.shape), "bf16"), starts, None, used, max(news),
                    max(lengths), T(table, "i32"), plan),
                {6: close(want, 1e-2)}, library="fa3",
                before=[("_vllm_fa3_C::get_scheduler_metadata",
                         [len(lengths), max(news), max(lengths), HEADS, FEW, WIDTH, WIDTH, Type("bf16"), used, starts,
                          None, None, None, None, 16, 0, True, -1, -1, False, 0, None, 0], plan)])
