"""How forecasts, calibration, tuning and metrics are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs.types import COMPONENTS
from amgs_app.render.catalogue import FigureOf, entry
from amgs_app.render.format import describe_coverage_review
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from amgs.calibration.results import Calibrated, CalibrationPlan, EdgeChange, Metrics, OutcomeGroups, Score, Tuning
    from amgs.types import ForecastCase, Outcome, Reliability, Weights
    from amgs.types.diagnosis import CaseComparison
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.focus import FocusFeedback
    from amgs_app.results.memory import AnswerUses, ForecastList
    from amgs_app.session import Operator


_SHOWN = 12
_SETS = "r:score c:score k:score s:score f:score recall:score precision:score MRR:score"


FORECASTS: Final = Rows["ForecastCase"](
    "made:age id:id- title*! frame? category?? relations?? asked*? forecast:score! outcome:score-"
    " verdict!+ Brier:score?",
    lambda case: (
        case.made_at,
        case.outcome.block_id,
        case.title,
        case.outcome.frame,
        case.outcome.category,
        " ".join(case.relations),
        case.asked,
        case.outcome.predicted,
        case.outcome.actual,
        verdict_of(case.outcome.actual),
        case.outcome.brier,
    ),
    key=lambda case: case.outcome.block_id,
    tones={"useful": "good", "useless": "bad"},
    empty=("No forecast is here.",),
    pane="calibration",
)
CHANGES: Final = Rows["EdgeChange"](
    "id:id? edge*! of? before:score! after:score! moves+",
    lambda change: (
        change.edge.source_id,
        f"→ {change.edge.target_id[:12]}: {change.hits:g} of {change.count} useful",
        change.edge.relation_type,
        change.edge.confidence,
        change.after,
        "▲ up" if change.after > change.edge.confidence else "▼ down",
    ),
    tones={"▲": "good", "▼": "bad"},
    empty=("No confidence of an edge would move.",),
    pane="calibration",
)
LISTING: Final = FORECASTS.listing


def verdict_of(actual: float | None) -> str:
    """Return the outcome of a forecast in a word."""
    return "open" if actual is None else "useful" if actual >= 0.5 else "useless"


def list_forecasts(cases: Sequence[ForecastCase], now: datetime, title: str = "") -> RowList[ForecastCase]:
    """Return the forecasts as rows, open ones first."""
    return FORECASTS.of(title, sorted(cases, key=lambda case: case.outcome.actual is not None), now=now)


def _plan(plan: CalibrationPlan, did: str) -> RowList[EdgeChange]:
    curve = plan.forecast
    notes = [
        f"forecasts: Brier {curve.before:.3f} → {curve.after:.3f} on outcomes the curve was not fitted on"
        + ("" if curve.used else " (not used: it does not help)"),
        "how sure each block's category is stays as it was",
    ]
    if plan.needs:
        asked = ", ".join(f"{plural(len(need.needed), 'question')} of {need.frame}" for need in plan.needs)
        notes.append(f"promises of coverage rest on {asked}")
    notes += [] if plan.compared is None else _describe_moves(plan.compared)
    forecasts = "the forecasts" if curve.used else "no forecast"
    fitted = f"Recalibration on {plural(plan.outcomes, 'outcome')} ({plan.method})"
    title = f"{fitted}{did} {forecasts} and {plural(len(plan.edges), 'edge')}"
    return CHANGES.of(title, plan.edges, notes, digest=plan.edges[: 2 * _SHOWN])


def _describe_moves(compared: CaseComparison) -> list[str]:
    """Describe how many questions a change moves, and each of them with the reason."""
    asked, failing = compared.same + len(compared.moved), len(compared.failing)
    notes = [f"{len(compared.moved):,} of {plural(asked, 'question')} would move; {failing:,} that hold now would fail"]
    for change in compared.moved:
        fate = ("fails", "holds")[not change.after.faults]
        was = ("fails", "holds")[not change.before.faults]
        notes.append(f"“{change.after.case.question}” {was} now, {fate} then:")
        notes += [f"  {reason}" for reason in change.because]
    return notes


def _weights(weights: Weights) -> tuple[float, ...]:
    return tuple(getattr(weights, name) for name in COMPONENTS)


def _list_scores(score: Score) -> tuple[float, ...]:
    return score.recall, score.precision, score.mrr


def _draw_outcome(operator: Operator, result: Outcome, canvas: Canvas) -> Text:
    del result
    return _draw_table(operator, operator.engine.memory.reliability(), canvas)


def _draw_table(operator: Operator, result: Reliability, canvas: Canvas) -> Text:
    return _draw(operator, result, operator.engine.memory.calibration.cases(limit=500), canvas)


def _draw(operator: Operator, table: Reliability, cases: Sequence[ForecastCase], canvas: Canvas, **more: Any) -> Text:
    """Return the diagram with the forecasts that match the pane's filter, the cursor on the selection."""
    from amgs_app.calibration.figure import calibration
    from amgs_app.render.catalogue import places

    every = list_forecasts(cases, operator.engine.clock.now())
    shown = places(operator, "calibration", every.fields)
    left = every.keep(shown)
    of = None if shown is None else len(every.items)
    return calibration(table, canvas, left, left.place_of(operator.selection), every=of, **more).render()


