"""Learnings of packs, and the sources behind one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.figures.format import title_told
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types.pack_consolidation import PackLearned, RestoredLearning


@entry()
def pack_learned(result: PackLearned) -> ResultTable:
    rows = [
        (n, one.block.id, one.tokens, one.of, len(one.members), one.block.content)
        for n, one in enumerate(result.learnings, 1)
    ]
    pack = f"{result.pack.name}@{result.pack.version}"
    made = plural(len(rows), "learning")
    if result.operation is not None:
        title = f"{pack} has {made} more, as operation {result.operation}"
    elif result.planned and (rows or result.stale):
        title = f"{pack} would have {made} more; nothing is written yet"
    else:
        title = f"{pack}: nothing new to learn"
    waiting, stale = len(result.waiting), len(result.stale)
    notes = (
        f"{plural(result.stood, 'learning')} it had already" if result.stood else "",
        f"{plural(stale, 'learning')} set aside: a source is gone" if stale else "",
        f"{plural(waiting, 'source')} in no learning: it takes two that are consolidated" if waiting else "",
    )
    return sheet(title, "#:n id:id tokens:n of:n sources:n learning*", rows, notes)


@entry()
def restored_learning(result: RestoredLearning) -> ResultTable:
    rows = [
        (n, one.block.id, one.block.created_at, " … ".join(one.cited) or None, one.block.content)
        for n, one in enumerate(result.sources, 1)
    ]
    gone = plural(len(result.gone), "source") + " no longer held" if result.gone else ""
    title = f"{plural(len(rows), 'source')} of {result.learning.id[:8]} {title_told(result.learning)}"
    return sheet(title, "#:n id:id created:at cited* text*", rows, (gone,))
