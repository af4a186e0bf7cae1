"""The nearest rows for many queries agree with looking at every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.index import neighbours
from amgs.index.neighbours import nearest
from amgs.types import Vector


def units(seed: int, count: int) -> Vector:
    matrix = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


@settings(deadline=None)
@given(
    seed=st.integers(0, 999),
    count=st.integers(0, 60),
    limit=st.integers(0, 7),
    floor=st.sampled_from([-1.0, 0.2, 0.9]),
    parts=st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_it_agrees_with_sorting_every_row(
    seed: int, count: int, limit: int, floor: float, parts: tuple[int, int]
) -> None:
    matrix, queries = units(seed, count), units(seed + 1, 11)
    allowed = np.random.default_rng(seed).random(count) < 0.8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_QUERIES", parts[0])
        patch.setattr(neighbours, "_COLUMNS", parts[1])
        found = nearest(queries, matrix, limit, floor=floor, allowed=allowed)
    for query, rows, cosines in zip(queries, found.rows, found.cosines, strict=True):
        every = matrix @ query
        order = [r for r in np.argsort(-every).tolist() if allowed[r] and every[r] >= floor][:limit]
        assert rows[rows >= 0].tolist() == order
        assert np.allclose(cosines[: len(order)], every[order], atol=1e-5)


def test_a_row_is_not_its_own_neighbour_and_equal_rows_come_in_their_order() -> None:
    matrix = np.concatenate([units(1, 1)] * 6 + [units(2, 3)])
    found = nearest(matrix[2:5], matrix, 3, floor=0.5, own=2)
    assert found.rows.tolist() == [[0, 1, 3], [0, 1, 2], [0, 1, 2]]
