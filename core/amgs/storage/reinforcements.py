"""Tables `reinforcement_log` and `edge_walks`: every reinforcement of a block and every edge that an assembly walked,
with its origin (AMGS §8.4).
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
        """Log one event per block."""
        self._note(
            "INSERT INTO reinforcement_log SELECT unnest(?::VARCHAR[]), ?, ?, ?",
            [list(ids), event_type, stored(at), source],
        )

    def remove(self, block_id: str, event_type: str, at: datetime, source: str) -> None:
        """Delete one event."""
        self._note(
            "DELETE FROM reinforcement_log WHERE rowid = (SELECT max(rowid) FROM reinforcement_log "
            "WHERE block_id = ? AND event_type = ? AND timestamp = ? AND source = ?)",
            [block_id, event_type, stored(at), source],
        )

    def of(self, block_id: str) -> tuple[ReinforcementEvent, ...]:
        """Return the events of a block, oldest first."""
        rows = self._rows(
            "SELECT block_id, event_type, timestamp, source FROM reinforcement_log WHERE block_id = ? "
            "ORDER BY timestamp, event_type, source",
            [block_id],
        )
        from amgs.types import ReinforcementEvent

        return tuple(ReinforcementEvent(b, e, as_utc(t), s) for b, e, t, s in rows)

    def instants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return running number of the block, and time in microseconds since 1970, of every event, oldest first: (n,)
        each.
        """
        c = self._columns(
            "SELECT b.number AS number, epoch_us(l.timestamp) AS at FROM reinforcement_log l "
            "JOIN memory_blocks b ON b.id = l.block_id ORDER BY l.timestamp, b.number"
        )
        return np.asarray(c["number"], dtype=np.int64), np.asarray(c["at"], dtype=np.int64)

    def counts(self) -> dict[str, int]:
        """Count the events by block; blocks without any are left out."""
        return dict(self._rows("SELECT block_id, count(*) FROM reinforcement_log GROUP BY 1 ORDER BY 1"))

    def count(self, *, since: datetime) -> int:
        """Count the events since a time."""
        return self._count("SELECT count(*) FROM reinforcement_log WHERE timestamp >= ?", [stored(since)])

    def append_walks(self, keys: Sequence[tuple[str, str, str]], at: datetime, source: str) -> None:
        """Log one walk per edge (source, target, relation)."""
        self._note(
            "INSERT INTO edge_walks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), ?, ?",
            [[k[0] for k in keys], [k[1] for k in keys], [k[2] for k in keys], stored(at), source],
        )

    def walks(self) -> dict[tuple[str, str, str], int]:
        """Count how often each edge led to a block that a verdict called useful; others are left out."""
        rows = self._rows(
            "SELECT source_id, target_id, relation_type, count(*) FROM edge_forecasts "
            "JOIN calibration_log USING (prediction_id) WHERE actual >= 0.5 GROUP BY 1, 2, 3"
        )
        return {(s, t, r): n for s, t, r, n in rows}

    def uses(self) -> dict[str, frozenset[str]]:
        """Return the occasions on which each block was used; blocks never used are left out.

        Blocks that share an occasion were used together: called useful in one assembly, or reinforced together. Being
        selected for the same frame does not count.
        """
        # The event of a verdict has a time but no assembly, so verdicts are taken from the log of forecasts.
        rows = self._rows(
            "SELECT block_id, array_agg(DISTINCT occasion) FROM (SELECT block_id, assembly_id AS occasion FROM "
            "calibration_log WHERE actual >= 0.5 UNION ALL SELECT block_id, concat(source, ' ', epoch_us(timestamp)) "
            "FROM reinforcement_log WHERE event_type NOT IN ('assembled', 'useful')) AS used GROUP BY 1"
        )
        return {i: frozenset(s for s in occasions) for i, occasions in rows}

    def find_miscounted_blocks(self) -> tuple[str, ...]:
        """Return ids of blocks whose counter differs from the log; empty in a sound store."""
        rows = self._rows(
            "SELECT b.id FROM memory_blocks b LEFT JOIN (SELECT block_id, count(*) AS n FROM reinforcement_log "
            "GROUP BY 1) l "
            "ON l.block_id = b.id WHERE b.reinforcements <> coalesce(l.n, 0) ORDER BY 1"
        )
        return tuple(row[0] for row in rows)
