"""Render a plan as messages for a model, in order of time; every gap is marked with the handle of what is missing.

Citations keep their role: neighbours of the same role share a line, and a tool's output stays behind its call. So
nothing that a user or a tool said becomes a system instruction. The tokens must not exceed what `material.Draft`
counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from amgs.conversation.citing import cite_pieces, handle
from amgs.conversation.material import Fate, MessageCounter
from amgs.conversation.summaries import AbstractiveSummariser
from amgs.types.conversation import ContextMessage, Message


def gap(first: int, last: int, counter: MessageCounter) -> ContextMessage:
    """Return the line that stands for messages that were left out."""
    return _add_cost(
        ContextMessage((first, last), "system", f"[{handle(first, last)} left out]", "dropped", 0), counter
    )


def mask_output(message: Message, tool: str, tokens: int, counter: MessageCounter) -> ContextMessage:
    """Return an output of a tool as one line."""
    line = f"[output of {tool or 'a tool'} left out, {tokens:,} tokens: {handle(message.number, message.number)}]"
    return _add_cost(
        ContextMessage(
            (message.number, message.number), message.role, line, "masked", 0, message.speaker, (), message.answers
        ),
        counter,
    )


def keep_whole(message: Message, tokens: int) -> ContextMessage:
    """Return a message as it was said."""
    here = (message.number, message.number)
    return ContextMessage(
        here, message.role, message.text, "kept", tokens, message.speaker, message.calls, message.answers
    )


def mark_cost(longest: int, counter: MessageCounter) -> int:
    """Return the most tokens that a line of citations takes before the citations."""
    return counter.cost(ContextMessage((1, 1), "user", f"{_mark(longest, longest + 1)} ", "digested", 0))


def digest(
    citations: Sequence[tuple[Message, tuple[int, ...]]],
    first: int,
    last: int,
    counter: MessageCounter,
    summariser: AbstractiveSummariser | None = None,
) -> ContextMessage:
    """Return the line that replaces messages `first` to `last`, with the cited pieces of those of a single role.

    summariser: writes the line in its own words, marked so, in no more tokens than the citations; where it cannot, the
    citations are used.
    """
    alone = len(citations) == 1
    message = citations[0][0]
    texts = [cite_pieces(member.text, member.at, pieces) for member, pieces in citations]
    if alone:
        body = texts[0]
    else:
        body = "".join(
            f"\n#{' '.join([str(member.number), *member.speaker.split()])}: {text}"
            for (member, _), text in zip(citations, texts, strict=True)
        )
    mark = _mark(first, last)
    line = ContextMessage(
        (first, last),
        message.role,
        f"{mark}{' ' if alone else ''}{body}",
        "digested",
        0,
        message.speaker if alone else "",
        (),
        message.answers,
        tuple(member.number for member, _ in citations),
    )
    line = _add_cost(line, counter)
    if summariser is not None:
        name = " ".join(summariser.name.split())[:40]
        own = replace(line, text=f"[{handle(first, last)} summarised by {name}, not word for word]", tokens=0)
        room = line.tokens - counter.cost(own)
        utterances = [f"{member.speaker}: {member.text}" if member.speaker else member.text for member, _ in citations]
        words = " ".join(summariser.summarise(utterances, room).split()) if room > 0 else ""
        other = _add_cost(replace(own, text=f"{own.text} {words}"), counter)
        if words and other.tokens <= line.tokens:
            return other
    return line


def render(
    messages: Sequence[Message],
    fates: Sequence[Fate],
    costs: Sequence[int],
    lines: Mapping[int, ContextMessage],
    counter: MessageCounter,
    summariser: AbstractiveSummariser | None = None,
) -> tuple[ContextMessage, ...]:
    """Return the messages with their fates. lines: those that are masked, by place. summariser: see `digest`."""
    context_messages: list[ContextMessage] = []
    cites: list[tuple[Message, tuple[int, ...]]] = []
    start = 0  # of what stands nowhere yet

    def close(place: int) -> None:
        """Add the line for the messages between the last one rendered and this index."""
        nonlocal start
        if start < place:
            first, last = messages[start].number, messages[place - 1].number
            context_messages.append(
                digest(cites, first, last, counter, summariser) if cites else gap(first, last, counter)
            )
            cites.clear()
        start = place

    for place, (message, (fate, pieces)) in enumerate(zip(messages, fates, strict=True)):
        if fate == "dropped":
            continue
        if fate == "digested" and message.role != "tool":
            if cites and cites[-1][0].role != message.role:
                close(place)
            cites.append((message, pieces))
            continue
        close(place)
        start = place + 1
        if fate == "digested":
            here = message.number
            context_messages.append(digest([(message, pieces)], here, here, counter, summariser))
        else:
            context_messages.append(keep_whole(message, costs[place]) if fate == "kept" else lines[place])
    close(len(messages))
    return tuple(context_messages)


def _mark(first: int, last: int) -> str:
    return f"[{handle(first, last)} in part]"


def _add_cost(message: ContextMessage, counter: MessageCounter) -> ContextMessage:
    return replace(message, tokens=counter.cost(message))
