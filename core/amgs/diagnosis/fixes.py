"""Propose changes that could bring a missed fact in, by its cause, and apply one.

`trial` applies them in a copy; the API applies the chosen one to the memory. A new cause needs a case in
`propose_fixes`; every change is journalled, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amgs.api.context import MemoryContext
from amgs.api.conversation import Conversations
from amgs.api.frames import Frames
from amgs.api.ingest import Intake
from amgs.api.lifecycle import Lifecycle
from amgs.diagnosis.causes import FactFate, question_part
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.lifecycle import annotate, consolidate
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.types import COMPONENTS, Block, Edge, JournalEntry
from amgs.types.diagnosis import DiagnosedRequest, FixApplied, ProposedFix

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
        proposal = f"Ask with {finding.needed:,} tokens, {more:,} more than were given."
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
    """Apply a fix, wholly or not at all. Raises UsageError for one that does not change the memory."""
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
        return FixApplied(fix, f"{fix.handle} is always kept.", done_by)


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
