"""Cases of questions asked before and after a change that has not been made yet, in a copy of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.calibration import plan as planning
from amgs.calibration.results import CalibrationPlan
from amgs.diagnosis.case_changes import compare
from amgs.diagnosis.cases import check
from amgs.diagnosis.trial import copied
from amgs.types import Frame, Progress, SearchResult
from amgs.types.question_case import CaseComparison, CaseOutcome, QuestionCase


@dataclass(frozen=True, slots=True)
class CopyAnswering:
    """A copy of a memory, asked as the memory itself would be; leaves no trace."""

    copy: MemoryContext

    def search(self, query: str, *, top_k: int = 10, as_of: datetime | None = None) -> SearchResult:
        """The best hits of the copy for a query."""
        return Retrieval(self.copy).search(query, top_k=top_k, as_of=as_of)

    def assemble(
        self, name: str, *, query: str = "", reinforce: bool = True, as_of: datetime | None = None
    ) -> Frame:
        """A frame of the copy."""
        return Assembler(self.copy).assemble(name, query=query, reinforce=reinforce, as_of=as_of)


def calibrated(
    context: MemoryContext,
    plan: CalibrationPlan,
    cases: Sequence[QuestionCase],
    progress: Progress | None = None,
) -> CaseComparison:
    """Which cases would move if a recalibration were carried out; the memory itself stays as it is. Raises UsageError
    where the plan is out of date, UnknownFrameError where a case names a frame that is not there.
    """
    with copied(context, progress) as copy:
        before = _asked(copy, cases, 0, progress)
        planning.apply(copy.storage, plan, context.clock.now())
        return compare(before, _asked(copy, cases, len(cases), progress))


def _asked(
    copy: MemoryContext, cases: Sequence[QuestionCase], done: int, progress: Progress | None
) -> list[CaseOutcome]:
    found = []
    for number, case in enumerate(cases, done):
        if progress is not None:
            progress(number, 2 * len(cases), "asking")
        found.append(check(case, CopyAnswering(copy)))
    return found
