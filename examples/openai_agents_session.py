"""The `Session` of the OpenAI Agents SDK over a memory: `Runner.run(agent, text, session=MemorySession("a", m))`.

Copy this file into your program; it needs `openai-agents>=0.20`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from agents.memory.session import SessionABC

from amgs.errors import UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import Block, BlockFilter, IngestReport, Status

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.memory import SessionSettings

_ITEM: Final = "session_item"


# Items that can be replaced and removed are kept as blocks, which cannot: removing archives the block.

LIVE: Final[tuple[Status, ...]] = ("raw", "consolidated")
_EVER: Final[tuple[Status, ...]] = (*LIVE, "archived", "pruned")
_NUMBER: Final = "item_number"


class ItemMemory(Protocol):
    """What items need of a memory; `Memory` has it."""

    def ingest_many(self, drafts: Iterable[RawBlock]) -> IngestReport: ...

    def blocks(self, filter: BlockFilter) -> tuple[Block, ...]: ...

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

    def _select(self, statuses: tuple[Status, ...], meta: Mapping[str, Any]) -> list[Block]:
        found = self._memory.blocks(BlockFilter(statuses=statuses, meta={**self._common, **meta}))
        return sorted(found, key=lambda block: int(block.meta[_NUMBER]))


class MemorySession(SessionABC):
    """A conversation whose items are blocks of a memory, one each, so that its searches and frames find what was said.

    `pop_item` and `clear_session` archive blocks; `undo` brings them back. Items come back exactly as they were added.
    session_settings: its `limit` is that of `get_items` where none is given.
    """

    def __init__(self, session_id: str, memory: ItemMemory, session_settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._items = ItemBlocks(
            memory, f"item of session {session_id}", {"kind": "session item", "session_id": session_id}
        )

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in the order in which they were said; the latest `limit` of them."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit < 0:
            raise UsageError(f"A limit must not be negative, got {limit}.", way_out="Leave it out for all items.")
        blocks = await asyncio.to_thread(self._items.live)
        kept = blocks if limit is None else blocks[max(len(blocks) - limit, 0) :]
        return [cast("TResponseInputItem", json.loads(block.meta[_ITEM])) for block in kept]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the end, all or none."""
        made = [(_told(item), {_ITEM: json.dumps(item, ensure_ascii=False)}) for item in items]
        if made:
            await asyncio.to_thread(self._items.add, made)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the latest item away and give it; None where there is none."""
        return await asyncio.to_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        with self._items.lock:
            last = self._items.live()[-1:]
            self._items.remove(last)
        return cast("TResponseInputItem", json.loads(last[0].meta[_ITEM])) if last else None

    async def clear_session(self) -> None:
        """Take every item away."""
        await asyncio.to_thread(lambda: self._items.remove(self._items.live()))


def _told(item: Any) -> str:
    """What an item says, with who says it: what is searched."""
    if not isinstance(item, Mapping):
        return str(item)
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part["text"]) for part in content if isinstance(part, Mapping) and part.get("text"))
    if isinstance(content, str) and content:
        return f"{item.get('role', 'unknown')}: {content}"
    return json.dumps(dict(item), ensure_ascii=False, indent=1)
