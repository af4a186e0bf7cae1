"""The vector index gives the exact cosines of the plain computation, whatever was added and removed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from amgs.errors import ModelError
from amgs.index.vector import VectorIndex, unit


def slow(
    query: NDArray[np.float32], held: dict[int, NDArray[np.float32]], limit: int, allowed: set[int]
) -> list[tuple[int, float]]:
    """The obvious twin: one cosine at a time, all sorted."""
    scored = []
    for number, vector in held.items():
        lengths = float(np.linalg.norm(query)) * float(np.linalg.norm(vector))
        if number in allowed and lengths > 0:
            scored.append((number, float(np.dot(query, vector)) / lengths))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 12))
def test_it_agrees_with_the_plain_computation(seed: int, size: int, limit: int) -> None:
    chance = np.random.default_rng(seed)
    index = VectorIndex(8)
    held: dict[int, NDArray[np.float32]] = {}
    for number in chance.permutation(size).tolist():
        held[number] = chance.normal(size=8).astype(np.float32)
        index.add([number], held[number][None])
    for number in list(held)[: size // 3]:
        del held[number]
        index.remove([number, 999])
    allowed = {n for n in held if chance.random() < 0.7}
    query = chance.normal(size=8).astype(np.float32)
    fast = index.search(query, limit, np.array(sorted(allowed), dtype=np.int64))
    plain = slow(query, held, limit, allowed)
    assert [n for n, _ in fast] == [n for n, _ in plain]
    assert np.allclose([c for _, c in fast], [c for _, c in plain], atol=2e-5)
    assert index.numbers.tolist() == sorted(held)


def test_equal_cosines_are_cut_by_number() -> None:
    index = VectorIndex(2)
    index.add([5, 3, 4, 1], np.tile(np.array([1.0, 0.0], dtype=np.float32), (4, 1)))
    assert [n for n, _ in index.search(np.array([2.0, 0.0], dtype=np.float32), 2)] == [1, 3]


def test_adding_a_known_number_replaces_its_vector() -> None:
    index = VectorIndex(2)
    index.add([1], np.array([[1.0, 0.0]], dtype=np.float32))
    index.add([1], np.array([[0.0, 1.0]], dtype=np.float32))
    assert index.search(np.array([0.0, 1.0], dtype=np.float32), 5) == [(1, 1.0)]


def test_vectors_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError):
        VectorIndex(4).add([1], np.ones((1, 3), dtype=np.float32))


def test_what_has_no_direction_finds_nothing_and_is_harmless() -> None:
    index = VectorIndex(2)
    index.add([1, 2], np.array([[np.nan, 1.0], [0.0, 0.0]], dtype=np.float32))
    assert index.search(np.array([1.0, 0.0], dtype=np.float32), 5) == [(1, 0.0), (2, 0.0)]
    assert index.search(np.zeros(2, dtype=np.float32), 5) == []
    assert unit(np.array([[np.inf, 1.0]], dtype=np.float32)).tolist() == [[0.0, 0.0]]


def test_cosines_are_given_for_blocks_that_have_a_vector() -> None:
    index = VectorIndex(2)
    index.add([7], np.array([[3.0, 4.0]], dtype=np.float32))
    assert index.cosines(np.array([1.0, 0.0], dtype=np.float32), [7, 8]) == {7: pytest.approx(0.6)}
    assert index.cosines(np.array([1.0, 0.0], dtype=np.float32), []) == {}
