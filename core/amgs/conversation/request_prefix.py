"""Measure the beginning that a request shares with the one before it of its conversation, and the part read again: a
provider's cache serves the beginning that two requests share, and nothing behind the first difference.

A provider reads the definitions of tools first, then the system prompt, then the messages.
Source: Anthropic's reference of prompt caching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from amgs.conversation.material import OVERHEAD, MessageCounter
from amgs.types.gateway import GatewayExchange, GatewayPrompt, PrefixComparison, PrefixPart, PromptKind


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
    """Return a request beside the one before it, both with what was sent and their prompts; None where that of one of
    them is not known.
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
    """Return what came or went, where one of two requests has something else at a place."""
    order: tuple[PrefixPart, ...] = ("tools", "system prompt", "message")
    return min(kinds, key=order.index)
