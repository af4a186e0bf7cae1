"""What LensNet is told of each entry in plain numbers, each with a name that an operator can be shown.

Everything is computed from the tokens and the layout; no number costs more than the window does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs_focus.gist_tree import LifetimeTree
from amgs_focus.scoring import LensView, Values
from amgs_focus.span_index import SpanIndex
from amgs_focus.working_context import Entry

NAMES = (
    "level",
    "width",
    "distance",
    "recency",
    "open",
    "open_share",
    "asked",
    "question_words",
    "question_best",
    "question_meaning",
    "tail_words",
    "tail_meaning",
    "rare",
    "unseen",
    "recurring",
    "recurring_lately",
)
"""level, width (blocks, log), distance (blocks to the cursor, log), recency; open: it is tokens now; open_share: of
the window; asked: there is a question. question_… and tail_…: words by idf that the best block of the span holds,
and cosine of mean embeddings; question_best: the words against the best entry's. rare: how dear its words are to
predict; unseen: the part of them that no open entry shows; recurring: of these, those that other blocks hold too, by
how many, and lately: by those within the last blocks."""

AHEAD = frozenset(NAMES) - {"level", "width", "open", "rare"}
"""What knows anything that stands behind the entry; the causal twin is told 0 instead."""

RECENT = 64  # last tokens that make the tail's query
LATELY = 24  # blocks
SAMPLE = 4  # blocks that speak for a gist above level 1: what is read stays within the window's size
COMMON = 5.0  # nats: a word that is cheaper to predict than this tells nothing


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a block that are dear to predict, each once, and how dear (nats above COMMON)."""

    numbers: tuple[int, ...]
    worth: tuple[float, ...]


class LensFeatures:
    """Features of the entries of one lifetime's contexts. surprisal: (V,) nats of each token by its frequency."""

    def __init__(self, tree: LifetimeTree, surprisal: NDArray[np.float32]) -> None:
        self.tree = tree
        self._surprisal = surprisal
        self._index = SpanIndex(tree)
        self._words: dict[int, _Words] = {}
        self._spread: dict[int, tuple[int, int]] = {}
        self._known = (0, 0)  # blocks and cuts that `_spread` is of
        self._cuts = len(tree.truncations)

    def of(self, view: LensView) -> Values:
        """(entries, len(NAMES)), each roughly in [0, 1]."""
        context, tree = view.context, self.tree
        self._sync()
        entries = context.entries()
        nodes = [entry.node for entry in entries]
        recent = [int(token) for token in tree.tokens(max(0, tree.length - RECENT), tree.length)]
        columns: dict[str, Values] = {}
        distance = np.array([context.distance(entry) for entry in entries], np.float64)
        columns["level"] = np.array([entry.level for entry in entries], np.float64) / 3
        blocks = np.array([(entry.end - entry.start) / tree.block_size for entry in entries])
        columns["width"] = np.log2(np.maximum(blocks, 1.0)) / 10
        columns["distance"] = np.log2(1 + distance) / 10
        columns["recency"] = 1 / (1 + distance / 8)
        opened = np.array([entry.level == 0 for entry in entries], np.float64)
        columns["open"] = opened
        raw = sum(entry.cost for entry in entries if entry.level == 0)
        columns["open_share"] = np.full(len(entries), raw / max(1, context.used))
        columns["asked"] = np.full(len(entries), float(bool(view.question)))
        for name, tokens in (("question", view.question), ("tail", tuple(recent))):
            query = self._index.query(tokens, [1.0] * len(tokens))
            columns[f"{name}_words"] = self._index.lexical(query, nodes)
            columns[f"{name}_meaning"] = (1 + self._index.similarity(query, nodes)) / 2 * bool(tokens)
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        best = columns["question_words"][settled].max(initial=0.0)
        columns["question_best"] = columns["question_words"] / best if best else np.zeros(len(entries))
        columns |= self._wordwise(entries)
        return np.stack([columns[name] for name in NAMES], axis=1)

    def _wordwise(self, entries: Sequence[Entry]) -> dict[str, Values]:
        """What the words of each entry tell: rare, unseen, recurring, recurring_lately."""
        total = max(1, self.tree.count(0))
        shown: dict[int, int] = {}  # in how many open entries a word is seen
        for entry in entries:
            if entry.level == 0:
                for word in self._of_block(entry.index).numbers:
                    shown[word] = shown.get(word, 0) + 1
        rows = np.zeros((len(entries), 4))
        for place, entry in enumerate(entries):
            chosen = _sampled(entry, self.tree.block_size)
            for block in chosen:
                words = self._of_block(block)
                for word, worth in zip(words.numbers, words.worth, strict=True):
                    rows[place, 0] += worth
                    if shown.get(word, 0) > (entry.level == 0):
                        continue
                    rows[place, 1] += worth
                    held, lately = self._spread_of(word)
                    if held > 1:
                        rows[place, 2] += worth * (held - 1) / total
                        lately -= total - LATELY <= block < total  # the block itself
                        rows[place, 3] += worth * min(2, lately) / 2
            rows[place] /= max(1, len(chosen))
        unseen = np.divide(rows[:, 1], rows[:, 0], out=np.zeros(len(entries)), where=rows[:, 0] > 0)
        return {
            "rare": rows[:, 0] / 100,
            "unseen": unseen,
            "recurring": np.log1p(rows[:, 2]) / 2,
            "recurring_lately": np.log1p(rows[:, 3]) / 4,
        }

    def _spread_of(self, word: int) -> tuple[int, int]:
        """In how many blocks a word stands, and in how many of the last."""
        found = self._spread.get(word)
        if found is None:
            total = self.tree.count(0)
            found = self._index.count(word), self._index.count(word, since=total - LATELY)
            self._spread[word] = found
        return found

    def _of_block(self, block: int) -> _Words:
        found = self._words.get(block)
        if found is None or block >= self.tree.count(0):
            size = self.tree.block_size
            tokens = [int(token) for token in self.tree.tokens(block * size, (block + 1) * size)]
            dear: dict[int, float] = {}
            for word, token in zip(self._index.words_of(tokens), tokens, strict=True):
                worth = float(self._surprisal[token]) - COMMON
                if word and worth > 0:
                    dear[word] = max(worth, dear.get(word, 0.0))
            found = _Words(tuple(dear), tuple(dear.values()))
            if block < self.tree.count(0):
                self._words[block] = found
        return found

    def _sync(self) -> None:
        cuts = self.tree.truncations
        if len(cuts) > self._cuts:
            first = min(cuts[self._cuts :]) // self.tree.block_size
            self._words = {block: words for block, words in self._words.items() if block < first}
            self._cuts = len(cuts)
        if self._known != (self.tree.count(0), len(cuts)):
            self._known = (self.tree.count(0), len(cuts))
            self._spread.clear()
        self._index.sync()


def _sampled(entry: Entry, block_size: int) -> list[int]:
    """The block that an entry is, or up to SAMPLE at even distances of those that it stands for."""
    first, last = entry.start // block_size, -(-entry.end // block_size)
    step = max(1, math.ceil((last - first) / SAMPLE))
    return list(range(first, last, step))


def surprisal_of(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """(V,) occurrences in the training texts -> (V,) nats, half an occurrence being added to each."""
    shares = (counts + 0.5) / max(1, int(counts.sum()))
    surprisal: NDArray[np.float32] = -np.log(shares).astype(np.float32)
    return surprisal
