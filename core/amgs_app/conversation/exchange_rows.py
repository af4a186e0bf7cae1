"""Tables for requests to a service and through the gateway, with the context that a model had when it answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from amgs.text.words import plural
from amgs_app.render.catalogue import draw_table, entry
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.memory import ExchangeList, TrafficList
    from amgs_app.results.service_event import ServiceEvent


_LINES = 3
"""Lines of a system prompt that are shown."""
_SHOWN = 240
"""Characters of these."""
NO_GATEWAY = (
    "No gateway is open on this memory. `amgs gateway --upstream URL` opens a gateway; `amgs --connect URL` then shows "
    "what goes through it."
)


def _summarise_exchanges(result: ExchangeList) -> str:
    count = len(result.exchanges)
    if count:
        return plural(count, "request")
    return "No agent has asked anything yet" if result.served else NO_GATEWAY


@entry(figure=draw_table, sentence=_summarise_exchanges)
def exchange_list(result: ExchangeList) -> ResultTable:
    rows = [
        (
            exchange.number,
            exchange.at,
            exchange.conversation or None,
            exchange.asked,
            exchange.tokens_before or None,
            exchange.tokens or None,
            exchange.outcome if exchange.outcome == "answered" else f"✗ {exchange.outcome}",
            exchange.usage.cached if exchange.usage is not None else None,
            ", ".join(exchange.changed) or None,
            exchange.said,
        )
        for exchange in result.exchanges
    ]
    note = "" if rows else "No agent has asked anything yet." if result.served else NO_GATEWAY
    columns = "#:n at:at conversation~ asked* history:n sent:n outcome cached:n~ changed~ said*"
    return sheet("Requests through the gateway", columns, rows, (note,) if note else ())


@entry(figure=draw_table)
def gateway_exchange(result: GatewayExchange) -> ResultTable:
    context = result.context
    title = f"Request {result.number} to {result.model or 'a model'}, {result.interface}"
    rows = [
        (
            f"#{first}" if first == last else f"#{first}-{last}",
            message.role,
            message.fate,
            message.tokens if context else None,
            message.text,
        )
        for message in result.messages
        for first, last in [message.numbers]
    ]
    if result.tokens:
        sent = f"{result.tokens:,} of {result.tokens_before:,} tokens of {result.conversation} were sent"
    else:
        sent = f"It went on as it came: {result.untouched}"
    notes = (
        sent,
        f"beside: {result.beside:,} tokens of system prompts and tools" if result.beside else "",
        *_describe_prompts(result),
        f"reserved for the answer: {result.reserved:,} tokens" if result.reserved else "",
        f"the model's server counted {result.counted:,} tokens in all{_describe_usage(result)}"
        if result.counted
        else "",
        _describe_prefix(result),
        context.replanned if context else "",
        f"what was sent cannot be shown: {result.missing}" if result.missing else "",
        f"said: {result.said}" if result.said else f"outcome: {result.outcome}, {result.characters:,} characters",
        f"memory {result.memory_ms:,.0f} ms, first byte {result.first_byte_ms:,.0f} ms, all {result.all_ms:,.0f} ms",
        f"stored: {plural(result.remembered, 'message')}" if result.remembered else "",
    )
    return sheet(title, "handle role fate tokens:n text*", rows, notes)


def _describe_prompts(result: GatewayExchange) -> Iterator[str]:
    """Yield the beginning of each prompt; of tools their names."""
    if result.prompts is None:
        yield "its system prompts and tools were not stored"
    for prompt in result.prompts or ():
        summary = tool_names(prompt.text) if prompt.kind == "tools" else _first_lines(prompt.text)
        changed = ", other than in the request before" if prompt.kind in result.changed else ""
        yield f"{prompt.kind} ({prompt.tokens:,} tokens, {prompt.id[:8]}{changed}): {summary}"


def tool_names(definitions: str) -> str:
    """Return the names of the tools in these definitions; the JSON if there are none."""
    try:
        tools = json.loads(definitions)
    except ValueError:
        return definitions[:_SHOWN]
    named = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    names = [tool.get("name") or tool.get("type") for tool in named if isinstance(tool, dict)]
    return ", ".join(str(name) for name in names if name) or definitions[:_SHOWN]


def _first_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    excerpt = " ".join(lines[:_LINES])
    return excerpt if excerpt == " ".join(lines) and len(excerpt) <= _SHOWN else f"{excerpt[:_SHOWN]} …"


def _describe_usage(result: GatewayExchange) -> str:
    used = result.usage
    if used is None:
        return ""
    return (
        f": {used.fresh:,} fresh, {used.written:,} written to its cache, {used.cached:,} read from it; "
        f"the answer had {used.output:,}"
    )


def _describe_prefix(result: GatewayExchange) -> str:
    """Describe how much of a request the provider's cache could serve."""
    prefix = result.prefix
    if prefix is None:
        return ""
    if prefix.changed is None:
        return f"cache: it begins as request {prefix.before} did, {prefix.same:,} tokens that can be served"
    what = f"the {prefix.changed} changed"
    if prefix.message is not None:
        first, last = prefix.message
        what = f"message {f'#{first}' if first == last else f'#{first}-{last}'} differs"
    return (
        f"cache: it departs from request {prefix.before}: {what}. The {prefix.same:,} tokens in front of that could be "
        f"served; {prefix.again:,} behind it had to be read again"
    )


NOT_SERVED = "This memory is not served. `amgs serve` serves it; `amgs --connect URL` then shows who asks what."


def _describe_traffic(result: TrafficList) -> str:
    if not result.served:
        return NOT_SERVED
    if not result.events:
        return "Nobody has asked anything yet"
    return plural(len(result.events), "question or change", "questions and changes")


TRAFFIC: Final = Rows["ServiceEvent"](
    "at:at who? asked*! got* ms:n??",
    lambda event: (
        event.at,
        event.caller,
        event.line,
        event.got if event.outcome == "done" else f"✗ {event.got}",
        round(event.milliseconds),
    ),
    empty=("Nobody has asked anything yet.",),
)


@entry(sentence=_describe_traffic)
def traffic_list(result: TrafficList) -> RowList[ServiceEvent]:
    asked = ", ".join(f"{who or 'without a token'} {number:,}" for who, number in result.asked.items())
    notes = (f"Asked in all: {asked}." if asked else "", "" if result.served else NOT_SERVED)
    return TRAFFIC.of("Traffic", result.events, notes)
