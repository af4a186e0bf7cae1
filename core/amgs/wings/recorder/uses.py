"""Find the recalled records that an answer used, review the scores of recall by that, and say why an answer
lacked a fact: whether the memory had stored it, still held it, recalled it, and used it.

A record counts as used if the answers after its recall, up to the next recall in that conversation, contain half of its
words that are not in the query. As a control, the same rule is applied to answers of other conversations, which cannot
have used it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from amgs.calibration.brier import brier_score, reliability
from amgs.diagnosis.facts import states, stems
from amgs.index.lexical import TextBm25
from amgs.index.terms import word_analyzer
from amgs.text.words import COMMON_WORDS
from amgs.types.calibration import Outcome, Reliability
from amgs.wings.recorder.foreign_memory import ForeignMemory, ForeignRecord, MemoryOperation, RecalledRecord

USED: Final = 0.5
"""Share of its words from which on a record counts as used."""
LEAST: Final = 20
"""Fewest outcomes from which scores are reviewed."""
_BINS: Final = 5


@dataclass(frozen=True, slots=True)
class RecordUse:
    """Use of a recalled record.

    share: of its words not in the query, the share in the answers. elsewhere: the share in an answer of another
    conversation, None if there is none.
    """

    operation: MemoryOperation
    rank: int
    record: RecalledRecord
    share: float
    elsewhere: float | None

    @property
    def used(self) -> bool:
        return self.share >= USED


@dataclass(frozen=True, slots=True)
class ScoreReview:
    """How well scores predict use.

    judged: recalled records whose use is known; untold: those without an answer or without words of their own. used,
    elsewhere: rates, see the module. scored: number of judged ones with a score. auroc: probability that a used record
    scored higher than an unused record, ties count half; None if all or none were used. scaled: scores outside [0, 1]
    were rescaled from their minimum to maximum. table: reliability of scores as forecasts of use; None if there are too
    few.
    """

    judged: int
    untold: int
    used: float
    elsewhere: float | None
    scored: int
    auroc: float | None
    scaled: bool
    table: Reliability | None


def uses_of(memory: ForeignMemory, only: MemoryOperation | None = None) -> list[RecordUse]:
    """Return the use of every recalled record, as far as it is known. only: by this search."""
    answers: dict[str, list[tuple[float, str]]] = {}
    for answer in memory.answers:
        answers.setdefault(answer.conversation, []).append((answer.at.timestamp(), answer.words))
    searches: dict[str, list[float]] = {}
    for search in memory.searches():
        searches.setdefault(search.conversation, []).append(search.at.timestamp())
    others = [(name, words) for name, replies in answers.items() for _, words in replies[:1]]
    uses = []
    for number, search in enumerate(memory.searches() if only is None else [only]):
        reply = "\n".join(_answers_after(answers.get(search.conversation, []), searches[search.conversation], search))
        other = _other_answer(others, search.conversation, number)
        uses += list(_judge_records(search, reply, other)) if reply else []
    return uses


def _answers_after(
    answers: Sequence[tuple[float, str]], searches: Sequence[float], search: MemoryOperation
) -> list[str]:
    """Return the answers between a search and the next search; if there are none, the next answer, since it may follow
    several searches.
    """
    at = search.at.timestamp()
    first = bisect_left(answers, (at, ""))
    after = bisect_right(searches, at)
    last = bisect_left(answers, (searches[after], "")) if after < len(searches) else len(answers)
    return [words for _, words in answers[first : max(last, first + 1)]]


def _other_answer(others: Sequence[tuple[str, str]], conversation: str, number: int) -> str | None:
    """Return an answer of another conversation, varying by search."""
    for step in range(len(others)):
        name, words = others[(number + step) % len(others)]
        if name != conversation:
            return words
    return None


def _judge_records(search: MemoryOperation, reply: str, other: str | None) -> Iterator[RecordUse]:
    reply_stems, asked = stems(reply), stems(search.query)
    apart = None if other is None else stems(other)
    for rank, record in enumerate(search.records, 1):
        telling = stems(record.content) - asked if record.content.strip() else frozenset()
        if telling:
            elsewhere = None if apart is None else len(telling & apart) / len(telling)
            yield RecordUse(search, rank, record, len(telling & reply_stems) / len(telling), elsewhere)


def review_scores(memory: ForeignMemory) -> ScoreReview:
    """Return how well a memory's scores predict later use."""
    uses = uses_of(memory)
    recalled = sum(len(search.records) for search in memory.searches())
    apart = [use.elsewhere >= USED for use in uses if use.elsewhere is not None]
    scored = [(use, use.record.score) for use in uses if use.record.score is not None]
    values = [score for _, score in scored]
    low, high = min(values, default=0.0), max(values, default=1.0)
    scaled = low < 0.0 or high > 1.0
    outcomes = []
    for use, score in reversed(scored):  # latest first
        predicted = (score - low) / (high - low) if scaled and high > low else score
        actual = float(use.used)
        id = f"{use.operation.number}.{use.rank}"
        outcomes.append(Outcome(id, predicted, actual, brier_score(predicted, actual), use.operation.at, use.record.id))
    enough = len(outcomes) >= LEAST
    return ScoreReview(
        len(uses),
        recalled - len(uses),
        sum(use.used for use in uses) / len(uses) if uses else 0.0,
        sum(apart) / len(apart) if apart else None,
        len(scored),
        auroc([score for use, score in scored if use.used], [s for use, s in scored if not use.used]),
        scaled,
        reliability(outcomes, bins=_BINS, forecasts=len(outcomes)) if enough else None,
    )


