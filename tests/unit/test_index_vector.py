"""The vector index gives the exact cosines of the plain computation, whatever was added and removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from amgs.index.arrays import SnapshotStore, Stamp
from amgs.index.neighbours import Base
from amgs.index.vector import VectorIndex, to_unit_length


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


# --- a base beside the store ------------------------------------------------------------------------------


def kept(tmp_path: Path, index: VectorIndex, revision: int = 1, *, approximate_from: int = 10**9) -> VectorIndex:
    """The index as it is after it was written and opened again."""
    snapshots = SnapshotStore(tmp_path / "vectors", 1)
    with snapshots.writing(Stamp("s", revision), {}) as folder:
        index.write(folder, approximate_from=approximate_from)
    generation = snapshots.latest("s")
    assert generation is not None
    return VectorIndex(index.dimension, Base.read(generation))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.integers(2, 40), st.booleans())
def test_a_kept_index_changes_like_one_in_memory(tmp_path: Path, seed: int, size: int, again: bool) -> None:
    chance = np.random.default_rng(seed)
    plain = VectorIndex(8)
    plain.add(np.arange(1, size), chance.normal(size=(size - 1, 8)).astype(np.float32))
    base = kept(tmp_path, plain)
    for index in (plain, base):
        later = np.random.default_rng(seed + 1)
        index.remove(later.integers(1, size, size=size // 4))
        replaced = np.unique(later.integers(1, size + 9, size=size // 3 + 1))
        index.add(replaced, later.normal(size=(replaced.size, 8)).astype(np.float32))
    if again:
        base = kept(tmp_path, base, 2)
    query = chance.normal(size=8).astype(np.float32)
    allowed = np.flatnonzero(chance.random(size + 9) < 0.6).astype(np.int64)
    assert base.numbers.tolist() == plain.numbers.tolist() and len(base) == len(plain)
    assert base.search(query, 7, allowed) == plain.search(query, 7, allowed)
    assert base.compare(query, allowed).spread == pytest.approx(plain.compare(query, allowed).spread, abs=2e-6)
    every = plain.numbers.tolist()
    assert base.cosines(query, every) == plain.cosines(query, every)
    firsts = np.array(every, dtype=np.int64)
    assert np.allclose(base.pair_lengths(firsts, firsts[::-1]), plain.pair_lengths(firsts, firsts[::-1]), atol=1e-5)
    found, wanted = (i.nearest(to_unit_length(query[None]), 3, floor=-1, allowed=allowed) for i in (base, plain))
    assert found.rows.tolist() == wanted.rows.tolist()


def clustered(chance: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Vectors around some centres, as those of texts are."""
    centres = chance.normal(size=(40, 48))
    return (centres[chance.integers(0, 40, size)] + 0.7 * chance.normal(size=(size, 48))).astype(np.float32)


def test_the_neighbour_graph_finds_what_the_product_finds(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    plain = VectorIndex(48)
    plain.add(np.arange(1, 3001), clustered(chance, 3000))
    near = kept(tmp_path, plain, approximate_from=1000)
    assert near.approximate and not plain.approximate
    for index in (plain, near):
        later = np.random.default_rng(6)
        index.remove(np.arange(1, 3001, 50))
        index.add(np.arange(2990, 3200), clustered(later, 210))
    queries = clustered(chance, 40)
    shares = []
    for query in queries:
        exact, found = plain.search(query, 50), near.search(query, 50)
        shares.append(len({n for n, _ in exact} & {n for n, _ in found}) / 50)
        # Who is found is approximate, how near it is is not.
        assert dict(found) == pytest.approx(plain.cosines(query, [n for n, _ in found]), abs=2e-5)
        assert near.compare(query).spread == pytest.approx(plain.compare(query).spread, abs=1e-4)
    assert np.mean(shares) >= 0.97
    # Written again: the graph loses who left and learns who came.
    third = kept(tmp_path, near, 2, approximate_from=1000)
    assert third.approximate and third.tail == 0 and third.numbers.tolist() == plain.numbers.tolist()
    wanted = [{n for n, _ in plain.search(q, 50)} for q in queries]
    assert (
        np.mean([len({n for n, _ in third.search(q, 50)} & w) / 50 for q, w in zip(queries, wanted, strict=True)])
        >= 0.95
    )


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_filter_before_the_neighbour_graph_lets_through_enough(tmp_path: Path, share: float) -> None:
    chance = np.random.default_rng(7)
    plain = VectorIndex(48)
    plain.add(np.arange(1, 2001), clustered(chance, 2000))
    near = kept(tmp_path, plain, approximate_from=1000)
    allowed = np.sort(chance.permutation(np.arange(1, 2001))[: int(share * 2000)])
    for query in clustered(chance, 10):
        found = near.search(query, 20, allowed)
        exact = plain.search(query, 20, allowed)
        assert len(found) == 20 and set(allowed.tolist()) >= {n for n, _ in found}
        assert len({n for n, _ in exact} & {n for n, _ in found}) >= 17


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_a_copy_that_changes_leaves_the_one_it_came_from_as_it_was(seed: int, size: int) -> None:
    chance = np.random.default_rng(seed)
    index = VectorIndex(4)
    query = chance.normal(size=4).astype(np.float32)
    index.add(list(range(size)), chance.normal(size=(size, 4)).astype(np.float32))
    for _ in range(4):
        before = index.search(query, 40)
        copy = index.copy()
        copy.remove(chance.integers(0, 2 * size, 2))
        fresh = np.unique(chance.integers(0, 3 * size, 4))
        copy.add(fresh, chance.normal(size=(fresh.size, 4)).astype(np.float32))
        assert index.search(query, 40) == before
        assert copy.numbers.size == len(copy) == len(copy.search(query, 100))
        index = copy
