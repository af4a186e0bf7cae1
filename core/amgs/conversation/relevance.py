"""Relevance of each message of a conversation for a query, as log odds that add up layer by layer.

First the evidence of the search for every message by itself. A message is then worth what stands around it, as far as a
topic of its session reaches, for each of the tokens that it takes: an answer seldom stands alone. What whole passages
say is laid over that: what they mean, and who holds the floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.cohesion import centre
from amgs.conversation.messages import number_sessions
from amgs.conversation.segments import estimate_topics
from amgs.decay import hours_between
from amgs.index.vector import to_unit_length
from amgs.retrieval.features import FEATURES, Features
from amgs.retrieval.similarity import FEW, SCALE, contributions, to_similarities
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.settings import Settings
from amgs.storage.messages import StoredMessage
from amgs.storage.store import Storage
from amgs.types import STATUSES, BlockFilter, Vector
from amgs.types.conversation import RELEVANCE_LAYERS, Message, RelevanceLayer

Floats = NDArray[np.float64]
Worths = Floats
"""(n,) in [0, 1], one for each message, as a search shows similarity; 0 where nothing speaks for it."""

WEIGHTS: Mapping[str, float] = {"around": 1.11, "itself": 0.1, "passage_meaning": 0.47, "floor": 1.26, "decay": 1.0}
"""Log odds of message i = 1.11 ln(around_i + 1e-4) + 0.1 ln(itself_i + 1e-4) + 0.47 meaning_i + 1.26 floor_i + decay_i,
with the first two from `density`, the next two from `passages` and the last one from `decay`, a logarithm already.