def auroc(ups: Sequence[float], downs: Sequence[float]) -> float | None:
    """Return the probability that a score of `ups` is above a score of `downs`, ties count half; None if either is
    empty.
    """
    if not ups or not downs:
        return None
    ordered = sorted(downs)
    places = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in ups)
    return places / (2 * len(ups) * len(downs))


class WordSearch:
    """Search over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._analyzer = word_analyzer()
        self._common = {stem for word in COMMON_WORDS for stem in self._analyzer.analyze(word)}
        self._bm25 = TextBm25([self._words(text) for text in texts]) if texts else None

    def rank_texts(self, query: str) -> list[int]:
        """Return the indices of the texts that contain a word of the query, best first."""
        if self._bm25 is None:
            return []
        scores = self._bm25.scores(self._words(query))
        return [int(place) for place in (-scores).argsort(kind="stable") if scores[place] > 0]

    def _words(self, text: str) -> list[str]:
        return [word for word in self._analyzer.analyze(text) if word not in self._common]


Cause = Literal["never stored", "stored later", "deleted", "changed", "not recalled", "not used", "used"]
MEANT: Final[dict[Cause, str]] = {
    "never stored": "No record that was seen says it.",
    "stored later": "It was stored only after the search.",
    "deleted": "It had been deleted before the search.",
    "changed": "The record that said it said something else by then.",
    "not recalled": "It was there, and the search did not bring it.",
    "not used": "The search brought it, and the answer does not hold it.",
    "used": "The search brought it, and the answer holds it.",
}
_NEAR: Final = 10


@dataclass(frozen=True, slots=True)
class LaidBeside:
    """A present record that was not recalled. place: its rank in a search for the query's words alone, from 1."""

    place: int
    record: ForeignRecord
    content: str


@dataclass(frozen=True, slots=True)
class MissedCause:
    """What happened to a fact that an answer should contain.

    record: contains or contained it; None if there is none. rank: at which it was recalled, else 0. place: its rank
    among all present records in a search for the query's words alone; 0 if not found. recalled: number of records that
    the search found.
    """

    cause: Cause
    record: ForeignRecord | None
    rank: int
    place: int
    recalled: int


def records_not_recalled(memory: ForeignMemory, search: MemoryOperation, most: int = _NEAR) -> list[LaidBeside]:
    """Return the records that were present at a search but not recalled, nearest to the query's words first."""
    present = [
        (record, content)
        for record in memory.records
        if record.store == search.store and (content := record.content_at(search.at)) is not None
    ]
    ranked = WordSearch([content for _, content in present]).rank_texts(search.query)
    brought = {id(record) for record, _ in present if any(r.operation == search.number for r in record.recalls)}
    return [LaidBeside(place, *present[n]) for place, n in enumerate(ranked, 1) if id(present[n][0]) not in brought][
        :most
    ]


def explain_miss(memory: ForeignMemory, search: MemoryOperation, fact: str) -> MissedCause:
    """Return what happened to a fact at a search.

    fact: nearly in the words of its record; most of its words and all its numbers must match.
    """
    own = [candidate for candidate in memory.records if candidate.store == search.store]
    holders = [candidate for candidate in own if any(states(content, fact) for _, content in candidate.versions)]
    recalled = len(search.records)
    for rank, record in enumerate(search.records, 1):
        if states(record.content, fact):
            known = next(
                (candidate for candidate in holders if any(r.operation == search.number for r in candidate.recalls)),
                None,
            )
            used = any(use.rank == rank and use.used for use in uses_of(memory, search))
            return MissedCause("used" if used else "not used", known, rank, 0, recalled)
    present = [candidate for candidate in holders if states(candidate.content_at(search.at) or "", fact)]
    if present:
        place = next(
            (
                neighbour.place
                for neighbour in records_not_recalled(memory, search, len(own))
                if any(neighbour.record is candidate for candidate in present)
            ),
            0,
        )
        return MissedCause("not recalled", present[0], 0, place, recalled)
    if not holders:
        return MissedCause("never stored", None, 0, 0, recalled)
    holder = holders[0]
    since = next(at for at, content in holder.versions if states(content, fact))
    gone = holder.deleted is not None and holder.deleted <= search.at
    cause: Cause = "stored later" if since > search.at else "deleted" if gone else "changed"
    return MissedCause(cause, holder, 0, 0, recalled)
