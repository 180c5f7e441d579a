"""Mixtures of experts: choices, orders and sums."""

import numpy as np

from cases_elements import sigmoid
from checks import close, exact
from values import Case, T, collector, empty, rounded


CASES = {}
case = collector(CASES)


@case
def topk_softmax(r):
    tokens, experts, k = 33, 64, 6
    x = r.standard_normal((tokens, experts)).astype(np.float32)
    p = np.exp(x - x.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    best = np.argsort(-p, -1)[:, :k]
    w = np.take_along_axis(p, best, -1)
    return Case("_moe_C::topk_softmax",
                [T(empty(tokens, k), "f32"), T(np.zeros((tokens, k), np.int32), "i32"),
                 T(np.zeros((tokens, k), np.int32), "i32"), T(x, "f32"), True, None, None],
                {0: close(w / w.sum(-1, keepdims=True), 1e-5), 1: exact(best)}, library="moe")


@case
def topk_sigmoid(r):
    tokens, experts, k = 33, 64, 6
    x = r.standard_normal((tokens, experts)).astype(np.float32)
    p = sigmoid(x)
    best = np.argsort(-p, -1)[:, :k]
    return Case("_moe_C::topk_sigmoid",
                [T(empty(tokens, k), "f32"), T(np.zeros((tokens, k), np.int32), "i32"),
                 T(np.zeros((tokens, k), np.int32), "i32"), T(x, "f32"), False, None, 1.0, None],
                {0: close(np.take_along_axis(p, best, -1), 1e-5), 1: exact(best)}, library="moe")


@case
def grouped_topk(r):
    tokens, experts, groups, few, k = 17, 256, 8, 4, 8
    x = r.standard_normal((tokens, experts)).astype(np.float32)
    bias = (0.1 * r.standard_normal(experts)).astype(np.float32)
    s = sigmoid(x)
    b = s + bias
    sums = np.sort(b.reshape(tokens, groups, -1), -1)[:, :, -2:].sum(-1)
    keep = np.zeros((tokens, groups), bool)
    np.put_along_axis(keep, np.argsort(-sums, -1)[:, :few], True, -1)
    masked = np.where(np.repeat(keep, experts // groups, -1), b, -np.inf)
    best = np.argsort(-masked, -1)[:, :k]
    w = np.take_along_axis(s, best, -1)
    w = w / (w.sum(-1, keepdims=True) + 1e-20) * 2.5

    def weights_sorted(got, everything):
        order = np.argsort(everything[-2].reshape(tokens, k), -1)
        mine = np.take_along_axis(np.asarray(got).reshape(tokens, k), order, -1)
        return close(np.take_along_axis(w, np.argsort(best, -1), -1), 1e-5)(mine, everything)

    def indices_sorted(got, everything):
        return exact(np.sort(best, -1))(np.sort(np.asarray(got).reshape(tokens, k), -1), everything)

    return Case("_moe_C::grouped_topk", [T(x, "f32"), groups, few, k, True, 2.5, T(bias, "f32"), 1],
                {-1: weights_sorted, -2: indices_sorted}, library="moe")


@case
def moe_align_block_size(r):
    tokens, k, experts, size = 40, 4, 32, 16
    ids = np.stack([r.permutation(experts)[:k] for _ in range(tokens)])
    most = tokens * k + experts * (size - 1)
    flat = ids.reshape(-1)
    want, blocks = [], []
    for e in range(experts):
        mine = np.nonzero(flat == e)[0]
        pad = -len(mine) % size
        want.append(np.concatenate([mine, np.full(pad, tokens * k)]))
        blocks += [e] * ((len(mine) + pad) // size)
    total = sum(map(len, want))

    def order(got, everything):
        got, at, wrong = np.asarray(got), 0, 0
        for part in want:
            wrong += int((np.sort(got[at:at + len(part)]) != np.sort(part)).sum())
            at += len(part)
        return float(wrong), wrong == 0

    def first(got, everything):
        return exact(np.array(blocks))(np.asarray(got)[:len(blocks)], everything)

    return Case("_moe_C::moe_align_block_size",
                [T(ids, "i32"), experts, size, T(np.zeros(most, np.int32), "i32"),
                 T(np.zeros(-(-most // size), np.int32), "i32"), T(np.zeros(1, np.int32), "i32"), None],
                {3: order, 4: first, 5: exact(np.array([total]))}, library="moe")


def summed(r, k):
    x = rounded(r.standard_normal((50, k, 1024)))
    return Case("_moe_C::moe_sum", [T(x, "bf16"), T(empty(50, 1024), "bf16")], {1: close(x.sum(1))}, library="moe")


@case
def moe_sum(r):
    return summed(r, 4)


@case
def moe_sum_of_eight(r):
    return summed(r, 8)


@case
def shuffle_rows(r):
    x, rows = rounded(r.standard_normal((60, 1024))), r.integers(0, 60, 100)
    return Case("_moe_C::shuffle_rows", [T(x, "bf16"), T(rows, "i32"), T(empty(100, 1024), "bf16")],
                {2: exact(x[rows])}, library="moe")
