"""The table `edge_forecasts`: the edges by which the block of a forecast was reached (AMGS §7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amgs.storage.connection import SqlConnection
from amgs.types import EdgeKey


@dataclass(frozen=True, slots=True)
class EdgeVerdicts:
    """An edge and the verdicts on what it led to that nothing has learned from yet."""

    key: EdgeKey
    hits: float
    count: int


class EdgeForecastStorage:
    """Which edges led to the block of a forecast, and what verdicts say of them."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def insert(self, walked: Iterable[tuple[str, EdgeKey]]) -> None:
        """Log (prediction id, key of an edge walked to its block)."""
        rows = list(walked)
        if not rows:
            return
        self._connection.execute(
            "INSERT INTO edge_forecasts SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), NULL",
            [[p for p, _ in rows], *([key[place] for _, key in rows] for place in range(3))],
            structural=False,
        )

    def open_verdicts(self, predictions: Sequence[str] | None = None) -> tuple[EdgeVerdicts, ...]:
        """Per edge: the sum of the outcomes and how many. What a standing operation counted is left out.

        predictions: only edges by which the blocks of these forecasts were reached; None for all.
        """
        only = (
            ""
            if predictions is None
            else "JOIN (SELECT DISTINCT source_id, target_id, relation_type FROM edge_forecasts WHERE prediction_id IN "
            "(SELECT unnest(?::VARCHAR[]))) AS p ON p.source_id = e.source_id AND p.target_id = e.target_id AND "
            "p.relation_type = e.relation_type "
        )
        found = self._connection.rows(
            "SELECT e.source_id, e.target_id, e.relation_type, sum(c.actual), count(*) FROM edge_forecasts e "
            f"{only}JOIN calibration_log c ON c.prediction_id = e.prediction_id "
            "LEFT JOIN operations o ON o.id = e.counted "
            "WHERE c.actual IS NOT NULL AND coalesce(o.undone, true) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            [] if predictions is None else [list(predictions)],
        )
        return tuple(EdgeVerdicts((str(s), str(t), str(r)), float(h), int(n)) for s, t, r, h, n in found)

    def count_in(self, operation: int, keys: Sequence[EdgeKey]) -> None:
        """Note that an operation has learned from the open verdicts on these edges."""
        self._connection.execute(
            "UPDATE edge_forecasts SET counted = ? WHERE prediction_id IN (SELECT prediction_id FROM "
            "calibration_log WHERE actual IS NOT NULL) AND concat(source_id, ' ', target_id, ' ', relation_type) "
            "IN (SELECT unnest(?::VARCHAR[])) AND (counted IS NULL OR counted IN (SELECT id FROM operations "
            "WHERE undone))",
            [operation, [" ".join(key) for key in keys]],
            structural=False,
        )
