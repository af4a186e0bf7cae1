"""The Brier score's parts add up exactly, and the table tells how sure it is."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from amgs.calibration.brier import brier_score, reliability, wilson_interval
from amgs.types import Outcome

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def outcomes(pairs: list[tuple[float, float]]) -> list[Outcome]:
    return [Outcome(f"p{i}", p, a, brier_score(p, a), NOON - timedelta(hours=i)) for i, (p, a) in enumerate(pairs)]


probability = st.floats(min_value=0, max_value=1)


@given(st.lists(st.tuples(probability, st.sampled_from([0.0, 1.0])), min_size=1, max_size=60), st.integers(1, 20))
def test_the_parts_of_the_score_add_up(pairs: list[tuple[float, float]], bins: int) -> None:
    table = reliability(outcomes(pairs), bins=bins, forecasts=len(pairs))
    parts = (table.brier, table.reliability, table.resolution, table.uncertainty, table.within_bin)
    brier, rel, res, unc, within = (p for p in parts if p is not None)
    assert math.isclose(brier, rel - res + unc + within, abs_tol=1e-12)
    assert math.isclose(brier, sum((p - a) ** 2 for p, a in pairs) / len(pairs), abs_tol=1e-12)
    base = sum(a for _, a in pairs) / len(pairs)
    assert math.isclose(unc, base * (1 - base), abs_tol=1e-12)


def test_wilson_agrees_with_the_published_value() -> None:
    # 81 of 263: Newcombe (1998), table I, method 3.
    low, high = wilson_interval(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson_interval(0, 0) == (0.0, 1.0)
