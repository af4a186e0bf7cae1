"""The smallest change of weights is a change of weights, admits what it promises, and is the smallest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from amgs.retrieval.similarity import _logistic
from amgs.retrieval.why import MARGIN, find_admission, nearest_weights

Row = NDArray[np.float64]

parts_of_five = st.lists(st.floats(0, 1).map(lambda x: round(x, 2)), min_size=5, max_size=5)


@st.composite
def weights_of_five(draw: st.DrawFn) -> Row:
    raw = np.array([draw(st.integers(0, 10)) for _ in range(5)], dtype=np.float64) + 0.01
    return np.asarray(raw / raw.sum())


@given(weights_of_five(), parts_of_five, parts_of_five)
def test_the_nearest_weights_beat_the_rival_and_no_sample_is_nearer(
    weights: Row, mine: list[float], theirs: list[float]
) -> None:
    difference = (np.array(mine) - np.array(theirs))[None]
    found = nearest_weights(weights, difference)
    if found is None:
        assert float(difference.max()) < MARGIN
        return
    assert float(found.sum()) == pytest.approx(1.0)
    assert bool((found >= 0).all())
    assert float(difference[0] @ found) >= MARGIN - 1e-8
    # The slow twin: many weights at random, none of which beats the rival from nearer by.
    chance = np.random.default_rng(3)
    step = chance.normal(scale=0.3, size=(3000, 5)) * chance.random((3000, 1))
    tried = np.clip(weights + step, 0, None)
    tried = tried[tried.sum(axis=1) > 0]
    tried /= tried.sum(axis=1, keepdims=True)
    good = tried[tried @ difference[0] >= MARGIN]
    if len(good):
        distance = np.linalg.norm(good - weights, axis=1).min()
        assert float(np.linalg.norm(found - weights)) <= float(distance) + 1e-7


@given(weights_of_five(), st.lists(parts_of_five, min_size=4, max_size=12), st.integers(1, 3))
def test_an_admission_holds_when_the_ranks_are_counted_anew(weights: Row, rows: list[list[float]], places: int) -> None:
    parts = np.array(rows)
    last = int(np.argsort(-(parts @ weights), kind="stable")[-1])
    found = find_admission(parts, last, weights, places)
    if found is None:
        return
    totals = parts @ found.weights
    ahead = int((totals > totals[last] + MARGIN).sum())
    assert ahead < places
    assert found.rank <= places
    assert found.distance == pytest.approx(float(np.linalg.norm(found.weights - weights)))


def test_what_is_worse_in_everything_cannot_be_admitted() -> None:
    parts = np.array([[0.9] * 5, [0.8] * 5, [0.1] * 5])
    assert find_admission(parts, 2, np.full(5, 0.2), 2) is None
    assert find_admission(parts, 2, np.full(5, 0.2), 0) is None


def test_a_margin_of_any_size_gives_a_chance() -> None:
    assert [_logistic(margin) for margin in (-1e9, 0.0, 1e9)] == [pytest.approx(0.0), 0.5, 1.0]
