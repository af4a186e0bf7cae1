"""Compute the features by which a search ranks its candidates: words, neighbours' words, meaning, speaker, days.

`waterfall` calls `compute_features` once a query, and `similarity.WEIGHTS` has a fitted weight for each feature: a
change here needs a new fit (`python -m benchmarks.fit`). Which features apply depends on the form of the text
(`sources`): only a turn of a dialogue has a speaker. Features are relative to the query's best candidate, so that their
weighted sum ranks; none knows a corpus, or a language beyond its commonest words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.arrays import NOBODY, name_words
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors, VectorIndex
from amgs.retrieval.sources import NOTE, NOTHING, PART, TURN, Numbers, SequenceIndex, find_asked_role
from amgs.text.words import COMMON_WORDS

FEATURES: Mapping[str, str] = {
    "words": "BM25 of what is asked about, by the query's best",
    "opening": "BM25 of what is asked about in the opening of a part or a note, by the query's best",
    "coverage": "how much of what is asked about it mentions, rare words counting more; of a part of a document its "
    "keyword score by the query's best, to the power of PART_SHARPNESS, times PART_WORDS",
    "window": "the same of it and its neighbours together: two on either side of a turn, one of a part",
    "neighbour_words": "BM25 of the two turns on either side, by the query's best; gated",
    "speaker_words": "the same of the turn that the same speaker said one or two before; in a chat with an assistant",
    "meaning": "cosine in deviations from the store's mean, times NOTE_MEANING for a note, PART_MEANING for a part; of "
    "a turn: of it and the previous turn together, more than half for the query without the names of those whom it asks"
    " about",
    "asked_of": "a turn of somebody whom the query names",
    "other_role": "a turn of the assistant of a chat where the question's I means the user, or the other way round",
    "no_answer": "a turn that asks what is asked, or says that it is not known (`mark_non_answers`)",
    "written_then": "written on a day that the question names, where its text does not give that day; a third where "
    "the question asks for more than the day",
    "told_day": "its text mentions a day that the question names, other than the day it was written on",
    "latest": "place in time among the ten best, from 0 to 1, where the question asks what holds now (`add_latest`)",
    "episode_words": "how much of what is asked about the turn's episode mentions, by the best episode",
    "asking": "share of questions among the turn's sentences",
    "after_question": "the turn before ends with a question; gated",
    "turn_length": "logarithm of a turn's length over that of the middle one",
    "part_length": "the same of a part of a document among parts",
    "flow": "what flowed in along the edges of the graph",
    "shared_names": "names that it shares with the best hits, and its place among them (`add_shared_names`)",
}
"""Each feature and what it says, in the order of the columns. Gated: times the gate of the text's form, which is 0 for
all but turns and falls with their length.
"""

NOTE_MEANING = 1.75
"""How much the meaning of a note of its own counts beside that of any other text. Chosen beside the weights:
docs/results/search.md.
"""

PART_MEANING = 0.67
"""The same of a part of a document, whose headings and terms say more: docs/results/search.md."""

PART_WORDS, PART_SHARPNESS = 2.15, 1.5
"""How much the keyword layer's own score of a part counts in place of its coverage, and how far ahead of the next
candidate its best is: docs/results/search.md.
"""

MOST_POSTINGS = 2000
"""Documents looked up for a word; of a commoner word only the best count."""

LONGEST_TURN = 2.0
"""Upper limit of `turn_length`, about the largest in the data of the fit: without it a pasted page would outweigh
everything.
"""

_WITHOUT_NAMES = 0.56
"""Share, in the meaning of a turn, of the query's cosine after its names are removed; fitted."""

