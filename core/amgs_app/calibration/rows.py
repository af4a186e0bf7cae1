"""What is learned from outcomes: forecasts, calibration, tuning, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs.types import COMPONENTS
from amgs_app.render.catalogue import FigureOf, entry
from amgs_app.render.sentences import coverage_reviewed
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.calibration.results import Calibrated, CalibrationPlan, Metrics, OutcomeGroups, Score, Tuning
    from amgs.types import ForecastCase, Outcome, Reliability, Weights
    from amgs.types.question_case import CaseComparison
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.focus import FocusFeedback
    from amgs_app.results.memory import AnswerUses, ForecastList
    from amgs_app.session.operator import Operator


_SHOWN = 12
_SETS = "r:score c:score k:score s:score f:score recall:score precision:score MRR:score"


def _plan(plan: CalibrationPlan, did: str) -> ResultTable:
    rows = [
        (
            c.edge.source_id,
            f"→ {c.edge.target_id[:12]}: {c.hits:g} of {c.count} useful",
            c.edge.relation_type,
            c.edge.confidence,
            c.after,
        )
        for c in plan.edges
    ]
    curve = plan.forecast
    notes = [
        f"forecasts: Brier {curve.before:.3f} → {curve.after:.3f} on outcomes the curve was not fitted on"
        + ("" if curve.used else " (not used: it does not help)"),
        "how sure each block's category is stays as it was",
    ]
    if plan.needs:
        asked = ", ".join(f"{plural(len(one.needed), 'question')} of {one.frame}" for one in plan.needs)
        notes.append(f"promises of coverage rest on {asked}")
    notes += [] if plan.compared is None else _moved(plan.compared)
    forecasts = "the forecasts" if curve.used else "no forecast"
    title = (
        f"{plan.method} on {plural(plan.outcomes, 'outcome')} {did} {forecasts} and {plural(len(plan.edges), 'edge')}"
    )
    made = sheet(title, "id:id edge* of before:score after:score", rows, notes)
    return ResultTable(made.title, made.columns, made.rows, made.notes, made.rows[: 2 * _SHOWN])


def _moved(compared: CaseComparison) -> list[str]:
    """How many questions a change moves, and each of them with why."""
    asked, failing = compared.same + len(compared.moved), len(compared.failing)
    notes = [f"{len(compared.moved):,} of {plural(asked, 'question')} would move; {failing:,} that hold now would fail"]
    for one in compared.moved:
        fate = ("fails", "holds")[not one.after.faults]
        was = ("fails", "holds")[not one.before.faults]
        notes.append(f"“{one.after.case.question}” {was} now, {fate} then:")
        notes += [f"  {told}" for told in one.because]
    return notes


def _weights(weights: Weights) -> tuple[float, ...]:
    return tuple(getattr(weights, name) for name in COMPONENTS)


def _scored(score: Score) -> tuple[float, ...]:
    return score.recall, score.precision, score.mrr


def _drawn_outcome(operator: Operator, result: Outcome, canvas: Canvas) -> Text:
    del result
    return _drawn_table(operator, operator.engine.memory.reliability(), canvas)


def _drawn_table(operator: Operator, result: Reliability, canvas: Canvas) -> Text:
    from amgs_app.calibration.figure import calibration

    cases = _cases(operator, operator.engine.memory.calibration.cases(limit=500))
    return calibration(result, canvas, now=operator.engine.clock.now(), **cases)


def _cases(operator: Operator, cases: Sequence[ForecastCase]) -> dict[str, Any]:
    """The forecasts that the pane's filter leaves, with the cursor on the selection."""
    from amgs_app.panes.row_fields import of_forecasts, queued
    from amgs_app.render.drawing import places

    cases = queued(cases)
    left = places(operator, "calibration", of_forecasts(cases))
    shown = cases if left is None else [cases[place] for place in left]
    at = next((n for n, one in enumerate(shown) if one.outcome.block_id == operator.selection), None)
    return {"cases": shown, "cursor": at, "every": None if left is None else len(cases)}


def _noted(result: Outcome) -> str:
    verdict = "useful" if result.actual else "useless"
    return f"Noted as {verdict}: the forecast was {result.predicted:.2f}, its Brier score {result.brier or 0:.2f}"


@entry(figure=_drawn_outcome, sentence=_noted, stays=True)
def outcome(result: Outcome) -> ResultTable:
    pairs = [
        ("forecast", result.predicted),
        ("outcome", result.actual),
        ("Brier", result.brier),
        ("block", result.block_id),
        ("frame", result.frame),
    ]
    return facts("Verdict", pairs)


