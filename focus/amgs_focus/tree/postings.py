"""Which blocks of a lifetime hold a word: counts of all words, places of the rare ones, in bounded memory.

A word is a token without its case and its spaces. Of each word the first blocks are kept, up to a limit: what
stands in more blocks than that tells them apart no longer, and is left out of a search. So neither what is
kept nor what a search looks at grows with the lifetime.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import OPTIONS

RECENT = 1024
"""Last blocks whose words are remembered, so that they can be taken back."""

Numbers = NDArray[np.int64]


class BlockPostings:
    """Words of blocks, in the order in which they came. Word 0 is mere space and is never found."""

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        self._numbers: dict[str, int] = {"": 0}
        self._word_of: Numbers = np.full(model.card.vocabulary, -1, np.int64)
        self._counts: Numbers = np.zeros(1024, np.int64)
        self._places: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        self._recent: deque[Numbers] = deque(maxlen=RECENT)
        self.blocks = 0
        self.visited = 0
        """Places that searches have looked at since the beginning."""

    def clear(self) -> None:
        """No blocks; words keep their numbers."""
        self._counts[:] = 0
        self._places.clear()
        self._recent.clear()
        self.blocks = 0

    def words_of(self, tokens: Iterable[int] | Numbers) -> Numbers:
        """Word numbers, in the shape of the tokens. They are arbitrary: nothing depends on their order."""
        ids = np.asarray(tokens, np.int64)
        for token in np.unique(ids[self._word_of[ids] < 0]) if ids.size else ():
            text = self._model.decode([int(token)]).strip().casefold()
            self._word_of[token] = self._numbers.setdefault(text, len(self._numbers))
        if len(self._numbers) > len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros(len(self._numbers), np.int64)])
        return self._word_of[ids]

    def add(self, tokens: Numbers, total: int) -> None:
        """(n, K) tokens of the next blocks; `total` blocks are there in the end of all the adding."""
        words = np.sort(self.words_of(tokens), axis=1)
        fresh = words > 0
        fresh[:, 1:] &= words[:, 1:] != words[:, :-1]
        rows, _ = np.nonzero(fresh)
        found = words[fresh]
        self._counts += np.bincount(found, minlength=len(self._counts))
        order = np.argsort(found, kind="stable")
        kinds, starts = np.unique(found[order], return_index=True)
        blocks = (self.blocks + rows[order]).astype(np.uint32)
        for word, places in zip(kinds.tolist(), np.split(blocks, starts)[1:], strict=True):
            held = self._places[word]
            if (room := OPTIONS.word_blocks - len(held)) > 0:
                held.frombytes(places[:room].tobytes())
        self.blocks += len(tokens)
        if (first := len(tokens) - (RECENT - (total - self.blocks))) < len(tokens):
            ends = np.searchsorted(rows, np.arange(max(0, first), len(tokens) + 1))
            self._recent.extend(found[low:high] for low, high in pairwise(ends))

    def forget(self, blocks: int) -> bool:
        """Keep the first blocks only. False when that reaches further back than is remembered: begin anew."""
        if self.blocks - blocks > len(self._recent):
            return False
        while self.blocks > blocks:
            self.blocks -= 1
            gone = self._recent.pop()
            self._counts[gone] -= 1
            for word in gone.tolist():
                held = self._places[word]
                if held and held[-1] == self.blocks:
                    held.pop()
        return True

    def counts(self) -> Numbers:
        """(words,) in how many blocks each word stands, as of now."""
        return self._counts.copy()

    def idf(self, words: Numbers) -> NDArray[np.float64]:
        """log((N + 1) / (n + 1)) of each word over all blocks; 0 for mere space and for what is common."""
        held = self._counts[words]
        weights = np.log((self.blocks + 1) / (held + 1))
        rare: NDArray[np.float64] = np.where((words > 0) & (held <= OPTIONS.word_blocks), weights, 0.0)
        return rare

    def search(self, weights: dict[int, float]) -> tuple[Numbers, NDArray[np.float64]]:
        """(m,) blocks that hold any of the words, in order, and (m,) the summed weight of those they hold."""
        lists: Sequence[array[int]] = [self._places.get(word, array("I")) for word in weights]
        each = [len(held) for held in lists]
        self.visited += sum(each)
        joined = np.concatenate(
            [np.frombuffer(held, np.uint32) for held in lists if held] or [np.zeros(0, np.uint32)]
        )
        blocks, place = np.unique(joined.astype(np.int64), return_inverse=True)
        summed = np.bincount(place, weights=np.repeat(list(weights.values()), each), minlength=len(blocks))
        return blocks, summed.astype(np.float64)
