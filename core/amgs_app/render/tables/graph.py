"""The tables of ways and communities; importing it teaches them to `table_of`."""

from __future__ import annotations

from amgs.api.graph import Communities, GraphPath
from amgs_app.render.sheet import ResultTable, sheet
from amgs_app.render.tables.memory import table_of

__all__ = ["table_of"]


@table_of.register
def _(result: GraphPath) -> ResultTable:
    rows = []
    for before, live, after in zip(result.blocks, result.edges, result.blocks[1:], strict=False):
        arrow = "▸" if live.edge.source_id == before.id else "◂"
        rows.append((before.title, f"{live.edge.relation_type} {arrow}", after.title, live.strength))
    if result.start.id == result.goal.id:
        said = "Both ends are the same block."
    elif not rows:
        said = "No path connects them."
    else:
        said = f"Product of strengths: {result.strength:.3f}."
    steps = f"{len(rows)} step{'' if len(rows) == 1 else 's'}"
    title = f"{result.start.title} to {result.goal.title}: {steps}"
    return sheet(title, "from* by to* strength:score", rows, (said,))


@table_of.register
def _(result: Communities) -> ResultTable:
    rows = [
        (
            part.number,
            part.size,
            part.inside,
            ", ".join(f"{name} {count}" for name, count in part.categories),
            "; ".join(block.title for block in part.centre),
        )
        for part in result.found
    ]
    title = f"{result.total:,} communities, modularity {result.modularity:.2f}"
    notes = () if rows else ("There are no edges yet: `consolidate` makes them.",)
    return sheet(title, "#:n blocks:n inside:score categories* centre*", rows, notes)
