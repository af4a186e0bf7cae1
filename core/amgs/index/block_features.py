"""Features of a block that do not depend on a query: its episode, speaker and length, whether it asks; as columns.

Derived from the store like the other indexes, and held in memory: retrieval compares a whole pool by these
columns without reading a block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import places, replaced
from amgs.storage.block_columns import FeatureColumns
from amgs.text.stop_words import COMMON_WORDS

NOBODY = -1
_COLUMNS = ("numbers", "episode", "name", "length", "asking", "asks")
_WORD = re.compile(r"\w+")
_SHORTEST_NAME = 3
_COMMON = frozenset(COMMON_WORDS)


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """The columns of all n blocks, rows in rising number; name is a place in `names`, or NOBODY."""

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
        """Return the names that a text mentions, by their first word or any longer one: places in `names`.

        One that is a common word too ("Will") is meant only where it is capitalised and does not begin the text.
        """
        written = _WORD.findall(text)
        later = {word.lower() for word in written[1:] if word[:1].isupper()}
        words = {word.lower() for word in written if word.lower() not in _COMMON} | later
        called = _index_name_words(self.names)
        return tuple(sorted({place for word in words for place in called.get(word, ())}))

    def without(self, numbers: NDArray[np.int64]) -> BlockFeatures:
        """Return these traits less some rows."""
        return self._select_rows(~np.isin(self.numbers, numbers)) if numbers.size else self

    def merged(self, changed: FeatureColumns) -> BlockFeatures:
        """Return these traits with the changed rows in place of, or beside, the old ones."""
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
            column: replaced(self.numbers, getattr(self, column), fresh.numbers, getattr(fresh, column))
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
    """Return the places of the names that a word calls. Kept beside the features, which change with every block: names
    seldom do.
    """
    called: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for word in name_words(name):
            called.setdefault(word, []).append(place)
    return called


def name_words(name: str) -> set[str]:
    """Return the words by which somebody is called: the first of the name, and all that are not mere initials."""
    words = _WORD.findall(name)
    return {word for i, word in enumerate(words) if i == 0 or len(word) >= _SHORTEST_NAME}
