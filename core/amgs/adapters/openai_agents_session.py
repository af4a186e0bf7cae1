"""The `Session` of the OpenAI Agents SDK over a memory: `Runner.run(agent, text, session=MemorySession("a", m))`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from amgs.adapters.item_blocks import ItemBlocks, ItemMemory
from amgs.errors import UsageError
from amgs.extras import explained

with explained():
    from agents.memory.session import SessionABC

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.memory import SessionSettings

_ITEM: Final = "session_item"


class MemorySession(SessionABC):
    """A conversation whose items are blocks of a memory, one each, so that its searches and frames find what was said.

    `pop_item` and `clear_session` archive blocks; `undo` brings them back. Items come back exactly as they were added.
    session_settings: its `limit` is that of `get_items` where none is given.
    """

    def __init__(
        self, session_id: str, memory: ItemMemory, session_settings: SessionSettings | None = None
    ) -> None:
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
            raise UsageError(
                f"A limit must not be negative, got {limit}.", way_out="Leave it out for all items."
            )
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
        content = "\n".join(
            str(part["text"]) for part in content if isinstance(part, Mapping) and part.get("text")
        )
    if isinstance(content, str) and content:
        return f"{item.get('role', 'unknown')}: {content}"
    return json.dumps(dict(item), ensure_ascii=False, indent=1)
