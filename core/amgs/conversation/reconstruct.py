"""Restore messages at a level of detail, in their own words; nothing is made up.

Each level includes the one before. Every character is quoted or marked as added (`citing`), and a restored text is
compared with the originals class by class (`survival`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amgs.conversation.acts import acts
from amgs.conversation.citing import cite, extract, glue, handle, heading, source
from amgs.conversation.material import spans_of
from amgs.conversation.messages import number_sessions
from amgs.conversation.summaries import key_sentences
from amgs.conversation.survival import Element
from amgs.text.sentences import units
from amgs.types.conversation import Message
from amgs.types.conversation_views import RestoreLevel, TextPiece

_LISTED = ("decision", "commitment", "name", "number", "date", "path", "command", "id")
"""Classes that the lower levels list; a negation says little without what stands around it."""
_MESSAGES_A_SENTENCE = 3
_SPOKEN = ("user", "assistant")


def reconstruct(
    messages: Sequence[Message], elements: Sequence[Element], level: RestoreLevel, most: int
) -> tuple[TextPiece, ...]:
    """Return messages at a level, the originals aside: minimal, standard or detailed.

    elements: their findings. most: findings of a class, and sentences of a session, of which there are no more than one
    for three messages.
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
