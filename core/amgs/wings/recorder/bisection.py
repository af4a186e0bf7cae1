"""Which span of a window made a model say a sentence: halves of the window are left out, and the model is asked again.

At each step one half of the spans that are left is taken out of the window, the other half too while there are calls
for it, and the search goes on in the half without which the sentence loses more. A half that was not taken out is
counted by what its other half leaves of the loss of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from amgs.types import Progress

CALLS: Final = 6
"""So often the model is asked, the whole window first."""
_PARTS: Final = 16
"""More spans than so many calls can tell apart are taken together with their neighbours."""
_LONG: Final = 400
"""Characters from which on a message is cut at its blank lines."""
_BLOCK: Final = re.compile(r"^(?=\([0-9a-f]{8,}\) )|(?=<note id=)", re.MULTILINE)
"""Where a block begins in a frame, and a note in what a tool of MCP gives."""
_PARAGRAPH: Final = re.compile(r"(?<=\n\n)(?=[^\n])")

Score = Callable[[Sequence["WindowMessage"]], float]
"""How far a model goes on from messages to the sentence; more is surer."""


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message as the model read it."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class WindowSpan:
    """A part of a window that can be left out. message: its place, from 0 on. start, end: characters of its text."""

    message: int
    role: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class HalfLeftOut:
    """One call. first, last: numbers of the spans that were left out, from 1 on; 0, 0 for the whole window. loss: of
    the score, against the whole window.
    """

    first: int
    last: int
    score: float
    loss: float


@dataclass(frozen=True, slots=True)
class Bisection:
    """What was found. likeliest: (first, last) numbers in `spans`, from 1 on, of where the search ended: one span where
    there were no more than could be told apart. named: the fewest spans around it whose own leaving out was seen to
    lose enough, None where it cannot be told; because: in words.
    """

    spans: tuple[WindowSpan, ...]
    calls: tuple[HalfLeftOut, ...]
    likeliest: tuple[int, int] | None
    named: HalfLeftOut | None
    because: str


def cut(messages: Sequence[WindowMessage]) -> tuple[WindowSpan, ...]:
    """The spans of a window in order: messages, a long one by paragraphs, one with a frame or notes by its blocks. The
    question, which is the last paragraph of what the user said last, is none: it always stays.
    """
    asked = max((n for n, one in enumerate(messages) if one.role == "user"), default=-1)
    made: list[WindowSpan] = []
    for number, one in enumerate(messages):
        pieces = list(_pieces(one.text, always=number == asked))
        for start, end in pieces[:-1] if number == asked else pieces:
            if one.text[start:end].strip():
                made.append(WindowSpan(number, one.role, start, end, one.text[start:end].strip()))
    return tuple(made)


def _pieces(text: str, *, always: bool) -> Iterator[tuple[int, int]]:
    """(start, end) of the pieces that make up a text. always: at blank lines, however short it is."""
    marks = {found.start() for found in _BLOCK.finditer(text)}
    if always or (not marks and len(text) > _LONG):
        marks |= {found.start() for found in _PARAGRAPH.finditer(text)}
    places = sorted({0, len(text)} | marks)
    yield from pairwise(places)


def without(
    messages: Sequence[WindowMessage], spans: Sequence[WindowSpan], left_out: Collection[int]
) -> list[WindowMessage]:
    """A window without spans, by their places in `spans`; a message of which nothing is left goes."""
    made = []
    for number, one in enumerate(messages):
        gone = [span for place, span in enumerate(spans) if place in left_out and span.message == number]
        text, at = "", 0
        for span in gone:
            text, at = text + one.text[at : span.start], span.end
        text += one.text[at:]
        if text.strip() or not gone:
            made.append(WindowMessage(one.role, text))
    return made


def find_cause(
    messages: Sequence[WindowMessage], score: Score, least: float, progress: Progress | None = None
) -> Bisection:
    """Search by halves, in `CALLS` calls of `score` at most. least: a loss below it says nothing.

    Raises what `score` and `progress` raise.
    """
    spans = cut(messages)
    calls: list[HalfLeftOut] = []

    def loss_of(first: int, last: int) -> float:
        """What the score loses without the parts in [first, last)."""
        if progress is not None:
            progress(len(calls), CALLS, "asking again")
        start, end = bounds[first], bounds[last]
        found = score(without(messages, spans, range(start, end)))
        lost = calls[0].score - found if calls else 0.0
        calls.append(HalfLeftOut(start + 1 if end > start else 0, end, found, lost))
        return lost

    parts = min(len(spans), _PARTS)
    bounds = [len(spans) * place // max(parts, 1) for place in range(parts + 1)]
    loss_of(0, 0)
    first, last, loss = 0, parts, 0.0
    if parts == 1:
        loss_of(0, 1)
    while last - first > 1:
        middle = (first + last) // 2
        left = loss_of(first, middle)
        steps = (max(middle - first, last - middle) - 1).bit_length()
        right = loss_of(middle, last) if CALLS - len(calls) > steps else loss - left
        first, last, loss = (first, middle, left) if left >= right else (middle, last, right)
    likeliest = (bounds[first] + 1, bounds[last]) if spans else None
    return Bisection(spans, tuple(calls), likeliest, *name_cause(calls, likeliest, least))


def name_cause(
    calls: Sequence[HalfLeftOut], likeliest: tuple[int, int] | None, least: float
) -> tuple[HalfLeftOut | None, str]:
    """The call that left out the fewest spans around the likeliest and lost enough: `least`, and more than half of what
    both halves of the window lost. A half itself is too much to name. Beside it stands why.
    """
    if likeliest is None:
        return None, "nothing stands in the window but the question"
    total = sum(max(one.loss, 0.0) for one in calls[1:3])
    if total < least:
        return (
            None,
            "without either half it is said as readily: nothing there, or something that stands twice",
        )
    around = [
        one
        for one in calls[1:]
        if one.first <= likeliest[0]
        and likeliest[1] <= one.last
        and one.loss >= least
        and one.loss > total / 2
        and (one not in calls[1:3] or (one.first, one.last) == likeliest)
    ]
    if not around:
        return (
            None,
            "no small part of the window was seen to account for the loss: several may, or they only together",
        )
    return min(around, key=lambda one: one.last - one.first), "without it the sentence loses most"
