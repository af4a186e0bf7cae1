"""Plan a recalibration from verdicts, and apply it in a single journalled transaction (AMGS §7.3, §13.3).

It fits a curve from scores to outcomes, which later forecasts use, and changes the confidence of edges. The confidence
of a block's category stays, since no verdict is about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from amgs.calibration import coverage, forecasts
from amgs.calibration.recalibrate import Method, brier, fit, score_held_out_folds
from amgs.calibration.results import CalibrationPlan, EdgeChange, Fit
from amgs.errors import UsageError
from amgs.log import journal
from amgs.settings import CalibrationSettings
from amgs.storage.store import Storage
from amgs.text.plural import plural
from amgs.types import JournalEntry

KIND = "calibrate"


def plan(
    scores: Sequence[tuple[float, float]],
    edges: tuple[EdgeChange, ...],
    *,
    method: Method,
    settings: CalibrationSettings,
    now: datetime,
    change_counter: int,
) -> CalibrationPlan:
    """Plan a recalibration from all verdicts; changes nothing.

    A curve that does not lower the Brier score on held-out outcomes is not used. scores: (composite score, outcome) of
    every verdict. edges: changes that verdicts have not yet made. Raises UsageError for too few verdicts.
    """
    if len(scores) < settings.fewest_outcomes:
        raise UsageError(
            f"To calibrate, {settings.fewest_outcomes} outcomes are needed, and {len(scores)} are known.",
            title="Not enough outcomes",
            way_out="Judge more blocks first.",
            about="feedback",
        )
    return CalibrationPlan(method, len(scores), _forecast(scores, method), edges, now, change_counter)


def _forecast(scores: Sequence[tuple[float, float]], method: Method) -> Fit:
    """Return the curve from composite scores to outcomes."""
    predicted, actual = (np.array(column) for column in zip(*scores, strict=True))
    before, after = brier(predicted, actual), score_held_out_folds(predicted, actual, method)
    return Fit(before, after, after < before, fit(predicted, actual, method))


def plan_from_store(storage: Storage, method: Method, settings: CalibrationSettings, now: datetime) -> CalibrationPlan:
    """Return the plan for a store as it is now."""
    return plan(
        storage.forecasts.scored(),
        forecasts.edge_changes(storage),
        method=method,
        settings=settings,
        now=now,
        change_counter=storage.change_counter,
    )


def apply_plan(storage: Storage, proposal: CalibrationPlan, now: datetime) -> JournalEntry:
    """Apply a plan in a single transaction; raise UsageError when an edge's confidence has changed since."""
    with storage.transaction():
        edges = {c.edge.key: c for c in proposal.edges}
        stored_edges = storage.edges.get(edges)
        moved = [
            " ".join(k)
            for k, c in edges.items()
            if k not in stored_edges or stored_edges[k].confidence != c.edge.confidence
        ]
        if moved:
            raise UsageError(
                f"{plural(len(moved), 'edge')} changed since the plan was made, first that of {moved[0][:8]}.",
                title="The plan is out of date",
                way_out="Plan the calibration again.",
            )
        rows, learned = forecasts.write_edges(storage, proposal.edges, now)
        curve = "forecasts mapped" if proposal.forecast.used else "forecasts unchanged"
        summary = (
            f"{proposal.method} on {plural(proposal.outcomes, 'outcome')}: {curve}, {plural(len(learned), 'edge')}"
        )
        operation = journal.write(storage, KIND, now, summary, rows)
        if proposal.forecast.used:
            storage.forecasts.put_curve(operation.id, proposal.forecast.curve.to_json())
        if proposal.needs:
            storage.forecasts.put_needs(operation.id, coverage.to_json(proposal.needs))
        storage.edge_forecasts.count_in(operation.id, learned)
        return operation
