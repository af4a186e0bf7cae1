"""Log forecasts of usefulness with each frame, and settle them by verdicts (AMGS §7.3, §13.3).

A verdict also changes the confidence of the edges that led to the block. Verdicts are written as journalled operations,
so that they can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from amgs.calibration.brier import brier_score
from amgs.calibration.recalibrate import read_curve
from amgs.calibration.results import EdgeChange
from amgs.errors import UsageError
from amgs.log import journal
from amgs.log.reinforcement import reinforce
from amgs.storage.forecasts import EdgeVerdicts
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.text.plural import plural
from amgs.types import Candidate, Edge, EdgeKey, Frame, Outcome
from amgs.types.calibration import Usefulness

PRIOR_STRENGTH = 4.0
"""Number of verdicts that an edge's confidence c counts as: after h hits in n verdicts it is (4c + h) / (4 + n)."""


def edge_change(edge: Edge, seen: EdgeVerdicts) -> EdgeChange:
    """Return an edge's change of confidence after the verdicts on it: a hit raises it, a miss lowers it."""
    after = (edge.confidence * PRIOR_STRENGTH + seen.hits) / (PRIOR_STRENGTH + seen.count)
    return EdgeChange(edge, round(after, 4), seen.hits, seen.count)


def edge_changes(storage: Storage, predictions: Sequence[str] | None = None) -> tuple[EdgeChange, ...]:
    """Return the changes of edges by verdicts that are not yet counted.

    predictions: ids of forecasts; only edges that led to their blocks. None for all.
    """
    walked = storage.edge_forecasts.open_verdicts(predictions)
    edges = storage.edges.get([verdicts.key for verdicts in walked])
    return tuple(edge_change(edges[verdicts.key], verdicts) for verdicts in walked if verdicts.key in edges)


def write_edges(
    storage: Storage, planned: Iterable[EdgeChange], now: datetime
) -> tuple[list[JournalRow], list[EdgeKey]]:
    """Write the new confidences, and restart the decay of edges that led to a useful block (AMGS §8.4).

    Returns the journal's rows and the changed edges. The caller holds a transaction.
    """
    wanted = {change.edge.key: change for change in planned}
    edges = storage.edges.get(wanted)
    after = [
        replace(edge, confidence=change.after, last_reinforced_at=now if change.hits > 0 else edge.last_reinforced_at)
        for edge, change in ((edges[key], change) for key, change in wanted.items())
    ]
    storage.edges.put(after)
    return [journal.edge_row(edges[edge.key], edge) for edge in after], list(wanted)


def log_forecasts(
    storage: Storage, frame: Frame, selected: Sequence[Candidate], walked: Sequence[EdgeKey], curve: str | None
) -> None:
    """Log for each selected block a forecast: its composite score as the probability that it will be useful.

    curve: a calibration's map from scores to outcomes, as JSON; None before the first. walked: edges that led to blocks
    found through the graph; a verdict on such a block also counts for them.
    """
    first = storage.forecasts.next_serial()
    scores = [c.score for c in selected]
    predicted = _map_scores(curve, scores)
    forecasts = [
        Outcome(
            prediction_id=f"p{first + i}",
            predicted=predicted[i],
            actual=None,
            brier=None,
            at=frame.as_of,
            block_id=c.block.id,
            frame=frame.name,
            category=c.block.category,
        )
        for i, c in enumerate(selected)
    ]
    storage.forecasts.insert(forecasts, frame.id, first, None if curve is None else scores)
    reached = {c.block.id for c in selected if "graph" in c.layers}
    storage.edge_forecasts.insert(
        [(f.prediction_id, k) for f in forecasts if f.block_id in reached for k in walked if f.block_id in k[:2]]
    )


def forecast_scores(storage: Storage, scores: Sequence[float]) -> list[float]:
    """Return the probability of usefulness for composite scores: calibrated, or the scores themselves before the first
    calibration.
    """
    return _map_scores(storage.forecasts.curve(), scores)


def _map_scores(curve: str | None, scores: Sequence[float]) -> list[float]:
    mapped: list[float] = [] if curve is None else read_curve(curve).at(np.array(scores)).tolist()
    return list(scores) if curve is None else mapped


def usefulness(storage: Storage, ids: Sequence[str]) -> dict[str, Usefulness]:
    """Return the verdicts on these blocks, by id; blocks without a verdict are left out."""
    return {i: Usefulness(*counts) for i, counts in storage.forecasts.judged(ids).items()}


