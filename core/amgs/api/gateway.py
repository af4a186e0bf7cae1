"""`memory.gateway`: agents' requests through the gateway, and what the model read for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.conversation import exchanges
from amgs.conversation.exchanges import compare, count_prompts, find_changed_prompts
from amgs.conversation.material import MessageCounter
from amgs.errors import NotFoundError
from amgs.storage.messages import ExchangeRow
from amgs.types.calibration import BlockUse
from amgs.types.gateway import GatewayExchange, PromptKind

_QUOTED = re.compile(r'<note id=\\?"([0-9a-f]{12})')
"""How MCP tools quote a note; in JSON the quotation mark has a backslash."""
_EARLIER = 300
"""Number of earlier messages compared with an answer, each in at most a millisecond."""
_LATEST = 20
"""Number of earlier requests in which a plan is searched, since those between may have been passed on whole."""


class GatewayLog(MemoryPart):
    """`memory.gateway`: agents' requests, and what the model read for each.

    The latest requests are stored without texts of the conversation, so they outlive the gateway. They are a log: not
    journalled, cannot be undone, and no change of the memory. System prompts and tool definitions are stored once each.
    """

    def exchanges(self, limit: int = 50) -> tuple[GatewayExchange, ...]:
        """Return the latest requests, newest first, without what was sent."""
        storage = self._storage
        with storage.snapshot():
            rows = storage.exchanges.latest(bounds.count("A limit", limit))
            wanted: dict[str, set[int]] = {}
            for row in rows:
                wanted.setdefault(row.conversation, set()).update(exchanges.numbers(row))
            stored = {name: storage.messages.some(name, numbers) for name, numbers in wanted.items() if numbers}
            changed = self._map_changed_prompts(rows)
        messages = {
            name: {n: stored_message.message for n, stored_message in by_number.items()}
            for name, by_number in stored.items()
        }
        summaries = (exchanges.summarise(row, messages.get(row.conversation, {})) for row in rows)
        return tuple(replace(exchange, changed=changed.get(exchange.number, ())) for exchange in summaries)

    def exchange(self, number: int) -> GatewayExchange:
        """Return a request with what its model read, reconstructed from the conversation, checked against the digest of
        what was sent, and compared with the previous request.

        Raises NotFoundError if the request is not stored.
        """
        storage = self._storage
        counter = MessageCounter.of(self._context.count_tokens)
        with storage.snapshot():
            row = storage.exchanges.get(number)
            if row is None:
                most = self._context.settings.conversation.exchanges
                raise NotFoundError(
                    f"No request {number} is stored.",
                    way_out="List the stored requests; `memory.conversation.exchanges` in the settings says how many, "
                    f"{most:,} now.",
                )
            earlier = storage.exchanges.before(row) if row.conversation else None
            exchange = self._rebuilt(row, counter)
            before = None if earlier is None else self._rebuilt(earlier, counter)
            changed = self._map_changed_prompts((row,)).get(number, ())
        prefix = None if before is None else compare(before, exchange, counter)
        return replace(exchange, changed=changed, prefix=prefix)

    def note(self, exchange: GatewayExchange) -> None:
        """Store a request, keeping as many of the latest as the settings say."""
        storage, keep = self._storage, self._context.settings.conversation.exchanges
        if not keep:
            return
        secrets = self._context.settings.ingest
        exchange = replace(
            exchange,
            asked=secrets.mask(exchange.asked),
            said=secrets.mask(exchange.said),
            prompts=secrets.mask(exchange.prompts),
        )
        with storage.transaction():
            last = max(exchange.until, exchange.answered)
            stored = storage.messages.read_messages(exchange.conversation, 1, last) if last else ()
            row = exchanges.row(
                exchange, {stored_message.message.number: stored_message.message for stored_message in stored}
            )
            storage.exchanges.put(row, keep, exchange.prompts or ())

    def log_uses(
        self, conversation: str, answer: str, until: int, *, quoted: str, read: Collection[int]
    ) -> tuple[BlockUse, ...]:
        """Log which blocks an answer used: notes that MCP tools quoted with their ids, and messages before the last
        question. Return an entry for each of these blocks, with `by` "" if it was not used.

        until: number of the request's last message. read: numbers of messages that were sent whole.
        """
        from amgs.calibration import forecasting

        context = self._context
        storage, keep = context.storage, context.settings.calibration.answers
        stored_messages = storage.messages.read_messages(conversation, max(1, until - _EARLIER)) if keep else ()
        questions = [
            m
            for stored_message in stored_messages
            for m in (stored_message.message,)
            if m.role == "user" and m.number <= until
        ]
        if not questions:
            return ()
        asked = questions[-1]
        notes = [storage.blocks.expand(start, 2) for start in dict.fromkeys(_QUOTED.findall(quoted))]
        shown = [ids[0] for ids in notes if len(ids) == 1]
        beside: list[str] = []
        for stored_message in stored_messages:
            # Tool output may quote the same notes; messages after the question are no memory yet.
            if stored_message.message.role == "tool" or stored_message.message.number >= asked.number:
                beside += stored_message.blocks
            elif stored_message.message.number in read:
                shown += stored_message.blocks
        return forecasting.log_uses(storage, answer, asked.text, shown, beside, keep=keep, now=context.clock.now())

    def last_plan(self, conversation: str) -> str:
        """Return the plan last sent for a conversation, for `optimise`'s `previous`; "" if there is none."""
        rows = self._storage.exchanges.latest(_LATEST, conversation)
        return next((plan for row in rows if (plan := exchanges.plan(row))), "")

    def _rebuilt(self, row: ExchangeRow, counter: MessageCounter) -> GatewayExchange:
        """Return a request with what its model read."""
        storage = self._storage
        stored = storage.messages.read_messages(row.conversation, 1, row.last) if row.last else ()
        exchange = exchanges.rebuild(
            row, {stored_message.message.number: stored_message.message for stored_message in stored}
        )
        prompts = None if row.prompt_count is None else storage.exchanges.prompts(row.number)
        return count_prompts(replace(exchange, prompts=prompts), counter)

    def _map_changed_prompts(self, rows: Sequence[ExchangeRow]) -> dict[int, tuple[PromptKind, ...]]:
        """Return which prompts differ from the previous request's, by request number, if both were stored."""
        named = {row.conversation for row in rows} - {""}
        by_number: dict[int, tuple[PromptKind, ...]] = {}
        for prompt_ids in self._storage.exchanges.prompt_ids(named).values():
            for (_, before), (number, after) in pairwise(prompt_ids.items()):
                by_number[number] = find_changed_prompts(before, after)
        return by_number
