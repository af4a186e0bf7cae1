"""Raise blocks that share names with the best hits: the second hop of a question whose answer needs two texts.

The first hit on "who founded the club he played for?" names the club, and other blocks that name it may have the
answer. This is a single step of PageRank from the best hits over the graph of blocks and names (HippoRAG, Gutiérrez et
al. 2024); further steps were tried and add nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import contains, places
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import idf
from amgs.retrieval.features import FEATURES, MOST_POSTINGS, Features
from amgs.retrieval.similarity import contributions
from amgs.retrieval.text_forms import TURN
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Block

BEST = 5
"""Number of hits whose names count."""

MOST_NAMES = 30
"""Names of a hit that count, the rarest first."""

MOST_BLOCKS = 100
"""A name in more blocks than this is ignored."""

_COMMON = frozenset(COMMON_WORDS)
_NAME = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’-]*(?:[ \t]+(?:(?:of|the|de|and)[ \t]+)?[^\W\d_a-z][\w'’-]*)*")
_LETTERS = re.compile(r"[^\W_]+")

Blocks = Callable[[Sequence[int]], Mapping[int, Block]]


def add_shared_names(evidence: Features, keyword: LexicalIndex, blocks: Blocks) -> Features:
    """Fill the feature `shared_names` of the candidates. blocks: reads blocks by number.

    Each of the best hits has a weight by its score. The weight flows to its names by their rarity, and from a name in
    equal parts to the blocks that have it. The feature is the square root of the greater of a candidate's own weight
    and the weight that flows to it, each scaled to at most 1: so the best hits keep their places, and blocks with their
    names rank beside them. Where no name is shared, nothing changes. Turns of a dialogue receive nothing, because their
    neighbours say more; they get the mean of the other texts at least, so as not to fall behind.
    """
    linear = contributions(evidence).sum(axis=1)
    best = np.argsort(-linear, kind="stable")[:BEST].tolist()
    text = evidence.form != TURN
    if not text[best].any():
        return evidence
    chance = np.exp(linear[best] - linear[best[0]])
    read = blocks([int(evidence.numbers[row]) for row in best])
    index = _NameIndex(keyword, evidence.numbers)
    own, flow = np.zeros(linear.size), np.zeros(linear.size)
    own[best] = chance
    for row, weight in zip(best, chance.tolist(), strict=True):
        flow += text * weight * index.spread(read[int(evidence.numbers[row])].content)
    if not flow.any():
        return evidence
    share = np.sqrt(np.maximum(own, flow / flow.max()))
    share[~text] = np.maximum(share[~text], share[text].mean())
    values = evidence.values.copy()
    values[:, list(FEATURES).index("shared_names")] = share
    return replace(evidence, values=values)


class _NameIndex:
    """Finds the candidates that contain a name; remembers words and names, so that each is looked up only once."""

    def __init__(self, keyword: LexicalIndex, numbers: NDArray[np.int64]) -> None:
        self._keyword, self._numbers = keyword, numbers
        self._words: dict[str, tuple[tuple[int, str], ...]] = {}
        self._stem_blocks: dict[str, NDArray[np.int64]] = {}
        self._name_rows: dict[str, tuple[NDArray[np.int64], int]] = {}

    def spread(self, text: str) -> NDArray[np.float64]:
        """Return (m,) how a text's weight of 1 flows through its names to the candidates."""
        phrases = name_phrases(text)
        self._look_up({word for name in phrases for word in name.split()})
        rarities = {name: self._rarity(name) for name in phrases}
        rarest = sorted((name for name in rarities if rarities[name] > 0), key=lambda name: -rarities[name])[
            :MOST_NAMES
        ]
        received = np.zeros(self._numbers.size)
        total = sum(rarities[name] for name in rarest)
        for name in rarest:
            if name not in self._name_rows:
                blocks = self._blocks(name)
                at = places(self._numbers, blocks)
                self._name_rows[name] = (at[at >= 0], blocks.size)
            holding, many = self._name_rows[name]
            if many > 1:
                received[holding] += rarities[name] / total / many
        return received

    def _look_up(self, words: Collection[str]) -> None:
        """Record for each new word its uncommon stems, each with how many blocks contain it."""
        for word, stems in self._keyword.stems_of(set(words) - self._words.keys()).items():
            rare_stems = [stem for stem in stems if stem not in _COMMON]
            self._words[word] = tuple((self._keyword.frequency(stem), stem) for stem in rare_stems)

    def _rarity(self, name: str) -> float:
        """Return the idf of a name's rarest word; 0 where no block has it, or more than MOST_BLOCKS."""
        least = min((frequency for frequency, _ in self._stems(name)), default=0)
        return idf(self._keyword.documents, least) if 0 < least <= MOST_BLOCKS else 0.0

    def _stems(self, name: str) -> list[tuple[int, str]]:
        """Return (number of blocks, stem) for each stem of a name's words, the rarest first."""
        return sorted({pair for word in name.split() for pair in self._words[word]})

    def _blocks(self, name: str) -> NDArray[np.int64]:
        """Return the numbers, ascending, of the blocks that contain every word of a name."""
        numbers: NDArray[np.int64] | None = None
        for _, stem in self._stems(name):
            if numbers is not None and numbers.size < 2:
                break
            if stem not in self._stem_blocks:
                self._stem_blocks[stem] = np.sort(self._keyword.postings(stem, MOST_POSTINGS).numbers)
            holders = self._stem_blocks[stem]
            numbers = holders if numbers is None else numbers[contains(holders, numbers)]
        return np.zeros(0, dtype=np.int64) if numbers is None else numbers


def name_phrases(text: str) -> Collection[str]:
    """Return the possible names in a text, each once: runs of capitalised words, without common words at the start."""
    phrases: dict[str, None] = {}
    for match in _NAME.finditer(text):
        words = list(_LETTERS.findall(match[0].lower()))
        while words and words[0] in _COMMON:
            words = words[1:]
        if len("".join(words)) > 2:
            phrases[" ".join(words)] = None
    return phrases