KIND = "feedback"
USEFUL = "useful"
"""The event of a block that a verdict calls useful."""


def record_verdict(
    storage: Storage,
    block_id: str,
    *,
    useful: bool,
    assembly_id: str | None,
    now: datetime,
    prediction_id: str | None = None,
) -> Outcome:
    """Settle the latest open forecast of a block, or the one named, and journal it. A useful block is reinforced, and
    the edges that led to it change at once.

    Raises UsageError when the block has no open forecast.
    """
    with storage.transaction():
        outcome = _decide_forecast(storage, block_id, useful, now, assembly_id, prediction_id)
        block = storage.blocks.get([block_id])[block_id]
        verdict = "useful" if useful else "useless"
        summary = f"“{block.title}” {verdict}, forecast {outcome.predicted:.2f}"
        rows = _reinforce_blocks(storage, [block_id], USEFUL, outcome.frame, now) if useful else []
        _write_operation(storage, now, summary, (), (outcome,), {row.key: row for row in rows})
        return outcome


def record_verdicts(
    storage: Storage,
    verdicts: Mapping[str, bool],
    *,
    reinforced: Sequence[str],
    event_type: str,
    source: str,
    now: datetime,
) -> tuple[Outcome, ...]:
    """Record several verdicts and reinforcements as a single operation. verdicts: whether each block was useful, by id;
    a useful one is reinforced once.

    Raises UsageError when a block has no open forecast, UnknownBlockError for an unknown block; nothing is written
    then.
    """
    with storage.transaction():
        rows = _reinforce_blocks(storage, reinforced, event_type, source, now)
        useful = [i for i, yes in verdicts.items() if yes and i not in reinforced]
        by_verdict = {row.key: row for row in _reinforce_blocks(storage, useful, USEFUL, source, now)}
        outcomes = tuple(_decide_forecast(storage, block_id, useful, now) for block_id, useful in verdicts.items())
        if rows or outcomes:
            summary = f"{plural(len(outcomes), 'verdict')}, {plural(len(rows), 'block')} reinforced, by {source}"
            _write_operation(storage, now, summary, rows, outcomes, by_verdict)
        return outcomes


def _reinforce_blocks(
    storage: Storage, ids: Sequence[str], event_type: str, source: str, now: datetime
) -> list[JournalRow]:
    """Reinforce blocks, each once, and return the journal's rows."""
    once = list(dict.fromkeys(ids))
    before = storage.blocks.get(once)
    reinforce(storage, once, event_type=event_type, source=source, now=now)
    return [journal.clock_row(before[i], event_type, now, source) for i in once]


def _write_operation(
    storage: Storage,
    now: datetime,
    summary: str,
    rows: Sequence[JournalRow],
    outcomes: Sequence[Outcome],
    reinforced: Mapping[str, JournalRow],
) -> None:
    """Journal an operation: its outcomes, its reinforcements and the edges that changed. reinforced: rows of the blocks
    reinforced by a verdict, by id.
    """
    planned = edge_changes(storage, [o.prediction_id for o in outcomes])
    of_edges, learned = write_edges(storage, planned, now)
    summary += f", {len(learned)} edge{'' if len(learned) == 1 else 's'} corrected" if learned else ""
    verdicts = [journal.verdict_row(o, reinforced.get(o.block_id)) for o in outcomes]
    entry = journal.write(storage, KIND, now, summary, [*rows, *verdicts, *of_edges])
    if learned:
        storage.edge_forecasts.count_in(entry.id, learned)


def _decide_forecast(
    storage: Storage,
    block_id: str,
    useful: bool,
    now: datetime,
    assembly_id: str | None = None,
    prediction_id: str | None = None,
) -> Outcome:
    """Write the outcome of an open forecast with its Brier score; raise UsageError where none is open."""
    forecast = storage.forecasts.open_forecast(block_id, assembly_id, prediction_id)
    if forecast is None:
        where = f" in assembly {assembly_id}" if assembly_id else ""
        raise UsageError(
            f"No forecast of block {block_id[:8]} is open{where}.",
            way_out="Assemble a frame that selects it; each assembly takes one verdict per block.",
        )
    actual = 1.0 if useful else 0.0
    score = brier_score(forecast.predicted, actual)
    storage.forecasts.decide(forecast.prediction_id, actual, score, now)
    return replace(forecast, actual=actual, brier=score, at=now)
