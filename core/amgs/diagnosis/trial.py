"""A fix tried in a copy of the memory: whether the fact is in then, which other answers move, and what becomes of cases
of questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.calibration import plan as planning
from amgs.calibration.results import CalibrationPlan
from amgs.conversation.citing import numbers
from amgs.diagnosis import asked, causes, conversation_causes, facts, fixes
from amgs.diagnosis.cases import check, compare
from amgs.log import journal, undo
from amgs.retrieval.search_log import SearchLog
from amgs.storage.opening import copy_in_memory
from amgs.types import Block, Candidate, Frame, Progress, SearchResult
from amgs.types.diagnosis import DiagnosedRequest, FixApplied, FixTrial, MovedAnswer, ProposedFix
from amgs.types.question_case import CaseComparison, CaseOutcome, QuestionCase

_LOGGED = 500
"""So many logged requests are looked through for different questions."""

Answer = dict[str, str]
"""Titles by id of what a request gives, the best first."""


class Trials:
    """A copy of a memory, and what others ask of it. What they get before anything is changed is asked once, and only
    where a fix brings the fact in.
    """

    def __init__(
        self,
        copy: MemoryContext,
        request: DiagnosedRequest,
        fact: str,
        block: Block | None,
        others: tuple[DiagnosedRequest, ...],
    ) -> None:
        self.copy, self.request, self.fact, self.block = copy, request, fact, block
        self.others = others
        self._before: tuple[Answer, ...] | None = None

    def of(self, fix: ProposedFix, progress: Progress | None = None) -> FixTrial:
        """Return what a fix comes to; the copy is as before after it. Where it does not work, no other question is
        asked.
        """
        if not fix.applies:
            wanted = replace(
                self.request, budget=fix.budget or self.request.budget, places=fix.places or self.request.places
            )
            return FixTrial(fix, self._works(wanted, fix, ()), 0, ())
        if fix.kind == "expand":
            return FixTrial(fix, True, 0, ())
        done = fixes.apply(self.copy, fix)
        try:
            added = _list_added_blocks(self.copy, done)
            works = self._works(self.request, fix, added)
            after = self._answers(progress) if works else ()
        finally:
            for entry in done.operations:
                undo.undo(self.copy.storage, entry.id)
            if done.before is not None:
                with self.copy.storage.transaction():
                    self.copy.storage.frames.put([done.before])
        if not works:
            return FixTrial(fix, False, 0, ())
        if self._before is None:
            self._before = self._answers(progress)
        changes = map(_compare_answers, self.others, self._before, after)
        return FixTrial(fix, True, len(self.others), tuple(change for change in changes if change is not None))

    def _answers(self, progress: Progress | None) -> tuple[Answer, ...]:
        """Return what the others get of the copy as it is."""
        answers = []
        for number, request in enumerate(self.others):
            if progress is not None:
                progress(number, len(self.others), "asking other questions")
            answers.append(answer(self.copy, request))
        return tuple(answers)

    def _works(self, request: DiagnosedRequest, fix: ProposedFix, added: Sequence[str]) -> bool:
        """Return whether what is given says the fact, by its block, by its message or by what was added."""
        wanted = {*added, *(() if self.block is None else (self.block.id,))}
        if request.conversation and self.request.kind in ("gateway call", "conversation"):
            conversation = conversation_causes.sent(self.copy, replace(request, kind="conversation"))
            first, last = numbers(fix.handle) if fix.handle else (0, 0)
            return any(
                first <= message.numbers[0] <= last if message.fate == "kept" else facts.says(message.text, self.fact)
                for message in conversation.messages
            )
        if not request.frame:
            hits = Retrieval(self.copy).search(request.query, top_k=request.places, weights=request.weights).hits
            return any(hit.block.id in wanted for hit in hits)
        whole = self.fact if self.block is None else facts.said(self.block)
        return any(
            c.block.id in wanted and not facts.says_less(c.excerpt, whole, self.fact)
            for c in causes.look(self.copy, request).selected
        )


@contextmanager
def trials(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    block: Block | None,
    questions: int,
    progress: Progress | None = None,
) -> Iterator[Trials]:
    """Yield a copy of the memory to try fixes in, gone at the end. questions: how many other logged ones are asked."""
    with copy_context(context, progress) as copy:
        yield Trials(copy, request, fact, block, _others(context, request, questions))


@contextmanager
def copy_context(context: MemoryContext, progress: Progress | None = None) -> Iterator[MemoryContext]:
    """Yield a copy of the memory, in memory, gone at the end."""
    if progress is not None:
        progress(0, 0, "copying the memory")
    storage = copy_in_memory(context.storage)
    derived = context.derived.over(storage, context.clock)
    try:
        yield replace(context, storage=storage, derived=derived, searches=SearchLog(storage))
    finally:
        derived.close()
        storage.close()


def answer(context: MemoryContext, request: DiagnosedRequest) -> Answer:
    """Return what a request gives: its hits; of a frame what the question brought, of a conversation the kept
    messages.
    """
    if request.conversation:
        conversation = conversation_causes.sent(context, replace(request, kind="conversation"))
        return {str(m.numbers[0]): f"#{m.numbers[0]}" for m in conversation.messages if m.fate == "kept"}
    if not request.frame:
        hits = Retrieval(context).search(request.query, top_k=request.places, weights=request.weights).hits
        return {hit.block.id: hit.block.title for hit in hits}
    return {c.block.id: c.block.title for c in _by_question(causes.look(context, request))}


def _by_question(frame: Frame) -> list[Candidate]:
    """Return what the question brought into a frame; what is there for its date or for the self moves with every
    change.
    """
    parts = {part.name for part in frame.parts if part.asks}
    chosen = [c for c in frame.selected if c.child in parts]
    return chosen or list(frame.selected)


def _others(context: MemoryContext, request: DiagnosedRequest, questions: int) -> tuple[DiagnosedRequest, ...]:
    """Return the latest logged requests with other questions, each once."""
    if request.conversation:
        logged = asked.calls_of(context, request.conversation, _LOGGED)
    else:
        logged = asked.logged(context, _LOGGED)
    requests: dict[tuple[str, str], DiagnosedRequest] = {}
    for logged_request in logged:
        key = (logged_request.frame, asked.plain(logged_request.query))
        if key[1] != asked.plain(request.query):
            requests.setdefault(key, logged_request)
    return tuple(requests.values())[:questions]


def _list_added_blocks(copy: MemoryContext, done: FixApplied) -> tuple[str, ...]:
    """Return ids of the blocks that a fix added."""
    if done.fix.kind not in ("add", "also called"):
        return ()
    block_groups = [journal.detail(copy.storage, entry.id, 100).blocks for entry in done.operations]
    return tuple(dict.fromkeys(block.id for blocks in block_groups for block in blocks))


def _compare_answers(request: DiagnosedRequest, before: Answer, after: Answer) -> MovedAnswer | None:
    lost = tuple(title for i, title in before.items() if i not in after)
    came = tuple(title for i, title in after.items() if i not in before)
    first = next(iter(before), "") != next(iter(after), "")
    if not lost and not first:
        return None
    return MovedAnswer(request.query, request.frame, lost, came, first)


@dataclass(frozen=True, slots=True)
class CopyAnswering:
    """A copy of a memory, asked as the memory itself would be; leaves no trace."""

    copy: MemoryContext

    def search(self, query: str, *, top_k: int = 10, as_of: datetime | None = None) -> SearchResult:
        """Return the best hits of the copy for a query."""
        return Retrieval(self.copy).search(query, top_k=top_k, as_of=as_of)

    def assemble(self, name: str, *, query: str = "", reinforce: bool = True, as_of: datetime | None = None) -> Frame:
        """Return a frame of the copy."""
        return Assembler(self.copy).assemble(name, query=query, reinforce=reinforce, as_of=as_of)


def calibrated(
    context: MemoryContext, plan: CalibrationPlan, cases: Sequence[QuestionCase], progress: Progress | None = None
) -> CaseComparison:
    """Return which cases would move if a recalibration were carried out; the memory itself stays as it is. Raises
    UsageError where the plan is out of date, UnknownFrameError where a case names a frame that is not there.
    """
    with copy_context(context, progress) as copy:
        before = _asked(copy, cases, 0, progress)
        planning.apply(copy.storage, plan, context.clock.now())
        return compare(before, _asked(copy, cases, len(cases), progress))


def _asked(
    copy: MemoryContext, cases: Sequence[QuestionCase], done: int, progress: Progress | None
) -> list[CaseOutcome]:
    outcomes = []
    for number, case in enumerate(cases, done):
        if progress is not None:
            progress(number, 2 * len(cases), "asking")
        outcomes.append(check(case, CopyAnswering(copy)))
    return outcomes
