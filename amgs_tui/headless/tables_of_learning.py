"""The tables of what is learned from outcomes."""

from __future__ import annotations

from amgs.calibration import results
from amgs.exchange import door as exchange
from amgs_tui.headless.sheet import Sheet, sheet
from amgs_tui.headless.tables_of_memory import table_of

_SHOWN = 12


@table_of.register
def _(result: results.OutcomeGroups) -> Sheet:
    rows = [
        (g.kind, g.name, g.forecasts, g.outcomes, g.mean_predicted, g.rate, g.brier) for g in result.groups
    ]
    return sheet("", "by name* forecasts:n outcomes:n forecast:score came_true:score Brier:score", rows)


@table_of.register
def _(result: results.CalibrationPlan) -> Sheet:
    return _plan(result, "would change")


@table_of.register
def _(result: results.Calibrated) -> Sheet:
    return _plan(result.plan, f"operation {result.operation.id} changed")


def _plan(plan: results.CalibrationPlan, did: str) -> Sheet:
    rows: list[tuple[object, ...]] = [
        ("block", c.block_id, c.title, c.category, c.before, c.after) for c in plan.blocks
    ]
    rows += [
        (
            "edge",
            c.edge.source_id,
            f"→ {c.edge.target_id[:12]}: {c.hits:g} of {c.count} useful",
            c.edge.relation_type,
            c.edge.confidence,
            c.after,
        )
        for c in plan.edges
    ]
    notes = [
        f"{f.category or 'all others'}: {f.outcomes} outcomes, Brier {f.before:.3f} → {f.after:.3f}"
        + ("" if f.used else " (not used: it does not help)")
        for f in plan.fits
    ]
    title = (
        f"{plan.method} on {plan.outcomes} outcomes {did} {len(plan.blocks)} blocks, {len(plan.edges)} edges"
    )
    made = sheet(title, "what id:id name* of before:score after:score", rows, notes)
    return Sheet(made.title, made.columns, made.rows, made.notes, made.rows[: 2 * _SHOWN])


@table_of.register
def _(result: exchange.Exported) -> Sheet:
    return sheet(
        "",
        "file* form blocks:n edges:n bytes:n",
        [(result.path, result.form, result.blocks, result.edges, result.bytes)],
    )


@table_of.register
def _(result: exchange.Imported) -> Sheet:
    return sheet(
        "",
        "file* form blocks:n edges:n rows:n",
        [(result.path, result.form, result.blocks, result.edges, result.rows)],
    )


@table_of.register
def _(result: results.Metrics) -> Sheet:
    rows = [(m.name, m.value, m.target, m.met, m.note) for m in result.metrics]
    return sheet("", "metric value:score target met rests_on*", rows)


@table_of.register
def _(result: results.Monitored) -> Sheet:
    rows = [("now", s.at, s.kind, s.subject, s.value) for s in result.now]
    rows += [("before", s.at, s.kind, s.subject, s.value) for s in result.before]
    notes = ["recorded" if result.recorded else "not recorded: --record keeps it for the next look"]
    return sheet("", "when at:at monitor subject* value:score", rows, notes)
