"""Recalibration of confidences: a plan, then one transaction with its journal entry (AMGS §7.3, §13.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from amgs.calibration import edges as learning
from amgs.calibration.recalibrate import Method, brier, fit, held_out_brier
from amgs.calibration.results import CalibrationPlan, ConfidenceChange, EdgeChange, Fit
from amgs.errors import UsageError
from amgs.log import journal
from amgs.settings import CalibrationSettings
from amgs.storage.protocol import Storage
from amgs.text.plural import plural
from amgs.types import Block, BlockFilter, JournalEntry

KIND = "calibrate"
_REST = ""
_LEAST, _MOST = 0.02, 0.98
_SMALLEST_CHANGE = 0.005

Verdict = tuple[str, float]
"""A block's id and what came of a forecast about it, in [0, 1]."""


def plan(
    blocks: Sequence[Block],
    verdicts: Sequence[Verdict],
    scores: Sequence[tuple[float, float]],
    edges: tuple[EdgeChange, ...],
    *,
    method: Method,
    settings: CalibrationSettings,
    now: datetime,
    change_counter: int,
) -> CalibrationPlan:
    """What recalibration would do, given the consolidated blocks and all verdicts; changes nothing.

    A category with enough verdicts has its own curve, the others share one; a curve that does not lower the Brier
    score on outcomes it was not fitted on is not used.
    scores: (composite score, outcome) of every verdict. edges: what is left for edges to learn. Raises UsageError for
    too few verdicts.
    """
    if len(verdicts) < settings.fewest_outcomes:
        raise UsageError(
            f"{len(verdicts)} outcomes are too few to calibrate; {settings.fewest_outcomes} are needed.",
            title="Not enough outcomes",
            way_out="Judge more blocks first.",
            about="feedback",
        )
    by_id = {b.id: b for b in blocks}
    known = [(by_id[i], actual) for i, actual in verdicts if i in by_id]
    fits = _fits(known, method, settings.fewest_outcomes)
    changes = [c for c in (_change(b, fits) for b in blocks) if c is not None]
    return CalibrationPlan(
        method,
        len(verdicts),
        _forecast(scores, method),
        tuple(fits.values()),
        tuple(changes),
        edges,
        now,
        change_counter,
    )


def _fits(known: Sequence[tuple[Block, float]], method: Method, fewest: int) -> dict[str, Fit]:
    groups: dict[str, list[tuple[Block, float]]] = {}
    for block, actual in known:
        groups.setdefault(block.category, []).append((block, actual))
    own = {name: pairs for name, pairs in groups.items() if len(pairs) >= fewest}
    rest = [pair for name, pairs in groups.items() if name not in own for pair in pairs]
    if rest and len(rest) >= fewest:
        own[_REST] = rest
    return {name: _fit(name, pairs, method) for name, pairs in sorted(own.items())}


def _fit(category: str, pairs: Sequence[tuple[Block, float]], method: Method) -> Fit:
    predicted = np.array([block.confidence for block, _ in pairs])
    actual = np.array([one for _, one in pairs])
    before, after = brier(predicted, actual), held_out_brier(predicted, actual, method)
    curve = fit(predicted, actual, method)
    return Fit(category, len(pairs), before, after, after < before, curve)


def _forecast(scores: Sequence[tuple[float, float]], method: Method) -> Fit:
    """The curve from composite scores to outcomes."""
    predicted, actual = (np.array(column) for column in zip(*scores, strict=True))
    before, after = brier(predicted, actual), held_out_brier(predicted, actual, method)
    return Fit("forecasts", len(scores), before, after, after < before, fit(predicted, actual, method))


def _change(block: Block, fits: Mapping[str, Fit]) -> ConfidenceChange | None:
    chosen = fits.get(block.category, fits.get(_REST))
    if chosen is None or not chosen.used:
        return None
    mapped = float(chosen.curve.at(np.array([block.confidence]))[0])
    after = round(min(_MOST, max(_LEAST, mapped)), 4)
    if abs(after - block.confidence) < _SMALLEST_CHANGE:
        return None
    return ConfidenceChange(block.id, block.title, block.category, block.confidence, after)


def make(storage: Storage, method: Method, settings: CalibrationSettings, now: datetime) -> CalibrationPlan:
    """The plan for a store as it stands."""
    decided = storage.forecasts.decided()
    verdicts = [(o.block_id, o.actual) for o in reversed(decided) if o.actual is not None]
    return plan(
        storage.blocks.select(BlockFilter(), order="arrival"),
        verdicts,
        storage.forecasts.scored(),
        learning.changes(storage, settings.prior_strength),
        method=method,
        settings=settings,
        now=now,
        change_counter=storage.change_counter,
    )


def apply(storage: Storage, proposal: CalibrationPlan, now: datetime) -> JournalEntry:
    """Carry a plan out in one transaction; raises UsageError when a confidence of it has changed since."""
    wanted = {c.block_id: c for c in proposal.blocks}
    with storage.transaction():
        before = storage.blocks.get(wanted)
        moved = [i for i, c in wanted.items() if i not in before or before[i].confidence != c.before]
        edges = {c.edge.key: c for c in proposal.edges}
        found = storage.edges.get(edges)
        moved += [
            " ".join(k)
            for k, c in edges.items()
            if k not in found or found[k].confidence != c.edge.confidence
        ]
        if moved:
            raise UsageError(
                f"{len(moved)} confidences have changed since the plan was made, first that of {moved[0][:8]}.",
                title="The plan is out of date",
                way_out="Plan the calibration again.",
            )
        after = [replace(before[i], confidence=c.after) for i, c in wanted.items()]
        storage.blocks.update(after)
        of_edges, learned = learning.put(storage, proposal.edges)
        rows = [journal.block_row(before[b.id], b) for b in after] + of_edges
        summary = (
            f"{proposal.method} on {plural(proposal.outcomes, 'outcome')}: "
            f"{plural(len(after), 'block')}, {plural(len(learned), 'edge')}"
        )
        operation = journal.write(storage, KIND, now, summary, rows)
        if proposal.forecast.used:
            storage.forecasts.put_curve(operation.id, proposal.forecast.curve.to_json())
        storage.edge_forecasts.count_in(operation.id, learned)
        return operation
