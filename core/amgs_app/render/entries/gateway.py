"""Requests through the gateway: what a model had in front of it when it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.render.catalogue import entry
from amgs_app.render.drawing import tabled
from amgs_app.render.figures.format import plural
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs_app.gateway_exchange import GatewayExchange
    from amgs_app.results import ExchangeList

NO_GATEWAY = (
    "No gateway stands on this memory. `amgs gateway --upstream URL` opens one; `amgs --connect URL` then shows what "
    "goes through it."
)


def _told(result: ExchangeList) -> str:
    if not result.served:
        return NO_GATEWAY
    count = len(result.exchanges)
    return plural(count, "request") if count else "No agent has asked anything yet"


@entry(figure=tabled, sentence=_told)
def exchange_list(result: ExchangeList) -> ResultTable:
    rows = [
        (
            one.number,
            one.at,
            one.conversation or None,
            one.asked,
            one.context.history if one.context else None,
            one.context.tokens if one.context else None,
            one.outcome if one.outcome == "answered" else f"✗ {one.outcome}",
            one.said,
        )
        for one in result.exchanges
    ]
    note = NO_GATEWAY if not result.served else "" if rows else "No agent has asked anything yet."
    columns = "#:n at:at conversation~ asked* history:n sent:n outcome said*"
    return sheet("Requests through the gateway", columns, rows, (note,) if note else ())


@entry()
def gateway_exchange(result: GatewayExchange) -> ResultTable:
    context = result.context
    title = f"Request {result.number} to {result.model or 'a model'}, {result.interface}"
    if context is None:
        rows, sent = [], f"It went on as it came: {result.untouched}."
    else:
        sent = f"{context.tokens:,} of {context.history:,} tokens of {context.conversation} were sent"
        rows = [
            (f"#{first}" if first == last else f"#{first}-{last}", one.role, one.fate, one.tokens, one.text)
            for one in context.messages
            for first, last in [one.numbers]
        ]
    notes = (
        sent,
        f"said: {result.said}" if result.said else f"outcome: {result.outcome}",
        f"memory {result.memory_ms:,.0f} ms, first byte {result.first_byte_ms:,.0f} ms, all {result.all_ms:,.0f} ms",
        f"kept: {plural(result.remembered, 'message')}" if result.remembered else "",
    )
    return sheet(title, "handle role fate tokens:n text*", rows, notes)
