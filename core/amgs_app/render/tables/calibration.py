"""The tables of what is learned from outcomes."""

from __future__ import annotations

from dataclasses import replace

from amgs.api import exchange as exchange
from amgs.calibration import results
from amgs.types import COMPONENTS, Weights
from amgs_app.operations.results import FocusFeedback, ForecastList
from amgs_app.render.sheet import ResultTable, sheet
from amgs_app.render.tables.memory import table_of

_SHOWN = 12


@table_of.register
def _(result: results.OutcomeGroups) -> ResultTable:
    rows = [
        (g.kind, g.name, g.forecasts, g.outcomes, g.mean_predicted, g.rate, g.brier) for g in result.groups
    ]
    return sheet("", "by name* forecasts:n outcomes:n forecast:score came_true:score Brier:score", rows)


@table_of.register
def _(result: ForecastList) -> ResultTable:
    rows = [
        (
            case.made_at,
            case.outcome.block_id,
            case.title,
            case.outcome.frame,
            case.outcome.category,
            " ".join(case.relations),
            case.asked,
            case.outcome.predicted,
            case.outcome.actual,
            case.outcome.brier,
        )
        for case in result.cases
    ]
    within = f" in step {result.bin[0]} of {result.bin[1]}" if result.bin is not None else ""
    of = f" of {result.of}" if result.of else ""
    title = f"{len(rows):,} forecasts{within}{of}"
    columns = "made:at id:id title* frame category relations asked* forecast:score outcome:score Brier:score"
    made = sheet(title, columns, rows)
    return replace(made, digest=made.rows[: 2 * _SHOWN])


@table_of.register
def _(result: results.CalibrationPlan) -> ResultTable:
    return _plan(result, "would change")


@table_of.register
def _(result: results.Calibrated) -> ResultTable:
    return _plan(result.plan, f"operation {result.operation.id} changed")


def _plan(plan: results.CalibrationPlan, did: str) -> ResultTable:
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
        for f in (plan.forecast, *plan.fits)
    ]
    title = (
        f"{plan.method} on {plan.outcomes} outcomes {did} {len(plan.blocks)} blocks, {len(plan.edges)} edges"
    )
    made = sheet(title, "what id:id name* of before:score after:score", rows, notes)
    return ResultTable(made.title, made.columns, made.rows, made.notes, made.rows[: 2 * _SHOWN])


@table_of.register
def _(result: exchange.Exported) -> ResultTable:
    return sheet(
        "",
        "file* form blocks:n edges:n bytes:n",
        [(result.path, result.form, result.blocks, result.edges, result.bytes)],
    )


@table_of.register
def _(result: exchange.Imported) -> ResultTable:
    return sheet(
        "",
        "file* form blocks:n edges:n rows:n",
        [(result.path, result.form, result.blocks, result.edges, result.rows)],
    )


@table_of.register
def _(result: results.Metrics) -> ResultTable:
    rows = [(m.name, m.value, m.target, m.met, m.note) for m in result.metrics]
    return sheet("", "metric value:score target met rests_on*", rows)


@table_of.register
def _(result: results.Monitored) -> ResultTable:
    rows = [("now", s.at, s.kind, s.subject, s.value) for s in result.now]
    rows += [("before", s.at, s.kind, s.subject, s.value) for s in result.before]
    notes = ["recorded" if result.recorded else "not recorded: --record keeps it for the next comparison"]
    return sheet("", "when at:at monitor subject* value:score", rows, notes)


def _weights(weights: Weights) -> tuple[float, ...]:
    return tuple(getattr(weights, name) for name in COMPONENTS)


_SETS = "r:score c:score k:score s:score f:score recall:score precision:score MRR:score"


def _scored(score: results.Score) -> tuple[float, ...]:
    return score.recall, score.precision, score.mrr


@table_of.register
def _(result: results.Tuning) -> ResultTable:
    rows = [
        ("present, tuning", *_weights(result.present), *_scored(result.present_tuning)),
        ("proposed, tuning", *_weights(result.proposed), *_scored(result.proposed_tuning)),
        ("present, held out", *_weights(result.present), *_scored(result.present_held_out)),
        ("proposed, held out", *_weights(result.proposed), *_scored(result.proposed_held_out)),
    ]
    verdict = "better on the held-out third" if result.better else "not better on the held-out third"
    notes = [
        f"{len(result.trials)} weight sets by {result.method}, {result.present_tuning.questions} questions to tune on, "
        f"{result.present_held_out.questions} held out, recall and precision of {result.k}",
        f"The proposal is {verdict}" + ("; it was applied." if result.applied else "; nothing was changed."),
    ]
    return sheet(f"Weights of {result.frame}", f"weights* {_SETS}", rows, notes)


@table_of.register
def _(result: results.WeightTest) -> ResultTable:
    rows = [
        ("A", *_weights(result.first), *_scored(result.first_score)),
        ("B", *_weights(result.second), *_scored(result.second_score)),
    ]
    notes = [
        f"B less A: {result.difference:+.3f}, 95 % interval {result.low:+.3f} to {result.high:+.3f}: {result.verdict}",
        *(f"{kind}: recall {a:.3f} and {b:.3f}" for kind, (a, b) in result.by_kind.items()),
    ]
    title = f"{result.frame} on {result.first_score.questions} questions"
    return sheet(title, f"weights* {_SETS}", rows, notes)


@table_of.register
def _(result: results.SyntheticYear) -> ResultTable:
    rows = [
        (
            m.month,
            m.arrived,
            m.consolidated,
            m.queries,
            m.useful,
            m.alive,
            m.fading,
            m.edges,
            m.mean_relevance,
            m.brier,
        )
        for m in result.months
    ]
    kept = ", ".join(f"{kind} {alive} of {came}" for kind, (alive, came) in result.survived.items())
    brier = "–" if result.brier is None else f"{result.brier:.3f}"
    notes = [
        f"Above the threshold at the end: {kept or 'nothing'}",
        f"{result.outcomes:,} verdicts, Brier {brier}, {result.recalibrated:,} confidences recalibrated",
    ]
    columns = "month:n arrived:n consolidated:n queries:n useful:n alive:n fading:n edges:n relevance:score Brier:score"
    return sheet(f"{result.days} days, seed {result.seed}", columns, rows, notes)


@table_of.register
def _(result: FocusFeedback) -> ResultTable:
    verdicts = {True: "useful", False: "useless", None: ""}
    ordered = sorted(result.rows, key=lambda row: -(row.worth.gain or 0.0))
    rows = [
        (
            row.worth.source,
            row.worth.label,
            row.worth.tokens,
            row.worth.residency,
            row.worth.expansions,
            "" if row.worth.gain is None else f"{row.worth.gain:+.4f} ± {row.worth.error:.4f}",
            "yes" if row.reinforce else "",
            verdicts[row.useful] if row.open_forecast else "",
        )
        for row in ordered
    ]
    did = "was sent" if result.applied else "would be sent"
    title = (
        f"Memory {did} of {len(result.reinforced)} resident blocks; {len(result.outcomes)} forecasts settled"
    )
    return sheet(title, "block:id title* tokens:n as_tokens:score expanded:n ΔNLL reinforced outcome", rows)
