"""What speaks for a block, feature by feature: its words, its neighbours' words, its meaning, who says it.

What may speak depends on the form of the text (`text_forms`): only a turn of a dialogue has a speaker. Every feature
is general: nothing here knows a language beyond its commonest words, or any corpus. Features are relative to the
query's best, so that a linear sum of them ranks; `similarity` weighs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.block_features import name_words
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery, Term
from amgs.index.vector import QueryVectors, VectorIndex
from amgs.retrieval.asked_role import asked_role
from amgs.retrieval.sequence_index import NOTHING, SequenceIndex
from amgs.retrieval.sources import Numbers
from amgs.retrieval.text_forms import NOTE, PART
from amgs.text.stop_words import COMMON_WORDS

FEATURES: Mapping[str, str] = {
    "words": "BM25 of what is asked about, by the query's best",
    "opening": "BM25 of what is asked about in the opening of a part or a note, by the query's best",
    "coverage": "how much of what is asked about it mentions, rare words counting more",
    "window": "the same of it and its neighbours together: two on either side of a turn, one of a part",
    "neighbour_words": "BM25 of the two turns on either side, by the query's best; gated",
    "meaning": "cosine in deviations from the store's mean, times NOTE_MEANING for a note; of a turn: of it and the "
    "one before it together, more than half for the query without the names of those whom it asks about",
    "asked_of": "a turn of somebody whom the query names",
    "other_role": "a turn of the assistant of a chat where the question's I means the user, or the other way round",
    "written_then": "written on a day that the question names, where its text does not hold that day; a third where "
    "the question asks for more than the day",
    "told_day": "its text tells of a day that the question names, other than the day it was written on",
    "episode_words": "how much of what is asked about the turn's episode mentions, by the best episode",
    "asking": "share of questions among the turn's sentences",
    "after_question": "the turn before ends with a question; gated",
    "turn_length": "logarithm of a turn's length over that of the middle one",
    "part_length": "the same of a part of a document among parts",
    "flow": "what flowed in along the edges of the graph",
    "shared_names": "names that it shares with the best hits, and its place among them (`shared_names`)",
}
"""Each feature and what it says, in the order of the columns. Gated: times the gate of the text's form, which is 0 for
all but turns and falls with their length.
"""

NOTE_MEANING = 1.75
"""How much the meaning of a note of its own counts beside that of any other text. Chosen beside the weights:
docs/results/benchmarks.md.
"""

MOST_POSTINGS = 2000
"""Documents looked up for one word; of a commoner word only the best count."""

LONGEST_TURN = 2.0
"""Logarithm of the length over that of the middle turn up to which a longer turn counts more: about what the fit saw.
A pasted page would outweigh everything.
"""

_WITHOUT_NAMES = 0.56
"""The share of the query without names in the meaning of a turn, as it was fitted."""

_SHARPEST = 1e-6
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Features:
    """values: (m, k) for m candidates in rising number and the k FEATURES. named: (m,) whether somebody whom
    the query names says the block; all False when it names nobody. coverage: (m,) how much of what is asked
    about the block itself mentions, in [0, 1]. form, gate: (m,) see TextForms. cosine: (m,) of the block's own vector,
    0 without one.
    """

    numbers: Numbers
    values: NDArray[np.float64]
    named: NDArray[np.bool_]
    coverage: NDArray[np.float64]
    form: NDArray[np.int8]
    gate: NDArray[np.float64]
    cosine: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """A query as the evidence needs it. comparison: None while the vector layer is off. flows: by number.
    compare: embeds and compares another text, for the query without names. lexical, order: whether words, and the
    order of blocks, may speak at all. written, telling: numbers of the blocks that were written on the days asked for,
    and of those that tell of them. days_share: how much the former count, see `asked_days`.
    meaning_weight: see Sources. known_script: whether the encoder knows that of the query.
    """

    text: str
    query: LexicalQuery
    comparison: QueryVectors | None
    flows: Mapping[int, float]
    compare: Callable[[str], QueryVectors] | None = None
    lexical: bool = True
    order: bool = True
    written: Collection[int] = ()
    telling: Collection[int] = ()
    days_share: float = 1.0
    meaning_weight: float = 1.0
    known_script: bool = True


def weigh(
    numbers: Numbers,
    asked: QueryFeatures,
    sequences: SequenceIndex,
    keyword: LexicalIndex,
    vectors: VectorIndex,
) -> Features:
    """The features of each candidate: numbers (m,) rising, all of them in the sequence index."""
    traits, forms = sequences.traits, sequences.forms
    rows = traits.rows(numbers)
    before = sequences.step(rows, sequences.before)
    people = sequences.called(asked.text)
    names = {word for place in people for word in name_words(traits.names[place])}
    turn = forms.turns[rows].astype(np.float64)
    part = (forms.form[rows] == PART).astype(np.float64)
    gate = forms.gate[rows]
    named = np.isin(forms.speaker[rows], people)
    words = _Words(asked, sequences, keyword, rows, names)
    columns: dict[str, NDArray[np.float64]] = {
        "words": words.own,
        "opening": words.opening,
        "coverage": words.coverage,
    }
    if asked.order:
        columns["window"] = words.window
        columns["neighbour_words"] = gate * words.beside
        columns["episode_words"] = turn * words.episode
        columns["after_question"] = gate * np.where(before == NOTHING, 0.0, traits.asks[before])
    if asked.comparison is not None:
        paired = np.where(forms.turns[rows] & asked.order, before, NOTHING)
        meaning = _meaning(numbers, paired, asked.comparison, sequences, vectors)
        if names and asked.compare is not None and turn.any():
            bare = asked.compare(without_names(asked.text, names))
            other = _meaning(numbers, paired, bare, sequences, vectors)
            meaning += turn * _WITHOUT_NAMES * (other - meaning)
        counts = asked.meaning_weight * np.where(forms.form[rows] == NOTE, NOTE_MEANING, 1.0)
        columns["meaning"] = counts * meaning
    columns["asked_of"] = named.astype(np.float64)
    role = asked_role(asked.text)
    if role is not None:
        stepping_back = sequences.spoken_as("assistant" if role == "user" else "user")
        columns["other_role"] = stepping_back[rows].astype(np.float64)
    columns["written_then"] = asked.days_share * np.isin(numbers, list(asked.written)).astype(np.float64)
    columns["told_day"] = np.isin(numbers, list(asked.telling)).astype(np.float64)
    columns["asking"] = turn * np.minimum(traits.asking[rows], 1.0)
    columns["turn_length"] = turn * np.minimum(forms.length[rows], LONGEST_TURN)
    columns["part_length"] = part * forms.length[rows]
    if not asked.known_script:
        # Without meaning beside it, what stands around a part of a document outweighs the part's own words.
        columns["window"] = turn * columns["window"]
        columns["part_length"] = 0.0 * columns["part_length"]
    columns["flow"] = np.array([asked.flows.get(n, 0.0) for n in numbers.tolist()], dtype=np.float64)
    nothing = np.zeros(numbers.size)
    cosine = nothing
    if asked.comparison is not None:
        own = asked.comparison.of(numbers.tolist())
        cosine = np.array([own.get(n, 0.0) for n in numbers.tolist()], dtype=np.float64)
    values = np.stack([columns.get(name, nothing) for name in FEATURES], axis=1)
    return Features(numbers, values, named, words.coverage, forms.form[rows], gate, cosine)


def without_names(text: str, names: Collection[str]) -> str:
    """A query's words without names and the commonest words: what it is about, whoever is meant."""
    idle = {*COMMON_WORDS, *names}
    kept = [word for word in _WORD.findall(text) if word.lower() not in idle]
    return " ".join(kept) or text


