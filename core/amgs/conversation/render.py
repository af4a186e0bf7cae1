"""A plan as messages for a model: in the order of time, every gap marked by the handle of what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from amgs.conversation.handles import handle
from amgs.conversation.tokens import MessageCounter
from amgs.types.conversation import ContextMessage, Message, SpanFate


def gap(first: int, last: int, counter: MessageCounter) -> ContextMessage:
    """The line that stands for messages that were left out."""
    return _costed(
        ContextMessage((first, last), "system", f"[{handle(first, last)} left out]", "dropped", 0), counter
    )


def masked(message: Message, tool: str, tokens: int, counter: MessageCounter) -> ContextMessage:
    """An output of a tool as one line."""
    told = f"[output of {tool or 'a tool'} left out, {tokens:,} tokens: {handle(message.number, message.number)}]"
    return _costed(
        ContextMessage(
            (message.number, message.number),
            message.role,
            told,
            "masked",
            0,
            message.speaker,
            (),
            message.answers,
        ),
        counter,
    )


def whole(message: Message, tokens: int) -> ContextMessage:
    """A message as it was said."""
    here = (message.number, message.number)
    return ContextMessage(
        here, message.role, message.text, "kept", tokens, message.speaker, message.calls, message.answers
    )


def render(
    messages: Sequence[Message],
    fates: Sequence[SpanFate],
    costs: Sequence[int],
    lines: Mapping[int, ContextMessage],
    counter: MessageCounter,
) -> tuple[ContextMessage, ...]:
    """The messages with their fates. lines: those that are masked, by place."""
    made: list[ContextMessage] = []
    start = None
    for place, (message, fate) in enumerate(zip(messages, fates, strict=True)):
        if fate == "dropped":
            start = place if start is None else start
            continue
        if start is not None:
            made.append(gap(messages[start].number, messages[place - 1].number, counter))
            start = None
        made.append(whole(message, costs[place]) if fate == "kept" else lines[place])
    if start is not None:
        made.append(gap(messages[start].number, messages[-1].number, counter))
    return tuple(made)


def _costed(message: ContextMessage, counter: MessageCounter) -> ContextMessage:
    return replace(message, tokens=counter.cost(message))
