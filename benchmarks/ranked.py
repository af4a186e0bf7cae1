"""What a search finds beside its controls: one layer alone, both layers' ranks fused, textbook BM25, and chance."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from amgs.memory import Memory
from amgs.types import BlockFilter
from benchmarks.references import FUSION, Bm25

HYBRID, KEYWORD, VECTOR, FUSED = "hybrid", "keyword alone", "vector alone", "rank fusion"
BM25, CHANCE = "BM25", "chance"
METHODS = (HYBRID, KEYWORD, VECTOR, FUSED, BM25, CHANCE)
DEPTH = 10
_POOL = 100
"""Of each layer's list, for the fusion."""


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question with what answers it, and what every method ranked for it: block ids, the best first.

    relevant: an item is a set of blocks any of which will do. group: the store or project that it belongs to.
    """

    text: str
    group: str
    relevant: tuple[frozenset[str], ...]
    ranked: Mapping[str, Sequence[str]]


class SearchControls:
    """The methods over one memory. seed: for the order that chance gives."""

    def __init__(self, memory: Memory, seed: int = 0) -> None:
        self._memory = memory
        blocks = memory.blocks(BlockFilter(), order="id")
        self._ids = [block.id for block in blocks]
        self._bm25 = Bm25([block.content for block in blocks])
        self._random = random.Random(seed)

    def ask(self, text: str, group: str, relevant: Sequence[frozenset[str]]) -> RankedQuestion:
        """What each of METHODS ranks first for a question: DEPTH ids each."""
        found = self._memory.search(text, top_k=DEPTH)
        words, meaning = self._alone(text, "keyword"), self._alone(text, "vector")
        ranked = {
            HYBRID: [hit.block.id for hit in found.hits],
            KEYWORD: words,
            VECTOR: meaning,
            FUSED: _fused(words, meaning),
            BM25: [self._ids[row] for row in np.argsort(-self._bm25.scores(text), kind="stable")[:DEPTH]],
            CHANCE: self._random.sample(self._ids, min(DEPTH, len(self._ids))),
        }
        return RankedQuestion(
            text, group, tuple(relevant), {name: ids[:DEPTH] for name, ids in ranked.items()}
        )

    def _alone(self, text: str, layer: str) -> list[str]:
        scored = self._memory.gather(text, layers=(layer,)).scored
        return [str(scored.facts.ids[row]) for row in scored.order[:_POOL]]


def _fused(*lists: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion, ties by id."""
    total: dict[str, float] = {}
    for ids in lists:
        for rank, one in enumerate(ids, 1):
            total[one] = total.get(one, 0.0) + 1.0 / (FUSION + rank)
    return sorted(total, key=lambda one: (-total[one], one))
