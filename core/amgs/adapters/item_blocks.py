"""Items of a framework that can be replaced and removed, kept as blocks, which cannot.

An item is one block, with the item as JSON in its metadata and a readable text to be found by. Replacing and removing
archives the block: it is no longer found, `as_of` still shows what held then, and `undo` brings it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from amgs.ingest.raw_blocks import RawBlock
from amgs.types import Block, BlockFilter, IngestReport, SearchResult, Status

LIVE: Final[tuple[Status, ...]] = ("raw", "consolidated")
_EVER: Final[tuple[Status, ...]] = (*LIVE, "archived", "pruned")
_NUMBER: Final = "item_number"


class ItemMemory(Protocol):
    """What items need of a memory; `Memory` has it."""

    def ingest_many(self, drafts: Iterable[RawBlock]) -> IngestReport: ...

    def blocks(self, filter: BlockFilter) -> tuple[Block, ...]: ...

    def search(self, query: str, *, top_k: int, filter: BlockFilter | None) -> SearchResult: ...

    def set_metadata(self, id: str, *, status: Status | None = None) -> Block: ...


class ItemBlocks:
    """The items that share some metadata: those of one store, or of one session. name: of no other items."""

    def __init__(self, memory: ItemMemory, name: str, common: Mapping[str, str]) -> None:
        self._memory = memory
        self._name = name
        self._common = dict(common)
        self.lock = threading.RLock()
        """Held by whoever reads an item to replace it."""

    def live(self, **meta: str) -> list[Block]:
        """The items that hold, in the order in which they came."""
        return self._select(LIVE, meta)

    def add(self, items: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        """Keep items, each a readable text and its metadata, in one transaction."""
        with self.lock:
            number = max((int(block.meta[_NUMBER]) for block in self._select(_EVER, {})), default=0)
            # The number makes each text one of its own: equal texts are one block, and a removed one stays removed.
            self._memory.ingest_many(
                RawBlock(f"{text}\n\n[{self._name} {n}]", meta={**self._common, **meta, _NUMBER: str(n)})
                for n, (text, meta) in enumerate(items, number + 1)
            )

    def remove(self, blocks: Iterable[Block]) -> None:
        """Archive items."""
        for block in blocks:
            self._memory.set_metadata(block.id, status="archived")

    def found(self, query: str, most: int, fits: Callable[[Block], bool]) -> list[tuple[Block, float]]:
        """The items that fit and answer a query best, with their scores; at most so many."""
        wanted = BlockFilter(statuses=LIVE, meta=self._common)
        top_k = max(len(self.live()), 1)
        hits = self._memory.search(query, top_k=top_k, filter=wanted).hits if query.strip() else ()
        return [(hit.block, hit.score) for hit in hits if fits(hit.block)][:most]

    def _select(self, statuses: tuple[Status, ...], meta: Mapping[str, Any]) -> list[Block]:
        found = self._memory.blocks(BlockFilter(statuses=statuses, meta={**self._common, **meta}))
        return sorted(found, key=lambda block: int(block.meta[_NUMBER]))
