"""What linking must know of the blocks that are there: names, sources, links. No texts, no vectors.

It is read from the store once and grows with what is consolidated, so that a long consolidation in batches
costs the same for each block from the first batch to the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.identity import file_of, piece_of
from amgs.lifecycle.self_detection import signed
from amgs.text import names
from amgs.text.links import referred, slugs_of
from amgs.text.markdown import slug


@dataclass(frozen=True, slots=True)
class LinkNode:
    """What linking must know of a block.

    number: its running number. sources: where it came from. follows: source -> source of the piece before.
    links: slugs. entities: names. author: who signed it, where it speaks of the self.
    """

    number: int
    id: str
    created_at: datetime
    title: str = ""
    sources: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    author: str = ""


def node(number: int, block_id: str, created_at: datetime, meta: Mapping[str, Any]) -> LinkNode:
    """A node from a block's meta."""
    sources = meta.get("sources") or ([meta["source"]] if meta.get("source") else [])
    follows = meta.get("follows")
    return LinkNode(
        number=number,
        id=block_id,
        created_at=created_at,
        title=str(meta.get("title") or ""),
        sources=tuple(str(s) for s in sources),
        follows=dict(follows) if isinstance(follows, Mapping) else {},
        links=tuple(dict.fromkeys((*(meta.get("links") or ()), *referred(meta)))),
        entities=tuple(meta.get("entities") or ()),
        author=signed(meta),
    )


class LinkContext:
    """Blocks by what others may be linked to them for. A block is a row, in the order in which it was added."""

    def __init__(self, nodes: Iterable[LinkNode] = ()) -> None:
        self.ids: list[str] = []
        self.created: list[datetime] = []
        self.sources: dict[str, int] = {}
        """The row that came from a source, the last one where there are several."""
        self.followers: dict[str, list[int]] = {}
        """Rows by the source of the piece before them."""
        self.places: dict[str, int] = {}
        """The row of a note by the slugs of its file and its title, the first one where there are several."""
        self.linkers: dict[str, list[int]] = {}
        """Rows by the slugs they link to."""
        self.holders: dict[str, list[int]] = {}
        """Rows by the keys of the names they hold."""
        self.name_edges: Counter[int] = Counter()
        """How many edges for shared names a row was given since this was read."""
        self.authors: Counter[str] = Counter()
        self._numbers: list[int] = []
        self._row_of: dict[int, int] = {}
        self.add(nodes)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Running numbers of the blocks, ascending: (n,)."""
        return np.sort(np.array(self._numbers, dtype=np.int64))

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each number, −1 for one that is not here; any shape."""
        return np.array([self._row_of.get(n, -1) for n in numbers.ravel().tolist()], dtype=np.int64).reshape(
            numbers.shape
        )

    def add(self, nodes: Iterable[LinkNode]) -> None:
        """Add blocks as the next rows."""
        for n in nodes:
            row = len(self.ids)
            self.ids.append(n.id)
            self.created.append(n.created_at)
            self._numbers.append(n.number)
            self._row_of[n.number] = row
            for source in n.sources:
                self.sources[source] = row
            for before in n.follows.values():
                self.followers.setdefault(before, []).append(row)
            for name in places(n):
                self.places.setdefault(name, row)
            for target in n.links:
                self.linkers.setdefault(target, []).append(row)
            for name in dict.fromkeys(map(names.key, n.entities)):
                self.holders.setdefault(name, []).append(row)
            if n.author:
                self.authors[n.author] += 1

    def note_author(self, meta: Mapping[str, Any]) -> None:
        """Count who signed a self note that is no row."""
        if signed(meta):
            self.authors[signed(meta)] += 1


def places(n: LinkNode) -> Iterator[str]:
    """The slugs by which a note is linked to: its file and its title; of a split note its first part's."""
    for source in n.sources:
        path, piece = file_of(source), piece_of(source)
        if piece in ("", "1") and PurePosixPath(path).name:
            yield from slugs_of(path)
    if n.title and all(piece_of(s) in ("", "1") for s in n.sources):
        yield slug(n.title)
