"""Which picture shows a result: the same functions that the panes draw with, called with what the session
knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from amgs import types
from amgs.calibration import results as learned
from amgs.lifecycle.decay_preview import DecayPreview
from amgs.lifecycle.plan_editing import PlanDraft
from amgs.lifecycle.supersede import ReviewPlan
from amgs_app.operations import results
from amgs_app.operations import results_of_lifetime as of_lifetime
from amgs_app.render.figures import block as block_picture
from amgs_app.render.figures import (
    calibration,
    decay,
    focus,
    frame,
    graph,
    inbox,
    overview,
    plan,
    recalibration,
)
from amgs_app.row_fields import (
    listed,
    of_candidates,
    of_draft,
    of_falling,
    of_forecasts,
    of_operations,
    queued,
    shown,
    shown_neighbours,
)
from amgs_app.row_filter import Row, Sift
from amgs_focus import records, views

if TYPE_CHECKING:
    from rich.text import Text

    from amgs_app.operations.operation import Pane
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.session import Session

OPERATIONS = 100
"""Entries of the journal which a picture lists at most."""
FALLING = 500
"""Blocks that fade which a picture lists at most."""
BESIDE = 4
"""Curves of categories beside that of a block."""

Draw = Callable[["Session", Any, "Canvas"], "Text"]


def draw(session: Session, result: Any, canvas: Canvas) -> Text:
    """The picture of a result, exactly as large as the canvas.

    Raises TypeError for a result that no pane shows.
    """
    for kind, drawn in _PICTURES:
        if isinstance(result, kind):
            return drawn(session, result, canvas)
    raise TypeError(f"No pane shows a {type(result).__name__}.")


def _overview(session: Session, result: results.Overview, canvas: Canvas) -> Text:
    operations = session.memory.operations(OPERATIONS)
    return overview.overview(
        result.store,
        canvas,
        operations=operations,
        shown=_places(session, "overview", of_operations(operations, session.clock.now())),
        health=session.memory.health(),
        frame=session.last_frame,
        focus=result.focus,
    )


def _last_frame(session: Session, result: results.LastFrame, canvas: Canvas) -> Text:
    if result.frame is None:
        return frame.frame(None, canvas)
    return _frame(session, result.frame, canvas, result.verdicts)


def _inbox(session: Session, result: results.Inbox, canvas: Canvas) -> Text:
    return inbox.inbox(
        result.blocks,
        canvas,
        now=result.now,
        selected=session.selection,
        total=result.total,
        before=result.offset,
        oldest=result.oldest,
    )


def _plan(session: Session, result: types.ConsolidationPlan | PlanDraft, canvas: Canvas) -> Text:
    draft = PlanDraft(result) if isinstance(result, types.ConsolidationPlan) else result
    rows = _places(session, "inbox", of_draft(draft, session.clock.now()))
    titles = _titles_of_edges(session, (edge for item in draft.plan.items for edge in item.edges))
    return plan.plan(draft, canvas, selected=session.selection, titles=titles, shown=rows)


def _consolidated(session: Session, result: results.Consolidated, canvas: Canvas) -> Text:
    return _plan(session, result.plan, canvas)


def _block(session: Session, result: results.BlockDetail, canvas: Canvas) -> Text:
    edges = session.memory.edges(result.block.id)
    titles = _titles_of_edges(session, edges)
    return block_picture.block(result.block, canvas, now=session.clock.now(), edges=edges, titles=titles)


def _frame(
    session: Session, result: types.Frame, canvas: Canvas, verdicts: Mapping[str, float] | None = None
) -> Text:
    rows = _places(session, "frame", of_candidates(listed(result)))
    return frame.frame(result, canvas, selected=session.selection, shown=rows, verdicts=verdicts or {})


def _search(session: Session, result: types.SearchResult, canvas: Canvas) -> Text:
    rows = _places(session, "frame", of_candidates(result.hits))
    return frame.search(result, canvas, selected=session.selection, shown=rows)


def _neighbourhood(session: Session, result: types.Neighbourhood, canvas: Canvas) -> Text:
    sift = session.layout.sifts.get("graph", Sift())
    ids = shown_neighbours(result, sift) if sift else None
    return graph.neighbourhood(result, canvas, selected=session.selection, now=session.clock.now(), shown=ids)


def _inspection(session: Session, result: results.Inspection, canvas: Canvas) -> Text:
    return _neighbourhood(session, result.neighbourhood, canvas)


def _stats(session: Session, result: types.GraphStats, canvas: Canvas) -> Text:
    del session
    return graph.stats(result, canvas)


def _curve(session: Session, result: types.DecayCurve, canvas: Canvas) -> Text:
    days = max(result.hours, default=0.0) / 24
    lifecycle = session.memory.lifecycle
    forecast = lifecycle.forecast(days=days, limit=FALLING)
    beside = decay.series_of(lifecycle.category_curves(days=days), result.block.category, BESIDE)
    return _fading(session, canvas, forecast, curve=result, categories=beside, selected=result.block.id)


def _preview(session: Session, result: DecayPreview, canvas: Canvas) -> Text:
    block, days = result.now.block.id, max(result.now.hours, default=0.0) / 24
    supposed = types.Supposed(result.decay_lambda, block_id=block)
    forecast = session.memory.lifecycle.forecast(days=days, supposed=supposed, limit=FALLING)
    return _fading(session, canvas, forecast, curve=result.now, supposed=result.then, selected=block)


def _categories(session: Session, result: types.CategoryCurves, canvas: Canvas) -> Text:
    forecast = session.memory.lifecycle.forecast(days=result.days, limit=FALLING)
    return _fading(session, canvas, forecast, categories=decay.series_of(result), selected=session.selection)


def _forecast(session: Session, result: types.Forecast, canvas: Canvas) -> Text:
    return _fading(session, canvas, result, selected=session.selection)


def _fading(session: Session, canvas: Canvas, forecast: types.Forecast, **drawn: Any) -> Text:
    rows = _places(session, "decay", of_falling(forecast))
    return decay.decay(
        canvas, now=session.clock.now(), forecast=forecast, shown=rows, at_days=forecast.days, **drawn
    )


def _reliability(session: Session, result: types.Reliability, canvas: Canvas) -> Text:
    return calibration.calibration(
        result,
        canvas,
        now=session.clock.now(),
        **_cases(session, session.memory.calibration.cases(limit=500)),
    )


def _forecasts(session: Session, result: results.ForecastList, canvas: Canvas) -> Text:
    bins = result.bin[1] if result.bin is not None else 10
    kind, _, value = result.of.partition(" ")
    by: Any = kind or None
    table = session.memory.reliability(bins, by=by, value=value or None)
    chosen = result.bin[0] - 1 if result.bin is not None else None
    return calibration.calibration(
        table,
        canvas,
        now=result.now,
        chosen=chosen,
        of=result.of,
        **_cases(session, result.cases),
    )


def _cases(session: Session, cases: Sequence[types.ForecastCase]) -> dict[str, Any]:
    """The forecasts that the pane's filter leaves, with the cursor on the selection."""
    cases = queued(cases)
    places = _places(session, "calibration", of_forecasts(cases))
    shown = cases if places is None else [cases[place] for place in places]
    at = next((n for n, one in enumerate(shown) if one.outcome.block_id == session.selection), None)
    return {"cases": shown, "cursor": at, "every": None if places is None else len(cases)}