_TINY = 1e-6
"""Keeps divisors from 0."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Features:
    """values: (m, k) for m candidates in rising number and the k FEATURES. named: (m,) whether somebody whom the query
    names says the block; all False when it names nobody. coverage: (m,) how much of what is asked about the block
    itself mentions, in [0, 1]. form, gate: (m,) see TextForms. cosine: (m,) of the block's own vector, 0 if there is
    none.
    """

    numbers: Numbers
    values: NDArray[np.float64]
    named: NDArray[np.bool_]
    form: NDArray[np.int8]
    gate: NDArray[np.float64]
    cosine: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """A query and what the layers say about its candidates: the input of `compute_features`.

    comparison: None while the vector layer is off. flows, shares: similarity that came along edges, and the keyword
    layer's score, by number.
    compare: embeds and compares another text, for the query without names. lexical, order: whether the features of
    words, and of the order of blocks, are computed. written_then: numbers of the blocks written on the days that the
    query names; mentioning: of those whose text mentions them. days_share: how much the former count, see
    `find_asked_days`. meaning_weight: see Sources. known_script: whether the encoder knows the query's script.
    """

    text: str
    query: LexicalQuery
    comparison: QueryVectors | None
    flows: Mapping[int, float]
    shares: Mapping[int, float]
    compare: Callable[[str], QueryVectors] | None = None
    lexical: bool = True
    order: bool = True
    written_then: Collection[int] = ()
    mentioning: Collection[int] = ()
    days_share: float = 1.0
    meaning_weight: float = 1.0
    known_script: bool = True


def compute_features(
    numbers: Numbers, asked: QueryFeatures, sequences: SequenceIndex, keyword: LexicalIndex, vectors: VectorIndex
) -> Features:
    """Return the features of m candidates. numbers: (m,) ascending, all of them in the sequence index."""
    traits, forms = sequences.traits, sequences.forms
    rows = traits.rows(numbers)
    form = forms.form[rows]
    turns = form == TURN
    near = _window_rows(sequences, rows, turns)
    before = near[1]
    people = sequences.find_speakers(asked.text)
    names = {word for place in people for word in name_words(traits.names[place])}
    turn = turns.astype(np.float64)
    part = (form == PART).astype(np.float64)
    gate = forms.gate[rows]
    named = np.isin(forms.speaker[rows], people)
    words = _Words(asked, sequences, keyword, near, turns, names)
    shares = np.array([asked.shares.get(n, 0.0) for n in numbers.tolist()], dtype=np.float64)
    covered = np.where(form == PART, PART_WORDS * (shares / _best(shares)) ** PART_SHARPNESS, words.coverage)
    columns: dict[str, NDArray[np.float64]] = {"words": words.own, "opening": words.opening, "coverage": covered}
    if asked.order:
        columns["window"] = words.window
        columns["neighbour_words"] = gate * words.beside
        chat = sequences.select_spoken("user")[rows] | sequences.select_spoken("assistant")[rows]
        columns["speaker_words"] = chat * words.earlier
        columns["episode_words"] = turn * words.episode
        columns["after_question"] = gate * np.where(before == NOTHING, 0.0, traits.asks[before])
    cosine = np.zeros(numbers.size)
    if asked.comparison is not None:
        paired = np.flatnonzero(turns & (before != NOTHING)) if asked.order else np.zeros(0, np.int64)
        meanings = _Meanings(numbers, paired, traits.numbers[before[paired]], vectors)
        cosine, meaning = meanings.by(asked.comparison)
        if names and asked.compare is not None and turns.any():
            _, other = meanings.by(asked.compare(remove_names(asked.text, names)))
            meaning += turn * _WITHOUT_NAMES * (other - meaning)
        counts = asked.meaning_weight * np.select([form == NOTE, form == PART], [NOTE_MEANING, PART_MEANING], 1.0)
        columns["meaning"] = counts * meaning
    columns["asked_of"] = named.astype(np.float64)
    role = find_asked_role(asked.text)
    if role is not None:
        other_speaker = sequences.select_spoken("assistant" if role == "user" else "user")
        columns["other_role"] = other_speaker[rows].astype(np.float64)
    columns["written_then"] = asked.days_share * np.isin(numbers, list(asked.written_then)).astype(np.float64)
    columns["told_day"] = np.isin(numbers, list(asked.mentioning)).astype(np.float64)
    columns["asking"] = turn * np.minimum(traits.asking[rows], 1.0)
    columns["turn_length"] = turn * np.minimum(forms.length[rows], LONGEST_TURN)
    columns["part_length"] = part * forms.length[rows]
    if not asked.known_script:
        # Without meaning beside it, what stands around a part of a document outweighs the part's own words.
        columns["window"] = turn * columns["window"]
        columns["part_length"] = 0.0 * columns["part_length"]
    columns["flow"] = np.array([asked.flows.get(n, 0.0) for n in numbers.tolist()], dtype=np.float64)
    nothing = np.zeros(numbers.size)
    values = np.stack([columns.get(name, nothing) for name in FEATURES], axis=1)
    return Features(numbers, values, named, form, gate, cosine)


def remove_names(text: str, names: Collection[str]) -> str:
    """Return a query without these names and the commonest words; the query itself where nothing is left."""
    idle = {*COMMON_WORDS, *names}
    words = [word for word in _WORD.findall(text) if word.lower() not in idle]
    return " ".join(words) or text


class _Words:
    """Word features of m candidates, each an array (m,), computed term by term from the keyword index.

    own, beside, earlier: BM25 of the block, of the two on either side, and of the same speaker's turn one or two
    before, each divided by the best `own`. opening: BM25 of a text's opening, by the best; 0 for turns. coverage,
    window: in [0, 1]. episode: by the best of the candidates.

    For turns the names of the speakers asked about are no search words, since who speaks is a feature of its own; for
    any other text they are.
    """

    def __init__(
        self,
        asked: QueryFeatures,
        sequences: SequenceIndex,
        keyword: LexicalIndex,
        near: NDArray[np.int64],
        turns: NDArray[np.bool_],
        names: Collection[str],
    ) -> None:
        self.own, self.opening, self.beside, self.earlier, self.coverage, self.window, self.episode = (
            np.zeros(turns.size) for _ in range(7)
        )
        every = keyword.content(asked.query) if asked.lexical else ()
        if not every or not turns.size:
            return
        spoken = {term.text for term in keyword.content(asked.query, names)} if names else None
        every_turn, every_episode = sequences.forms.turns, sequences.episode
        episode = every_episode[near[0]]
        speaker = np.append(sequences.forms.speaker, NOBODY)[near]  # the last is that at NOTHING
        same = [(speaker[place] == speaker[0]) & (speaker[0] != NOBODY) for place in (1, 2)]
        mass, mentioned = np.zeros(turns.size), np.zeros(turns.size)
        mentioning = np.zeros(sequences.episodes, dtype=np.bool_)
        scores = np.zeros(every_turn.size + 1)  # the last is that at NOTHING

        def scores_nearby(at: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
            """Return (5, m): a word's scores of each candidate and its four neighbours, from its scores by row."""
            scores[at] = values
            near_scores = scores[near]
            scores[at] = 0.0  # `scores` is as long as the store: clearing these rows is faster than a new array a word
            return near_scores

        for term in every:
            asked_of_turns = spoken is None or term.text in spoken
            postings = keyword.postings(term.text, MOST_POSTINGS)
            at = sequences.traits.rows(postings.numbers)
            known = at != NOTHING
            if not asked_of_turns:
                known &= ~every_turn[at]
            at = at[known]
            layout = scores_nearby(at, postings.scores[known])
            self.own += layout[0]
            for other in layout[1:]:
                self.beside += other
            self.earlier += np.where(same[0], layout[1], same[1] * layout[2])
            counts = term.idf * (asked_of_turns | ~turns)
            mass += counts
            self.coverage += counts * (layout[0] > 0)
            self.window += counts * (layout > 0).any(axis=0)
            if asked_of_turns and turns.any():
                mentioning[every_episode[at]] = True
                mentioned += term.idf * mentioning[episode]
                mentioning[every_episode[at]] = False
            if not turns.all():
                postings = keyword.openings(term.text, MOST_POSTINGS)
                at = sequences.traits.rows(postings.numbers)
                self.opening += scores_nearby(at[at != NOTHING], postings.scores[at != NOTHING])[0]
        mass = np.maximum(mass, _TINY)
        best = _best(self.own)
        self.own, self.beside, self.earlier = self.own / best, self.beside / best, self.earlier / best
        self.opening = ~turns * (self.opening / _best(self.opening))
        self.coverage, self.window = self.coverage / mass, self.window / mass
        mentioned = np.where(turns, mentioned, 0.0)
        self.episode = mentioned / _best(mentioned)


