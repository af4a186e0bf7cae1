"""The tables `reinforcement_log` and `edge_walks`: every reinforcement of a block, every edge that an assembly walked.

Each with where it came from (AMGS §8.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, stored

if TYPE_CHECKING:
    from amgs.types import ReinforcementEvent


class ReinforcementStorage(StoragePart):
    """The log of reinforcements and walks."""

    def append(self, ids: Sequence[str], event_type: str, at: datetime, source: str) -> None:
        """Log one event for each block."""
        self._note(
            "INSERT INTO reinforcement_log SELECT unnest(?::VARCHAR[]), ?, ?, ?",
            [list(ids), event_type, stored(at), source],
        )

    def remove(self, block_id: str, event_type: str, at: datetime, source: str) -> None:
        """Take one event out of the log."""
        self._note(
            "DELETE FROM reinforcement_log WHERE rowid = (SELECT max(rowid) FROM reinforcement_log "
            "WHERE block_id = ? AND event_type = ? AND timestamp = ? AND source = ?)",
            [block_id, event_type, stored(at), source],
        )

    def of(self, block_id: str) -> tuple[ReinforcementEvent, ...]:
        """Return the events of one block, the oldest first."""
        rows = self._rows(
            "SELECT block_id, event_type, timestamp, source FROM reinforcement_log WHERE block_id = ? "
            "ORDER BY timestamp, event_type, source",
            [block_id],
        )
        from amgs.types import ReinforcementEvent

        return tuple(ReinforcementEvent(b, e, as_utc(t), s) for b, e, t, s in rows)

    def instants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Running number of the block and microseconds since 1970 of every event, the oldest first: (n,) each."""
        c = self._columns(
            "SELECT b.number AS number, epoch_us(l.timestamp) AS at FROM reinforcement_log l "
            "JOIN memory_blocks b ON b.id = l.block_id ORDER BY l.timestamp, b.number"
        )
        return np.asarray(c["number"], dtype=np.int64), np.asarray(c["at"], dtype=np.int64)

    def counts(self) -> dict[str, int]:
        """Return how often each block was reinforced; blocks without an event are missing."""
        return dict(self._rows("SELECT block_id, count(*) FROM reinforcement_log GROUP BY 1 ORDER BY 1"))

    def count(self, *, since: datetime) -> int:
        """Return how many events there were since an instant."""
        return self._count("SELECT count(*) FROM reinforcement_log WHERE timestamp >= ?", [stored(since)])

    def append_walks(self, keys: Sequence[tuple[str, str, str]], at: datetime, source: str) -> None:
        """Log one walk for each edge (source, target, relation)."""
        self._note(
            "INSERT INTO edge_walks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), ?, ?",
            [[k[0] for k in keys], [k[1] for k in keys], [k[2] for k in keys], stored(at), source],
        )

    def walks(self) -> dict[tuple[str, str, str], int]:
        """Return how often each edge (source, target, relation) led to a block that a verdict calls useful; edges that
        never did are missing.
        """
        rows = self._rows(
            "SELECT source_id, target_id, relation_type, count(*) FROM edge_forecasts "
            "JOIN calibration_log USING (prediction_id) WHERE actual >= 0.5 GROUP BY 1, 2, 3"
        )
        return {(s, t, r): n for s, t, r, n in rows}

    def uses(self) -> dict[str, frozenset[str]]:
        """Return the occasions on which each block was used, by block; a block that never was is missing. Two blocks
        that share an occasion were used together: a verdict calls both useful in one assembly, or they were reinforced
        together. Having been selected by the same frame is none.
        """
        # A verdict's own event says when it was given, not in which assembly: that is in the log of forecasts.
        rows = self._rows(
            "SELECT block_id, array_agg(DISTINCT occasion) FROM (SELECT block_id, assembly_id AS occasion FROM "
            "calibration_log WHERE actual >= 0.5 UNION ALL SELECT block_id, concat(source, ' ', epoch_us(timestamp)) "
            "FROM reinforcement_log WHERE event_type NOT IN ('assembled', 'useful')) AS used GROUP BY 1"
        )
        return {i: frozenset(s for s in occasions) for i, occasions in rows}

    def find_miscounted_blocks(self) -> tuple[str, ...]:
        """Return blocks whose counter disagrees with the log; empty in a sound store."""
        rows = self._rows(
            "SELECT b.id FROM memory_blocks b LEFT JOIN (SELECT block_id, count(*) AS n FROM reinforcement_log "
            "GROUP BY 1) l "
            "ON l.block_id = b.id WHERE b.reinforcements <> coalesce(l.n, 0) ORDER BY 1"
        )
        return tuple(row[0] for row in rows)
