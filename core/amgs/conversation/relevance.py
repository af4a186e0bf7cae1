"""Rate each message of a conversation by how likely a query needs it, as log odds that add up layer by layer.

It starts from the search's evidence for each message alone. That evidence is spread over the messages around it, within
a topic, and divided by their tokens, since an answer seldom is a single message. Then it adds what whole passages say:
their meaning, and who speaks in them. `optimise` keeps messages by the result; `conversation why` shows the layers.
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

from amgs.conversation.cohesion import centre, estimate_topics
from amgs.conversation.messages import number_sessions
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
"""(n,) worth of each message in [0, 1], on the scale of a search's similarity; 0 where there is no evidence."""

WEIGHTS: Mapping[str, float] = {"around": 1.11, "itself": 0.1, "passage_meaning": 0.47, "floor": 1.26, "decay": 1.0}
"""Log odds of message i = 1.11 ln(around_i + 1e-4) + 0.1 ln(itself_i + 1e-4) + 0.47 meaning_i + 1.26 floor_i + decay_i,
with the first two from `density_columns`, the next two from `passage_columns`, the last from `decay_column`.

around, passage_meaning and floor were fitted together on LoCoMo, REALTALK and QMSum with equal weight, by the evidence
retained in a seventh of the tokens. Fitted without one of the corpora they are 1.07, 1.19 and 1.14 (around), 0.45, 0.58
and 0.38 (meaning), 1.25, 1.10 and 1.39 (floor). `itself` was chosen afterwards on all three. What each adds:
docs/results/conversation.md, "What each part is worth".
"""
BEFORE, AFTER = 0.1, 0.75
"""How far evidence is spread before and after a message, in topics: a topic's subject is named first, and what is said
about it follows. The best of seven on each pair of the three corpora (benchmarks/notebooks/negative-results.md, "What a
message is worth").
"""
_PASSAGE = 0.5
"""Topics before and after a message that belong to its passage: a topic around the message. Set by hand."""
_FLOOR = 0.25
"""The same for the share of a speaker, which changes more often than the topic. Set by hand."""
_LEAST = 1e-6
"""Limit below which a number counts as 0, to keep odds finite and avoid dividing by a deviation of 0."""
_FAINT = 1e-4
"""Evidence added everywhere, as a share of its mean, so that its logarithm is −9.2 where there is none. Set by hand."""
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
"""The layer under which each feature of the search, and each column added here, is shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """Relevance of n messages. worths: (n,). parts: (n, k) for the k RELEVANCE_LAYERS: how much each layer raises or
    lowers a message's log odds, relative to the mean of the conversation; a row sums to the message's total.
    """

    worths: Worths
    parts: Floats

    @classmethod
    def none(cls, messages: int) -> Relevance:
        """Return the relevance of so many messages without any evidence: all 0."""
        return cls(np.zeros(messages), np.zeros((messages, len(RELEVANCE_LAYERS))))


@dataclass(frozen=True, slots=True, eq=False)
class MessageEvidence:
    """The search's evidence for n messages. parts: (n, k), what each of the k FEATURES adds. named: (n,), whether a
    person whom the query names says it. A message of several blocks counts as its best; a message without blocks as the
    worst.
    """

    parts: Floats
    named: NDArray[np.bool_]

    @classmethod
    def of(cls, features: Features, pieces: Sequence[Sequence[int]]) -> MessageEvidence:
        """Return the evidence of messages from their blocks' features. pieces: numbers of each message's blocks."""
        parts = contributions(features)
        parts[:, list(FEATURES).index("no_answer")] = 0.0  # a question stays with its answer
        linear = parts.sum(axis=1)
        row_of = {number: row for row, number in enumerate(features.numbers.tolist())}
        rows = [[row_of[n] for n in numbers if n in row_of] for numbers in pieces]
        worst = int(linear.argmin())
        best = np.array([max(message_rows, key=lambda row: linear[row], default=worst) for message_rows in rows])
        return cls(parts[best], features.named[best])

    @property
    def linear(self) -> Floats:
        """Log odds of each message: (n,)."""
        return np.asarray(self.parts.sum(axis=1))


def rate_messages(
    query: str,
    messages: Sequence[StoredMessage],
    costs: Sequence[int],
    storage: Storage,
    sources: Sources,
    settings: Settings,
) -> Relevance:
    """Return how likely each message is needed to answer a query, per token. costs: tokens of each message.

    Every message is rated, whether the search finds it or not. All 0 for a query without words.
    """
    numbers = storage.blocks.numbers_of(sorted({block_id for m in messages for block_id in m.blocks}))
    if not numbers or not any(c.isalnum() for c in query):
        return Relevance.none(len(messages))
    sources = replace(sources, embed=cache(sources.embed))  # the query is embedded twice
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
    columns = passage_columns(evidence, weights, of, meanings, sources.embed(query))
    if half_life := settings.conversation.half_life_hours:
        columns["decay"] = decay_column(
            settings.conversation.decay, hours_since(plain_messages, sources.clock.now()) / half_life, evidence.linear
        )
    return combine_layers(evidence, weights, of, columns)


def passage_columns(
    evidence: MessageEvidence, costs: Floats, of: Sequence[int], meanings: Vector, asked: Vector
) -> dict[str, Floats]:
    """Return the columns (n,) about the passages around n messages, by name.

    passage_meaning: cosine of the query with the mean of the passage, in standard deviations. floor: share of the
    passage's tokens said by people whom the query names, less their share of the conversation.

    of: session of each message. meanings: (n, d), vectors of the messages, see `centre`. asked: (d,), of the query.
    """
    around = spread(meanings, of, _PASSAGE, _PASSAGE)
    length = np.linalg.norm(around, axis=1)
    near = np.divide(around @ asked, length, out=np.zeros_like(length), where=length > 0)
    named_costs = np.where(evidence.named, costs, 0.0)
    floor = spread(named_costs, of, _FLOOR, _FLOOR) / spread(costs, of, _FLOOR, _FLOOR)
    return {"passage_meaning": _deviations(near), "floor": floor - named_costs.sum() / costs.sum()}


def hours_since(messages: Sequence[Message], now: datetime) -> Floats:
    """Return the hours (n,) since each message was said. A message without a time has that of the previous message, or,
    at the beginning, of the first with a time.
    """
    last = next((m.at for m in messages if m.at is not None), now)
    hours = []
    for message in messages:
        last = message.at or last
        hours.append(max(0.0, hours_between(last, now)))
    return np.array(hours)


def decay_column(model: str, age: Floats, linear: Floats) -> Floats:
    """Return the logarithm (n,), at most 0, of the share of each message's worth that its age leaves.

    model: `exponential`, `logarithmic`, `step`, or `adaptive`. age: (n,) in half-lives. linear: (n,) evidence, by which
    the adaptive model decays good messages less.
    """
    rank = linear.argsort().argsort() / max(linear.size - 1, 1)
    models = {
        "exponential": -math.log(2.0) * age,
        "logarithmic": -np.log1p(np.log2(1.0 + age)),
        "step": -math.log(2.0) * np.floor(age),
        "adaptive": -math.log(2.0) * age * np.where(rank > 0.8, 0.5, np.where(rank > 0.5, 1.0, 2.0)),
    }
    return np.asarray(models[model])


def density_columns(evidence: MessageEvidence, costs: Floats, of: Sequence[int]) -> dict[str, Floats]:
    """Return the logarithm (n,) of the evidence per token, relative to the mean: around each message, and of itself."""
    likely = np.exp(evidence.linear - evidence.linear.max())
    likely *= costs.sum() / likely.sum()
    there = np.maximum(spread(likely, of, BEFORE, AFTER), 0.0) / spread(costs, of, BEFORE, AFTER)
    return {"around": np.log(there + _FAINT), "itself": np.log(likely / costs + _FAINT)}


def combine_layers(
    evidence: MessageEvidence, costs: Floats, of: Sequence[int], columns: Mapping[str, Floats]
) -> Relevance:
    """Combine all columns into worths and parts. The worths are scaled by the best message before decay, so that decay
    only lowers them.
    """
    near = density_columns(evidence, costs, of)
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


def odds_of(worths: Sequence[float] | Worths) -> Floats:
    """Return worths as odds (n,) per token, divided by the best."""
    shown = np.clip(np.asarray(worths, dtype=np.float64), _LEAST, 1.0 - _LEAST)
    linear = SCALE * np.log(shown / (1.0 - shown)) * (1.0 + FEW / shown.size)  # undoes `to_similarities`
    return np.asarray(np.exp(linear - linear.max()))


def _vectors(pieces: Sequence[Sequence[int]], sources: Sources) -> Vector:
    """Return each message's vector (n, d): the mean of its blocks', of unit length; 0 where none is embedded yet."""
    known = sources.vectors.vectors([number for numbers in pieces for number in numbers])
    means = np.zeros((len(pieces), sources.vectors.dimension), dtype=np.float32)
    for place, numbers in enumerate(pieces):
        vectors = [known[number] for number in numbers if number in known]
        if vectors:
            means[place] = vectors[0] if len(vectors) == 1 else np.mean(vectors, axis=0)
    return to_unit_length(means)


def _deviations(values: Floats) -> Floats:
    """Return values in standard deviations from their mean; all 0 where they are equal."""
    deviation = float(values.std())
    return np.asarray((values - values.mean()) / deviation if deviation > _LEAST else np.zeros_like(values))


def spread(
    values: NDArray[np.floating[Any]], sessions: Sequence[int] | NDArray[np.int64], before: float, after: float
) -> Floats:
    """Spread each message's values over the messages around it in its session, falling linearly to 0 (a triangle).

    values: (n,) or (n, d). sessions: session of each message, in order. before, after: reach in expected topics of the
    session. Takes time linear in n, because a triangle is the double sum of three impulses. Its slow twin is in the
    tests.
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
