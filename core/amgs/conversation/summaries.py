"""Extractive summaries of a turn, a topic, a session and all so far: spans of the messages themselves, each cited.

Every level is a view over the originals. A summary is never summarised, so that making it again, or five times, gives
the same; whoever brings a model that writes summaries of its own implements AbstractiveSummariser.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from amgs.conversation.acts import DialogueAct
from amgs.conversation.cohesion import stems
from amgs.conversation.slots import SLOTS, Slot, find_slots, names_of
from amgs.text.sentences import sentences

_OF_SLOT = 8
"""Spans of one slot in a part, sentences aside."""
_OPEN: tuple[Literal["question", "commitment"], ...] = ("question", "commitment")
_ALIKE = 0.6
"""A sentence that has so much of its words in one already taken is left out."""


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Characters [start, end) of the message at a place, from 0, and what they are."""

    slot: Slot
    place: int
    start: int
    end: int


class AbstractiveSummariser(Protocol):
    """Writes a summary in words of its own; it is shown as such, beside the spans it was made from, never stored as
    what was said.
    """

    @property
    def name(self) -> str: ...

    def summarise(self, texts: Sequence[str], most_tokens: int) -> str:
        """Return a summary of messages in the order of time, in at most so many tokens."""
        ...


def summary(
    texts: Sequence[str],
    times: Sequence[datetime | None],
    acts: Sequence[DialogueAct],
    parts: Sequence[tuple[int, int]],
    most: int,
) -> list[tuple[CitedSpan, ...]]:
    """Return for each part (start, end) of n messages at most `most` sentences and its slots, in the order of time.

    Sentences: see `key_sentences`. A finding that is told twice in a part is cited where it was said last.
    """
    names = names_of(texts)
    order = {slot: place for place, slot in enumerate(SLOTS)}
    summaries = []
    for (start, end), spans in zip(parts, key_sentences(texts, parts, most), strict=True):
        spans += _findings(texts, times, start, end, names)
        for kind in _OPEN:
            spans += [
                CitedSpan(kind, act.place, act.start, act.end)
                for act in acts
                if act.kind == kind and act.closed_by is None and start <= act.place < end
            ][-_OF_SLOT:]
        summaries.append(tuple(sorted(spans, key=lambda span: (order[span.slot], span.place, span.start))))
    return summaries


def key_sentences(texts: Sequence[str], parts: Sequence[tuple[int, int]], most: int) -> list[list[CitedSpan]]:
    """Return for each part (start, end) of n messages at most `most` key sentences, the best first.

    A sentence is rated by its words, those that distinguish the part from the others counting most; none repeats
    another.
    """
    counted = [stems("\n".join(texts[a:b])) for a, b in parts]
    among = Counter(stem for words in counted for stem in words)
    key_spans = []
    for (start, end), words in zip(parts, counted, strict=True):
        weight = {stem: (1 + math.log(n)) * math.log(1 + (1 + len(parts)) / among[stem]) for stem, n in words.items()}
        key_spans.append(_sentences(texts, start, end, weight, most))
    return key_spans


def _sentences(texts: Sequence[str], start: int, end: int, weight: dict[str, float], most: int) -> list[CitedSpan]:
    """Return the sentences that weigh most, none that repeats another."""
    candidates: list[tuple[float, CitedSpan, frozenset[str]]] = []
    for place in range(start, end):
        for a, b in sentences(texts[place]):
            words = frozenset(stems(texts[place][a:b]))
            if words:
                worth = sum(weight[word] for word in words if word in weight) / math.sqrt(4 + len(words))
                candidates.append((worth, CitedSpan("sentence", place, a, b), words))
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1].place, candidate[1].start))
    taken: list[tuple[CitedSpan, frozenset[str]]] = []
    for _, span, words in candidates:
        if len(taken) == most:
            break
        if all(len(words & other) < _ALIKE * min(len(words), len(other)) for _, other in taken):
            taken.append((span, words))
    return [span for span, _ in taken]


def _findings(
    texts: Sequence[str], times: Sequence[datetime | None], start: int, end: int, names: re.Pattern[str]
) -> list[CitedSpan]:
    """Return the latest findings of each slot, each text once."""
    latest: dict[tuple[Slot, str], CitedSpan] = {}
    for place in range(start, end):
        for slot, a, b in find_slots(texts[place], times[place] if times else None, names):
            key = slot, texts[place][a:b].casefold()
            latest.pop(key, None)
            latest[key] = CitedSpan(slot, place, a, b)
    findings = list(latest.values())
    return [span for slot in SLOTS for span in [finding for finding in findings if finding.slot == slot][-_OF_SLOT:]]
