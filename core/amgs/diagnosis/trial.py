"""Try a fix in a copy of the memory: whether it brings the fact in, and which answers to other questions change.

The memory itself is never touched; the copy is in memory and is closed at the end.
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
"""Logged requests among which other questions are sought."""

Answer = dict[str, str]
"""What a request returns: titles by block id, the best first."""


class Trials:
    """A copy of a memory in which fixes are tried, one after the other.

    The answers to the other questions before any change are computed only when a fix works, and only once.
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

    def run_fix(self, fix: ProposedFix, progress: Progress | None = None) -> FixTrial:
        """Apply a fix to the copy, see whether it works and which other answers change, and undo it.

        Where it does not work, the other questions are not asked.
        """
        if not fix.applies:
            wanted = replace(
                self.request, budget=fix.budget or self.request.budget, places=fix.places or self.request.places
            )
            return FixTrial(fix, self._works(wanted, fix, ()), 0, ())
        if fix.kind == "expand":
            return FixTrial(fix, True, 0, ())
        done = fixes.apply_fix(self.copy, fix)
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
        """Return the answers to the other questions from the copy as it is now."""
        answers = []
        for number, request in enumerate(self.others):
            if progress is not None:
                progress(number, len(self.others), "asking other questions")
            answers.append(answer_request(self.copy, request))
        return tuple(answers)

    def _works(self, request: DiagnosedRequest, fix: ProposedFix, added: Sequence[str]) -> bool:
        """Return whether the request's result now states the fact: by its block, its message or an added block."""
        wanted = {*added, *(() if self.block is None else (self.block.id,))}
        if request.conversation and self.request.kind in ("gateway call", "conversation"):
            conversation = conversation_causes.sent_conversation(self.copy, replace(request, kind="conversation"))
            first, last = numbers(fix.handle) if fix.handle else (0, 0)
            return any(
                first <= message.numbers[0] <= last if message.fate == "kept" else facts.states(message.text, self.fact)
                for message in conversation.messages
            )
        if not request.frame:
            hits = Retrieval(self.copy).search(request.query, top_k=request.places, weights=request.weights).hits
            return any(hit.block.id in wanted for hit in hits)
        whole = self.fact if self.block is None else facts.strip_speaker(self.block)
        return any(
            c.block.id in wanted and not facts.leaves_out(c.excerpt, whole, self.fact)
            for c in causes.assemble_again(self.copy, request).selected
        )


@contextmanager
def open_trials(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    block: Block | None,
    questions: int,
    progress: Progress | None = None,
) -> Iterator[Trials]:
    """Yield a copy of the memory in which fixes can be tried. questions: how many other logged questions to compare."""
    with copy_context(context, progress) as copy:
        yield Trials(copy, request, fact, block, _other_requests(context, request, questions))


@contextmanager
def copy_context(context: MemoryContext, progress: Progress | None = None) -> Iterator[MemoryContext]:
    """Yield a copy of the memory, held in RAM and closed at the end."""
    if progress is not None:
        progress(0, 0, "copying the memory")
    storage = copy_in_memory(context.storage)
    derived = context.derived.over(storage, context.clock)
    try:
        yield replace(context, storage=storage, derived=derived, searches=SearchLog(storage))
    finally:
        derived.close()
        storage.close()


def answer_request(context: MemoryContext, request: DiagnosedRequest) -> Answer:
    """Return what a request returns: a search's hits, the blocks that the question brought into a frame, or the
    messages of a conversation that are kept.
    """
    if request.conversation:
        conversation = conversation_causes.sent_conversation(context, replace(request, kind="conversation"))
        return {str(m.numbers[0]): f"#{m.numbers[0]}" for m in conversation.messages if m.fate == "kept"}
    if not request.frame:
        hits = Retrieval(context).search(request.query, top_k=request.places, weights=request.weights).hits
        return {hit.block.id: hit.block.title for hit in hits}
    return {c.block.id: c.block.title for c in _by_question(causes.assemble_again(context, request))}


def _by_question(frame: Frame) -> list[Candidate]:
    """Return the candidates selected by the parts that use the question; the others, such as the most recent blocks,
    change with every edit.
    """
    parts = {part.name for part in frame.parts if part.asks}
    chosen = [c for c in frame.selected if c.child in parts]
    return chosen or list(frame.selected)


def _other_requests(context: MemoryContext, request: DiagnosedRequest, questions: int) -> tuple[DiagnosedRequest, ...]:
    """Return the latest `questions` logged requests with other questions, without repeats."""
    if request.conversation:
        logged = asked.requests_of_conversation(context, request.conversation, _LOGGED)
    else:
        logged = asked.latest_requests(context, _LOGGED)
    requests: dict[tuple[str, str], DiagnosedRequest] = {}
    for logged_request in logged:
        key = (logged_request.frame, asked.normalise_question(logged_request.query))
        if key[1] != asked.normalise_question(request.query):
            requests.setdefault(key, logged_request)
    return tuple(requests.values())[:questions]


def _list_added_blocks(copy: MemoryContext, done: FixApplied) -> tuple[str, ...]:
    """Return the ids of the blocks that an applied fix added."""
    if done.fix.kind not in ("add", "also called"):
        return ()
    block_groups = [journal.detail(copy.storage, entry.id, 100).blocks for entry in done.operations]
    return tuple(dict.fromkeys(block.id for blocks in block_groups for block in blocks))


def _compare_answers(request: DiagnosedRequest, before: Answer, after: Answer) -> MovedAnswer | None:
    """Return how an answer changed; None where nothing was lost and the first block is the same."""
    lost = tuple(title for i, title in before.items() if i not in after)
    came = tuple(title for i, title in after.items() if i not in before)
    first = next(iter(before), "") != next(iter(after), "")
    if not lost and not first:
        return None
    return MovedAnswer(request.query, request.frame, lost, came, first)


@dataclass(frozen=True, slots=True)
class CopyAnswering:
    """Searches and frames of a copied memory, as the cases of a question file ask for them."""

    copy: MemoryContext

    def search(self, query: str, *, top_k: int = 10, as_of: datetime | None = None) -> SearchResult:
        """Return the best hits of the copy for a query."""
        return Retrieval(self.copy).search(query, top_k=top_k, as_of=as_of)

    def assemble(self, name: str, *, query: str = "", reinforce: bool = True, as_of: datetime | None = None) -> Frame:
        """Return a frame of the copy."""
        return Assembler(self.copy).assemble(name, query=query, reinforce=reinforce, as_of=as_of)


def compare_calibration(
    context: MemoryContext, plan: CalibrationPlan, cases: Sequence[QuestionCase], progress: Progress | None = None
) -> CaseComparison:
    """Return which cases would change if a recalibration were applied, tried in a copy. Raises UsageError where the
    plan is out of date, UnknownFrameError where a case names an unknown frame.
    """
    with copy_context(context, progress) as copy:
        before = _check_cases(copy, cases, 0, progress)
        planning.apply_plan(copy.storage, plan, context.clock.now())
        return compare(before, _check_cases(copy, cases, len(cases), progress))


def _check_cases(
    copy: MemoryContext, cases: Sequence[QuestionCase], done: int, progress: Progress | None
) -> list[CaseOutcome]:
    """Return the outcome of each case in the copy. done: how many were checked before, for the progress."""
    outcomes = []
    for number, case in enumerate(cases, done):
        if progress is not None:
            progress(number, 2 * len(cases), "asking")
        outcomes.append(check(case, CopyAnswering(copy)))
    return outcomes
