"""Explain why messages were included, shortened or dropped, what would keep them, how two contexts differ, and which
findings survive in a text. Nothing is estimated: each answer comes from a plan that was really computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.conversation.citing import handle, numbers, source
from amgs.conversation.findings import ELEMENT_CLASSES, EXACT, NO_NAMES, ElementClass, elements_of, find_names, names_of
from amgs.errors import ImpossibleBudgetError
from amgs.types.conversation import ContextMessage, FateChange, Message, OptimisedContext, SpanFate, SpanReason
from amgs.types.conversation_views import ClassSurvival, TextPiece

_MISSING = 8
"""Examples of a class that are told."""
_HANDLE = re.compile(r"#\d{1,9}(?:-\d{1,9})?\b")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Element:
    """A finding and the message that holds it. start, end: characters of what it says."""

    kind: ElementClass
    number: int
    start: int
    end: int
    text: str


def elements(messages: Sequence[Message], names: re.Pattern[str] | None = None) -> list[Element]:
    """Return the findings of messages in order. names: see `names_of`; learned from these messages by default."""
    texts = [source(message) for message in messages]
    known = names or names_of(texts, [message.speaker for message in messages])
    return [
        Element(kind, message.number, start, end, text[start:end])
        for message, text in zip(messages, texts, strict=True)
        for kind, start, end in elements_of(text, message.at, known)
    ]


def survival(
    findings: Sequence[Element], originals: Sequence[Message], window: str, reached: Collection[int]
) -> tuple[ClassSurvival, ...]:
    """Return by class how many findings of the original messages survive in a window (a text of messages).

    reached: numbers of messages that a handle in the window restores. Distinct findings are counted; a finding survives
    where the window has it word for word, up to white space.

    Each class is counted separately, since a mean would hide that, for example, all paths are lost.
    """
    text = _plain(window)
    invented = find_invented(window, originals)
    classes = []
    for kind in ELEMENT_CLASSES:
        occurrences: dict[str, list[int]] = {}
        for finding in findings:
            if finding.kind == kind:
                occurrences.setdefault(_plain(finding.text), []).append(finding.number)
        gone = {value: places for value, places in occurrences.items() if not holds(text, value)}
        away = {value for value, places in gone.items() if any(number in reached for number in places)}
        missing = sorted(((places[-1], value) for value, places in gone.items()))[-_MISSING:]
        classes.append(
            ClassSurvival(
                kind,
                len(occurrences),
                len(occurrences) - len(gone),
                len(away),
                len(gone) - len(away),
                tuple((value, handle(number, number)) for number, value in reversed(missing)),
                tuple(invented.get(kind, ())),
            )
        )
    return tuple(outcome for outcome in classes if outcome.there or outcome.invented)


def holds(text: str, value: str) -> bool:
    """Return whether a value stands in a text, and not only as a part of a longer word or number."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not _goes_on(text, at, -1) and not _goes_on(text, end - 1, 1):
            return True
        at = text.find(value, at + 1)
    return False


def of_context(messages: Sequence[ContextMessage]) -> tuple[str, frozenset[int]]:
    """Return the window of a context, without the lines that only mark a gap, and the numbers that its handles bring
    back.
    """
    window = "\n".join(source(message) for message in messages if message.fate not in ("dropped", "masked"))
    reached = {
        n for message in messages if message.fate != "kept" for n in range(message.numbers[0], message.numbers[1] + 1)
    }
    return window, frozenset(reached)


def of_pieces(pieces: Sequence[TextPiece]) -> tuple[str, frozenset[int]]:
    """Return the window that cited pieces make, and the numbers that the handles between them bring back."""
    window = "\n".join(piece.text for piece in pieces if piece.number)
    return window, read_handles("\n".join(piece.text for piece in pieces if not piece.number))


def read_handles(text: str) -> frozenset[int]:
    """Return the numbers of the messages whose handles a text names."""
    spans = [numbers(match[0]) for match in _HANDLE.finditer(text) if _rises(match[0])]
    return frozenset(n for first, last in spans for n in range(first, min(last, first + 1_000_000) + 1))


def _rises(text: str) -> bool:
    first, _, last = text[1:].partition("-")
    return 0 < int(first) <= int(last or first)


