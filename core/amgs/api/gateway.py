"""`memory.gateway`: what agents asked their model through the gateway, and what the model read when it answered."""

from __future__ import annotations

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.conversation import exchanges
from amgs.errors import NotFoundError
from amgs.types.gateway import GatewayExchange

_LATEST = 20
"""So many requests back a plan is looked for: those between went on whole."""


class GatewayLog(MemoryPart):
    """See the module. The latest requests are kept, without the texts of the conversation; with it they outlive the
    gateway. They are a log: not journalled, not undone, and no change of the memory.
    """

    def exchanges(self, limit: int = 50) -> tuple[GatewayExchange, ...]:
        """The latest requests, the newest first, without what was sent."""
        storage = self._context.storage
        with storage.snapshot():
            rows = storage.exchanges.latest(bounds.count("A limit", limit))
            wanted: dict[str, set[int]] = {}
            for row in rows:
                wanted.setdefault(row.conversation, set()).update(exchanges.numbers(row))
            stored = {name: storage.messages.some(name, found) for name, found in wanted.items() if found}
        held = {name: {n: one.message for n, one in found.items()} for name, found in stored.items()}
        return tuple(exchanges.summarise(row, held.get(row.conversation, {})) for row in rows)

    def exchange(self, number: int) -> GatewayExchange:
        """A request with what its model read, put together from the conversation and held against the digest of what
        was sent. Raises NotFoundError for a request that is not kept.
        """
        storage = self._context.storage
        with storage.snapshot():
            row = storage.exchanges.get(number)
            if row is None:
                most = self._context.settings.conversation.exchanges
                raise NotFoundError(
                    f"No request {number} is kept.",
                    way_out="List those that are kept; `memory.conversation.exchanges` in the settings says how many, "
                    f"{most:,} now.",
                )
            stored = storage.messages.held(row.conversation, 1, row.last) if row.last else ()
        return exchanges.rebuild(row, {one.message.number: one.message for one in stored})

    def note(self, exchange: GatewayExchange) -> None:
        """Keep a request, and of all the latest that the settings say."""
        storage, keep = self._context.storage, self._context.settings.conversation.exchanges
        if not keep:
            return
        with storage.transaction():
            last = max(exchange.until, exchange.answered)
            stored = storage.messages.held(exchange.conversation, 1, last) if last else ()
            row = exchanges.row(exchange, {one.message.number: one.message for one in stored})
            storage.exchanges.put(row, keep)

    def last_plan(self, conversation: str) -> str:
        """The plan of what was sent last of a conversation, which `optimise` takes as `previous`; "" for none."""
        rows = self._context.storage.exchanges.latest(_LATEST, conversation)
        return next((found for row in rows if (found := exchanges.plan(row))), "")
