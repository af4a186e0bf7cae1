"""What the memory knows by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.panes.row_fields import state_of
from amgs_app.render.catalogue import entry
from amgs_app.render.passage import runs_within
from amgs_app.render.sheet import Marked, ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types import EntityKnowledge
    from amgs_app.results.memory import EntityList

_MOST_ALIASES = 5


@entry()
def entity_list(result: EntityList) -> ResultTable:
    rows = [
        (
            e.name,
            e.type,
            e.mentions,
            e.blocks,
            e.first,
            e.last,
            ", ".join(e.aliases[:_MOST_ALIASES]),
            e.because,
        )
        for e in result.entities
    ]
    hidden = result.total - len(rows)
    notes = (f"{hidden:,} more" if hidden else "", "" if rows else "No block names anything so often.")
    columns = "name* type mentions:n blocks:n first:day last:day aliases* because*?"
    return sheet(plural(result.total, "entity", "entities"), columns, rows, notes)


@entry()
def entity_knowledge(result: EntityKnowledge) -> ResultTable:
    known = result.entity
    rows = [
        (
            n,
            mention.block.id,
            mention.block.title,
            " ".join(str(mention.block.meta.get("source") or "").split()),
            mention.block.created_at,
            state_of(mention.block),
            mention.count,
            Marked(runs_within(mention.block.content, mention.passage)),
        )
        for n, mention in enumerate(result.mentions, 1)
    ]
    type_ = f"{known.type} ({known.because})" if known.because else known.type
    also = ", ".join(known.aliases[:_MOST_ALIASES])
    beside = ", ".join(f"{one.name} ({one.shared})" for one in result.related)
    hidden = known.blocks - len(rows)
    notes = (
        f"type: {type_}",
        f"also written: {also}" if also else "",
        f"named beside it, with in how many blocks: {beside}" if beside else "",
        f"{plural(hidden, 'more block')}" if hidden else "",
    )
    told = f"{plural(known.mentions, 'mention')} in {plural(known.blocks, 'block')}"
    title = f"{known.name}: {told}, {known.first:%Y-%m-%d} to {known.last:%Y-%m-%d}"
    return sheet(title, "#:n id:id title* source* date:day state~ times:n passage/", rows, notes)