Three of them were fitted together on LoCoMo, REALTALK and QMSum, each counted the same, by the evidence that is kept in
a seventh of the tokens. Fitted without one of the three they are 1.07, 1.19 and 1.14 (around), 0.45, 0.58 and 0.38
(meaning), 1.25, 1.10 and 1.39 (floor). `itself` was laid over them and chosen with all three in view. What each is
worth: docs/results/conversation.md, "What each part is worth".
"""
BEFORE, AFTER = 0.1, 0.75
"""How far what is around a message reaches, in topics: what a topic is comes first, what is said of it follows. The
best of seven on each pair of the three corpora (benchmarks/notebooks/negative-results.md, "What a message is worth").
"""
_PASSAGE = 0.5
"""Topics before and after a message that its passage has: one topic, with the message in its middle. Set by hand."""
_FLOOR = 0.25
"""The same for who holds the floor, who changes more often than the topic. Set by hand."""
_LEAST = 1e-6
"""Below it a number is 0: odds stay finite, and columns that do not differ are not divided by their deviation."""
_FAINT = 1e-4
"""What there is of the evidence everywhere, in parts of its mean, so that ln(x + 1e-4) is −9.2 where there is none:
nothing is worth nothing at all. Set by hand.
"""
LAYER_OF: Mapping[str, RelevanceLayer] = {
    **dict.fromkeys(("meaning", "passage_meaning"), "semantic"),
    **dict.fromkeys(
        ("words", "opening", "coverage", "window", "neighbour_words", "speaker_words", "episode_words", "flow"),
        "lexical",
    ),
    "shared_names": "entity",
    **dict.fromkeys(("decay", "written_then", "told_day", "latest"), "temporal"),
    **dict.fromkeys(
        ("asked_of", "other_role", "no_answer", "asking", "after_question", "turn_length", "part_length", "floor"),
        "structure",
    ),
}
"""Which layer each feature of the search, and each column of `passages`, is told under."""


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """worths: (n,), see there. parts: (n, k) for the k RELEVANCE_LAYERS: how much each raises or lowers the log odds of
    a message against the mean of the conversation; a row sums to what decides.
    """

    worths: Worths
    parts: Floats

    @classmethod
    def none(cls, messages: int) -> Relevance:
        """Nothing is known of so many messages."""
        return cls(np.zeros(messages), np.zeros((messages, len(RELEVANCE_LAYERS))))


@dataclass(frozen=True, slots=True, eq=False)
class MessageEvidence:
    """Search evidence for n messages: parts (n, k), what each of its FEATURES adds; named (n,), whether somebody whom
    the query names says it. A message in pieces counts as its best piece; one without any is as bad as the worst.
    """

    parts: Floats
    named: NDArray[np.bool_]

    @classmethod
    def of(cls, features: Features, pieces: Sequence[Sequence[int]]) -> MessageEvidence:
        """pieces: of each message the numbers of its blocks."""
        parts = contributions(features)
        parts[:, list(FEATURES).index("no_answer")] = 0.0  # a question is kept with its answer
        linear = parts.sum(axis=1)
        row_of = {number: row for row, number in enumerate(features.numbers.tolist())}
        rows = [[row_of[n] for n in numbers if n in row_of] for numbers in pieces]
        worst = int(linear.argmin())
        best = np.array([max(message_rows, key=lambda row: linear[row], default=worst) for message_rows in rows])
        return cls(parts[best], features.named[best])

    @property
    def linear(self) -> Floats:
        """(n,) log odds."""
        return np.asarray(self.parts.sum(axis=1))


def relevance(
    query: str,
    messages: Sequence[StoredMessage],
    costs: Sequence[int],
    storage: Storage,
    sources: Sources,
    settings: Settings,
) -> Relevance:
    """Return how likely each message is needed to answer a query, for each token. costs: tokens of each.

    Every message is weighed, found by a layer of the search or not. All zeros for a query without words.
    """
    numbers = storage.blocks.numbers_of(sorted({block_id for m in messages for block_id in m.blocks}))
    if not numbers or not any(c.isalnum() for c in query):
        return Relevance.none(len(messages))
    sources = replace(sources, embed=cache(sources.embed))  # the query is asked for twice
    every = tuple(sorted(numbers.values()))
    request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=every, present=every, most=0)
    features = gather(request, sources).evidence
    if features is None:
        return Relevance.none(len(messages))
    pieces = [[numbers[block] for block in m.blocks if block in numbers] for m in messages]
    evidence = MessageEvidence.of(features, pieces)
    plain_messages = [m.message for m in messages]
    meanings = centre([m.text for m in plain_messages], _vectors(pieces, sources))
    of, weights = number_sessions(plain_messages), np.asarray(costs, float)
    columns = passages(evidence, weights, of, meanings, sources.embed(query))
    if half_life := settings.conversation.half_life_hours:
        columns["decay"] = decay(
            settings.conversation.decay, ages(plain_messages, sources.clock.now()) / half_life, evidence.linear
        )
    return weigh(evidence, weights, of, columns)


def passages(
    evidence: MessageEvidence, costs: Floats, of: Sequence[int], meanings: Vector, asked: Vector
) -> dict[str, Floats]:
    """Return what the passages say that n messages stand in, a column (n,) for each of the last WEIGHTS.

    of: sessions. meanings: (n, d), of the messages, see `centre`. asked: (d,), of the query.
    passage_meaning: how near the query is to what was meant around a message, in deviations. floor: the share of what
    is said around it that somebody says whom the query names, over their share of the whole.
    """
    around = spread(meanings, of, _PASSAGE, _PASSAGE)
    length = np.linalg.norm(around, axis=1)
    near = np.divide(around @ asked, length, out=np.zeros_like(length), where=length > 0)
    named_costs = np.where(evidence.named, costs, 0.0)
    floor = spread(named_costs, of, _FLOOR, _FLOOR) / spread(costs, of, _FLOOR, _FLOOR)
    return {"passage_meaning": _deviations(near), "floor": floor - named_costs.sum() / costs.sum()}


def ages(messages: Sequence[Message], now: datetime) -> Floats:
    """Return (n,) hours since each was said. One without a time was said with the one before, and at the beginning with
    the first that has one.
    """
    last = next((m.at for m in messages if m.at is not None), now)
    hours = []
    for message in messages:
        last = message.at or last
        hours.append(max(0.0, hours_between(last, now)))
    return np.array(hours)


def decay(model: str, age: Floats, linear: Floats) -> Floats:
    """Return (n,) at most 0: the logarithm of what age leaves of each message. age: in half-lives; linear: the
    evidence.
    """
    rank = linear.argsort().argsort() / max(linear.size - 1, 1)
    models = {
        "exponential": -math.log(2.0) * age,
        "logarithmic": -np.log1p(np.log2(1.0 + age)),
        "step": -math.log(2.0) * np.floor(age),
        "adaptive": -math.log(2.0) * age * np.where(rank > 0.8, 0.5, np.where(rank > 0.5, 1.0, 2.0)),
    }
    return np.asarray(models[model])


def density(evidence: MessageEvidence, costs: Floats, of: Sequence[int]) -> dict[str, Floats]:
    """Return the logarithm (n,) of what there is of the evidence for each token, over the mean: around each message,
    and in itself.
    """
    likely = np.exp(evidence.linear - evidence.linear.max())
    likely *= costs.sum() / likely.sum()
    there = np.maximum(spread(likely, of, BEFORE, AFTER), 0.0) / spread(costs, of, BEFORE, AFTER)
    return {"around": np.log(there + _FAINT), "itself": np.log(likely / costs + _FAINT)}


def weigh(evidence: MessageEvidence, costs: Floats, of: Sequence[int], columns: Mapping[str, Floats]) -> Relevance:
    """Return the layers put together; a decay only takes: without it the best of the messages is worth what it was."""
    near = density(evidence, costs, of)
    adds = {name: WEIGHTS[name] * column for name, column in {**near, **columns}.items()}
    total = sum(adds.values(), np.zeros(costs.size))
    best = float((total - adds.get("decay", 0.0)).max())
    worths = to_similarities(evidence.linear.max() + total - best)
    place = {layer: number for number, layer in enumerate(RELEVANCE_LAYERS)}
    parts = np.zeros((total.size, len(RELEVANCE_LAYERS)))
    for name, column in zip(FEATURES, evidence.parts.T, strict=True):
        parts[:, place[LAYER_OF[name]]] += sum(WEIGHTS[column_name] for column_name in near) * column
    for name in columns:
        parts[:, place[LAYER_OF[name]]] += adds[name]
    parts -= parts.mean(axis=0)
    parts[:, place["around"]] = total - total.mean() - parts.sum(axis=1)
    return Relevance(worths, parts)


def rate(worths: Sequence[float] | Worths) -> Floats:
    """Return (n,) what `worths` says as odds: how likely each message is needed, for each of its tokens, by the
    best's.
    """
    shown = np.clip(np.asarray(worths, dtype=np.float64), _LEAST, 1.0 - _LEAST)
    linear = SCALE * np.log(shown / (1.0 - shown)) * (1.0 + FEW / shown.size)  # what `fused` made them of
    return np.asarray(np.exp(linear - linear.max()))


def _vectors(pieces: Sequence[Sequence[int]], sources: Sources) -> Vector:
    """Return (n, d), the mean of each message's pieces, of unit length; zeros for one that waits to be consolidated."""
    known = sources.vectors.vectors([number for numbers in pieces for number in numbers])
    means = np.zeros((len(pieces), sources.vectors.dimension), dtype=np.float32)
    for place, numbers in enumerate(pieces):
        vectors = [known[number] for number in numbers if number in known]
        if vectors:
            means[place] = vectors[0] if len(vectors) == 1 else np.mean(vectors, axis=0)
    return to_unit_length(means)


