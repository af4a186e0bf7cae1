"""The table `scores_cache`: the latest composite score of a block in a frame (AMGS §5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from amgs.storage.connection import SqlConnection, stored


class ScoreStorage:
    """Scores by frame and block."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, frame: str, scores: Mapping[str, float], at: datetime) -> None:
        """Write the scores of blocks in a frame, in place of older ones."""
        ids = list(scores)
        if not ids:
            return
        self._connection.execute(
            "DELETE FROM scores_cache WHERE frame_name = ? AND block_id IN (SELECT unnest(?::VARCHAR[]))",
            [frame, ids],
            structural=False,
        )
        self._connection.execute(
            "INSERT INTO scores_cache SELECT unnest(?::VARCHAR[]), ?, unnest(?::DOUBLE[]), ?",
            [ids, frame, [float(scores[i]) for i in ids], stored(at)],
            structural=False,
        )

    def get(self, frame: str) -> dict[str, float]:
        """The cached scores of a frame by block id."""
        found = self._connection.rows(
            "SELECT block_id, score FROM scores_cache WHERE frame_name = ? ORDER BY block_id", [frame]
        )
        return {str(i): float(s) for i, s in found}

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the cached scores of blocks."""
        self._connection.execute(
            "DELETE FROM scores_cache WHERE block_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(ids)],
            structural=False,
        )
