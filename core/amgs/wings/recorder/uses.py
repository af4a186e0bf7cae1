"""Find the recalled records that an answer used, and review the scores of recall by that.

A record counts as used if the answers after its recall, up to the next recall in that conversation, contain half of its
words that are not in the query. As a control, the same rule is applied to answers of other conversations, which cannot
have used it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.calibration.brier import brier_score, reliability
from amgs.diagnosis.facts import stems
from amgs.types.calibration import Outcome, Reliability
from amgs.wings.recorder.foreign_memory import ForeignMemory, MemoryOperation, RecalledRecord

USED: Final = 0.5
"""Share of its words from which on a record counts as used."""
LEAST: Final = 20
"""Fewest outcomes from which scores are reviewed."""
_BINS: Final = 5


@dataclass(frozen=True, slots=True)
class RecordUse:
    """Use of a recalled record.

    share: of its words not in the query, the share in the answers. elsewhere: the share in an answer of another
    conversation, None without one.
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
    scored higher than an unused one, ties count half; None if all or none were used. scaled: scores outside [0, 1] were
    rescaled from their minimum to maximum. table: reliability of scores as forecasts of use; None if there are too few.
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
    """Return the answers between a search and the next one; if there are none, the next answer, since it may follow
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
    """Return the probability that a score of `ups` is above one of `downs`, ties count half; None if
    either is empty.
    """
    if not ups or not downs:
        return None
    ordered = sorted(downs)
    places = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in ups)
    return places / (2 * len(ups) * len(downs))
