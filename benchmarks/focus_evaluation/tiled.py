"""A synthetic lifetime of any length: a real one, tokens and gists, repeated without being held in memory.

For measuring what grows with the lifetime and what does not. A gist of a level that the real one does not
reach is that level's nearest one below. Every row that is read is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from amgs_focus.records import BLANK, SpanAbout, SpanSource
from amgs_focus.tree.ctx_file import Rows
from amgs_focus.tree.files import MemoryRows, RowStore
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.journal import Journalled
from amgs_focus.tree.usage import GistUsage


@dataclass
class Reads:
    """Rows read since the beginning, and in how many calls."""

    rows: int = 0
    calls: int = 0


class TiledRows:
    """The rows of a base over and over, `count` in all; what is appended after them is kept in memory."""

    def __init__(self, base: Rows, count: int, reads: Reads) -> None:
        self._base = base
        self._tiled = count
        self._more = MemoryRows(base.shape[1] if base.ndim > 1 else 0, base.dtype)
        self._reads = reads

    def __len__(self) -> int:
        return self._tiled + len(self._more)

    def rows(self, start: int, stop: int) -> Rows:
        """As any store's."""
        start, stop = max(0, start), min(stop, len(self))
        self._reads.rows += max(0, stop - start)
        self._reads.calls += 1
        places = np.arange(start, min(stop, self._tiled)) % max(1, len(self._base))
        more = self._more.rows(start - self._tiled, stop - self._tiled)
        return np.concatenate([self._base[places], more]) if stop > self._tiled else self._base[places]

    def append(self, rows: Rows) -> None:
        """As any store's."""
        self._more.append(rows)

    def overwrite(self, start: int, rows: Rows) -> None:
        """As any store's; what is tiled stays."""
        self._more.overwrite(start - self._tiled, rows)

    def truncate(self, count: int) -> None:
        """As any store's."""
        self._more.truncate(count - self._tiled)
        self._tiled = min(self._tiled, max(0, count))

    def close(self) -> None:
        """Nothing is open."""


class TiledStore:
    """A lifetime store that repeats another lifetime up to `length` tokens, a multiple of the block size."""

    def __init__(self, real: LifetimeTree, length: int) -> None:
        self.reads = Reads()
        self.usage = GistUsage()
        self._length = length
        self._version = real.gist.version
        self._levels: dict[int, RowStore] = {
            0: TiledRows(real.tokens(0, real.count(0) * real.block_size), length, self.reads)
        }
        level = 1
        rows: Rows = np.zeros((0, 0), np.float16)
        while (count := length // real.block_size**level) > 0:
            if real.count(level):
                rows = real.gists(level, 0, real.count(level)).flatten(1).numpy().astype(np.float16)
            self._levels[level] = TiledRows(rows, count, self.reads)
            level += 1
        self._width = rows.shape[1]

    def level(self, number: int) -> RowStore:
        """As any store's."""
        if number not in self._levels:
            self._levels[number] = TiledRows(np.zeros((0, self._width), np.float16), 0, self.reads)
        return self._levels[number]

    def levels(self) -> tuple[int, ...]:
        """As any store's."""
        return tuple(sorted(self._levels))

    def load(self) -> Journalled:
        """One span from nowhere."""
        return Journalled([SpanSource(0, self._length, None)])

    def note(self, line: Mapping[str, Any]) -> None:
        """Nothing outlives the measuring."""

    def blank(self, level: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Nothing is purged while it is measured."""

    @property
    def vectors(self) -> RowStore | None:
        """None: questions are searched by their words."""
        return None

    def begin_vectors(self, encoder: str, dimension: int) -> RowStore:
        """Rows that nothing keeps."""
        del encoder
        return MemoryRows(dimension, np.float16)

    def blank_vectors(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Nothing is purged while it is measured."""

    def record(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None:
        """Nothing outlives the measuring."""

    def record_cut(self, length: int, open_tokens: list[int]) -> None:
        """Nothing outlives the measuring."""

    def gist_version(self, level: int) -> int:
        """As any store's."""
        del level
        return self._version

    def say_version(self, level: int, gist_version: int) -> None:
        """As any store's."""
        del level
        self._version = gist_version

    def close(self) -> None:
        """Nothing is open."""
        self._levels.clear()
