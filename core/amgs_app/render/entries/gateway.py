"""What was asked of a service, and through the gateway: what a model had in front of it when it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.drawing import tabled
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.memory import ExchangeList, TrafficList


NO_GATEWAY = (
    "No gateway stands on this memory now. `amgs gateway --upstream URL` opens one; `amgs --connect URL` then shows "
    "what goes through it."
)


def _told(result: ExchangeList) -> str:
    count = len(result.exchanges)
    if count:
        return plural(count, "request")
    return "No agent has asked anything yet" if result.served else NO_GATEWAY


@entry(figure=tabled, sentence=_told)
def exchange_list(result: ExchangeList) -> ResultTable:
    rows = [
        (
            one.number,
            one.at,
            one.conversation or None,
            one.asked,
            one.tokens_before or None,
            one.tokens or None,
            one.outcome if one.outcome == "answered" else f"✗ {one.outcome}",
            one.said,
        )
        for one in result.exchanges
    ]
    note = "" if rows else "No agent has asked anything yet." if result.served else NO_GATEWAY
    columns = "#:n at:at conversation~ asked* history:n sent:n outcome said*"
    return sheet("Requests through the gateway", columns, rows, (note,) if note else ())


@entry(figure=tabled)
def gateway_exchange(result: GatewayExchange) -> ResultTable:
    context = result.context
    title = f"Request {result.number} to {result.model or 'a model'}, {result.interface}"
    rows = [
        (
            f"#{first}" if first == last else f"#{first}-{last}",
            one.role,
            one.fate,
            one.tokens if context else None,
            one.text,
        )
        for one in result.messages
        for first, last in [one.numbers]
    ]
    if result.tokens:
        sent = f"{result.tokens:,} of {result.tokens_before:,} tokens of {result.conversation} were sent"
    else:
        sent = f"It went on as it came: {result.untouched}"
    notes = (
        sent,
        f"beside: {result.beside:,} tokens of system prompts and tools, which are not kept"
        if result.beside
        else "",
        f"kept free for the answer: {result.reserved:,} tokens" if result.reserved else "",
        f"the model's server counted {result.counted:,} tokens in all" if result.counted else "",
        context.replanned if context else "",
        f"what was sent cannot be shown: {result.missing}" if result.missing else "",
        f"said: {result.said}"
        if result.said
        else f"outcome: {result.outcome}, {result.characters:,} characters",
        f"memory {result.memory_ms:,.0f} ms, first byte {result.first_byte_ms:,.0f} ms, all {result.all_ms:,.0f} ms",
        f"kept: {plural(result.remembered, 'message')}" if result.remembered else "",
    )
    return sheet(title, "handle role fate tokens:n text*", rows, notes)


NOT_SERVED = (
    "This memory is not served. `amgs serve` serves it; `amgs --connect URL` then shows who asks what."
)


def _traffic_told(result: TrafficList) -> str:
    if not result.served:
        return NOT_SERVED
    if not result.events:
        return "Nobody has asked anything yet"
    return plural(len(result.events), "question or change", "questions and changes")


@entry(sentence=_traffic_told)
def traffic_list(result: TrafficList) -> ResultTable:
    rows = [
        (each.at, each.caller, each.line, each.got if each.outcome == "done" else f"✗ {each.got}", ms)
        for each in result.events
        for ms in [round(each.milliseconds)]
    ]
    note = NOT_SERVED if not result.served else "" if rows else "Nobody has asked anything yet."
    return sheet("Traffic", "at:at who asked* got ms:n", rows, (note,) if note else ())
