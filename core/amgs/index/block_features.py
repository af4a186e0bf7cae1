"""Keep features of all blocks that do not depend on a query, as arrays: episode, speaker, length, questions.

`derived` builds them from the store; a search uses them for all its candidates without reading a block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import places, replace_values
from amgs.storage.block_columns import FeatureColumns
from amgs.text.stop_words import COMMON_WORDS

NOBODY = -1
_COLUMNS = ("numbers", "episode", "name", "length", "asking", "asks")
_WORD = re.compile(r"\w+")
_SHORTEST_NAME = 3
_COMMON = frozenset(COMMON_WORDS)


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """Arrays (n,) over all blocks, in order of their numbers.

    episode: hash of the block's source or dialogue; 0 where it has none. name: who says it, an index into `names`, or
    NOBODY. length: log(1 + characters). asking: share of questions among its sentences. asks: whether it ends with a
    question.
    """

    numbers: NDArray[np.int64]
    episode: NDArray[np.uint64]
    name: NDArray[np.int32]
    length: NDArray[np.float32]
    asking: NDArray[np.float32]
    asks: NDArray[np.bool_]
    names: tuple[str, ...]

    @classmethod
    def none(cls) -> BlockFeatures:
        return cls(
            np.zeros(0, np.int64),
            np.zeros(0, np.uint64),
            np.zeros(0, np.int32),
            np.zeros(0, np.float32),
            np.zeros(0, np.float32),
            np.zeros(0, np.bool_),
            (),
        )

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each block, -1 for one that is not there: (m,)."""
        return places(self.numbers, numbers)

    def named(self, text: str) -> tuple[int, ...]:
        """Return the names that a text mentions, by their first word or any longer one, as indexes into `names`.

        A name that is also a common word ("Will") counts only capitalised, and not as the first word.
        """
        written = _WORD.findall(text)
        later = {word.lower() for word in written[1:] if word[:1].isupper()}
        words = {word.lower() for word in written if word.lower() not in _COMMON} | later
        called = _index_name_words(self.names)
        return tuple(sorted({place for word in words for place in called.get(word, ())}))

    def without(self, numbers: NDArray[np.int64]) -> BlockFeatures:
        """Return the features without the blocks of these numbers."""
        return self._select_rows(~np.isin(self.numbers, numbers)) if numbers.size else self

    def merged(self, changed: FeatureColumns) -> BlockFeatures:
        """Return the features with changed blocks replaced and new ones added."""
        if not changed.numbers.size:
            return self
        places = {name: place for place, name in enumerate(self.names)}
        name = np.array(
            [places.setdefault(person, len(places)) if person else NOBODY for person in changed.name], dtype=np.int32
        )
        sentences = np.maximum(changed.sentences, 1)
        fresh = BlockFeatures(
            changed.numbers,
            changed.episode,
            name,
            np.log1p(changed.characters).astype(np.float32),
            (changed.questions / sentences).astype(np.float32),
            changed.asks,
            tuple(places),
        )
        columns = {
            column: replace_values(self.numbers, getattr(self, column), fresh.numbers, getattr(fresh, column))
            for column in _COLUMNS
        }
        return BlockFeatures(**columns, names=fresh.names)

    def _select_rows(self, rows: NDArray[np.bool_]) -> BlockFeatures:
        return BlockFeatures(
            self.numbers[rows],
            self.episode[rows],
            self.name[rows],
            self.length[rows],
            self.asking[rows],
            self.asks[rows],
            self.names,
        )


@lru_cache(maxsize=16)
def _index_name_words(names: tuple[str, ...]) -> dict[str, list[int]]:
    """Return for each word the names it may mean, as indexes. Cached by the names, which seldom change."""
    called: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for word in name_words(name):
            called.setdefault(word, []).append(place)
    return called


def name_words(name: str) -> set[str]:
    """Return the words by which a person may be mentioned: the first of the name, and any other of 3
    letters or more.
    """
    words = _WORD.findall(name)
    return {word for i, word in enumerate(words) if i == 0 or len(word) >= _SHORTEST_NAME}
