"""What a verdict on a block says of the edges that led to it: a single miss lowers their confidence (AMGS §7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.calibration.results import EdgeChange
from amgs.log import journal
from amgs.storage.forecasts import EdgeVerdicts
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.types import Edge, EdgeKey

PRIOR_STRENGTH = 4.0
"""How many verdicts an edge's present confidence c counts as: after h hits of n it is (4c + h) / (4 + n)."""


def change(edge: Edge, seen: EdgeVerdicts) -> EdgeChange:
    """The edge's new confidence: a miss lowers it, a hit raises it."""
    after = (edge.confidence * PRIOR_STRENGTH + seen.hits) / (PRIOR_STRENGTH + seen.count)
    return EdgeChange(edge, round(after, 4), seen.hits, seen.count)


def changes(storage: Storage, predictions: Sequence[str] | None = None) -> tuple[EdgeChange, ...]:
    """What the verdicts that no edge has learned from yet would change.

    predictions: only of the edges that led to these forecasts' blocks; None for all.
    """
    walked = storage.edge_forecasts.open_verdicts(predictions)
    edges = storage.edges.get([one.key for one in walked])
    return tuple(change(edges[one.key], one) for one in walked if one.key in edges)


def put(
    storage: Storage, planned: Iterable[EdgeChange], now: datetime
) -> tuple[list[JournalRow], list[EdgeKey]]:
    """Write the new confidences; the decay of an edge that led to something useful begins anew (AMGS §8.4). Gives the
    rows of the journal and the edges that learned. Within a transaction.
    """
    wanted = {one.edge.key: one for one in planned}
    found = storage.edges.get(wanted)
    after = [
        replace(
            edge, confidence=one.after, last_reinforced_at=now if one.hits > 0 else edge.last_reinforced_at
        )
        for edge, one in ((found[key], one) for key, one in wanted.items())
    ]
    storage.edges.put(after)
    return [journal.edge_row(found[edge.key], edge) for edge in after], list(wanted)
