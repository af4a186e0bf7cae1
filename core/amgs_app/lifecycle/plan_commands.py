"""A consolidation in three steps, with corrections in between: `consolidate plan|edit|apply`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.arguments import CategoryName, Reference
from amgs_app.calls.marks import Option
from amgs_app.calls.operation import operation
from amgs_app.results.memory import Consolidated

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.types import Progress
    from amgs_app.session.operator import Operator

_EDGE = "its number in the plan, or the start of the other block's id; repeat for several."


@operation(
    "consolidate plan",
    summary="Draft a consolidation to correct before applying it.",
    example="consolidate plan --limit 20",
    pane="inbox",
    long=True,
    lists=lambda draft: [item.block.id for item in draft.proposed.items],
)
def plan(
    operator: Operator,
    *,
    limit: Annotated[
        int | None, Option("--limit", metavar="N", min=1, help="At most N blocks, oldest arrivals first.")
    ] = None,
    anew: Annotated[bool, Option("--anew", help="Discard the corrections made so far.")] = False,
    progress: Progress | None = None,
) -> PlanDraft:
    """Draft what consolidation would make of the inbox: category, entities, edges, decay. Nothing is written.

    `consolidate edit` corrects it, `consolidate apply` applies it. The session keeps one draft: while the same blocks
    wait it stays as it is, and corrections carry over to a new draft where they still fit.
    """
    before = None if anew else operator.draft
    operator.draft = operator.engine.memory.lifecycle.draft_consolidation(limit=limit, before=before, progress=progress)
    return operator.draft


@operation(
    "consolidate edit",
    lane="turn",
    summary="Correct a block of the drafted consolidation.",
    example="consolidate edit @1 --category procedure --confidence 0.9",
    pane="inbox",
)
def edit(
    operator: Operator,
    block: Reference = None,
    *,
    category: CategoryName = None,
    new: Annotated[bool, Option("--new", help="Allow a category that no block has yet.")] = False,
    confidence: Annotated[float | None, Option("--confidence", metavar="X", help="Confidence, 0 to 1.")] = None,
    take: Annotated[
        Literal["yes", "no"] | None,
        Option("--take", metavar="yes|no", help="no leaves the block out; it stays in the inbox."),
    ] = None,
    drop: Annotated[list[str] | None, Option("--drop", metavar="EDGE", help=f"Drop this edge: {_EDGE}")] = None,
    keep: Annotated[list[str] | None, Option("--keep", metavar="EDGE", help="Keep an edge that was dropped.")] = None,
    sure: Annotated[
        list[str] | None, Option("--sure", metavar="EDGE=X", help="Give an edge this confidence; may be repeated.")
    ] = None,
    reset: Annotated[bool, Option("--reset", help="Discard the corrections to this block first.")] = False,
) -> PlanDraft:
    """Correct what the draft says about one block; nothing is written until `consolidate apply`.

    A category sets its own decay profile, and later plans learn from it. Repeating a proposed value is not a
    correction.
    """
    from amgs.lifecycle import plan_editing

    draft, chosen = _draft(operator), operator.engine.block(block).id
    if reset:
        draft = plan_editing.reset(draft, chosen)
    draft = operator.engine.memory.lifecycle.edit_draft(
        draft,
        chosen,
        category=category,
        new=new,
        confidence=confidence,
        left_out=None if take is None else take == "no",
        drop=drop or (),
        keep=keep or (),
        sure=dict(_pair(one) for one in sure or ()),
    )
    operator.draft = draft
    return draft


@operation(
    "consolidate apply",
    summary="Apply the drafted consolidation.",
    example="consolidate apply",
    pane="inbox",
    writes=True,
)
def apply(operator: Operator) -> Consolidated:
    """Apply the draft with its corrections, in one transaction that one `undo` reverts.

    Blocks left out stay in the inbox. Refused when one of its blocks is no longer raw.
    """
    draft = _draft(operator)
    if not draft.plan.items:
        raise UsageError(
            "The draft holds no block.",
            title="Nothing to apply",
            way_out="Take one back into it with `consolidate edit ID --take yes`, or draft anew when something waits.",
        )
    done = operator.engine.memory.lifecycle.apply_draft(draft)
    operator.draft = None
    return Consolidated(draft.plan, (done,), Counter(item.category for item in draft.plan.items))


def _draft(operator: Operator) -> PlanDraft:
    if operator.draft is None:
        raise UsageError(
            "No consolidation is drafted.",
            way_out="`consolidate plan` drafts one. Drafts live in a script, the shell or the workstation.",
        )
    return operator.draft


def _pair(text: str) -> tuple[str, float]:
    edge, _, value = text.partition("=")
    try:
        return edge, float(value)
    except ValueError:
        raise UsageError(f"{text!r} is not EDGE=X.", way_out="For example --sure 2=.9.") from None
