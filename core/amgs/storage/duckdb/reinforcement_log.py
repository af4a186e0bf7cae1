"""The tables `reinforcement_log` and `edge_walks`.

Every reinforcement of a block and every edge that an assembly walked, with where it came from (AMGS §8.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.duckdb.connection import Store, stored
from amgs.types import ReinforcementEvent


def append(store: Store, ids: Sequence[str], event_type: str, at: datetime, source: str) -> None:
    """Log one event for each block."""
    store.execute(
        "INSERT INTO reinforcement_log SELECT unnest(?::VARCHAR[]), ?, ?, ?",
        [list(ids), event_type, stored(at), source],
        structural=False,
    )


def remove(store: Store, block_id: str, event_type: str, at: datetime, source: str) -> None:
    """Take one event out of the log."""
    store.execute(
        "DELETE FROM reinforcement_log WHERE rowid = (SELECT max(rowid) FROM reinforcement_log "
        "WHERE block_id = ? AND event_type = ? AND timestamp = ? AND source = ?)",
        [block_id, event_type, stored(at), source],
        structural=False,
    )


def of(store: Store, block_id: str) -> tuple[ReinforcementEvent, ...]:
    """The events of one block, the oldest first."""
    found = store.rows(
        "SELECT block_id, event_type, timestamp, source FROM reinforcement_log WHERE block_id = ? "
        "ORDER BY timestamp, event_type, source",
        [block_id],
    )
    return tuple(ReinforcementEvent(str(b), str(e), as_utc(t), str(s)) for b, e, t, s in found)


def instants(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Running number of the block and microseconds since 1970 of every event, the oldest first: (n,) each."""
    c = store.columns(
        "SELECT b.number AS number, epoch_us(l.timestamp) AS at FROM reinforcement_log l "
        "JOIN memory_blocks b ON b.id = l.block_id ORDER BY l.timestamp, b.number"
    )
    return np.asarray(c["number"], dtype=np.int64), np.asarray(c["at"], dtype=np.int64)


def counts(store: Store, ids: Iterable[str] | None = None) -> dict[str, int]:
    """How often each block was reinforced, of all blocks or of those named.

    Blocks without an event are missing.
    """
    condition = "" if ids is None else " WHERE block_id IN (SELECT unnest(?::VARCHAR[]))"
    found = store.rows(
        f"SELECT block_id, count(*) FROM reinforcement_log{condition} GROUP BY 1 ORDER BY 1",
        [] if ids is None else [list(ids)],
    )
    return {str(i): int(n) for i, n in found}


def count(store: Store, *, since: datetime) -> int:
    """How many events there were since an instant."""
    return int(store.value("SELECT count(*) FROM reinforcement_log WHERE timestamp >= ?", [stored(since)]))


def append_walks(store: Store, keys: Sequence[tuple[str, str, str]], at: datetime, source: str) -> None:
    """Log one walk for each edge (source, target, relation)."""
    store.execute(
        "INSERT INTO edge_walks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), ?, ?",
        [[k[0] for k in keys], [k[1] for k in keys], [k[2] for k in keys], stored(at), source],
        structural=False,
    )


def walks(store: Store) -> dict[tuple[str, str, str], int]:
    """How often each edge (source, target, relation) was walked; edges that never were are missing."""
    found = store.rows("SELECT source_id, target_id, relation_type, count(*) FROM edge_walks GROUP BY ALL")
    return {(str(s), str(t), str(r)): int(n) for s, t, r, n in found}


def assemblies(store: Store) -> dict[str, frozenset[str]]:
    """The assemblies that each block was part of, by block; a block without one is missing."""
    found = store.rows(
        "SELECT block_id, list(DISTINCT source) FROM reinforcement_log WHERE event_type = 'assembled' GROUP BY 1"
    )
    return {str(i): frozenset(str(s) for s in sources) for i, sources in found}


def miscounted(store: Store) -> tuple[str, ...]:
    """Blocks whose counter disagrees with the log; empty in a sound store."""
    found = store.rows(
        "SELECT b.id FROM memory_blocks b LEFT JOIN (SELECT block_id, count(*) AS n FROM reinforcement_log "
        "GROUP BY 1) l "
        "ON l.block_id = b.id WHERE b.reinforcements <> coalesce(l.n, 0) ORDER BY 1"
    )
    return tuple(str(row[0]) for row in found)
