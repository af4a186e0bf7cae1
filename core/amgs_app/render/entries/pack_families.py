"""How packs hang together, by families of relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs_app.render.catalogue import entry
from amgs_app.render.figures.format import plural
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types.pack_families import PackGraph
    from amgs_app.operator import Operator
    from amgs_app.render.figures.canvas import Canvas


_FAMILIES = ("semantic", "temporal", "causal", "entity")


def _drawn(operator: Operator, result: PackGraph, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_graph import graph

    del operator
    return graph(result, canvas)


@entry(figure=_drawn)
def pack_graph(result: PackGraph) -> ResultTable:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for one in result.links:
        counts.setdefault((one.a, one.b), {})[one.family] = one.count
    rows: list[tuple[Any, ...]] = [
        (a, b, sum(found.values()), *(found.get(family, 0) for family in _FAMILIES))
        for (a, b), found in counts.items()
    ]
    rows.sort(key=lambda row: -row[2])
    linked = {name for pair in counts for name in pair}
    alone = [one.name for one in result.packs if one.name not in linked]
    title = f"{plural(len(result.packs), 'pack')}, {plural(len(rows), 'pair')} linked"
    note = f"Linked to no other: {', '.join(alone)}" if alone else ""
    return sheet(title, "a* b* relations:n semantic:n temporal:n causal:n entity:n", rows, (note,))
