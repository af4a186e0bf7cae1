"""Requests through the gateway as they are kept: without the texts of the conversation, from which what a model was
sent is put together again. Originals never change; a digest tells whether the bytes are those that were sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, Final

from amgs.storage.messages import ExchangeRow
from amgs.types.conversation import ContextMessage, ContextSpan, LedgerRow, Message, OptimisedContext, Role, ToolCall
from amgs.types.gateway import GatewayExchange

_TOLD: Final = (
    "interface",
    "model",
    "history",
    "untouched",
    "outcome",
    "status",
    "remembered",
    "memory_ms",
    "first_byte_ms",
    "all_ms",
    "until",
    "answered",
    "characters",
    "tokens",
    "tokens_before",
    "beside",
    "reserved",
    "counted",
    "digest",
)
"""Fields of an exchange that are kept as they are."""
_PLANNED: Final = (
    "strategy",
    "budget",
    "tokens",
    "history",
    "counter",
    "estimated",
    "plan",
    "stable_prefix",
    "replanned",
    "milliseconds",
)
"""Fields of a context that are kept as they are."""
_SHOWN: Final = 2_000
"""Characters of a question and of an answer in a list, and of those that the conversation does not hold."""
_DIGITS: Final = 3
"""Of what a message was worth."""

_Said = tuple[str, str, list[list[str]], str]
"""What a model reads of a message: role, text, calls, the call that it answers."""


def digest(messages: Sequence[ContextMessage]) -> str:
    """Return the SHA-256 of what a model reads of messages, as JSON in UTF-8."""
    told = json.dumps([_list_content(one) for one in messages], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def row(exchange: GatewayExchange, held: Mapping[int, Message]) -> ExchangeRow:
    """Return an exchange as it is kept. held: the messages of its conversation by number, as far as there are any."""
    last = max(exchange.until, exchange.answered)
    sent = exchange.messages
    told = {name: getattr(exchange, name) for name in _TOLD} | {"digest": digest(sent) if sent else ""}
    told["asked"] = max((n for n, m in held.items() if m.role == "user" and n <= exchange.until), default=0)
    # What the conversation does not hold: a question that begins none, an answer to what was answered before.
    if not told["asked"]:
        told["question"] = exchange.asked[:_SHOWN]
    if not exchange.answered:
        told["answer"] = exchange.said[:_SHOWN]
    # What the agent sent back otherwise than it was said, and the lines that stand for what was left out.
    told["sent"] = [
        [*one.numbers, one.fate, one.tokens, *([] if _is_original(one, held) else _list_content(one))] for one in sent
    ]
    if (context := exchange.context) is not None:
        told["context"] = {name: getattr(context, name) for name in _PLANNED} | {
            "spans": [astuple(span) for span in context.spans],
            "ledger": [astuple(one) for one in context.ledger],
            "costs": context.costs,
            "worths": [round(worth, _DIGITS) for worth in context.worths],
        }
    record = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    count = None if exchange.prompts is None else len(exchange.prompts)
    return ExchangeRow(exchange.number, exchange.at, exchange.conversation, last, record, exchange.usage, count)


def numbers(row: ExchangeRow) -> tuple[int, ...]:
    """Return the numbers of the question and of the answer's messages."""
    told = _read(row)
    asked, until, answered = (int(told.get(name, 0)) for name in ("asked", "until", "answered"))
    return (*([asked] if asked else []), *range(until + 1, answered + 1))


def plan(row: ExchangeRow) -> str:
    """Return the plan of what was sent; "" where everything was."""
    return str((_read(row).get("context") or {}).get("plan", ""))


def summarise(row: ExchangeRow, held: Mapping[int, Message]) -> GatewayExchange:
    """Return an exchange without what was sent. held: the messages that `numbers` names."""
    made = _exchange(row, held)
    return replace(made, asked=made.asked[:_SHOWN], said=made.said[:_SHOWN])


def rebuild(row: ExchangeRow, held: Mapping[int, Message]) -> GatewayExchange:
    """Return an exchange with what the model was sent, but for its prompts. held: the messages of its conversation; see
    `GatewayExchange.missing` for what cannot be put together again.
    """
    told, made = _read(row), _exchange(row, held)
    if not told.get("sent"):
        return replace(made, missing="" if told else "this version of the program cannot read what was kept of it")
    gone = [n for one in told["sent"] if len(one) == 4 and (n := int(one[0])) not in held]
    if gone:
        return replace(made, missing=f"#{gone[0]} of {made.conversation!r} is no longer held")
    messages = tuple(_message(one, held) for one in told["sent"])
    if digest(messages) != made.digest:
        return replace(made, missing="the messages that are held are not those that were sent")
    planned = told.get("context")
    if planned is None:
        return replace(made, whole=messages)
    spans = tuple(ContextSpan(*one) for one in planned["spans"])
    ledger = tuple(LedgerRow(*one) for one in planned["ledger"])
    fields: dict[str, Any] = {name: planned[name] for name in _PLANNED}
    context = OptimisedContext(
        conversation=made.conversation,
        query=made.asked,
        messages=messages,
        spans=spans,
        ledger=ledger,
        costs=tuple(planned.get("costs", ())),
        worths=tuple(planned.get("worths", ())),
        **fields,
    )
    return replace(made, context=context)


def _exchange(row: ExchangeRow, held: Mapping[int, Message]) -> GatewayExchange:
    told = _read(row)
    fields: dict[str, Any] = {
        "interface": "",
        "model": "",
        "history": 0,
        "untouched": "",
        "outcome": "answered",
        "status": 0,
        "remembered": 0,
        "memory_ms": 0.0,
        "first_byte_ms": 0.0,
        "all_ms": 0.0,
    }
    fields |= {name: told[name] for name in _TOLD if name in told}
    asked = held.get(int(told.get("asked", 0)))
    answer = (held.get(n) for n in range(int(told.get("until", 0)) + 1, int(told.get("answered", 0)) + 1))
    return GatewayExchange(
        number=row.number,
        at=row.at,
        conversation=row.conversation,
        asked=asked.text if asked is not None else str(told.get("question", "")),
        said="\n\n".join(one.text for one in answer if one is not None and one.text) or str(told.get("answer", "")),
        context=None,
        usage=row.usage,
        **fields,
    )


def _list_content(message: ContextMessage) -> _Said:
    calls = [[call.id, call.name, call.arguments] for call in message.calls]
    return message.role, message.text, calls, message.answers


def _is_original(sent: ContextMessage, held: Mapping[int, Message]) -> bool:
    original = held.get(sent.numbers[0])
    return (
        sent.fate == "kept"
        and original is not None
        and (sent.role, sent.text, sent.calls, sent.answers)
        == (original.role, original.text, original.calls, original.answers)
    )


def _message(told: Sequence[Any], held: Mapping[int, Message]) -> ContextMessage:
    first, last, fate, tokens, *said = told
    if said:
        role, text, calls, answers = said
    else:
        one = held[int(first)]
        role, text, answers = one.role, one.text, one.answers
        calls = [[call.id, call.name, call.arguments] for call in one.calls]
    made: Role = role
    return ContextMessage(
        (int(first), int(last)), made, text, fate, int(tokens), "", tuple(ToolCall(*c) for c in calls), answers
    )


def _read(row: ExchangeRow) -> dict[str, Any]:
    try:
        told = json.loads(row.record)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
