"""Blocks and edges: looked up, and changed by hand."""

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
        """Return the block with an id or with the only id that begins so.

        Raises UnknownBlockError or AmbiguousIdError, which names the blocks that match.
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
        """Return blocks that pass a filter, the latest first unless ordered by id."""
        most = bounds.count("A limit", limit)
        skipped = bounds.count("An offset", offset)
        return self._storage.blocks.select(filter, order=order, limit=most, offset=skipped)

    def earliest(self, filter: BlockFilter) -> datetime | None:
        """Return the creation time of the oldest block that passes a filter; None where none does."""
        return self._storage.blocks.earliest(filter)

    def count(self, filter: BlockFilter) -> int:
        """Return how many blocks pass a filter."""
        return self._storage.blocks.count(filter)

    def titles(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the titles of the blocks with these ids, by id; unknown ids are missing from the answer."""
        return {block.id: block.title for block in self._storage.blocks.get(ids).values()}

    def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Return blocks whose title, first words or id fit what was typed, the best first."""
        from amgs.text import finder

        ids = finder.find(self._storage.blocks.outlines(), text, bounds.count("A limit", limit))
        blocks = self._storage.blocks.get(ids)
        return tuple(blocks[i] for i in ids if i in blocks)

    def resolve_source(self, source: str) -> tuple[str, ...]:
        """Return ids of the blocks that came from a source: a file, or `file#n` for a part or turn of it."""
        return self._storage.blocks.with_source(source)

    def has_source(self, sources: Sequence[str]) -> bool:
        """Return whether a block came from one of these sources, whole or as a part."""
        return self._storage.blocks.has_source(sources) or bool(self._storage.sources.held(sources))

    def edges(self, block_id: str | None = None) -> tuple[Edge, ...]:
        """Return the edges of one block, both directions; of the whole memory without one."""
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
        """Change a block's metadata; journalled, so that it can be undone. categories: of a block of several, the first
        being its `category`. meta: an empty value takes a key away.
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
        """Add tags to a block, take others away, and write a note (an empty one removes it); journalled, and kept when
        its source is read again.
        """
        whole = self._context.whole_id(id)
        from amgs.lifecycle import annotate as annotating

        return annotating.annotate(self._storage, whole, self._now, add=add, remove=remove, note=note)

    def note(self, id: str, text: str) -> Block:
        """Write a note on a block, in place of the one before; an empty one removes it. Journalled."""
        return self.tag(id, note=text)

    def add_edge(
        self, source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
    ) -> Edge:
        """Add an edge between two consolidated blocks, or change the one of that kind; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.add_edge(
            self._storage, start, goal, self._now, kind=kind, weight=weight, confidence=confidence
        )

    def remove_edge(self, source: str, target: str, *, kind: str | None = None) -> JournalEntry:
        """Remove the edges from one block to another, of one kind or of all; journalled."""
        start, goal = (self._context.whole_id(short_id) for short_id in (source, target))
        from amgs.lifecycle import annotate as annotating

        return annotating.remove_edges(self._storage, start, goal, self._now, kind=kind)