def _describe_outcome(result: Outcome) -> str:
    verdict = "useful" if result.actual else "useless"
    return f"Noted as {verdict}: the forecast was {result.predicted:.2f}, its Brier score {result.brier or 0:.2f}"


@entry(figure=_draw_outcome, sentence=_describe_outcome, stays=True)
def outcome(result: Outcome) -> ResultTable:
    pairs = [
        ("forecast", result.predicted),
        ("outcome", result.actual),
        ("Brier", result.brier),
        ("block", result.block_id),
        ("frame", result.frame),
    ]
    return facts("Verdict", pairs)


@entry(figure=_draw_table)
def reliability(result: Reliability) -> ResultTable:
    rows = [
        (
            f"{bucket.low:.2f} to {bucket.high:.2f}",
            bucket.count,
            bucket.mean_predicted,
            bucket.rate,
            f"{bucket.rate_low:.2f} to {bucket.rate_high:.2f}",
        )
        for bucket in result.bins
        if bucket.count
    ]
    score = "no outcomes yet" if result.brier is None else f"Brier {result.brier:.4f}"
    note = ""
    if result.brier is not None:
        note = (
            f"= reliability {result.reliability:.4f} − resolution {result.resolution:.4f}"
            f" + uncertainty {result.uncertainty:.4f} + within bin {result.within_bin:.4f}"
        )
    title = f"{plural(result.forecasts, 'forecast')}, {plural(result.outcomes, 'outcome')}: {score}"
    notes = (note, *map(describe_coverage_review, result.coverage))
    return sheet(title, "forecast count:n mean:score came_true:score 95_%", rows, notes)


@entry(figure=FigureOf("calibration"))
def outcome_groups(result: OutcomeGroups) -> ResultTable:
    rows = [(g.kind, g.name, g.forecasts, g.outcomes, g.mean_predicted, g.rate, g.brier) for g in result.groups]
    return sheet("", "by name* forecasts:n outcomes:n forecast:score came_true:score Brier:score", rows)


def _draw_forecasts(operator: Operator, result: ForecastList, canvas: Canvas) -> Text:
    bins = result.bin[1] if result.bin is not None else 10
    kind, _, value = result.of.partition(" ")
    by: Any = kind or None
    table = operator.engine.memory.reliability(bins, by=by, value=value or None)
    chosen = result.bin[0] - 1 if result.bin is not None else None
    return _draw(operator, table, result.cases, canvas, chosen=chosen, of=result.of)


@entry(figure=_draw_forecasts)
def forecast_list(result: ForecastList) -> RowList[ForecastCase]:
    within = f" in step {result.bin[0]} of {result.bin[1]}" if result.bin is not None else ""
    of = f" of {result.of}" if result.of else ""
    title = f"{len(result.cases):,} forecasts{within}{of}"
    return FORECASTS.of(title, result.cases, now=result.now, digest=result.cases[: 2 * _SHOWN])


def _draw_uses(operator: Operator, result: AnswerUses, canvas: Canvas) -> Text:
    del result
    return _draw_table(operator, operator.engine.memory.reliability(), canvas)


@entry(figure=_draw_uses)
def answer_uses(result: AnswerUses) -> ResultTable:
    rows = [
        (use.at, use.block_id, use.title, use.by or "not seen", use.chance if use.by == "words" else None)
        for use in result.uses
    ]
    used = sum(bool(use.by) for use in result.uses)
    title = f"{plural(len(rows), 'block')} in front of a model, {used:,} used"
    return sheet(title, "answered:at id:id title* used_by chance:score", rows)


@entry()
def calibration_plan(result: CalibrationPlan) -> RowList[EdgeChange]:
    return _plan(result, " would change")


@entry()
def tabulate_calibration(result: Calibrated) -> RowList[EdgeChange]:
    return _plan(result.plan, f", operation {result.operation.id}, changed")


@entry()
def metrics(result: Metrics) -> ResultTable:
    rows = [(m.name, m.value, m.before, m.target, m.met, m.note) for m in result.metrics]
    note = "recorded" if result.recorded else "--record keeps the values for the next comparison"
    return sheet("", "metric value:score before:score~ target met rests_on*", rows, (note,))


@entry()
def tuning(result: Tuning) -> ResultTable:
    rows = [
        ("present, tuning", *_weights(result.present), *_list_scores(result.present_tuning)),
        ("proposed, tuning", *_weights(result.proposed), *_list_scores(result.proposed_tuning)),
        ("present, held out", *_weights(result.present), *_list_scores(result.present_held_out)),
        ("proposed, held out", *_weights(result.proposed), *_list_scores(result.proposed_held_out)),
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
