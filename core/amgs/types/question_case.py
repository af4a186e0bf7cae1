"""A question and what its answer must contain: an entry in a file of questions, asked by a test of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """A question and the requirements on its answer.

    must_contain, must_not_contain: texts, compared without case and punctuation. rank: the best block with all of
    must_contain has at most this rank; None: any. answerable: whether the memory should have an answer; None: any.
    as_of: ask for what held then. frame: to ask; "" for a search. session: file of an agent's session, whose last
    window is asked instead of the memory; "" for none.
    """

    question: str
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    rank: int | None = None
    answerable: bool | None = None
    as_of: datetime | None = None
    frame: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class CaseHit:
    """A block that was found for a case; rank from 1.

    layers: that found it. parts: raw scores of the layers and components of its score. wanted: whether it contains one
    of the required texts.
    """

    block: str
    title: str
    rank: int
    score: float
    layers: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Outcome of a case.

    faults: requirements that are not met, in words. rank: of the best block with all of must_contain, from 1; None if
    there is none or nothing is required. hits: blocks found, best first.
    """

    case: QuestionCase
    faults: tuple[str, ...] = ()
    rank: int | None = None
    hits: tuple[CaseHit, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case with a different outcome than before. because: what changed for the block with the required text, and
    which blocks came before it, in words.
    """

    before: CaseOutcome
    after: CaseOutcome
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseComparison:
    """The cases of a file compared with an earlier run.

    same: number with the same outcome and rank. moved: the others. added, gone: questions only in this run, or only in
    the earlier one.
    """

    same: int
    moved: tuple[CaseChange, ...]
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[CaseChange, ...]:
        """Cases that held before and fail now."""
        return tuple(change for change in self.moved if change.after.faults and not change.before.faults)
