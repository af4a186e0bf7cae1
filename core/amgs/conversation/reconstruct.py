"""Messages given back in more or fewer of their own words; looked up in the originals, never made up.

Each level holds what the one before it holds. Every character is cited or is glue (`citing`), and what a level says is
held against the originals class by class (`survival`).
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
    messages: Sequence[Message], found: Sequence[Element], level: RestoreLevel, most: int
) -> tuple[TextPiece, ...]:
    """Return messages at a level, the originals aside: minimal, standard or detailed.

    found: their findings. most: findings of a class, and sentences of a session, of which there are no more than one
    for three messages.
    """
    if not messages:
        return ()
    made = [glue(f"[{handle(messages[0].number, messages[-1].number)}]")]
    told = {} if level == "minimal" else _sentences(messages, most)
    if level == "detailed":
        for one in found:
            message = messages[one.number - messages[0].number]
            told.setdefault(one.number, []).extend(_around(message, one))
    for message in messages:
        if message.number in told:
            made += [glue("\n"), heading(message), *extract(message, told[message.number])]
    if level != "detailed":
        by_number = {message.number: message for message in messages}
        for kind in _LISTED:
            made += _list_findings(kind, [one for one in found if one.kind == kind], by_number, most)
    return tuple(made)


def _sentences(messages: Sequence[Message], most: int) -> dict[int, list[tuple[int, int]]]:
    """Return the sentences that weigh most in each session and the questions that are open, by the number of their
    message.
    """
    texts = [source(message) for message in messages]
    said = [place for place, message in enumerate(messages) if message.role in _SPOKEN]
    speakers = [messages[place].speaker or messages[place].role for place in said]
    open_acts = acts([messages[place].text for place in said], speakers)
    told: dict[int, list[tuple[int, int]]] = {}
    parts = spans_of(number_sessions(messages))
    placed = [(said[act.place], act) for act in open_acts if act.kind == "question" and act.closed_by is None]
    for (start, end), spans in zip(parts, key_sentences(texts, parts, most), strict=True):
        for span in spans[: _share(end - start)]:
            told.setdefault(messages[span.place].number, []).append((span.start, span.end))
    for place, act in placed[-min(most, _share(len(messages))) :]:
        told.setdefault(messages[place].number, []).append((act.start, act.end))
    return told


def _share(messages: int) -> int:
    return max(1, messages // _MESSAGES_A_SENTENCE)


def _around(message: Message, one: Element) -> Iterator[tuple[int, int]]:
    """Yield the sentences or lines that hold a finding."""
    found = False
    for start, end in units(source(message)):
        if start < one.end and one.start < end:
            found = True
            yield min(start, one.start), max(end, one.end)
    if not found:
        yield one.start, one.end


def _list_findings(kind: str, found: Sequence[Element], messages: dict[int, Message], most: int) -> Iterator[TextPiece]:
    """Yield a line with the latest findings of a class, each once, and the handle of its message."""
    latest: dict[str, Element] = {}
    for one in found:
        latest.pop(one.text, None)
        latest[one.text] = one
    shown = list(latest.values())[-most:]
    if not shown:
        return
    yield glue(f"\n{kind}: ")
    for place, one in enumerate(shown):
        if place:
            yield glue("; ")
        yield cite(messages[one.number], one.start, one.end)
        if place + 1 == len(shown) or shown[place + 1].number != one.number:
            yield glue(f" ({handle(one.number, one.number)})")
    if len(shown) < len(latest):
        yield glue(f"; {len(latest) - len(shown):,} more")
