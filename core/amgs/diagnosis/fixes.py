"""Propose changes that could bring a missed fact in, by its cause; try a change in a copy of the memory; apply it. A
new cause needs a case in `propose_fixes`; every change is journalled, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext, Retrieval
from amgs.api.conversation import Conversations
from amgs.api.frames import Frames
from amgs.api.ingest import Intake
from amgs.api.lifecycle import Lifecycle
from amgs.calibration import tuning as planning
from amgs.calibration.results import CalibrationPlan
from amgs.conversation.citing import numbers
from amgs.diagnosis import asked, causes, facts
from amgs.diagnosis.cases import check, compare
from amgs.diagnosis.causes import FactFate, question_part
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.lifecycle import annotate, consolidate
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.log import journal, undo
from amgs.retrieval.search_log import SearchLog
from amgs.storage.opening import copy_in_memory
from amgs.types import COMPONENTS, Block, Candidate, Edge, Frame, JournalEntry, Progress, SearchResult
from amgs.types.diagnosis import (
    CaseComparison,
    CaseOutcome,
    DiagnosedRequest,
    FixApplied,
    FixTrial,
    MovedAnswer,
    ProposedFix,
    QuestionCase,
)

ALSO_CALLED = "also_called"
"""Relation from an added block to the block that it is about."""
RESTORED = "restore"


def propose_fixes(
    context: MemoryContext, request: DiagnosedRequest, finding: FactFate, fact: str, block: Block | None, handle: str
) -> tuple[ProposedFix, ...]:
    """Return the fixes for a cause, the smallest change first.

    fact: what was missed. block: that states it. handle: of the message that states it, such as #12.
    """
    called = ProposedFix(
        "also called",
        "Add a block with the words of the question and the fact"
        + ("." if block is None else ", and an edge to the block that holds it."),
        text=f"{request.query}\n\n{fact}",
        block="" if block is None else block.id,
    )
    match finding.cause:
        case "not stored":
            return (ProposedFix("add", f"Take the fact in: “{fact}”.", text=fact), called)
        case "not consolidated" if block is not None:
            return (ProposedFix("consolidate", "Consolidate its block.", block=block.id), called)
        case "set aside" if block is not None:
            return (ProposedFix("reinstate", f"Bring the {block.status} block back.", block=block.id), called)
        case "superseded" if block is not None:
            proposal = "Let the block hold again, beside the newer one."
            return (ProposedFix("restore", proposal, block=block.id), called)
        case "not found":
            return (called,)
        case "out-voted":
            return (*_frame_fixes(context, request, finding), *_places_fixes(request, finding), called)
        case "over budget":
            return (*_budget_fixes(context, request, finding), called)
        case "left out of the conversation":
            proposal = f"Always keep {handle} of {request.conversation} whole."
            return (ProposedFix("keep", proposal, conversation=request.conversation, handle=handle),)
        case "collapsed" if block is not None:
            proposal = "Pin the block in the working context, so that it stays as tokens."
            return (ProposedFix("expand", proposal, block=block.id),)
        case _:
            return ()


def _budget_fixes(context: MemoryContext, request: DiagnosedRequest, finding: FactFate) -> tuple[ProposedFix, ...]:
    """Return a fix that raises the budget: of the frame, or of the request where it asked for less than the frame."""
    if finding.needed is None:
        return ()
    own = registry.find(request.frame, context.definitions())
    budget = own.budget if request.budget is None else request.budget
    more = finding.needed - budget
    if budget < own.budget:  # the request asked for less than the frame has
        proposal = f"Ask with {finding.needed:,} tokens, {more:,} more than before."
        return (ProposedFix("budget", proposal, applies=False, budget=finding.needed),)
    proposal = f"Raise the budget of {own.name} by {more:,} tokens, to {finding.needed:,}."
    return (ProposedFix("frame", proposal, definition=replace(own, budget=finding.needed)),)


def _frame_fixes(context: MemoryContext, request: DiagnosedRequest, finding: FactFate) -> tuple[ProposedFix, ...]:
    """Return changed definitions of the part that uses the query: a lower similarity minimum, more blocks or other
    weights.
    """
    if not request.frame or finding.explanation is None:
        return ()
    part, explanation = question_part(context, request.frame), finding.explanation
    candidate, rule, fixes = explanation.candidate, part.rule, []
    if candidate is not None and candidate.fate == "below_threshold" and rule.similarity_share:
        best = _best_match(candidate.because, rule.similarity_share)
        if best:
            share = max(0.0, round(candidate.parts.similarity / best - 0.01, 2))
            changed = replace(part, rule=replace(rule, similarity_share=share))
            least = f"{share:.0%} as well as the best, not {rule.similarity_share:.0%}"
            words = f"Let {part.name} take what matches {least}."
            fixes.append(ProposedFix("frame", words, definition=changed))
    if candidate is not None and candidate.fate == "not_in_top_k" and rule.top_k:
        changed = replace(part, rule=replace(rule, top_k=explanation.rank))
        fixes.append(ProposedFix("frame", f"Let {part.name} take {explanation.rank} blocks.", definition=changed))
    if explanation.change is not None and request.weights is None:
        values = ",".join(f"{getattr(explanation.change.weights, name):.3f}" for name in COMPONENTS)
        words = f"Score {part.name} with the weights {values} (moved by {explanation.change.distance:.3f})."
        fixes.append(ProposedFix("frame", words, definition=part.weighed(explanation.change.weights)))
    return tuple(fixes)


def _best_match(because: str, share: float) -> float:
    """Return the best match's similarity, read from a reason such as `similarity 0.34 under 0.46, 50% of the best`;
    0 where it is another reason.
    """
    try:
        return float(because.partition(" under ")[2].partition(",")[0]) / share
    except ValueError:
        return 0.0


def _places_fixes(request: DiagnosedRequest, finding: FactFate) -> tuple[ProposedFix, ...]:
    if request.frame or finding.needed is None:
        return ()
    proposal = f"Ask for {finding.needed} hits instead of {request.places}."
    return (ProposedFix("places", proposal, applies=False, places=finding.needed),)


# --- carrying out -----------------------------------------------------------------------------------------


def apply_fix(context: MemoryContext, fix: ProposedFix) -> FixApplied:
    """Apply a fix, wholly or not at all. Raises UsageError for a fix that does not change the memory."""
    if not fix.applies or fix.kind == "expand":
        raise UsageError("This fix changes nothing in the memory.", title="Nothing to apply", way_out=fix.told)
    storage = context.storage
    if fix.definition is not None:
        before = registry.find(fix.definition.name, context.definitions())
        Frames(context).define(fix.definition)
        return FixApplied(fix, f"{fix.definition.name} was changed.", before=before)
    with storage.transaction():
        if fix.kind in ("add", "also called"):
            return _add_block(context, fix)
        if fix.kind == "consolidate":
            done = _consolidate_blocks(context, [fix.block])
            return FixApplied(fix, "The block was consolidated.", (done,))
        if fix.kind == "reinstate":
            annotate.edit(storage, fix.block, context.clock.now(), status="consolidated")
            return FixApplied(fix, "The block is back.", storage.journal.latest(1))
        if fix.kind == "restore":
            return FixApplied(fix, "The block holds again.", (_restore_block(context, fix.block),))
        keeping = Conversations(context).keep(fix.conversation, fix.handle)
        done_by = storage.journal.latest(1) if keeping.operation is not None else ()
        return FixApplied(fix, f"{fix.handle} is always included.", done_by)


def _add_block(context: MemoryContext, fix: ProposedFix) -> FixApplied:
    """Ingest and consolidate the fix's text, with edges to the block that it is about."""
    storage = context.storage
    report = Intake(context).ingest_text(fix.text, meta={"source": f"diagnosis: {fix.kind}"})
    done: list[JournalEntry] = [] if report.operation is None else list(storage.journal.latest(1))
    ids = (*report.added, *report.known)
    waiting = [i for i, block in storage.blocks.get(ids).items() if block.status == "raw"]
    if waiting:
        done.insert(0, _consolidate_blocks(context, waiting))
    about = storage.blocks.get([fix.block]).get(fix.block) if fix.block else None
    if about is not None and about.status == "consolidated":
        for block_id in ids:
            if block_id != about.id:
                annotate.add_edge(storage, block_id, about.id, context.clock.now(), kind=ALSO_CALLED)
                done.insert(0, storage.journal.latest(1)[0])
    return FixApplied(fix, f"{len(ids)} block{'s were' if len(ids) > 1 else ' was'} added.", tuple(done))


