"""Topics of a conversation: cut where it turns to something else; those that speak of the same thing are a thread.

Threads come from clustering, which links topics and never cuts one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np

from amgs.conversation.boundaries import boundaries, boundary_evidence, probabilities
from amgs.conversation.cohesion import Floats, segment_vectors, stems, written
from amgs.types import Vector

PAUSE = timedelta(hours=3)
"""A pause so long ends what was talked of: after it another sitting begins."""
LINKED = 0.3
"""So alike, in the mean, are the topics of a thread: of halves of one topic 5 to 35 % are, of different topics 0 to 4 %
(`python -m benchmarks conversation`).
"""
_TERMS = 5
_MOST_CLUSTERED = 1_000
"""Topics that are linked; in a longer history only the latest are."""


@dataclass(frozen=True, slots=True)
class TopicSegment:
    """Neighbouring messages on one topic. first, last: places in the history, from 0, both included. chance: in [0, 1],
    how likely the topic changed before it, 1 at the beginning of a sitting. thread: a number that segments on the same
    thing share. terms: the words, as they are written there, that tell it from the other segments.
    """

    first: int
    last: int
    chance: float
    thread: int
    terms: tuple[str, ...]


def segments(
    texts: Sequence[str], vectors: Vector, times: Sequence[datetime | None] = ()
) -> tuple[TopicSegment, ...]:
    """The topics of n messages in the order of time, without a gap. vectors: (n, d), of unit length. times: of the
    messages, None where unknown, or none at all.
    """
    spans = _spans(texts, vectors, times)
    threads = linked(segment_vectors(texts, vectors, [(a, b) for a, b, _ in spans]))
    words = terms(["\n".join(texts[a:b]) for a, b, _ in spans])
    return tuple(
        TopicSegment(a, b - 1, chance, thread, told)
        for (a, b, chance), thread, told in zip(spans, threads, words, strict=True)
    )


def topic_spans(
    texts: Sequence[str], vectors: Vector, times: Sequence[datetime | None] = ()
) -> list[tuple[int, int]]:
    """(start, end) of the same topics, which are not linked."""
    return [(start, end) for start, end, _ in _spans(texts, vectors, times)]


def _spans(
    texts: Sequence[str], vectors: Vector, times: Sequence[datetime | None]
) -> list[tuple[int, int, float]]:
    """(start, end, chance) of topics."""
    spans: list[tuple[int, int, float]] = []
    for start, end in sittings(len(texts), times):
        chances = topic_changes(texts[start:end], vectors[start:end])
        cuts = [int(place) + 1 for place in np.flatnonzero(boundaries(chances))]
        for first, after in pairwise([0, *cuts, end - start]):
            spans.append((start + first, start + after, float(chances[first - 1]) if first else 1.0))
    return spans


def topic_changes(texts: Sequence[str], vectors: Vector) -> Floats:
    """(n - 1,): how likely the topic changes at each gap between n messages of one sitting."""
    if len(texts) < 2:
        return np.zeros(0)
    return probabilities(boundary_evidence(texts, vectors))


def sittings(messages: int, times: Sequence[datetime | None]) -> list[tuple[int, int]]:
    """(start, end) of what was said without a long pause; a message without a time stays with the one before."""
    starts = [0] if messages else []
    last: datetime | None = None
    for place, at in enumerate(times[:messages]):
        if at is not None:
            if last is not None and at - last > PAUSE:
                starts.append(place)
            last = at
    return list(pairwise([*starts, messages]))


def linked(vectors: Vector) -> list[int]:
    """The thread of each of m segments, numbered in the order they come: clusters of average linkage, (m, d)."""
    m = len(vectors)
    old = max(0, m - _MOST_CLUSTERED)
    alike = vectors[old:] @ vectors[old:].T
    np.fill_diagonal(alike, -math.inf)
    members = [[place] for place in range(m - old)]
    sizes = np.ones(m - old)
    while len(members) > 1:
        a, b = sorted(divmod(int(alike.argmax()), len(alike)))
        if not alike[a, b] > LINKED:
            break
        joined = (sizes[a] * alike[a] + sizes[b] * alike[b]) / (sizes[a] + sizes[b])
        alike[a], alike[:, a] = joined, joined
        alike[a, a] = -math.inf
        alike[b], alike[:, b] = -math.inf, -math.inf
        members[a] += members[b]
        members[b] = []
        sizes[a] += sizes[b]
    cluster = {old + place: old + min(group) for group in members for place in group}
    names: dict[int, int] = {}
    return [names.setdefault(cluster.get(place, place), len(names) + 1) for place in range(m)]


def terms(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Of each text, the words that tell it best from the others, at most five."""
    counted = [stems(text) for text in texts]
    among = Counter(stem for words in counted for stem in words)
    told = []
    for text, words in zip(texts, counted, strict=True):
        weight = {
            stem: (1 + math.log(count)) * math.log((1 + len(texts)) / among[stem])
            for stem, count in words.items()
        }
        best = sorted(weight, key=lambda stem: (-weight[stem], stem))[:_TERMS]
        told.append(tuple(written(text, stem) for stem in best))
    return told
