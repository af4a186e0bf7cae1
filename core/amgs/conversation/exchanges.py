"""Convert gateway requests to rows of the store and back. A row leaves out the conversation's texts, from
which `rebuild` restores what a model was sent; a digest shows whether the restored bytes are those that were
sent.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import takewhile
from typing import Any, Final

from amgs.conversation.material import OVERHEAD, MessageCounter
from amgs.storage.messages import ExchangeRow
from amgs.types.conversation import ContextMessage, ContextSpan, LedgerRow, Message, OptimisedContext, Role, ToolCall
from amgs.types.gateway import GatewayExchange, GatewayPrompt, PrefixComparison, PrefixPart, PromptKind

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
"""Fields of an exchange that are stored unchanged."""
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
"""Fields of a context that are stored unchanged."""
_SHOWN: Final = 2_000
"""Characters of a question and of an answer in a list, and of those that the conversation does not hold."""
_DIGITS: Final = 3
"""Of what a message was worth."""

_Said = tuple[str, str, list[list[str]], str]
"""What a model reads of a message: role, text, calls, the call that it answers."""


def digest(messages: Sequence[ContextMessage]) -> str:
    """Return the SHA-256 of what a model reads of messages, as JSON in UTF-8."""
    text = json.dumps([_list_content(message) for message in messages], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def row(exchange: GatewayExchange, originals: Mapping[int, Message]) -> ExchangeRow:
    """Return an exchange as a row. originals: the stored messages of its conversation, by number."""
    last = max(exchange.until, exchange.answered)
    sent = exchange.messages
    data = {name: getattr(exchange, name) for name in _TOLD} | {"digest": digest(sent) if sent else ""}
    data["asked"] = max((n for n, m in originals.items() if m.role == "user" and n <= exchange.until), default=0)
    # What the conversation does not hold: a question that begins none, an answer to what was answered before.
    if not data["asked"]:
        data["question"] = exchange.asked[:_SHOWN]
    if not exchange.answered:
        data["answer"] = exchange.said[:_SHOWN]
    # What the agent sent back otherwise than it was said, and the lines that stand for what was left out.
    data["sent"] = [
        [
            *message.numbers,
            message.fate,
            message.tokens,
            *([] if _is_original(message, originals) else _list_content(message)),
        ]
        for message in sent
    ]
    if (context := exchange.context) is not None:
        data["context"] = {name: getattr(context, name) for name in _PLANNED} | {
            "spans": [astuple(span) for span in context.spans],
            "ledger": [astuple(line) for line in context.ledger],
            "costs": context.costs,
            "worths": [round(worth, _DIGITS) for worth in context.worths],
        }
    record = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    count = None if exchange.prompts is None else len(exchange.prompts)
    return ExchangeRow(exchange.number, exchange.at, exchange.conversation, last, record, exchange.usage, count)


def numbers(row: ExchangeRow) -> tuple[int, ...]:
    """Return the numbers of the question and of the answer's messages."""
    data = _read(row)
    asked, until, answered = (int(data.get(name, 0)) for name in ("asked", "until", "answered"))
    return (*([asked] if asked else []), *range(until + 1, answered + 1))


def plan(row: ExchangeRow) -> str:
    """Return the plan of what was sent; "" where everything was."""
    return str((_read(row).get("context") or {}).get("plan", ""))


def summarise(row: ExchangeRow, originals: Mapping[int, Message]) -> GatewayExchange:
    """Return an exchange without what was sent. originals: the messages that `numbers` names."""
    exchange = _exchange(row, originals)
    return replace(exchange, asked=exchange.asked[:_SHOWN], said=exchange.said[:_SHOWN])


def rebuild(row: ExchangeRow, originals: Mapping[int, Message]) -> GatewayExchange:
    """Return an exchange with what the model was sent, but for its prompts. originals: the messages of its
    conversation; see `GatewayExchange.missing` for what cannot be put together again.
    """
    data, exchange = _read(row), _exchange(row, originals)
    if not data.get("sent"):
        return replace(exchange, missing="" if data else "this version of the program cannot read what is stored of it")
    gone = [n for entry in data["sent"] if len(entry) == 4 and (n := int(entry[0])) not in originals]
    if gone:
        return replace(exchange, missing=f"#{gone[0]} of {exchange.conversation!r} is no longer held")
    messages = tuple(_message(entry, originals) for entry in data["sent"])
    if digest(messages) != exchange.digest:
        return replace(exchange, missing="the messages that are held are not those that were sent")
    planned = data.get("context")
    if planned is None:
        return replace(exchange, whole=messages)
    spans = tuple(ContextSpan(*values) for values in planned["spans"])
    ledger = tuple(LedgerRow(*values) for values in planned["ledger"])
    fields: dict[str, Any] = {name: planned[name] for name in _PLANNED}
    context = OptimisedContext(
        conversation=exchange.conversation,
        query=exchange.asked,
        messages=messages,
        spans=spans,
        ledger=ledger,
        costs=tuple(planned.get("costs", ())),
        worths=tuple(planned.get("worths", ())),
        **fields,
    )
    return replace(exchange, context=context)


