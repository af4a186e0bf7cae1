"""Edges made and corrected by hand: `edge add`, `remove`; several at a time as a draft: `edit`, `apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.results.memory import EdgeAdded, EdgeConfirmed, EdgesApplied

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.edge_draft import EdgeDraft
    from amgs_app.engine import Engine
    from amgs_app.session.operator import Operator

_From = Annotated[str, Arg(metavar="FROM", help="The block that the edge leaves."), Takes("block")]
_To = Annotated[
    str | None, Arg(metavar="TO", help="The block that it leads to; default: the selected one."), Takes("block")
]
_Kind = Annotated[str, Option("--kind", metavar="TYPE", help="The type of the edge: related, links_to, depends_on, …")]


@operation(
    "edge add",
    summary="Add an edge between two blocks by hand.",
    synonyms=("link", "connect", "confirm"),
    example="edge add @1 @2 --kind supports --weight 0.8",
    writes=True,
)
def add(
    engine: Engine,
    start: _From,
    goal: _To = None,
    *,
    kind: _Kind = "related",
    weight: Annotated[float, Option("--weight", metavar="X", min=0, max=1, help="Strength, 0 to 1.")] = 0.8,
    confidence: Annotated[
        float, Option("--confidence", metavar="X", min=0, max=1, help="How sure it is, 0 to 1.")
    ] = 1.0,
    confirm: Annotated[bool, Option("--confirm", help="Confirm an edge that is there, and leave its weight.")] = False,
) -> EdgeAdded | EdgeConfirmed:
    """Add an edge, or change the weight and the confidence of one that is there; `undo` takes it back.

    With --confirm the confidence of an edge that is there becomes 1, and its decay begins anew.
    """
    ends = engine.block(start), engine.block(goal)
    if confirm:
        edge = engine.memory.graph.confirm_edge(ends[0].id, ends[1].id, kind=kind)
        return EdgeConfirmed(edge, ends[0].title, ends[1].title)
    edge = engine.memory.add_edge(ends[0].id, ends[1].id, kind=kind, weight=weight, confidence=confidence)
    return EdgeAdded(edge, ends[0].title, ends[1].title)


@operation(
    "edge remove",
    summary="Remove the edges from one block to another.",
    synonyms=("unlink", "disconnect"),
    example="edge remove @1 @2",
    writes=True,
)
def remove(
    engine: Engine,
    start: _From,
    goal: _To = None,
    *,
    kind: Annotated[str | None, Option("--kind", metavar="TYPE", help="Only edges of this type.")] = None,
) -> JournalEntry:
    """Remove edges, those that the program made too; `undo` brings them back."""
    return engine.memory.remove_edge(engine.block(start).id, engine.block(goal).id, kind=kind)


# --- several at a time ------------------------------------------------------------------------------------


@operation(
    "edge edit", summary="Draft the correction of an edge.", example="edge edit @1 @2 --weight 0.4", pane="graph"
)
def edit(
    operator: Operator,
    start: _From,
    goal: _To = None,
    *,
    kind: _Kind = "related",
    weight: Annotated[float | None, Option("--weight", metavar="X", min=0, max=1, help="Strength, 0 to 1.")] = None,
    confidence: Annotated[
        float | None, Option("--confidence", metavar="X", min=0, max=1, help="How sure it is, 0 to 1.")
    ] = None,
    confirm: Annotated[
        bool, Option("--confirm", help="Confirm the edge: set its confidence to 1 and restart its decay.")
    ] = False,
    cut: Annotated[bool, Option("--cut", help="Remove the edge.")] = False,
    reset: Annotated[bool, Option("--reset", help="Leave the edge as it is.")] = False,
) -> EdgeDraft:
    """Draft what becomes of one edge; an edge that is not there is to be added. Nothing is written until `edge apply`.

    The session keeps one draft of edges, to which each `edge edit` adds; `edge apply --discard` drops it.
    """
    ends = operator.engine.block(start), operator.engine.block(goal)
    operator.edge_draft = operator.engine.memory.graph.edit_edge(
        operator.edge_draft,
        ends[0].id,
        ends[1].id,
        kind=kind,
        weight=weight,
        confidence=confidence,
        confirm=confirm,
        cut=cut,
        reset=reset,
    )
    return operator.edge_draft


@operation(
    "edge apply",
    summary="Apply the drafted corrections of edges, or discard them.",
    example="edge apply",
    pane="graph",
    writes=True,
)
def apply(
    operator: Operator,
    *,
    discard: Annotated[bool, Option("--discard", help="Drop the draft; nothing is written.")] = False,
) -> EdgesApplied | EdgeDraft:
    """Apply the draft in one transaction that one `undo` reverts; refused where an edge has changed since."""
    if discard:
        from amgs.types.edge_draft import EdgeDraft

        operator.edge_draft = None
        return EdgeDraft((), operator.engine.clock.now())
    draft = operator.edge_draft
    if draft is None or not draft.edits:
        raise UsageError(
            "No correction of an edge is drafted.",
            way_out="`edge edit` drafts one. Drafts live in a script, the shell or the workstation.",
        )
    done = operator.engine.memory.graph.apply_edges(draft)
    operator.edge_draft = None
    return EdgesApplied(draft, done)