def _deviations(values: Floats) -> Floats:
    """Return values in deviations from their mean; all 0 where they do not differ."""
    deviation = float(values.std())
    return np.asarray((values - values.mean()) / deviation if deviation > _LEAST else np.zeros_like(values))


def spread(
    values: NDArray[np.floating[Any]], sessions: Sequence[int] | NDArray[np.int64], before: float, after: float
) -> Floats:
    """Return (n, …): each message's values spread over those around it in its session, less with each step, to 0.

    values: (n,) or (n, d). sessions: of each message its session, neighbours together. before, after: how far back and
    ahead, in expected topics of the session. Linear in n: a kernel of straight lines is the sum of its bends, summed
    twice.
    """
    signal = np.asarray(values, dtype=np.float64)
    totals = np.zeros_like(signal)
    of = np.asarray(sessions)
    edges = [0, *(np.flatnonzero(np.diff(of)) + 1).tolist(), of.size]
    for start, stop in pairwise(edges):
        size = stop - start
        topic = size / estimate_topics(size)
        back, ahead = round(before * topic) + 1, round(after * topic) + 1
        bends = np.zeros((back + size + ahead, *signal.shape[1:]))
        bends[:size] += signal[start:stop] / back
        bends[back : back + size] -= signal[start:stop] * (1.0 / back + 1.0 / ahead)
        bends[back + ahead :] += signal[start:stop] / ahead
        lines = np.cumsum(np.cumsum(bends, axis=0), axis=0)
        totals[start:stop] = lines[back - 1 : back - 1 + size]
    return totals