class _Words:
    """What is asked about, word by word, for m candidates: own (m,) and beside (m,), BM25 of each and of the two on
    either side by the best own; opening (m,), BM25 of the openings by the best, 0 of turns; coverage, window (m,) in
    [0, 1]; episode (m,) by the best of the candidates.

    Among turns the names of the speakers asked about are left out: who says a thing is evidence of its own. Any other
    text is searched for them as for every word.
    """

    def __init__(
        self,
        asked: QueryFeatures,
        sequences: SequenceIndex,
        keyword: LexicalIndex,
        rows: NDArray[np.int64],
        names: Collection[str],
    ) -> None:
        self.own, self.opening, self.beside, self.coverage, self.window, self.episode = (
            np.zeros(rows.size) for _ in range(6)
        )
        every = keyword.content(asked.query) if asked.lexical else ()
        if not every or not rows.size:
            return
        spoken = {term.text for term in keyword.content(asked.query, names)} if names else None
        turns, episode = sequences.forms.turns, sequences.episode
        near = _neighbours(sequences, rows)
        beside = [
            sequences.step(rows, way, count)
            for way in (sequences.before, sequences.after)
            for count in (1, 2)
        ]
        turn = turns[rows]
        mass = np.zeros(rows.size)
        episodes = np.zeros(sequences.episodes)
        mentioning = np.zeros(episodes.size, dtype=np.bool_)
        scores = np.zeros(turns.size)
        for term in every:
            asked_of_turns = spoken is None or term.text in spoken
            found = keyword.postings(term.text, MOST_POSTINGS)
            at = sequences.traits.rows(found.numbers)
            known = (at != NOTHING) & (asked_of_turns | ~turns[at])
            at = at[known]
            scores[at] = found.scores[known]
            self.own += scores[rows]
            for other in beside:
                self.beside += _at(scores, other)
            counts = term.idf * (asked_of_turns | ~turn)
            mass += counts
            self.coverage += counts * (scores[rows] > 0)
            self.window += counts * np.any([_at(scores, other) > 0 for other in near], axis=0)
            if asked_of_turns:
                mentioning[episode[at]] = True
                episodes[mentioning] += term.idf
                mentioning[episode[at]] = False
            scores[at] = 0.0  # to lay it out anew for each word would take longer where blocks are many
        if not turn.all():
            self.opening = ~turn * _by_openings(every, sequences, keyword, rows)
        best = max(float(self.own.max()), _SHARPEST)
        mass = np.maximum(mass, _SHARPEST)
        self.own, self.beside = self.own / best, self.beside / best
        self.coverage, self.window = self.coverage / mass, self.window / mass
        mentioned = np.where(turn, episodes[episode[rows]], 0.0)
        self.episode = mentioned / max(float(mentioned.max()), _SHARPEST)


