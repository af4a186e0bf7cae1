"""Learning from outcomes: `calibrate`, `calibration groups`, `metrics`, `monitor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amgs_tui.verbs.registry import Takes, verb

if TYPE_CHECKING:
    from amgs.calibration.results import Calibrated, CalibrationPlan, Metrics, Monitored, OutcomeGroups
    from amgs_tui.session import Session


@verb("calibration groups", summary="Show forecasts and outcomes by frame, category and relation type.")
def groups(session: Session) -> OutcomeGroups:
    """For each group: forecasts, outcomes, what was forecast and how often it came true, and the Brier score."""
    return session.memory.calibration.groups()


@verb("calibrate", summary="Recalibrate confidences by what came of the forecasts.", writes=True)
def calibrate(
    session: Session,
    *,
    method: Annotated[
        Literal["isotonic", "platt"], typer.Option("--method", help="The curve that is fitted.")
    ] = "isotonic",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and change nothing.")] = False,
) -> CalibrationPlan | Calibrated:
    """Fit a curve from confidence to outcome, category by category, and move the blocks' confidences along it.

    A curve is used only where it lowers the Brier score on outcomes it was not fitted on. Edges that were walked
    to a block judged useless lose confidence. The change is journalled: `undo` takes it back.
    """
    plan = session.memory.calibration.plan(method)
    return plan if dry_run else session.memory.calibration.apply(plan)


@verb("metrics", summary="Compute the six success metrics of the memory.", long=True)
def metrics(
    session: Session,
    *,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Labelled questions, for precision and recall."),
        Takes("file"),
    ] = None,
) -> Metrics:
    """Precision, recall, coherence, graph stability, Brier score and attention stability, each with its target.

    Precision and recall are told of all questions and of the held-out third apart. Nothing is reinforced.
    """
    from amgs.calibration.questions import load

    return session.memory.calibration.metrics(() if questions is None else load(questions), seed=session.seed)


@verb("monitor", summary="Look for drift of centrality, entropy and attention.", writes=True)
def monitor(
    session: Session,
    *,
    record: Annotated[bool, typer.Option("--record", help="Keep what is seen for the next look.")] = False,
) -> Monitored:
    """Show centrality drift since the last record, and entropy and stability of each frame, beside earlier records."""
    return session.memory.calibration.monitor(record=record)
