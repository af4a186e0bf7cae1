"""Render a plan as messages for a model, in order of time, with the handle of what is missing at every gap;
or restore messages at a level of detail.

Citations keep their role: neighbours of the same role share a line, and a tool's output stays behind its
call. So nothing that a user or a tool said becomes a system instruction. The tokens must not exceed what
`material.Draft` counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from amgs.conversation.citing import cite, cite_pieces, extract, glue, handle, heading, source
from amgs.conversation.findings import acts
from amgs.conversation.material import Fate, MessageCounter, spans_of
from amgs.conversation.messages import number_sessions
from amgs.conversation.summaries import AbstractiveSummariser, key_sentences
from amgs.conversation.why import Element
from amgs.text.prose import units
from amgs.types.conversation import ContextMessage, Message
from amgs.types.conversation_views import RestoreLevel, TextPiece


def gap(first: int, last: int, counter: MessageCounter) -> ContextMessage:
    """Return the line that stands for messages that were left out."""
    return _add_cost(
        ContextMessage((first, last), "system", f"[{handle(first, last)} left out]", "dropped", 0), counter
    )


def mask_output(message: Message, tool: str, tokens: int, counter: MessageCounter) -> ContextMessage:
    """Return an output of a tool as a single line."""
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
        """Add the line for the messages between the last rendered message and this index."""
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


_LISTED = ("decision", "commitment", "name", "number", "date", "path", "command", "id")
"""Classes that the lower levels list; a negation says little without what stands around it."""
_MESSAGES_A_SENTENCE = 3
_SPOKEN = ("user", "assistant")


def reconstruct(
    messages: Sequence[Message], elements: Sequence[Element], level: RestoreLevel, most: int
) -> tuple[TextPiece, ...]:
    """Return messages at a level, the originals aside: minimal, standard or detailed.

    elements: their findings. most: findings of a class, and sentences of a session, of which there are at most one for
    three messages.

    Each level includes the previous level. Every character is quoted or marked as added.
    """
    if not messages:
        return ()
    pieces = [glue(f"[{handle(messages[0].number, messages[-1].number)}]")]
    sentences = {} if level == "minimal" else _sentences(messages, most)
    if level == "detailed":
        for element in elements:
            message = messages[element.number - messages[0].number]
            sentences.setdefault(element.number, []).extend(_around(message, element))
    for message in messages:
        if message.number in sentences:
            pieces += [glue("\n"), heading(message), *extract(message, sentences[message.number])]
    if level != "detailed":
        by_number = {message.number: message for message in messages}
        for kind in _LISTED:
            pieces += _list_findings(kind, [element for element in elements if element.kind == kind], by_number, most)
    return tuple(pieces)


def _sentences(messages: Sequence[Message], most: int) -> dict[int, list[tuple[int, int]]]:
    """Return the sentences that weigh most in each session and the questions that are open, by the number of their
    message.
    """
    texts = [source(message) for message in messages]
    turn_places = [place for place, message in enumerate(messages) if message.role in _SPOKEN]
    speakers = [messages[place].speaker or messages[place].role for place in turn_places]
    open_acts = acts([messages[place].text for place in turn_places], speakers)
    sentences: dict[int, list[tuple[int, int]]] = {}
    parts = spans_of(number_sessions(messages))
    placed = [(turn_places[act.place], act) for act in open_acts if act.kind == "question" and act.closed_by is None]
    for (start, end), spans in zip(parts, key_sentences(texts, parts, most), strict=True):
        for span in spans[: _share(end - start)]:
            sentences.setdefault(messages[span.place].number, []).append((span.start, span.end))
    for place, act in placed[-min(most, _share(len(messages))) :]:
        sentences.setdefault(messages[place].number, []).append((act.start, act.end))
    return sentences


def _share(messages: int) -> int:
    return max(1, messages // _MESSAGES_A_SENTENCE)


def _around(message: Message, element: Element) -> Iterator[tuple[int, int]]:
    """Yield the sentences or lines that hold a finding."""
    has_unit = False
    for start, end in units(source(message)):
        if start < element.end and element.start < end:
            has_unit = True
            yield min(start, element.start), max(end, element.end)
    if not has_unit:
        yield element.start, element.end


def _list_findings(
    kind: str, elements: Sequence[Element], messages: dict[int, Message], most: int
) -> Iterator[TextPiece]:
    """Yield a line with the latest findings of a class, each once, and the handle of its message."""
    latest: dict[str, Element] = {}
    for element in elements:
        latest.pop(element.text, None)
        latest[element.text] = element
    shown = list(latest.values())[-most:]
    if not shown:
        return
    yield glue(f"\n{kind}: ")
    for place, element in enumerate(shown):
        if place:
            yield glue("; ")
        yield cite(messages[element.number], element.start, element.end)
        if place + 1 == len(shown) or shown[place + 1].number != element.number:
            yield glue(f" ({handle(element.number, element.number)})")
    if len(shown) < len(latest):
        yield glue(f"; {len(latest) - len(shown):,} more")
