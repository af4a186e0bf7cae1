"""Look up blocks and edges, and change them by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amgs import bounds
from amgs.memory.open_memory import OpenMemory

if TYPE_CHECKING:
    from amgs.types import Block, BlockFilter, Edge, JournalEntry, Status


class BlockMethods(OpenMemory):
    """Methods that look up and change blocks and edges."""

    def block(self, id_or_prefix: str) -> Block:
        """Return the block with this id or unique prefix. Raises UnknownBlockError, or AmbiguousIdError, which names up
        to five matching ids.
        """
        return self._context.block(id_or_prefix)

    def blocks(
        self,
        filter: BlockFilter,
        *,
        order: Literal["created", "reinforced", "id"] = "created",
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[Block, ...]:
        """Return blocks that pass a filter, latest first unless ordered by id."""
        most = bounds.count("A limit", limit)
        skipped = bounds.count("An offset", offset)
        return self._storage.blocks.select(filter, order=order, limit=most, offset=skipped)

    def earliest(self, filter: BlockFilter) -> datetime | None:
        """Return the creation time of the oldest block that passes a filter; None without one."""
        return self._storage.blocks.earliest(filter)

    def count(self, filter: BlockFilter) -> int:
        """Return the number of blocks that pass a filter."""
        return self._storage.blocks.count(filter)

    def titles(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of blocks by id, without unknown ids."""
        return {block.id: block.title for block in self._storage.blocks.get(ids).values()}

    def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Return blocks whose title, first words or id resemble a text, best first."""
        from amgs.text import finder

        ids = finder.find(self._storage.blocks.outlines(), text, bounds.count("A limit", limit))
        blocks = self._storage.blocks.get(ids)
        return tuple(blocks[i] for i in ids if i in blocks)

    def resolve_source(self, source: str) -> tuple[str, ...]:
        """Return the ids of the blocks of a source: a file, or `file#n` for a part or turn of it."""
        return self._storage.blocks.with_source(source)

    def has_source(self, sources: Sequence[str]) -> bool:
        """Return whether a block came from one of these sources, or a part of them."""
        return self._storage.blocks.has_source(sources) or bool(self._storage.sources.held(sources))

    def edges(self, block_id: str | None = None) -> tuple[Edge, ...]:
        """Return the edges of a block in both directions; without one, of the whole memory."""
        if block_id is None:
            return self._storage.edges.everything()
        return self._storage.edges.touching([self._context.whole_id(block_id)])

    def set_metadata(
        self,
        id: str,
        *,
        category: str | None = None,
        categories: Sequence[str] | None = None,
        confidence: float | None = None,
        decay_lambda: float | None = None,
        is_self_component: bool | None = None,
        status: Status | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> Block:
        """Change a block's metadata; journalled, so it can be undone.

        categories: for several, the first becoming its `category`. meta: an empty value removes a key.
        """
        from amgs.lifecycle import annotate

        return annotate.edit(
            self._storage,
            self._context.whole_id(id),
            self._now,
            category=category,
            categories=categories,
            confidence=confidence,
            decay_lambda=decay_lambda,
            is_self_component=is_self_component,
            status=status,
            meta=meta,
        )

    def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = (), *, note: str | None = None) -> Block:
        """Add and remove tags of a block, and set its note (an empty one removes it); journalled. They stay when its
        source is read again.
        """
        whole = self._context.whole_id(id)
        from amgs.lifecycle import annotate as annotating

        return annotating.annotate(self._storage, whole, self._now, add=add, remove=remove, note=note)

    def note(self, id: str, text: str) -> Block:
        """Set a block's note; an empty one removes it. Journalled."""
        return self.tag(id, note=text)

    def add_edge(
        self, source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
    ) -> Edge:
        """Add an edge between two consolidated blocks, or change the existing one of that kind; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.add_edge(
            self._storage, start, goal, self._now, kind=kind, weight=weight, confidence=confidence
        )

    def remove_edge(self, source: str, target: str, *, kind: str | None = None) -> JournalEntry:
        """Remove the edges from a block to another, of one kind or all; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.remove_edges(self._storage, start, goal, self._now, kind=kind)
