"""Pairs that are alike agree with holding every block beside every other."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.identity import block_id
from amgs.lifecycle import similarity
from amgs.lifecycle.similarity import Pair, find_pairs, make_shingles
from amgs.text.differences import differ, normalise_words
from amgs.types import Block, Vector

AT = datetime(2026, 3, 1, tzinfo=UTC)
OVERLAP_WORDS = 2
"""The texts here are short."""

WORDS = ("the dome stalled at night", "the motor ran hot", "rain", "Ilse saw the dome", "and nobody came again")


def block(text: str, hours: float, source: str) -> Block:
    at = AT + timedelta(hours=hours)
    return Block(block_id(text), text, at, at, status="consolidated", meta={"source": source})


def units(seed: int, count: int) -> Vector:
    matrix = np.random.default_rng(seed).normal(size=(count, 5)).astype(np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def runs(text: str) -> frozenset[str]:
    words = re.findall(r"[\w'’-]+", text.lower())
    if len(words) < 3:
        return frozenset({" ".join(words)} if words else ())
    return frozenset(" ".join(words[i : i + 3]) for i in range(len(words) - 2))


def slow(blocks: list[Block], matrix: Vector) -> dict[tuple[str, str], str]:
    """The kind of each pair (earlier, later), by looking at all of them."""
    sets = [runs(b.content) for b in blocks]
    held = Counter(run for own in sets for run in own)
    cosines = np.clip(matrix @ matrix.T, 0.0, 1.0)
    hours = [(b.created_at - AT).total_seconds() / 3600 for b in blocks]
    floor = min(similarity.OVERLAP_COSINE, similarity.MERGE_COSINE)
    every = range(len(blocks))

    def near(i: int, far: float) -> list[int]:
        fit = [j for j in every if j != i and abs(hours[i] - hours[j]) <= far and cosines[i, j] >= floor]
        return sorted(fit, key=lambda j: -cosines[i, j])[: similarity.NEAREST]

    found = {}
    for i in every:
        for j in range(i + 1, len(blocks)):
            sharing = any(held[run] <= 20 for run in sets[i] & sets[j])
            mutual = any(j in near(i, far) and i in near(j, far) for far in (1e9, similarity.OVERLAP_HOURS))
            if not sharing and not mutual:
                continue
            words = len(sets[i] & sets[j]) / max(1, len(sets[i] | sets[j]))
            a, b = sorted((blocks[i], blocks[j]), key=lambda x: (x.created_at, x.id))
            apart = str(a.meta["source"]).split("#")[0] != str(b.meta["source"]).split("#")[0]
            long = min(len(x.content.split()) for x in (a, b)) >= OVERLAP_WORDS
            near_enough = cosines[i, j] >= similarity.MERGE_COSINE
            copies = words >= similarity.COPY_WORDING or (
                near_enough and normalise_words(a.content) == normalise_words(b.content)
            )
            if copies and not differ(a.content, b.content):
                found[a.id, b.id] = "duplicate"
            elif (
                not differ(a.content, b.content)
                and apart
                and words >= similarity.MERGE_WORDING
                and cosines[i, j] >= similarity.MERGE_COSINE
            ):
                found[a.id, b.id] = "merge"
            elif (
                apart
                and long
                and cosines[i, j] >= similarity.OVERLAP_COSINE
                and abs(hours[i] - hours[j]) <= similarity.OVERLAP_HOURS
            ):
                found[a.id, b.id] = "overlap"
    return found


def kinds(found: tuple[Pair, ...]) -> dict[tuple[str, str], str]:
    return {(p.a.id, p.b.id): p.kind for p in found}


@settings(deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), max_size=26, unique=True),
    spread=st.sampled_from([0.0, 5.0, 400.0]),
    seed=st.integers(0, 999),
)
def test_it_agrees_with_looking_at_every_pair(texts: list[str], spread: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    blocks = [block(t, float(chance.random()) * spread, f"{chance.integers(4)}.md#{i}") for i, t in enumerate(texts)]
    matrix = units(seed, len(blocks))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "_ROWS", 7)
        assert kinds(find_pairs(blocks, matrix, overlap_words=OVERLAP_WORDS)) == slow(blocks, matrix)


def test_with_too_many_pairs_only_the_rarest_runs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["ash elm fir oak", "ash elm fir yew", "x y z 1 2 3 4 5", "so x y z 1 2 3 4 5"]
    texts += [f"same old words {n}" for n in range(9)]
    blocks = [block(t, 0.0, f"{i}.md") for i, t in enumerate(texts)]
    assert similarity._pairs_with_shared_runs(make_shingles(texts))[0].keys.size == 2 + 36
    monkeypatch.setattr(similarity, "_MOST_PAIRS", 7)
    shared, rare = similarity._pairs_with_shared_runs(make_shingles(texts))
    assert shared.keys.tolist() == [0 * 13 + 1, 2 * 13 + 3]
    assert shared.counts.tolist() == [1, 6]
    assert rare.tolist() == [2, 2, 6, 7] + [1] * 9
    assert list(kinds(find_pairs(blocks, np.eye(13, dtype=np.float32))).values()) == ["duplicate"]
