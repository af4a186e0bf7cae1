"""The reference methods that run beside ours: textbook BM25, with its neighbours, and rank fusion.

What a search finds beside its controls: one layer alone, both layers' ranks fused, textbook BM25, and chance.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from amgs.index.lexical import TextBm25
from amgs.index.terms import word_analyzer
from amgs.memory import Memory
from amgs.text.words import COMMON_WORDS
from amgs.types import BlockFilter

NEIGHBOURS = 0.3
"""The weight of the turn before and after, as the protocol's reference has it."""

FUSION = 60
"""The constant of reciprocal rank fusion."""

Scores = NDArray[np.float64]
Key = TypeVar("Key", int, str)


class Bm25:
    """BM25 over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._analyzer = word_analyzer()
        self._common = {stem for word in COMMON_WORDS for stem in self._analyzer.analyze(word)}
        self._bm25 = TextBm25([self._words(text) for text in texts])

    def scores(self, query: str) -> Scores:
        """(n,) one score a text."""
        return self._bm25.scores(self._words(query))

    def _words(self, text: str) -> list[str]:
        return [word for word in self._analyzer.analyze(text) if word not in self._common]


def with_neighbours(scores: Scores, sessions: Sequence[str], share: float = NEIGHBOURS) -> Scores:
    """(n,) each score plus a share of those before and after it in the same session."""
    total = scores.copy()
    same = np.array([a == b for a, b in pairwise(sessions)], dtype=np.bool_)
    total[1:] += share * np.where(same, scores[:-1], 0.0)
    total[:-1] += share * np.where(same, scores[1:], 0.0)
    return total


def fuse_by_rank(*lists: Sequence[Key]) -> list[Key]:
    """Reciprocal rank fusion of lists that have the best first, ties in order."""
    total: dict[Key, float] = {}
    for ranked in lists:
        for rank, one in enumerate(ranked, 1):
            total[one] = total.get(one, 0.0) + 1.0 / (FUSION + rank)
    return sorted(total, key=lambda one: (-total[one], one))


def fused_ranks(*lists: Scores) -> Scores:
    """(n,) reciprocal rank fusion of several scorings; what a method did not find at all (0) it does not
    rank.
    """
    total = np.zeros(lists[0].size)
    for scores in lists:
        ranks = np.empty(scores.size)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
        total += np.where(scores > 0, 1.0 / (FUSION + ranks), 0.0)
    return total


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
            FUSED: fuse_by_rank(words, meaning),
            BM25: [self._ids[row] for row in np.argsort(-self._bm25.scores(text), kind="stable")[:DEPTH]],
            CHANCE: self._random.sample(self._ids, min(DEPTH, len(self._ids))),
        }
        return RankedQuestion(text, group, tuple(relevant), {name: ids[:DEPTH] for name, ids in ranked.items()})

    def _alone(self, text: str, layer: str) -> list[str]:
        scored = self._memory.gather(text, layers=(layer,)).scored
        return [str(scored.facts.ids[row]) for row in scored.order[:_POOL]]
