"""Correct a consolidation before it is applied: `consolidate plan` and `consolidate edit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.arguments import CategoryName, Reference
from amgs_app.calls.marks import Option
from amgs_app.calls.operation import operation
from amgs_app.lifecycle.commands import require_draft

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

    `consolidate edit` corrects it, `consolidate --draft` applies it. The session keeps one draft: while the same blocks
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
    """Correct what the draft says about one block; nothing is written until `consolidate --draft`.

    A category sets its own decay profile, and later plans learn from it. Repeating a proposed value is not a
    correction.
    """
    from amgs.lifecycle import plan_editing

    draft, chosen = require_draft(operator), operator.engine.block(block).id
    if reset:
        draft = plan_editing.reset_block(draft, chosen)
    draft = operator.engine.memory.lifecycle.edit_draft(
        draft,
        chosen,
        category=category,
        new=new,
        confidence=confidence,
        left_out=None if take is None else take == "no",
        drop=drop or (),
        keep=keep or (),
        sure=dict(_pair(text) for text in sure or ()),
    )
    operator.draft = draft
    return draft


def _pair(text: str) -> tuple[str, float]:
    """Parse EDGE=X; raises UsageError."""
    edge, _, value = text.partition("=")
    try:
        return edge, float(value)
    except ValueError:
        raise UsageError(f"{text!r} is not EDGE=X.", way_out="For example --sure 2=.9.") from None