@entry(figure=_drawn_table)
def reliability(result: Reliability) -> ResultTable:
    rows = [
        (
            f"{each.low:.2f} to {each.high:.2f}",
            each.count,
            each.mean_predicted,
            each.rate,
            f"{each.rate_low:.2f} to {each.rate_high:.2f}",
        )
        for each in result.bins
        if each.count
    ]
    said = "no outcomes yet" if result.brier is None else f"Brier {result.brier:.4f}"
    note = ""
    if result.brier is not None:
        note = (
            f"= reliability {result.reliability:.4f} − resolution {result.resolution:.4f}"
            f" + uncertainty {result.uncertainty:.4f} + within bin {result.within_bin:.4f}"
        )
    title = f"{plural(result.forecasts, 'forecast')}, {plural(result.outcomes, 'outcome')}: {said}"
    notes = (note, *map(coverage_reviewed, result.coverage))
    return sheet(title, "forecast count:n mean:score came_true:score 95_%", rows, notes)


@entry(figure=FigureOf("calibration"))
def outcome_groups(result: OutcomeGroups) -> ResultTable:
    rows = [(g.kind, g.name, g.forecasts, g.outcomes, g.mean_predicted, g.rate, g.brier) for g in result.groups]
    return sheet("", "by name* forecasts:n outcomes:n forecast:score came_true:score Brier:score", rows)


def _drawn_forecasts(operator: Operator, result: ForecastList, canvas: Canvas) -> Text:
    from amgs_app.calibration.figure import calibration

    bins = result.bin[1] if result.bin is not None else 10
    kind, _, value = result.of.partition(" ")
    by: Any = kind or None
    table = operator.engine.memory.reliability(bins, by=by, value=value or None)
    chosen = result.bin[0] - 1 if result.bin is not None else None
    return calibration(table, canvas, now=result.now, chosen=chosen, of=result.of, **_cases(operator, result.cases))


@entry(figure=_drawn_forecasts)
def forecast_list(result: ForecastList) -> ResultTable:
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


def _drawn_uses(operator: Operator, result: AnswerUses, canvas: Canvas) -> Text:
    del result
    return _drawn_table(operator, operator.engine.memory.reliability(), canvas)


@entry(figure=_drawn_uses)
def answer_uses(result: AnswerUses) -> ResultTable:
    rows = [
        (one.at, one.block_id, one.title, one.by or "not seen", one.chance if one.by == "words" else None)
        for one in result.uses
    ]
    used = sum(bool(one.by) for one in result.uses)
    title = f"{plural(len(rows), 'block')} in front of a model, {used:,} used"
    return sheet(title, "answered:at id:id title* used_by chance:score", rows)


def _drawn_plan(operator: Operator, result: CalibrationPlan, canvas: Canvas) -> Text:
    from amgs_app.calibration import figure_recalibration as recalibration

    del operator
    return recalibration.plan(result, canvas)


@entry(figure=_drawn_plan)
def calibration_plan(result: CalibrationPlan) -> ResultTable:
    return _plan(result, "would change")


def _drawn_calibrated(operator: Operator, result: Calibrated, canvas: Canvas) -> Text:
    from amgs_app.calibration import figure_recalibration as recalibration

    del operator
    return recalibration.plan(result.plan, canvas, operation=result.operation.id)


@entry(figure=_drawn_calibrated)
def calibrated(result: Calibrated) -> ResultTable:
    return _plan(result.plan, f"operation {result.operation.id} changed")


@entry()
def metrics(result: Metrics) -> ResultTable:
    rows = [(m.name, m.value, m.before, m.target, m.met, m.note) for m in result.metrics]
    note = "recorded" if result.recorded else "--record keeps the values for the next comparison"
    return sheet("", "metric value:score before:score~ target met rests_on*", rows, (note,))


@entry()
def tuning(result: Tuning) -> ResultTable:
    rows = [
        ("present, tuning", *_weights(result.present), *_scored(result.present_tuning)),
        ("proposed, tuning", *_weights(result.proposed), *_scored(result.proposed_tuning)),
        ("present, held out", *_weights(result.present), *_scored(result.present_held_out)),
        ("proposed, held out", *_weights(result.proposed), *_scored(result.proposed_held_out)),
    ]
    verdict = "better on the held-out third" if result.better else "not better by every measure"
    difference, low, high = result.difference
    notes = [
        f"{plural(result.trials, 'weight set')} {'by ' if result.method != 'given' else ''}{result.method}, "
        f"{plural(result.present_tuning.questions, 'question')} to tune on, "
        f"{result.present_held_out.questions} held out, recall and precision of {result.k}",
        f"Recall of the held out: {difference:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}",
        f"The proposal is {verdict}" + ("; it was applied." if result.applied else "; nothing was changed."),
    ]
    if result.turns:
        orders = "orders" if result.applied else "would order"
        notes.append(f"With it {result.frame} {orders} by these weights, no longer as the search does.")
    return sheet(f"Weights of {result.frame}", f"weights* {_SETS}", rows, notes)


@entry()
def focus_feedback(result: FocusFeedback) -> ResultTable:
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
        f"Memory {did} of {plural(len(result.reinforced), 'resident block')}; "
        f"{plural(len(result.outcomes), 'forecast')} settled"
    )
    return sheet(title, "block:id title* tokens:n as_tokens:score expanded:n ΔNLL reinforced outcome", rows)
