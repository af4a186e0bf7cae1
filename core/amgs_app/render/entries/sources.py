"""Where texts came from, and what becomes of them when their sources say something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.results.memory import SourceHistory, SourceList, Watched
    from amgs_app.session.operator import Operator

_INBOX = FigureOf("inbox list")
_PIECES = "what id:id title* source by:id? because*"


def _told(plan: RevisionPlan) -> str:
    """`2 superseded, 1 archived, 14 unchanged`."""
    from amgs.lifecycle.revision import KINDS

    counts = [f"{plan.count(kind):,} {kind}" for kind in KINDS if plan.count(kind)]
    return ", ".join([*counts, f"{plan.kept:,} unchanged"])


def _rows(plan: RevisionPlan) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [("rejected", "", "", r.source, None, r.reason) for r in plan.refused]
    rows += [("warning", "", "", r.source, None, r.reason) for r in plan.warnings]
    return rows + [
        (one.kind, one.block_id, one.title, one.source, one.by or None, one.because) for one in plan.pieces
    ]


def _drawn_plan(operator: Operator, result: RevisionPlan, canvas: Canvas) -> Text:
    from amgs_app.render.figures.revision import revision

    del operator
    return revision(result, canvas)


def _drawn_revision(operator: Operator, result: Revision, canvas: Canvas) -> Text:
    from amgs_app.render.figures.revision import revision

    del operator
    return revision(result.plan, canvas, operation=result.operation.id if result.operation else None)


@entry(figure=_drawn_plan, sentence=title_of)
def revision_plan(result: RevisionPlan) -> ResultTable:
    title = f"{result.about}: {_told(result)}; nothing has been changed yet"
    note = "" if result.empty else "`ingest --sync` or `source update` carries it out, and `undo` reverts it."
    return sheet(title, _PIECES, _rows(result), (note,))


@entry(figure=_drawn_revision, sentence=title_of)
def revision(result: Revision) -> ResultTable:
    plan, done = result.plan, result.operation
    if done is None:
        return sheet(f"{plan.about}: nothing to do, {plan.kept:,} unchanged", _PIECES, _rows(plan))
    title = f"{plan.about}: {_told(plan)}, as operation {done.id}"
    return sheet(title, _PIECES, _rows(plan), (f"`undo {done.id}` reverts it.",))


@entry(figure=_INBOX)
def source_list(result: SourceList) -> ResultTable:
    rows = [(s.name, s.pieces, s.since, s.place) for s in result.sources]
    hidden = result.total - len(rows)
    notes = (f"{hidden:,} more" if hidden else "",)
    return sheet(plural(result.total, "source"), "source* pieces:n since:at file*?", rows, notes)


@entry()
def source_history(result: SourceHistory) -> ResultTable:
    rows = [
        (one.position, one.block_id, title, one.since, one.until)
        for one, title in zip(result.pieces, result.titles, strict=True)
    ]
    return sheet(f"Source {result.source}", "#:n id:id title* since:at until:at", rows)


@entry(figure=_INBOX, sentence=title_of)
def watched(result: Watched) -> ResultTable:
    rows = [
        (one.operation.id, one.operation.at, one.operation.summary)
        for one in result.revisions
        if one.operation is not None
    ]
    return sheet(f"{result.folder}: {plural(len(rows), 'revision')}", "operation:n at:at what*", rows)
