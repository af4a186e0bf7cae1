"""Which blocks of a lifetime a question is about: by its words and by its meaning, searched once when it is asked.

Every block is ranked by its own vector and by the index of words. The best are then read sentence by sentence, as a
sentence has one meaning and a block of 32 tokens cuts through several; the blocks that a sentence stands in are found
together, so that what lies across an edge is seen whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs_focus.protocols import ProgressCallback, TextEncoder
from amgs_focus.records import Findings, FoundBlock
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.span_index import SpanIndex

LOOKED_AT = 40  # blocks best by meaning that are read sentence by sentence
BY_WORDS = 16  # and best by both kinds of evidence
FOUND = 16  # blocks that a question finds at most
WORDS = 2.0  # standard deviations of the cosine that all of the question's words in one block are worth
LONGEST = 48  # tokens of a sentence
SHORTEST = 5
_ENDS = re.compile(r"[.!?][\"'”’)\]]*\s*$|\n\s*\n")

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuestionCalibration:
    """A logistic regression of "some block tells what is asked" for one text encoder.

    meaning: weight of the greatest cosine among the found blocks; blocks: of the binary logarithm of the blocks
    searched, as the best of many is better by chance.
    """

    base: float
    meaning: float
    blocks: float

    def likelihood(self, found: Sequence[FoundBlock], blocks: int) -> float:
        """In [0, 1]; 0 where nothing was found."""
        if not found:
            return 0.0
        best = max(one.meaning for one in found)
        odds = self.base + self.meaning * best + self.blocks * math.log2(max(1, blocks))
        return 1 / (1 + math.exp(-odds))


CALIBRATED: Mapping[str, QuestionCalibration] = {"all-MiniLM-L6-v2": QuestionCalibration(-6.2, 28.7, -0.37)}


class QuestionSearch:
    """Searches the lifetimes of one runtime with one text encoder."""

    def __init__(self, encoder: TextEncoder, *, words: float = WORDS, meaning: float = 1.0) -> None:
        """words, meaning: weights of the two kinds of evidence."""
        self.encoder = encoder
        self.most = FOUND
        self._weight, self._meaning = words, meaning
        self._index: SpanIndex | None = None

    def sync(self, tree: LifetimeTree, progress: ProgressCallback | None = None) -> None:
        """Encode the blocks that came since."""
        tree.vectors.sync(tree, self.encoder, progress)

    def find(self, tree: LifetimeTree, question: str, end: int) -> Findings:
        """What resembles the question among the whole blocks of tokens [0, end). Forgotten ones are passed over."""
        blocks = end // tree.block_size
        if not blocks or not question.strip():
            return Findings()
        asked = self.encoder.embed([question])[0]
        cosines = tree.vectors.cosines(asked, blocks).astype(np.float64)
        words = self._words(tree, question, blocks)
        open_ = _open(tree, blocks)
        if not open_.any():
            return Findings()
        centre, spread = float(cosines[open_].mean()), max(float(cosines[open_].std()), 1e-6)
        scores = self._score(cosines, centre, spread, words)
        best = np.union1d(_best(self._meaning * cosines, open_, LOOKED_AT), _best(scores, open_, BY_WORDS))
        spans = sorted({span for block in best.tolist() for span in sentences(tree, block, end)})
        texts = [tree.model.decode(tree.tokens(low, high).tolist()) for low, high in spans]
        found: dict[int, FoundBlock] = {}
        for (low, high), cosine in zip(spans, (self.encoder.embed(texts) @ asked).tolist(), strict=True):
            standing = [at for at in _blocks_of(low, high, tree.block_size) if at < blocks and open_[at]]
            share = max((float(words[at]) for at in standing), default=0.0)
            score = float(self._score(cosine, centre, spread, share))
            for at in standing:
                if at not in found or found[at].score < score:
                    found[at] = FoundBlock(at, score, share, cosine)
        ranked = sorted(found.values(), key=lambda one: (-one.score, -one.block))
        chosen = tuple(ranked[: self.most])
        calibrated = CALIBRATED.get(self.encoder.name)
        return Findings(chosen, calibrated.likelihood(chosen, int(open_.sum())) if calibrated else None)

    def _score(self, cosine: Values | float, centre: float, spread: float, words: Values | float) -> Any:
        return self._meaning * (cosine - centre) / spread + self._weight * words

    def _words(self, tree: LifetimeTree, question: str, blocks: int) -> Values:
        """(blocks,) share of the question's words in each."""
        if self._index is None or self._index.tree is not tree:
            self._index = SpanIndex(tree)
        self._index.sync()
        tokens = tree.model.encode(question)
        held, shares = self._index.search(self._index.query(tokens, [1.0] * len(tokens)))
        found = np.zeros(blocks)
        inside = held < blocks
        np.maximum.at(found, held[inside], shares[inside])
        return found


def sentences(tree: LifetimeTree, block: int, end: int) -> list[tuple[int, int]]:
    """Tokens [start, stop) of each sentence that stands in a block, as far as the tokens around it tell."""
    size = tree.block_size
    low, high = max(0, block * size - LONGEST), min(end, (block + 1) * size + LONGEST)
    pieces = [tree.model.decode([token]) for token in tree.tokens(low, high).tolist()]
    cuts = [0]
    for at, piece in enumerate(pieces, start=1):
        if (_ENDS.search(piece) and at - cuts[-1] >= SHORTEST) or at - cuts[-1] >= LONGEST:
            cuts.append(at)
    cuts += [len(pieces)] if cuts[-1] < len(pieces) else []
    spans = []
    for first, last in pairwise(cuts):
        while first < last and not pieces[first].strip():
            first += 1
        while first < last and not pieces[last - 1].strip():
            last -= 1
        if first < last and block in _blocks_of(low + first, low + last, size):
            spans.append((low + first, low + last))
    return spans


def _blocks_of(low: int, high: int, size: int) -> range:
    """The blocks that hold some of tokens [low, high)."""
    return range(low // size, -(-high // size))


def _best(scores: Values, allowed: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """The blocks with the greatest scores; of equals the latest."""
    at = np.flatnonzero(allowed)
    chosen: NDArray[np.int64] = at[np.lexsort((-at, -scores[at]))[:most]]
    return chosen


def _open(tree: LifetimeTree, blocks: int) -> NDArray[np.bool_]:
    """(blocks,) whether a block's tokens may be shown."""
    shown = np.ones(blocks, bool)
    for run in tree.catalogue.sealed.runs:
        each = tree.block_size ** (run.level - 1) if run.level else 1
        shown[run.first * each : run.stop * each] = False
    return shown
