"""Checks of results: each returns the difference, and whether it is small enough."""

import numpy as np


def close(wanted, most=8e-3):
    def check(got, everything):
        got = np.asarray(got, np.float64).reshape(-1)
        want = np.asarray(wanted, np.float64).reshape(-1)
        if got.size != want.size:
            return float("inf"), False
        apart = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
        apart = float(apart) if np.isfinite(apart) else float("inf")
        return apart, apart <= most
    return check


def exact(wanted):
    def check(got, everything):
        got, want = np.asarray(got).reshape(-1), np.asarray(wanted).reshape(-1)
        if got.size != want.size:
            return float("inf"), False
        wrong = int((got != want).sum())
        return float(wrong), wrong == 0
    return check


def near(wanted, share=0.02):
    """Quantized numbers: a neighbour is right for a small share, since the division may round differently."""
    def check(got, everything):
        got, want = np.asarray(got, np.float64).reshape(-1), np.asarray(wanted, np.float64).reshape(-1)
        if got.size != want.size:
            return float("inf"), False
        off = got != want
        step = np.maximum(np.abs(want) * 0.126, 1.0 if np.abs(want).max() > 100 and (want % 1 == 0).all() else 2 ** -9)
        bad = (np.abs(got - want) > step).sum()
        return float(off.mean()), bool(bad == 0 and off.mean() <= share)
    return check
