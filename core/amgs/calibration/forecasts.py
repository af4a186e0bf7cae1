"""Forecasts are logged when a frame is assembled; a verdict gives their outcome (AMGS §7.3, §13.3), and says of the
edges that led to the block: a single miss lowers their confidence.
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
"""How many verdicts an edge's present confidence c counts as: after h hits of n it is (4c + h) / (4 + n)."""


def edge_change(edge: Edge, seen: EdgeVerdicts) -> EdgeChange:
    """Return the edge's new confidence: a miss lowers it, a hit raises it."""
    after = (edge.confidence * PRIOR_STRENGTH + seen.hits) / (PRIOR_STRENGTH + seen.count)
    return EdgeChange(edge, round(after, 4), seen.hits, seen.count)


def edge_changes(storage: Storage, predictions: Sequence[str] | None = None) -> tuple[EdgeChange, ...]:
    """Return what the verdicts that no edge has learned from yet would change.

    predictions: only of the edges that led to these forecasts' blocks; None for all.
    """
    walked = storage.edge_forecasts.open_verdicts(predictions)
    edges = storage.edges.get([verdicts.key for verdicts in walked])
    return tuple(edge_change(edges[verdicts.key], verdicts) for verdicts in walked if verdicts.key in edges)


def put_edges(storage: Storage, planned: Iterable[EdgeChange], now: datetime) -> tuple[list[JournalRow], list[EdgeKey]]:
    """Write the new confidences; the decay of an edge that led to something useful begins anew (AMGS §8.4). Gives the
    rows of the journal and the edges that learned. Within a transaction.
    """
    wanted = {change.edge.key: change for change in planned}
    edges = storage.edges.get(wanted)
    after = [
        replace(edge, confidence=change.after, last_reinforced_at=now if change.hits > 0 else edge.last_reinforced_at)
        for edge, change in ((edges[key], change) for key, change in wanted.items())
    ]
    storage.edges.put(after)
    return [journal.edge_row(edges[edge.key], edge) for edge in after], list(wanted)


def log(
    storage: Storage, frame: Frame, selected: Sequence[Candidate], walked: Sequence[EdgeKey], curve: str | None
) -> None:
    """Log the composite score of each selected block as the probability that it will prove useful.

    curve: fitted from scores to outcomes by a calibration, as JSON, along which scores are mapped; None before one.
    walked: edges by which blocks found through the graph were reached; a verdict on such a block is one on them.
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


def of_scores(storage: Storage, scores: Sequence[float]) -> list[float]:
    """Return what the memory forecasts for composite scores now: themselves, or what verdicts have made of them."""
    return _map_scores(storage.forecasts.curve(), scores)


def _map_scores(curve: str | None, scores: Sequence[float]) -> list[float]:
    mapped: list[float] = [] if curve is None else read_curve(curve).at(np.array(scores)).tolist()
    return list(scores) if curve is None else mapped


def usefulness(storage: Storage, ids: Sequence[str]) -> dict[str, Usefulness]:
    """Return what verdicts say of these blocks; one without a verdict is left out: nothing is known of it."""
    return {i: Usefulness(*counts) for i, counts in storage.forecasts.judged(ids).items()}


KIND = "feedback"
USEFUL = "useful"
"""The event of a block that a verdict calls useful."""


def decide(
    storage: Storage,
    block_id: str,
    *,
    useful: bool,
    assembly_id: str | None,
    now: datetime,
    prediction_id: str | None = None,
) -> Outcome:
    """Give the latest open forecast of a block, or the one named, its outcome, journalled. A useful block is
    reinforced, and the edges that led to it learn from the verdict at once.

    Raises UsageError when none is open.
    """
    with storage.transaction():
        outcome = _decide_forecast(storage, block_id, useful, now, assembly_id, prediction_id)
        block = storage.blocks.get([block_id])[block_id]
        verdict = "useful" if useful else "useless"
        summary = f"“{block.title}” {verdict}, forecast {outcome.predicted:.2f}"
        rows = _reinforce_blocks(storage, [block_id], USEFUL, outcome.frame, now) if useful else []
        _write(storage, now, summary, (), (outcome,), {row.key: row for row in rows})
        return outcome


def settle(
    storage: Storage,
    verdicts: Mapping[str, bool],
    *,
    reinforced: Sequence[str],
    event_type: str,
    source: str,
    now: datetime,
) -> tuple[Outcome, ...]:
    """Return several verdicts and reinforcements of blocks as one operation. verdicts: whether each block was useful;
    one that was is reinforced, once.

    Raises UsageError when a forecast is not open, UnknownBlockError for a block there is not; nothing is written then.
    """
    with storage.transaction():
        rows = _reinforce_blocks(storage, reinforced, event_type, source, now)
        useful = [i for i, yes in verdicts.items() if yes and i not in reinforced]
        by_verdict = {row.key: row for row in _reinforce_blocks(storage, useful, USEFUL, source, now)}
        outcomes = tuple(_decide_forecast(storage, block_id, useful, now) for block_id, useful in verdicts.items())
        if rows or outcomes:
            summary = f"{plural(len(outcomes), 'verdict')}, {plural(len(rows), 'block')} reinforced, by {source}"
            _write(storage, now, summary, rows, outcomes, by_verdict)
        return outcomes


def _reinforce_blocks(
    storage: Storage, ids: Sequence[str], event_type: str, source: str, now: datetime
) -> list[JournalRow]:
    """Reinforce blocks; gives the rows of the journal."""
    once = list(dict.fromkeys(ids))
    before = storage.blocks.get(once)
    reinforce(storage, once, event_type=event_type, source=source, now=now)
    return [journal.clock_row(before[i], event_type, now, source) for i in once]


def _write(
    storage: Storage,
    now: datetime,
    summary: str,
    rows: Sequence[JournalRow],
    outcomes: Sequence[Outcome],
    reinforced: Mapping[str, JournalRow],
) -> None:
    """Write the operation of these outcomes, with what the edges learned from them. reinforced: rows of the blocks that
    a verdict reinforced, by id.
    """
    planned = edge_changes(storage, [o.prediction_id for o in outcomes])
    of_edges, learned = put_edges(storage, planned, now)
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
