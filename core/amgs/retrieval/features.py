"""What speaks for a block, feature by feature: its words, its neighbours' words, its meaning, who says it.

Every feature is general: nothing here knows a language beyond its commonest words, or any corpus. Features
are relative to the query's best, so that a linear sum of them ranks; `similarity` weighs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.block_features import name_words
from amgs.index.keyword import KeywordIndex
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors, VectorIndex
from amgs.retrieval.sequence_index import NOTHING, SequenceIndex
from amgs.retrieval.sources import Numbers

FEATURES: Mapping[str, str] = {
    "words": "BM25 of what is asked about, by the query's best",
    "words_before": "the same of the piece before",
    "words_after": "the same of the piece after",
    "words_2_before": "the same two pieces before",
    "words_2_after": "the same two pieces after",
    "meaning": "cosine of it and the piece before together, in deviations from the store's mean",
    "asked_of": "somebody whom the query names says or wrote it",
    "in_reply": "so it is, and it follows what somebody else said",
    "episode_words": "how much of what is asked about its episode mentions, by the best episode",
    "episode_meaning": "the best cosine of its episode, in deviations",
    "asking": "share of questions among its sentences",
    "after_question": "the piece before ends with a question",
    "length": "logarithm of its length in characters",
    "flow": "what flowed in along the edges of the graph",
}
"""Each feature and what it says, in the order of the columns."""

MOST_POSTINGS = 2000
"""Documents looked up for one word; of a commoner word only the best count."""

_SHARPEST = 1e-6


@dataclass(frozen=True, eq=False)
class Features:
    """values: (m, k) for m candidates in rising number and the k FEATURES. named: (m,) whether somebody whom
    the query names says the block; all False when it names nobody. coverage: (m,) how much of what is asked
    about the block itself mentions, in [0, 1].
    """

    numbers: Numbers
    values: NDArray[np.float64]
    named: NDArray[np.bool_]
    coverage: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """A query as the evidence needs it. comparison: None while the vector layer is off. flows: by number.
    lexical, order: whether words, and the order of blocks, may speak at all.
    """

    text: str
    query: LexicalQuery
    comparison: QueryVectors | None
    flows: Mapping[int, float]
    lexical: bool = True
    order: bool = True


def weigh(
    numbers: Numbers,
    asked: QueryFeatures,
    sequences: SequenceIndex,
    keyword: KeywordIndex,
    vectors: VectorIndex,
) -> Features:
    """The features of each candidate: numbers (m,) rising, all of them in the sequence index."""
    traits = sequences.traits
    rows = traits.rows(numbers)
    before = sequences.step(rows, sequences.before)
    people = traits.named(asked.text)
    words = _Words(asked, sequences, keyword, [traits.names[i] for i in people])
    named = np.isin(traits.name[rows], people)
    columns: dict[str, NDArray[np.float64]] = {"words": words.of(rows)}
    if asked.order:
        columns["words_before"] = words.of(before)
        columns["words_after"] = words.of(sequences.step(rows, sequences.after))
        columns["words_2_before"] = words.of(sequences.step(rows, sequences.before, 2))
        columns["words_2_after"] = words.of(sequences.step(rows, sequences.after, 2))
        columns["episode_words"] = words.of_episodes(rows)
        columns["after_question"] = np.where(before == NOTHING, 0.0, traits.asks[before])
    best = max(float(columns["words"].max(initial=0.0)), _SHARPEST)
    for name in ("words", "words_before", "words_after", "words_2_before", "words_2_after"):
        if name in columns:
            columns[name] = columns[name] / best
    if asked.comparison is not None:
        columns |= _meaning(numbers, rows, before, asked, asked.comparison, sequences, vectors)
    columns["asked_of"] = named.astype(np.float64)
    spoken_by_others = (before != NOTHING) & ~np.isin(traits.name[before], people)
    columns["in_reply"] = (named & spoken_by_others).astype(np.float64)
    columns["asking"] = np.minimum(traits.asking[rows], 1.0).astype(np.float64)
    columns["length"] = traits.length[rows].astype(np.float64)
    columns["flow"] = np.array([asked.flows.get(n, 0.0) for n in numbers.tolist()], dtype=np.float64)
    nothing = np.zeros(numbers.size)
    values = np.stack([columns.get(name, nothing) for name in FEATURES], axis=1)
    return Features(numbers, values, named, words.coverage[rows] if numbers.size else nothing)


class _Words:
    """What is asked about, word by word: BM25 of every block of the sequence index, and which episode mentions what.

    The names of the people asked about are left out: who says a thing is evidence of its own.
    """

    def __init__(
        self, asked: QueryFeatures, sequences: SequenceIndex, keyword: KeywordIndex, people: list[str]
    ) -> None:
        traits = sequences.traits
        self._sequences = sequences
        self._lexical = np.zeros(traits.numbers.size)
        self.coverage = np.zeros(traits.numbers.size)
        self._episodes = np.zeros(sequences.episodes)
        if not asked.lexical:
            return
        terms = keyword.content(asked.query, {word for name in people for word in name_words(name)})
        mass = sum(term.idf for term in terms)
        for term in terms:
            found = keyword.postings(term.text, MOST_POSTINGS)
            rows = traits.rows(found.numbers)
            known = rows != NOTHING
            rows = rows[known]
            self._lexical[rows] += found.scores[known]
            self.coverage[rows] += term.idf / mass
            self._episodes[np.unique(sequences.episode[rows])] += term.idf

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """BM25 at each row, 0 at NOTHING."""
        return np.where(rows == NOTHING, 0.0, self._lexical[rows]) if rows.size else np.zeros(0)

    def of_episodes(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the episode of each row mentions, by the best of them."""
        mentioned = self._episodes[self._sequences.episode[rows]]
        return np.asarray(mentioned / max(float(mentioned.max(initial=0.0)), _SHARPEST))


def _meaning(
    numbers: Numbers,
    rows: NDArray[np.int64],
    before: NDArray[np.int64],
    asked: QueryFeatures,
    comparison: QueryVectors,
    sequences: SequenceIndex,
    vectors: VectorIndex,
) -> dict[str, NDArray[np.float64]]:
    """Cosines in deviations from the mean; a block without an embedding stands at the mean.

    A piece alone is often a fragment ("Yes, on Tuesday."): its vector and that of the piece before are added.
    """
    mean, deviation = comparison.spread
    deviation = max(deviation, _SHARPEST)
    own = comparison.of(numbers.tolist())
    cosine = np.array([own.get(n, mean) for n in numbers.tolist()], dtype=np.float64)
    single = (cosine - mean) / deviation
    if not asked.order:
        return {"meaning": single}
    earlier = np.where(before == NOTHING, NOTHING, sequences.traits.numbers[before])
    length = vectors.together(numbers, earlier)
    theirs = comparison.of(earlier.tolist())
    other = np.array([theirs.get(n, 0.0) for n in earlier.tolist()], dtype=np.float64)
    paired = length > _SHARPEST
    together = np.where(paired, (cosine + other) / np.where(paired, length, 1.0), cosine)
    _, episode = np.unique(sequences.episode[rows], return_inverse=True)
    best = np.full(rows.size, -np.inf)
    np.maximum.at(best, episode, single)
    return {"meaning": (together - mean) / deviation, "episode_meaning": best[episode]}
