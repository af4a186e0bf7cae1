"""Add, correct and remove edges by hand: `edge set`, `edge remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs_app.engine import Engine

_From = Annotated[str, Arg(metavar="FROM", help="The block that the edge leaves."), Takes("block")]
_To = Annotated[
    str | None, Arg(metavar="TO", help="The block that it leads to; default: the selected one."), Takes("block")
]
_Kind = Annotated[str, Option("--kind", metavar="TYPE", help="The type of the edge: related, links_to, depends_on, …")]


@operation(
    "edge set",
    summary="Add an edge between two blocks, or correct one that is there.",
    synonyms=("add", "link", "connect", "confirm"),
    example="edge set @1 @2 --kind supports --weight 0.8",
    writes=True,
)
def set_edge(
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
) -> results.EdgeAdded | results.EdgeConfirmed:
    """Add an edge, or change the weight and the confidence of one that is there; `undo` takes it back.

    With --confirm the confidence of an edge that is there becomes 1, and its decay begins anew.
    """
    ends = engine.block(start), engine.block(goal)
    if confirm:
        edge = engine.memory.graph.confirm_edge(ends[0].id, ends[1].id, kind=kind)
        return results.EdgeConfirmed(edge, ends[0].title, ends[1].title)
    edge = engine.memory.add_edge(ends[0].id, ends[1].id, kind=kind, weight=weight, confidence=confidence)
    return results.EdgeAdded(edge, ends[0].title, ends[1].title)


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