def _consolidate_blocks(context: MemoryContext, ids: Sequence[str]) -> JournalEntry:
    """Consolidate only these raw blocks."""
    storage, lifecycle = context.storage, Lifecycle(context)
    numbers = sorted(storage.blocks.numbers_of(ids).values())
    plan = consolidate.plan(
        storage.blocks.by_number(numbers),
        consolidate.link_context(storage),
        lifecycle.means(),
        now=context.clock.now(),
        change_counter=storage.change_counter,
    )
    return lifecycle.apply_draft(PlanDraft(plan))


def _restore_block(context: MemoryContext, block_id: str) -> JournalEntry:
    """Make a superseded block valid again, and delete the edges that say it was superseded."""
    before = context.storage.blocks.get([block_id])[block_id]
    after = replace(annotate.lift_supersession(before), status="consolidated")
    gone: list[tuple[Edge | None, Edge | None]] = [
        (edge, None)
        for edge in context.storage.edges.touching([block_id])
        if edge.relation_type == "supersedes" and edge.target_id == block_id
    ]
    summary = f"{before.title} holds again"
    change = Change(((before, after),), edges=tuple(gone))
    return carry_out(context.storage, RESTORED, change, summary, context.clock.now())


_LOGGED = 500
"""Logged requests among which other questions are sought."""

Answer = dict[str, str]
"""What a request returns: titles by block id, the best first."""


class Trials:
    """A copy of a memory in which fixes are tried, in turn.

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
        done = apply_fix(self.copy, fix)
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
            conversation = causes.read_sent_conversation(self.copy, replace(request, kind="conversation"))
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
    messages of a conversation that stay whole.
    """
    if request.conversation:
        conversation = causes.read_sent_conversation(context, replace(request, kind="conversation"))
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
