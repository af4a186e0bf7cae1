"""A question with what its answer must rest on: what a file of questions holds, and a test of a memory asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """One question and what must hold of what the memory gives for it.

    must_contain, must_not_contain: texts, found whatever their case and punctuation. rank: the best block that contains
    all of must_contain is among so many; None does not ask. answerable: whether the memory should hold an answer; None
    does not ask. as_of: asked of what held then. frame: by which it is asked; "" for a search.
    """

    question: str
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    rank: int | None = None
    answerable: bool | None = None
    as_of: datetime | None = None
    frame: str = ""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of a case. faults: what does not hold of the answer, in words; none where all does.

    rank: the best block that contains all of must_contain, from 1; None where none does, or nothing is wanted.
    """

    case: QuestionCase
    faults: tuple[str, ...] = ()
    rank: int | None = None
