"""Names of a conversation that are of one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry, title_of
from amgs_app.render.drawing import tabled
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from amgs.types.entity_merges import AlikeNames, EntityMerge


@entry(figure=tabled)
def alike_names(result: AlikeNames) -> ResultTable:
    rows = [
        (
            one.name,
            one.other,
            one.confidence,
            f"{one.cue}; a third name fits too" if one.several else one.cue,
            len(one.handles),
            len(one.other_handles),
        )
        for one in result.pairs
    ]
    title = f"{result.conversation}: {plural(len(rows), 'pair')} of names that may be of one"
    unread = f"{plural(result.waiting, 'message')} not read: `conversation resolve` reads them"
    notes = (
        f"{plural(result.withheld, 'pair')} less sure, not shown" if result.withheld else "",
        unread if result.waiting else "",
        "`conversation merge` makes a pair one." if rows else "",
    )
    return sheet(title, "name* other* confidence:score because messages:n of_other:n", rows, notes)


@entry(sentence=title_of)
def entity_merge(result: EntityMerge) -> ResultTable:
    if result.operation is None:
        told = f"{result.other} and {result.name} would be one"
    else:
        told = f"{result.other} is {result.name}, as operation {result.operation}"
    pairs = [
        ("type", result.type.replace("_", " ")),
        (f"mentions of {result.name}", result.mentions),
        (f"mentions of {result.other}, which mean {result.name}", result.moved),
        ("in messages", " ".join(result.handles)),
    ]
    if result.owned:
        pairs.append((f"what was {result.other}’s", ", ".join(result.owned)))
    if result.cue is not None:
        pairs.append(("their names share", result.cue))
    return facts(
        f"{result.conversation}: {told}", pairs, (f"against it: {result.against}" if result.against else "",)
    )
