"""The tables of enhancement, pruning, review and previews; importing it teaches them to `table_of`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amgs.decay import half_life_hours, profile_name
from amgs.lifecycle.decay_preview import DecayPreview
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.lifecycle.proposals import EnhancementPlan, Proposal
from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
from amgs.lifecycle.schedule import Due
from amgs.lifecycle.supersede import ReviewPlan
from amgs_app.operations import results
from amgs_app.render.figures.format import plural
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.render.tables.memory import table_of

__all__ = ["table_of"]

_PROPOSALS = "id kind about* sure:score because* effect*"


def _proposal_rows(proposals: tuple[Proposal, ...]) -> list[tuple[Any, ...]]:
    return [(p.id, p.kind, " / ".join(p.titles), p.confidence, p.reason, p.effect) for p in proposals]


@table_of.register
def _(result: EnhancementPlan) -> ResultTable:
    title = f"Plan: {len(result.proposals):,} proposals; nothing has been changed yet"
    more = f"{result.left_out:,} more are left out by --limit" if result.left_out else ""
    return sheet(title, _PROPOSALS, _proposal_rows(result.proposals), (more,))


@table_of.register
def _(result: results.Enhanced) -> ResultTable:
    done = result.operation
    title = f"Enhanced by {len(result.proposals):,} proposals as operation {done.id}"
    notes = (f"`undo {done.id}` reverts it.",) if result.proposals else ()
    return sheet(title, _PROPOSALS, _proposal_rows(result.proposals), notes)


@table_of.register
def _(result: PlanDraft) -> ResultTable:
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
            (
                item.block.id,
                item.block.title,
                item.category,
                item.category_confidence,
                item.confidence,
                edges,
                told,
            )
        )
    edges = sum(len(item.edges) for item in result.plan.items)
    counts = f"{plural(len(plan), 'block')}, {plural(edges, 'edge')}, {len(result.edits):,} corrected"
    title = f"Draft: {counts}; nothing has been changed yet"
    columns = "id:id title* category sure:score belief:score edges:n corrected*"
    made = sheet(
        title, columns, rows, ("`consolidate apply` applies it." if rows else "The inbox is empty.",)
    )
    corrected = tuple(row for row in made.rows if row[-1])
    return replace(made, digest=corrected) if corrected else made


def _prune_rows(plan: PrunePlan) -> list[tuple[Any, ...]]:
    return [
        (
            n,
            c.block.id,
            c.block.title,
            c.relevance,
            c.centrality,
            c.reinforcements,
            c.block.confidence,
            c.edges,
        )
        for n, c in enumerate(plan.candidates, 1)
    ]


_PRUNING = "#:n id:id title* relevance:score central:score used:n conf:score edges:n"


@table_of.register
def _(result: PrunePlan) -> ResultTable:
    what = "would be deleted" if result.hard else "would be pruned"
    spared = ", ".join(f"{n:,} by {name}" for name, n in result.spared.items() if n)
    notes = [f"Faded, but kept: {spared}" if spared else ""]
    if result.limits:
        held = ", ".join(f"{name} {bound:.3g}" for name, bound in result.limits.items())
        notes.append(f"Thresholds: {held}; `prune --explain ID` says what keeps a block")
    title = f"Plan: {len(result.candidates):,} blocks {what}; nothing has been changed yet"
    return sheet(title, _PRUNING, _prune_rows(result), notes)


@table_of.register
def _(result: PruneAssessment) -> ResultTable:
    rows = [
        (sign.name, sign.value, sign.limit, "goes" if sign.low else "keeps it", sign.told)
        for sign in result.signs
    ]
    kept = f"is kept: {', '.join(result.kept_by)}" if result.kept_by else "would be pruned"
    fades = (
        "It never fades" if result.fades_at is None else f"Faded from {result.fades_at:%Y-%m-%d} if not used"
    )
    return sheet(f"{result.block.title} {kept}", "sign value:score limit:score verdict why*", rows, (fades,))


@table_of.register
def _(result: Pruned) -> ResultTable:
    done, what = result.operation, "Deleted" if result.plan.hard else "Pruned"
    title = f"{what} {plural(len(result.plan.candidates), 'block')} as operation {done.id}"
    notes = (f"Written to {result.ledger}" if result.ledger else "", f"`undo {done.id}` reverts it.")
    return sheet(title, _PRUNING, _prune_rows(result.plan), notes)


@table_of.register
def _(result: ReviewPlan) -> ResultTable:
    rows = [(r.kind, r.confidence, r.older_id, r.newer_id, r.because) for r in result.found]
    title = f"Plan: {plural(len(rows), 'finding')} in {plural(result.compared, 'pair')}; nothing has been changed yet"
    return sheet(title, "kind sure:score older:id newer:id because*", rows)


@table_of.register
def _(result: results.ReviewList) -> ResultTable:
    rows = [
        (
            i.review.id,
            i.review.kind,
            i.review.confidence,
            i.review.state,
            i.older.title,
            i.newer.title,
            i.review.because,
        )
        for i in result.items
    ]
    notes = () if rows else ("`review scan` looks for findings.",)
    return sheet(
        plural(len(rows), "finding"), "#:n kind sure:score state older* newer* because*", rows, notes
    )


@table_of.register
def _(result: Due) -> ResultTable:
    pairs = [
        ("because", result.because),
        ("waiting", result.waiting),
        ("last consolidation", result.last),
        ("due by time at", result.next_at),
    ]
    return facts("Consolidation is due" if result.due else "Consolidation is not due", pairs)


@table_of.register
def _(result: results.Untouched) -> ResultTable:
    return table_of(result.due)


@table_of.register
def _(result: DecayPreview) -> ResultTable:
    rows = [
        (
            name,
            profile_name(c.block.decay_lambda),
            c.block.decay_lambda,
            half_life_hours(c.block.decay_lambda),
            r,
            c.falls_below_at,
        )
        for name, c, r in (
            ("now", result.now, result.relevance_now),
            ("then", result.then, result.relevance_then),
        )
    ]
    title = f"{result.now.block.title}: relevance at the end of the preview; nothing has changed"
    return sheet(title, "which decay lambda:score half_life_h:score relevance:score falls_below:at", rows)
