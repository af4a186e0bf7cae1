"""The measures of the benches, against cases that can be counted by hand and a plain computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import measures
from benchmarks.references import Bm25, fused_ranks

A, B, C = frozenset("a"), frozenset("bx"), frozenset("c")


def test_each_measure_by_hand() -> None:
    ranked = ["z", "x", "a", "b"]
    assert measures.recall(ranked, [A, B, C], 2) == pytest.approx(1 / 3)
    assert measures.recall(ranked, [A, B, C], 4) == pytest.approx(2 / 3)
    assert measures.hit(ranked, [A], 2) == 0.0
    assert measures.reciprocal_rank(ranked, [A, B]) == 0.5
    assert measures.reciprocal_rank(ranked, [C]) == 0.0
    # x and b are one item and gain once; ideal has two items at the top.
    gained = 1 / math.log2(3) + 1 / math.log2(4)
    assert measures.ndcg(ranked, [A, B], 10) == pytest.approx(gained / (1 + 1 / math.log2(3)))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_the_chance_that_a_positive_wins(given_: list[tuple[int, bool]]) -> None:
    ups = [s for s, yes in given_ if yes]
    downs = [s for s, yes in given_ if not yes]
    wins = [1.0 if u > d else 0.5 if u == d else 0.0 for u in ups for d in downs]
    plain = sum(wins) / len(wins) if wins else 0.5
    assert measures.auroc([s for s, _ in given_], [y for _, y in given_]) == pytest.approx(plain)


def test_bm25_prefers_the_rare_word_and_fusion_the_agreement() -> None:
    bm25 = Bm25(["the dome stalled", "the dome turned", "a goat and a dome"])
    assert int(np.argmax(bm25.scores("which goat?"))) == 2
    assert bm25.scores("the of which").tolist() == [0.0, 0.0, 0.0]
    fused = fused_ranks(np.array([3.0, 2.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    assert int(np.argmax(fused)) == 1