def _exchange(row: ExchangeRow, originals: Mapping[int, Message]) -> GatewayExchange:
    """Return the exchange of a row without the messages that were sent; older rows lack some fields."""
    data = _read(row)
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
    fields |= {name: data[name] for name in _TOLD if name in data}
    asked = originals.get(int(data.get("asked", 0)))
    answer = (originals.get(n) for n in range(int(data.get("until", 0)) + 1, int(data.get("answered", 0)) + 1))
    return GatewayExchange(
        number=row.number,
        at=row.at,
        conversation=row.conversation,
        asked=asked.text if asked is not None else str(data.get("question", "")),
        said="\n\n".join(message.text for message in answer if message is not None and message.text)
        or str(data.get("answer", "")),
        context=None,
        usage=row.usage,
        **fields,
    )


def _list_content(message: ContextMessage) -> _Said:
    calls = [[call.id, call.name, call.arguments] for call in message.calls]
    return message.role, message.text, calls, message.answers


def _is_original(sent: ContextMessage, originals: Mapping[int, Message]) -> bool:
    """Return whether a sent message equals the stored one, so that its text need not be stored again."""
    original = originals.get(sent.numbers[0])
    return (
        sent.fate == "kept"
        and original is not None
        and (sent.role, sent.text, sent.calls, sent.answers)
        == (original.role, original.text, original.calls, original.answers)
    )


def _message(entry: Sequence[Any], originals: Mapping[int, Message]) -> ContextMessage:
    """Return a sent message from its entry in a row, with the text of the stored message where it has none."""
    first, last, fate, tokens, *fields = entry
    if fields:
        role, text, calls, answers = fields
    else:
        original = originals[int(first)]
        role, text, answers = original.role, original.text, original.answers
        calls = [[call.id, call.name, call.arguments] for call in original.calls]
    known_role: Role = role
    return ContextMessage(
        (int(first), int(last)), known_role, text, fate, int(tokens), "", tuple(ToolCall(*c) for c in calls), answers
    )


def _read(row: ExchangeRow) -> dict[str, Any]:
    try:
        data = json.loads(row.record)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


@dataclass(frozen=True, slots=True)
class _RequestPart:
    """One thing that a model reads. key: what it reads of it. numbers: of a message."""

    kind: PrefixPart
    key: object
    tokens: int
    numbers: tuple[int, int] | None = None


def count_prompts(exchange: GatewayExchange, counter: MessageCounter) -> GatewayExchange:
    """Return the exchange with the tokens of its prompts."""
    if exchange.prompts is None:
        return exchange
    prompts = tuple(replace(prompt, tokens=OVERHEAD + counter.count(prompt.text)) for prompt in exchange.prompts)
    return replace(exchange, prompts=prompts)


def find_changed_prompts(
    before: Mapping[PromptKind, Sequence[str]], after: Mapping[PromptKind, Sequence[str]]
) -> tuple[PromptKind, ...]:
    """Return which prompts differ. before, after: their ids by kind, in the order of the request."""
    kinds: tuple[PromptKind, ...] = ("tools", "system prompt")
    return tuple(kind for kind in kinds if tuple(before.get(kind, ())) != tuple(after.get(kind, ())))


def compare(before: GatewayExchange, exchange: GatewayExchange, counter: MessageCounter) -> PrefixComparison | None:
    """Return a request beside the previous request, both with what was sent and their prompts; None where one of
    them is not fully known.

    A provider reads the definitions of tools first, then the system prompt, then the messages. Its cache serves the
    beginning that two requests share, and nothing behind the first difference (Anthropic's reference of prompt
    caching).
    """
    unknown = [
        request for request in (before, exchange) if request.missing or not request.messages or request.prompts is None
    ]
    if unknown:
        return None
    earlier, later = (list(_parts(request, counter)) for request in (before, exchange))
    pairs = zip(earlier, later, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: _reads_alike(*pair), pairs))
    changed: PrefixPart | None = None
    if before.model != exchange.model:
        shared, changed = 0, "model"
    elif shared not in (len(earlier), len(later)):
        changed = _first(earlier[shared].kind, later[shared].kind)
    had = Counter((part.kind, part.key) for part in earlier[shared:])
    again = 0
    for part in later[shared:]:
        if had[part.kind, part.key] > 0:
            had[part.kind, part.key] -= 1
            again += part.tokens
    message = later[shared].numbers if changed == "message" else None
    same = sum(part.tokens for part in later[:shared])
    return PrefixComparison(before.number, changed, message, same, again)


def _parts(exchange: GatewayExchange, counter: MessageCounter) -> Iterator[_RequestPart]:
    """Yield what the model read, in its order."""
    waiting = list(exchange.prompts or ())
    for tool_prompt in [prompt for prompt in waiting if prompt.kind == "tools"]:
        waiting.remove(tool_prompt)
        yield _prompt(tool_prompt, counter)
    for message in exchange.messages:
        while waiting and waiting[0].after < message.numbers[1]:
            yield _prompt(waiting.pop(0), counter)
        key = (message.role, message.text, message.calls, message.answers)
        yield _RequestPart("message", key, message.tokens or counter.cost(message), message.numbers)
    yield from (_prompt(last_prompt, counter) for last_prompt in waiting)


def _prompt(prompt: GatewayPrompt, counter: MessageCounter) -> _RequestPart:
    tokens = prompt.tokens or OVERHEAD + counter.count(prompt.text)
    return _RequestPart(prompt.kind, prompt.text, tokens)


def _reads_alike(part: _RequestPart, other: _RequestPart) -> bool:
    return (part.kind, part.key) == (other.kind, other.key)


def _first(*kinds: PrefixPart) -> PrefixPart:
    """Return what came or went, where two requests differ at a place."""
    order: tuple[PrefixPart, ...] = ("tools", "system prompt", "message")
    return min(kinds, key=order.index)
