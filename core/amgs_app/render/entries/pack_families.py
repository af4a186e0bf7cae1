"""How packs hang together, by families of relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.figures.format import title_told
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types.pack_families import PackGraph, PackIntent
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.session.operator import Operator


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


@entry()
def pack_intent(result: PackIntent) -> ResultTable:
    rows: list[tuple[Any, ...]] = []
    for reach in result.families:
        packs = ", ".join(f"{name} {share:.0%}" for name, share in reach.packs[:3])
        head: tuple[Any, ...] = (reach.family, reach.relations, reach.weight, packs or None)
        for one in reach.blocks:
            rows.append((*head, one.share, one.block.id, title_told(one.block)))
            head = (None, None, None, None)
        if not reach.blocks:
            rows.append((*head, None, None, None))
    others = ", ".join(f"{intent} {likely:.0%}" for intent, likely in result.likely[1:])
    notes = (
        f"Otherwise: {others}. weight: what the block that a walk reaches most would gain in a search.",
        "It explains: no search and no route reads it.",
    )
    columns = "family relations:n weight:score packs share:score id:id title*"
    return sheet(f"{result.intent}, {result.confidence:.0%} sure", columns, rows, notes)