def _goes_on(text: str, edge: int, step: int) -> bool:
    """Return whether a word, or a number with its point, goes on beyond the character at its edge."""

    def at(place: int) -> str:
        return text[place] if 0 <= place < len(text) else ""

    beside = at(edge + step)
    if not text[edge].isalnum():
        return False
    if step > 0 and text[edge].isdigit() and beside == "T" and at(edge + 2).isdigit():
        return False  # the time of day after a date
    if beside.isalnum() or beside == "_":
        return True
    return text[edge].isdigit() and beside in (".", ",") and at(edge + 2 * step).isdigit()


def find_invented(window: str, originals: Sequence[Message]) -> dict[str, list[str]]:
    """Return the findings of exact classes in a window that no message has, by class, without repeats."""
    texts = [source(message) for message in originals]
    text = _plain("\n".join([*texts, *(message.speaker for message in originals)]))
    without = _HANDLE.sub(" ", window)
    inventions: dict[str, dict[str, None]] = {}
    for kind, start, end in elements_of(without, None, NO_NAMES):
        value = _plain(without[start:end])
        if kind in EXACT and not holds(text, value):
            inventions.setdefault(kind, {})[value] = None
    folded = text.casefold()
    names = [name for name in find_names(without) if not holds(folded, _plain(name).casefold())]
    return {kind: list(values) for kind, values in inventions.items()} | ({"name": names} if names else {})


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


Plan = Callable[[int, Collection[int]], OptimisedContext]
"""The context for a budget and the numbers of messages that must stay."""

_RANK: Final[Mapping[SpanFate, int]] = {"dropped": 0, "masked": 1, "digested": 2, "kept": 3}


def find_changes(before: OptimisedContext, after: OptimisedContext) -> tuple[FateChange, ...]:
    """Find where two contexts of the same messages differ: runs of neighbours with the same two fates."""
    a, b = _fates(before), _fates(after)
    changed = ((number, a[number], b[number]) for number in sorted(a.keys() & b.keys()) if a[number] != b[number])
    costs = dict(zip(a, before.costs, strict=True))
    changes: list[FateChange] = []
    for number, was, now in changed:
        last = changes[-1] if changes else None
        first = last.first if last and (last.last, last.before, last.after) == (number - 1, was, now) else number
        if first < number:
            changes.pop()
        tokens = sum(costs[n] for n in range(first, number + 1))
        changes.append(FateChange(handle(first, number), first, number, was, now, tokens))
    return tuple(changes)


def reason(first: int, last: int, budget: int, plan: Plan) -> SpanReason:
    """Say why the messages from first to last have their fates, and what would keep all of them whole."""
    now = plan(budget, ())
    wanted = range(first, last + 1)

    def keeps(context: OptimisedContext) -> bool:
        fates = _fates(context)
        return all(fates[number] == "kept" for number in wanted)

    is_whole, larger, impossible = keeps(now), None, ""
    displaced: tuple[FateChange, ...] = ()
    if not is_whole:
        larger = _least(budget, max(budget + 1, now.history), lambda tokens: keeps(plan(tokens, ())))
        try:
            moved = find_changes(now, plan(budget, wanted))
            displaced = tuple(change for change in moved if _RANK[change.after] < _RANK[change.before])
        except ImpossibleBudgetError as error:
            impossible = error.message
    return SpanReason(
        now.conversation,
        handle(first, last),
        now.query,
        now.strategy,
        budget,
        is_whole,
        tuple(span for span in now.spans if span.first <= last and span.last >= first),
        sum(now.costs[first - 1 : last]),
        now.estimated,
        larger,
        displaced,
        impossible,
    )


def _fates(context: OptimisedContext) -> dict[int, SpanFate]:
    """Give the fate of each message, by number."""
    return {number: span.fate for span in context.spans for number in range(span.first, span.last + 1)}


def _least(fails: int, holds: int, test: Callable[[int], bool]) -> int:
    """Return by bisection a number in (fails, holds] that passes a test while the number before does not."""
    while holds - fails > 1:
        middle = (fails + holds) // 2
        fails, holds = (fails, middle) if test(middle) else (middle, holds)
    return holds
