"""The two curves: monotone, no worse than the mean, and equal to the plainest way of fitting them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amgs.calibration.results import brier, pool_adjacent_violators, score_held_out_folds


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_pools_are_the_best_fit_that_does_not_fall(values: list[float]) -> None:
    """The slow twin: max over beginnings of min over ends of the mean between (Robertson et al. 1988)."""
    y = np.array(values)
    level, weight, _ = pool_adjacent_violators(y, np.ones(y.size), np.arange(y.size, dtype=float))
    fitted = np.repeat(level, weight.astype(int))
    for i in range(y.size):
        plain = max(min(y[a : b + 1].mean() for b in range(i, y.size)) for a in range(i + 1))
        assert abs(fitted[i] - plain) < 1e-9


def test_both_methods_repair_forecasts_that_are_too_sure() -> None:
    rng = np.random.default_rng(7)
    truth = rng.uniform(0.05, 0.95, 600)
    actual = (rng.uniform(size=600) < truth).astype(float)
    sure = np.clip(0.5 + 2.5 * (truth - 0.5), 0.01, 0.99)
    before, best = brier(sure, actual), brier(truth, actual)
    for method in ("isotonic", "platt"):
        after = score_held_out_folds(sure, actual, method)
        assert after < before and after < best + 0.02
