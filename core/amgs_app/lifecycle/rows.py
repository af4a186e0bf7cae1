"""What comes in and is consolidated: the inbox, plans and drafts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.decay import profile_name
from amgs.text.plural import plural
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.format import ingested
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.lifecycle.schedule import Due
    from amgs.types import ConsolidationPlan, IngestReport
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import Consolidated, Inbox, Untouched
    from amgs_app.session.operator import Operator


_NO_NOTE = "no reader for it"
_MOST_NAMED = 5


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _drawn_inbox(operator: Operator, result: Inbox, canvas: Canvas) -> Text:
    from amgs_app.lifecycle.figure_inbox import inbox

    return inbox(
        result.blocks,
        canvas,
        now=result.now,
        selected=operator.selection,
        total=result.total,
        before=result.offset,
        oldest=result.oldest,
    )


@entry(figure=_drawn_inbox)
def inbox(result: Inbox) -> ResultTable:
    rows = [(n, b.id, b.title, b.created_at, b.meta.get("source", "")) for n, b in enumerate(result.blocks, 1)]
    hidden = result.total - len(result.blocks)
    notes = [f"{hidden:,} more" if hidden else "", "" if rows else "The inbox is empty."]
    return sheet(f"Inbox: {plural(result.total, 'raw block')}", "#:n id:id title* created:at source", rows, notes)


@entry(figure=FigureOf("inbox list"))
def ingest_report(result: IngestReport) -> ResultTable:
    rows = [("rejected", each.source, each.reason) for each in result.refused]
    rows += [("warning", each.source, each.reason) for each in result.warnings]
    rows += [
        ("skipped", f"{each.files:,} {each.ending or 'without an ending'}", f"{_NO_NOTE}: {_named(each.names)}")
        for each in result.skipped
    ]
    return sheet(ingested(result), "what source because*", rows)


def _drawn_plan(operator: Operator, result: ConsolidationPlan, canvas: Canvas) -> Text:
    from amgs.lifecycle.plan_editing import PlanDraft

    return _drawn_draft(operator, PlanDraft(result), canvas)


def _drawn_draft(operator: Operator, draft: PlanDraft, canvas: Canvas) -> Text:
    from amgs_app.lifecycle import figure_plan as plan
    from amgs_app.panes.row_fields import of_draft
    from amgs_app.render.drawing import places, titles_of_edges

    rows = places(operator, "inbox", of_draft(draft, operator.engine.clock.now()))
    titles = titles_of_edges(operator, (edge for item in draft.plan.items for edge in item.edges))
    return plan.plan(draft, canvas, selected=operator.selection, titles=titles, shown=rows)


@entry(figure=_drawn_plan)
def consolidation_plan(result: ConsolidationPlan) -> ResultTable:
    rows = [
        (
            item.block.id,
            item.block.title,
            item.category,
            item.category_confidence,
            profile_name(item.decay_lambda),
            item.is_self_component,
            len(item.edges),
            len(item.entities),
        )
        for item in result.items
    ]
    edges = sum(len(item.edges) for item in result.items)
    title = f"Plan: {plural(len(rows), 'block')}, {plural(edges, 'edge')}; nothing has been changed yet"
    return sheet(title, "id:id title* category sure:score decay self edges:n entities:n", rows)


@entry(figure=_drawn_draft)
def plan_draft(result: PlanDraft) -> ResultTable:
    out, plan = result.left_out, {item.block.id: item for item in result.plan.items}
    rows = []
    for proposed in result.proposed.items:
        item = plan.get(proposed.block.id, proposed)
        edit = result.edit_of(proposed.block.id)
        said = [
            "left out" if proposed.block.id in out else "",
            f"was {proposed.category}" if edit.category else "",
            f"was {proposed.confidence:.2f}" if edit.confidence is not None else "",
            f"{plural(len(edit.dropped), 'edge')} dropped" if edit.dropped else "",
            f"{plural(len(edit.sure), 'edge')} corrected" if edit.sure else "",
        ]
        told = ", ".join(word for word in said if word)
        edges = 0 if proposed.block.id in out else len(item.edges)
        rows.append(
            (item.block.id, item.block.title, item.category, item.category_confidence, item.confidence, edges, told)
        )
    edges = sum(len(item.edges) for item in result.plan.items)
    counts = f"{plural(len(plan), 'block')}, {plural(edges, 'edge')}, {len(result.edits):,} corrected"
    title = f"Draft: {counts}; nothing has been changed yet"
    columns = "id:id title* category sure:score belief:score edges:n corrected*"
    made = sheet(title, columns, rows, ("`consolidate apply` applies it." if rows else "The inbox is empty.",))
    corrected = tuple(row for row in made.rows if row[-1])
    return replace(made, digest=corrected) if corrected else made


def _drawn_consolidated(operator: Operator, result: Consolidated, canvas: Canvas) -> Text:
    return _drawn_plan(operator, result.plan, canvas)


@entry(figure=_drawn_consolidated)
def consolidated(result: Consolidated) -> ResultTable:
    rows = sorted(result.categories.items(), key=lambda pair: (-pair[1], pair[0]))
    blocks, edges = (sum(done.blocks for done in result.operations), sum(d.edges for d in result.operations))
    ids = [str(done.id) for done in result.operations]
    title = f"Consolidated {plural(blocks, 'block')} and {plural(edges, 'edge')} as operation {', '.join(ids)}"
    back = " and ".join(f"`undo {i}`" for i in reversed(ids))
    meanwhile = f"{plural(result.elsewhere, 'block')} more: consolidated meanwhile by somebody else."
    notes = (f"{back} reverts it." if rows else "", meanwhile if result.elsewhere else "")
    return sheet(title, "category* blocks:n", rows, notes)


@entry(sentence=title_of)
def due(result: Due) -> ResultTable:
    return _due(result)


def _due(result: Due) -> ResultTable:
    pairs = [
        ("because", result.because),
        ("waiting", result.waiting),
        ("last consolidation", result.last),
        ("due by time at", result.next_at),
    ]
    return facts("Consolidation is due" if result.due else "Consolidation is not due", pairs)


@entry(figure=FigureOf("inbox list"), sentence=title_of)
def untouched(result: Untouched) -> ResultTable:
    if result.due.because == "the inbox is empty":
        return sheet("There is nothing to consolidate: the inbox is empty", "what value*", ())
    return _due(result.due)
