"""The table `edge_forecasts`: the edges by which the block of a forecast was reached (AMGS §7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amgs.storage.duckdb.connection import Store
from amgs.storage.duckdb.edges import Key


def insert(store: Store, walked: Iterable[tuple[str, Key]]) -> None:
    """Log (prediction id, key of an edge walked to its block)."""
    rows = list(walked)
    if not rows:
        return
    store.execute(
        "INSERT INTO edge_forecasts SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
        "unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), NULL",
        [[p for p, _ in rows], *([key[place] for _, key in rows] for place in range(3))],
        structural=False,
    )


@dataclass(frozen=True, slots=True)
class Walked:
    """An edge and the verdicts on what it led to that nothing has learned from yet."""

    key: Key
    hits: float
    count: int


def open_verdicts(store: Store) -> tuple[Walked, ...]:
    """Per edge: the sum of the outcomes and how many. What a standing operation counted is left out."""
    found = store.rows(
        "SELECT e.source_id, e.target_id, e.relation_type, sum(c.actual), count(*) FROM edge_forecasts e "
        "JOIN calibration_log c USING (prediction_id) LEFT JOIN operations o ON o.id = e.counted "
        "WHERE c.actual IS NOT NULL AND coalesce(o.undone, true) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    return tuple(Walked((str(s), str(t), str(r)), float(h), int(n)) for s, t, r, h, n in found)


def count_in(store: Store, operation: int, keys: Sequence[Key]) -> None:
    """Note that an operation has learned from the open verdicts on these edges."""
    store.execute(
        "UPDATE edge_forecasts SET counted = ? WHERE prediction_id IN (SELECT prediction_id FROM "
        "calibration_log WHERE actual IS NOT NULL) AND concat(source_id, ' ', target_id, ' ', relation_type) "
        "IN (SELECT unnest(?::VARCHAR[])) AND (counted IS NULL OR counted IN (SELECT id FROM operations "
        "WHERE undone))",
        [operation, [" ".join(key) for key in keys]],
        structural=False,
    )