def _calibration_plan(session: Session, result: learned.CalibrationPlan, canvas: Canvas) -> Text:
    del session
    return recalibration.plan(result, canvas)


def _calibrated(session: Session, result: learned.Calibrated, canvas: Canvas) -> Text:
    del session
    return recalibration.plan(result.plan, canvas, operation=result.operation.id)


def _outcome(session: Session, result: types.Outcome, canvas: Canvas) -> Text:
    del result
    return _reliability(session, session.memory.reliability(), canvas)


def _view(session: Session, result: views.FocusView | None, canvas: Canvas) -> Text:
    return focus.focus(result, canvas, titles=_titles_of_view(session, result))


def _with_view(session: Session, result: Any, canvas: Canvas) -> Text:
    return _view(session, result.view, canvas)


def _why(session: Session, result: views.EntryExplanation, canvas: Canvas) -> Text:
    view = session.focus.snapshot()
    titles = _titles_of_view(session, view, result.sources)
    return focus.focus(view, canvas, selected=result.entry.position, why=result, titles=titles)


def _places(session: Session, pane: Pane, rows: Sequence[Row]) -> Sequence[int] | None:
    """The places of the rows that the pane's filter leaves, in its order; None where it has neither."""
    sift = session.layout.sifts.get(pane)
    return shown(pane, rows, sift) if sift else None