def _best(scores: NDArray[np.float64]) -> float:
    """Return the greatest score, and never 0, so that it can be divided by."""
    return max(float(scores.max(initial=0.0)), _TINY)


def _window_rows(sequences: SequenceIndex, rows: NDArray[np.int64], turns: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return (5, m): the rows themselves, those a step and two steps before, and those a step and two steps after;
    NOTHING where there is none, as two steps from anything but a turn.
    """
    window = [rows]
    for way in (sequences.before, sequences.after):
        near_rows = sequences.step(rows, way)
        window += [near_rows, np.where(turns, sequences.step(near_rows, way), NOTHING)]
    return np.stack(window)


class _Meanings:
    """Cosines of m blocks with a query, each block alone or together with the turn before it.

    A turn alone is often a fragment ("Yes, on Tuesday."), so its vector and that of the turn before are added.

    numbers: (m,) of the blocks. paired: (p,) places in `numbers` of the turns to be joined with `earlier`, the numbers
    (p,) of the turns before them.
    """

    def __init__(self, numbers: Numbers, paired: NDArray[np.int64], earlier: Numbers, vectors: VectorIndex) -> None:
        length = vectors.pair_lengths(numbers[paired], earlier) if paired.size else np.zeros(0, np.float32)
        long_enough = length > _TINY
        self._numbers, self._earlier = numbers.tolist(), earlier[long_enough].tolist()
        self._paired, self._length = paired[long_enough], length[long_enough]

    def by(self, comparison: QueryVectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the blocks' own cosines (m,), 0 without an embedding, and the joined ones (m,) in standard deviations
        from the store's mean; a block without an embedding counts as the mean.
        """
        mean, deviation = comparison.spread
        own = comparison.of(self._numbers)
        together = np.array([own.get(n, mean) for n in self._numbers], dtype=np.float64)
        if self._earlier:
            theirs = comparison.of(self._earlier)
            other = np.array([theirs.get(n, 0.0) for n in self._earlier], dtype=np.float64)
            together[self._paired] = (together[self._paired] + other) / self._length
        cosine = np.array([own.get(n, 0.0) for n in self._numbers], dtype=np.float64)
        return cosine, (together - mean) / max(deviation, _TINY)
