"""Which span of a window made a model say a sentence: spans are left out, and a model is asked again.

A small model on this machine reads the window once without each span and once with that span alone, and says how likely
the sentence is after each. Where another model answered, it is asked again without the spans that weigh most, one after
another, until the sentence is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from amgs.types import Progress

CALLS: Final = 6
"""So often the model that answered is asked, the whole window first."""
_PARTS: Final = 16
"""More spans than so many are taken together with their neighbours."""
ALONE: Final = 0.5
"""What a nat that a span gives alone counts beside one that is lost without it. A span can be missed although another
says the same, and can say much that the window says too: chosen on 24 windows, judged on others
(docs/results/recorder.md).
"""
_LONG: Final = 400
"""Characters from which on a message is cut at its blank lines."""
_BLOCK: Final = re.compile(r"^(?=\([0-9a-f]{8,}\) )|(?=<note id=)", re.MULTILINE)
"""Where a block begins in a frame, and a note in what a tool of MCP gives."""
_PARAGRAPH: Final = re.compile(r"(?<=\n\n)(?=[^\n])")

NATS: Final = 2.0
"""A sentence that loses less was not made likelier. Where the heaviest span loses less, or weighs less than twice as
much, nothing is named: of 20 windows without a cause 19 are then left alone (docs/results/recorder.md).
"""

Score = Callable[[Sequence["WindowMessage"]], float]
"""How far a model goes on from messages to the sentence; more is surer."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """The model that answered, and is asked again. least: a score or a loss that says something."""

    name: str
    least: float
    score: Score


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
class SpanWeight:
    """What a small model says of spans. first, last: their numbers in the window, from 1 on; one span where there are
    no more than can be told apart. lost: of the log-likelihood of the sentence without them; alone: what they give it
    with nothing beside them but the question; both in nats.
    """

    first: int
    last: int
    lost: float
    alone: float

    @property
    def weight(self) -> float:
        return self.lost + ALONE * self.alone


@dataclass(frozen=True, slots=True)
class SpansLeftOut:
    """One call of the model that answered. first, last: numbers of the spans that were left out; 0, 0 for the whole
    window. loss: of the score, against the whole window.
    """

    first: int
    last: int
    score: float
    loss: float


@dataclass(frozen=True, slots=True)
class Bisection:
    """What was found. weights: of the spans, the heaviest first. calls: of the model that answered, where it was asked.
    named: (first, last) numbers of what made it say the sentence, None where that cannot be told; because: in words.
    """

    spans: tuple[WindowSpan, ...]
    weights: tuple[SpanWeight, ...]
    calls: tuple[SpansLeftOut, ...]
    named: tuple[int, int] | None
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


def weigh_spans(
    messages: Sequence[WindowMessage], spans: Sequence[WindowSpan], score: Score, progress: Progress | None = None
) -> tuple[SpanWeight, ...]:
    """What a small model says of each, the heaviest first, in two readings a span and two more. score: in nats.

    Raises what `score` and `progress` raise.
    """
    parts = min(len(spans), _PARTS)
    bounds = [len(spans) * place // max(parts, 1) for place in range(parts + 1)]
    readings, done = 2 * parts + 2, 0

    def read(left_out: Collection[int]) -> float:
        nonlocal done
        if progress is not None:
            progress(done, readings, "reading again")
        done += 1
        return score(without(messages, spans, left_out))

    everything = range(len(spans))
    whole, nothing = read(()), read(everything)
    weights = []
    for start, end in pairwise(bounds):
        part = range(start, end)
        others = set(everything).difference(part)
        weights.append(SpanWeight(start + 1, end, whole - read(part), read(others) - nothing))
    return tuple(sorted(weights, key=lambda one: -one.weight))


def ask_again(
    messages: Sequence[WindowMessage],
    spans: Sequence[WindowSpan],
    weights: Sequence[SpanWeight],
    score: Score,
    least: float,
    progress: Progress | None = None,
) -> tuple[SpansLeftOut, ...]:
    """Ask the model that answered, with everything, then without the heaviest spans, one after another, until `least`
    of the score is lost or `CALLS` are made; once, where it has no such score with everything. Raises what `score` and
    `progress` raise.
    """
    calls: list[SpansLeftOut] = []
    for first, last in [(0, 0), *((one.first, one.last) for one in weights)][:CALLS]:
        if progress is not None:
            progress(len(calls), CALLS, "asking again")
        found = score(without(messages, spans, range(first - 1, last) if last else ()))
        calls.append(SpansLeftOut(first, last, found, calls[0].score - found if calls else 0.0))
        if calls[-1].loss >= least or calls[0].score < least:
            break
    return tuple(calls)


def find_cause(
    messages: Sequence[WindowMessage], small: Score, asked: AskedModel | None = None, progress: Progress | None = None
) -> Bisection:
    """Weigh the spans by a small model, whose score is in nats, and ask the one that answered where it can be asked.

    Raises what scores and `progress` raise.
    """
    spans = cut(messages)
    weights = weigh_spans(messages, spans, small, progress)
    if asked is None or not weights:
        return Bisection(spans, weights, (), *_weighed(weights))
    calls = ask_again(messages, spans, weights, asked.score, asked.least, progress)
    last = calls[-1]
    if last.loss >= asked.least:
        return Bisection(spans, weights, calls, (last.first, last.last), "without it the sentence is lost")
    if calls[0].score < asked.least:
        return Bisection(spans, weights, calls, None, "asked again with the whole window, it does not say the sentence")
    why = "the sentence is said without any of the spans that weigh most: another span, several, or what stands twice"
    return Bisection(spans, weights, calls, None, why)


def _weighed(weights: Sequence[SpanWeight]) -> tuple[tuple[int, int] | None, str]:
    """The heaviest, where what is lost without it and its weight are enough to be named; beside it stands why."""
    if not weights:
        return None, "nothing stands in the window but the question"
    heaviest = weights[0]
    if heaviest.lost >= NATS and heaviest.weight >= 2 * NATS:
        return (heaviest.first, heaviest.last), "without it the sentence loses most"
    if heaviest.alone >= 2 * NATS:
        return (
            None,
            "the likeliest brings it on alone, but without it too it is said: another span says it, or several",
        )
    return None, "no span makes the sentence much likelier: nothing there does, or only several together"