def _by_openings(
    terms: Collection[Term], sequences: SequenceIndex, keyword: LexicalIndex, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(m,) BM25 of the candidates' openings, by the best."""
    scores = np.zeros(sequences.forms.turns.size)
    for term in terms:
        found = keyword.openings(term.text, MOST_POSTINGS)
        at = sequences.traits.rows(found.numbers)
        scores[at[at != NOTHING]] += found.scores[at != NOTHING]
    own = scores[rows]
    return np.asarray(own / max(float(own.max()), _SHARPEST))


def _neighbours(sequences: SequenceIndex, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The rows themselves and those that their windows hold: two on either side of a turn, one of anything else."""
    turn = sequences.forms.turns[rows]
    found = [rows]
    for way in (sequences.before, sequences.after):
        one = sequences.step(rows, way)
        found += [one, np.where(turn, sequences.step(one, way), NOTHING)]
    return found


def _at(values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value at each row, 0 at NOTHING."""
    return np.where(rows == NOTHING, 0.0, values[rows])


def _meaning(
    numbers: Numbers,
    before: NDArray[np.int64],
    comparison: QueryVectors,
    sequences: SequenceIndex,
    vectors: VectorIndex,
) -> NDArray[np.float64]:
    """(m,) cosines in deviations from the mean; a block without an embedding stands at the mean. before: (m,) rows
    of the pieces to be taken together with each, or NOTHING.

    A turn alone is often a fragment ("Yes, on Tuesday."): its vector and that of the turn before are added.
    """
    mean, deviation = comparison.spread
    own = comparison.of(numbers.tolist())
    cosine = np.array([own.get(n, mean) for n in numbers.tolist()], dtype=np.float64)
    earlier = np.where(before == NOTHING, NOTHING, sequences.traits.numbers[before])
    length = vectors.together(numbers, earlier)
    theirs = comparison.of(earlier.tolist())
    other = np.array([theirs.get(n, 0.0) for n in earlier.tolist()], dtype=np.float64)
    paired = length > _SHARPEST
    together = np.where(paired, (cosine + other) / np.where(paired, length, 1.0), cosine)
    return np.asarray((together - mean) / max(deviation, _SHARPEST))
