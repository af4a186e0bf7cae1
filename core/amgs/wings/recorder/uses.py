"""Find the recalled records that an answer used, and judge by that the scores of their recall.

A record counts as used where the answers after its recall, up to the next recall of that conversation, hold half of its
telling words: those that the query did not bring along. Beside it stands the same rule against answers of other
conversations, which cannot have made use of it: what is said anyway.
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
"""From this share of its telling words on a record counts as used."""
LEAST: Final = 20
"""Fewer outcomes than these say nothing of scores."""
_BINS: Final = 5


@dataclass(frozen=True, slots=True)
class RecordUse:
    """Use of a recalled record.

    share: of its telling words that the answers hold, in [0, 1]. elsewhere: the same of an answer in another
    conversation, None where there is no other.
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
    """Value of scores.

    judged: recalled records whose use can be decided; untold: those whose answer or telling words are missing. used,
    elsewhere: rates, see the module. scored: number of the judged with a score. auroc: the chance that a used record
    scored over one that was not, ties by halves; None where all or none were used. scaled: whether scores lay outside
    [0, 1], and are stretched over it from the least to the most. table: of scores as forecasts of use; None for too
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
    """Return what became of every record that was recalled, as far as it can be told. only: by this search."""
    answers: dict[str, list[tuple[float, str]]] = {}
    for answer in memory.answers:
        answers.setdefault(answer.conversation, []).append((answer.at.timestamp(), answer.words))
    searches: dict[str, list[float]] = {}
    for search in memory.searches():
        searches.setdefault(search.conversation, []).append(search.at.timestamp())
    others = [(name, words) for name, replies in answers.items() for _, words in replies[:1]]
    uses = []
    for number, search in enumerate(memory.searches() if only is None else [only]):
        reply = "\n".join(_between(answers.get(search.conversation, []), searches[search.conversation], search))
        other = _another(others, search.conversation, number)
        uses += list(_judge_records(search, reply, other)) if reply else []
    return uses


def _between(answers: Sequence[tuple[float, str]], searches: Sequence[float], search: MemoryOperation) -> list[str]:
    """Return what was answered from a search to the next later one; where that is nothing, the next answer: several
    searches may serve one.
    """
    at = search.at.timestamp()
    first = bisect_left(answers, (at, ""))
    after = bisect_right(searches, at)
    last = bisect_left(answers, (searches[after], "")) if after < len(searches) else len(answers)
    return [words for _, words in answers[first : max(last, first + 1)]]


def _another(others: Sequence[tuple[str, str]], conversation: str, number: int) -> str | None:
    """Return an answer of another conversation, another for each search."""
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
    """Return what the scores of a memory are worth, by what was used later."""
    uses = uses_of(memory)
    recalled = sum(len(search.records) for search in memory.searches())
    apart = [use.elsewhere >= USED for use in uses if use.elsewhere is not None]
    scored = [(use, use.record.score) for use in uses if use.record.score is not None]
    values = [score for _, score in scored]
    low, high = min(values, default=0.0), max(values, default=1.0)
    scaled = low < 0.0 or high > 1.0
    outcomes = []
    for use, score in reversed(scored):  # the latest first
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
    """Return the chance that a score of `ups` is above one of `downs`, ties by halves; None where one side is empty."""
    if not ups or not downs:
        return None
    ordered = sorted(downs)
    places = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in ups)
    return places / (2 * len(ups) * len(downs))
