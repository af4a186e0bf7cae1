"""A question with what its answer must rest on: what a file of questions holds, and a test of a memory asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """One question and what must hold of what the memory gives for it.

    must_contain, must_not_contain: texts, found whatever their case and punctuation. rank: the best block that contains
    all of must_contain is among so many; None does not ask. answerable: whether the memory should hold an answer; None
    does not ask. as_of: asked of what held then. frame: by which it is asked; "" for a search. session: a file of an
    agent's session, of whose window at its end it is asked instead of the memory; "" for none.
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
    """A block that was given for a case, the first at rank 1. layers: that found it. parts: the raw scores of the
    layers and the components of its score, each in [0, 1]. wanted: whether it contains one of the wanted texts.
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
    """Outcome of a case. faults: what does not hold of the answer, in words; none where all does.

    rank: the best block that contains all of must_contain, from 1; None where none does, or nothing is wanted. hits:
    the blocks that were given, the best first.
    """

    case: QuestionCase
    faults: tuple[str, ...] = ()
    rank: int | None = None
    hits: tuple[CaseHit, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case whose outcome is another than before. because: what changed for the block that holds the wanted text, and
    which blocks came before it, in words.
    """

    before: CaseOutcome
    after: CaseOutcome
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseComparison:
    """The cases of a file beside an earlier run of them. same: how many hold or fail as before, at the same rank.
    moved: the others. added, gone: questions that only this run, or only the earlier one, asked.
    """

    same: int
    moved: tuple[CaseChange, ...]
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[CaseChange, ...]:
        """Cases that held before and fail now."""
        return tuple(change for change in self.moved if change.after.faults and not change.before.faults)