def _tokens(session: Session, result: records.TokenSpan, canvas: Canvas) -> Text:
    view = session.focus.snapshot()
    zoom = max(1.0, view.lifetime / max(1, len(result.texts)))
    titles = _titles_of_view(session, view, result.sources)
    return focus.focus(view, canvas, zoom=zoom, offset=result.start, titles=titles, tokens=result)


def _titles_of_edges(session: Session, edges: Iterable[types.Edge]) -> dict[str, str]:
    """The titles of the blocks at the ends of edges, by id."""
    return session.memory.titles({end for edge in edges for end in (edge.source_id, edge.target_id)})


def _titles_of_view(
    session: Session, view: views.FocusView | None, more: Sequence[records.SpanSource] = ()
) -> dict[str, str]:
    """The titles of the blocks that a working context comes from, by id."""
    ids = {one.source for one in more}
    if view is not None:
        ids |= {one.source for one in view.sources} | {one.source for one in view.entries}
    return session.memory.titles({one for one in ids if one})


def _current(name: str) -> Draw:
    """Draws the pane of another command as it stands now: a report has no picture of its own."""

    def drawn(session: Session, result: Any, canvas: Canvas) -> Text:
        from amgs_app.operations.standard import standard

        del result
        call = standard().call(name)
        return draw(session, call.run(session), canvas)

    return drawn


_PICTURES: tuple[tuple[type, Draw], ...] = (
    (results.Overview, _overview),
    (types.Health, _current("status")),
    (types.JournalEntryDetail, _current("status")),
    (types.JournalEntry, _current("status")),
    (results.OperationList, _current("status")),
    (types.IngestReport, _current("inbox list")),
    (results.ReviewList, _current("inbox list")),
    (ReviewPlan, _current("inbox list")),
    (results.FrameList, _current("frame last")),
    (learned.OutcomeGroups, _current("calibration table")),
    (results.LastFrame, _last_frame),
    (results.Inbox, _inbox),
    (results.Consolidated, _consolidated),
    (results.BlockDetail, _block),
    (results.Inspection, _inspection),
    (results.Opened, _with_view),
    (results.Stepped, _with_view),
    (results.Steered, _with_view),
    (results.Measured, _with_view),
    (results.SettingChanged, _with_view),
    (results.BranchList, _with_view),
    (of_lifetime.Forgotten, _with_view),
    (of_lifetime.Brought, _with_view),
    (of_lifetime.Purged, _with_view),
    (of_lifetime.Rebuilt, _with_view),
    (of_lifetime.CorpusRead, _with_view),
    (types.ConsolidationPlan, _plan),
    (PlanDraft, _plan),
    (types.Frame, _frame),
    (types.SearchResult, _search),
    (types.Neighbourhood, _neighbourhood),
    (types.GraphStats, _stats),
    (types.DecayCurve, _curve),
    (types.Forecast, _forecast),
    (types.CategoryCurves, _categories),
    (DecayPreview, _preview),
    (types.Reliability, _reliability),
    (results.ForecastList, _forecasts),
    (learned.CalibrationPlan, _calibration_plan),
    (learned.Calibrated, _calibrated),
    (types.Outcome, _outcome),
    (views.FocusView, _view),
    (results.LastRun, lambda session, _, canvas: _view(session, session.focus_view, canvas)),
    (results.Resumed, lambda session, result, canvas: _view(session, result.view, canvas)),
    (results.RunPosition, lambda session, result, canvas: _view(session, result.view, canvas)),
    (views.EntryExplanation, _why),
    (records.TokenSpan, _tokens),
)
