"""Names that a block shares with the best hits: the second hop of a question whose answer needs two texts.

The first hit on "who founded the club he played for?" names the club; what else names it is a step nearer. It is one
step of PageRank from the best hits over the graph of blocks and names (HippoRAG, Gutiérrez et al. 2024); further steps
were tried and add nothing.
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
"""The hits whose names count."""

MOST_NAMES = 30
"""Of one hit; the rarest."""

MOST_BLOCKS = 100
"""A name that more blocks hold leads nowhere."""

_COMMON = frozenset(COMMON_WORDS)
_NAME = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’-]*(?:[ \t]+(?:(?:of|the|de|and)[ \t]+)?[^\W\d_a-z][\w'’-]*)*")
_LETTERS = re.compile(r"[^\W_]+")

Blocks = Callable[[Sequence[int]], Mapping[int, Block]]


def with_shared_names(evidence: Features, keyword: LexicalIndex, blocks: Blocks) -> Features:
    """Return the evidence with its column `shared_names`; blocks: by number.

    From each of the best hits, by how likely it is, its weight flows to its names by their rarity, and from each name
    in equal parts to the blocks that hold it. What flows to a candidate, and its weight as one of the best, are each
    put on a scale from 0 to 1 by the greatest and a square root, and the greater counts: the best keep their places,
    and what is reached stands beside them; where nothing is, nothing changes. Nothing flows to a turn of a dialogue,
    whose neighbours say more; beside texts it has what they have on the mean, so that it does not fall behind them.
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
    """Candidates that hold a name, and the number of blocks that do; words and names are looked up once."""

    def __init__(self, keyword: LexicalIndex, numbers: NDArray[np.int64]) -> None:
        self._keyword, self._numbers = keyword, numbers
        self._words: dict[str, tuple[tuple[int, str], ...]] = {}
        self._found: dict[str, NDArray[np.int64]] = {}
        self._held: dict[str, tuple[NDArray[np.int64], int]] = {}

    def spread(self, text: str) -> NDArray[np.float64]:
        """Return (m,) what each candidate gets of a text's weight of 1."""
        phrases = names(text)
        self._read({word for name in phrases for word in name.split()})
        rarities = {name: self._rarity(name) for name in phrases}
        rarest = sorted((name for name in rarities if rarities[name] > 0), key=lambda name: -rarities[name])[
            :MOST_NAMES
        ]
        got = np.zeros(self._numbers.size)
        whole = sum(rarities[name] for name in rarest)
        for name in rarest:
            if name not in self._held:
                blocks = self._blocks(name)
                at = places(self._numbers, blocks)
                self._held[name] = (at[at >= 0], blocks.size)
            holding, many = self._held[name]
            if many > 1:
                got[holding] += rarities[name] / whole / many
        return got

    def _read(self, words: Collection[str]) -> None:
        for word, stems in self._keyword.stems_of(set(words) - self._words.keys()).items():
            rare_stems = [stem for stem in stems if stem not in _COMMON]
            self._words[word] = tuple((self._keyword.frequency(stem), stem) for stem in rare_stems)

    def _rarity(self, name: str) -> float:
        """Return the idf of the rarest word; 0 of a name that is in too many blocks."""
        least = min((frequency for frequency, _ in self._stems(name)), default=0)
        return idf(self._keyword.documents, least) if 0 < least <= MOST_BLOCKS else 0.0

    def _stems(self, name: str) -> list[tuple[int, str]]:
        """Return the stems of a name's words, each after how many blocks hold it; the rarest first."""
        return sorted({pair for word in name.split() for pair in self._words[word]})

    def _blocks(self, name: str) -> NDArray[np.int64]:
        """Return the numbers, ascending, of the blocks that hold every word of a name."""
        numbers: NDArray[np.int64] | None = None
        for _, stem in self._stems(name):
            if numbers is not None and numbers.size < 2:
                break
            if stem not in self._found:
                self._found[stem] = np.sort(self._keyword.postings(stem, MOST_POSTINGS).numbers)
            holders = self._found[stem]
            numbers = holders if numbers is None else numbers[contains(holders, numbers)]
        return np.zeros(0, dtype=np.int64) if numbers is None else numbers


def names(text: str) -> Collection[str]:
    """Return what of a text could be a name, each once: runs of words with a capital, without a common word before
    them.
    """
    phrases: dict[str, None] = {}
    for match in _NAME.finditer(text):
        words = list(_LETTERS.findall(match[0].lower()))
        while words and words[0] in _COMMON:
            words = words[1:]
        if len("".join(words)) > 2:
            phrases[" ".join(words)] = None
    return phrases
