"""Taking back what happened later in a copy of the store: SQL of `amgs.frames.as_of`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.clock import as_utc, parse_instant
from amgs.storage.duckdb import blocks as stored_blocks
from amgs.storage.duckdb import edges as stored_edges
from amgs.storage.duckdb.connection import Store, stored
from amgs.storage.duckdb.edges import Key


def later_operations(store: Store, at: datetime, last: int | None) -> tuple[int, ...]:
    """Operations that stand and came after the last one that counts, or after the instant; newest first."""
    condition, given = ("timestamp > ?", stored(at)) if last is None else ("id > ?", last)
    found = store.rows(
        f"SELECT id FROM operations WHERE NOT undone AND {condition} ORDER BY id DESC", [given]
    )
    return tuple(int(row[0]) for row in found)


def drop_later_blocks(store: Store, at: datetime, last: int | None) -> None:
    """Take out blocks that came after the last one that counts, or were created after the instant."""
    condition, given = ("created_at > ?", stored(at)) if last is None else ("number > ?", last)
    ids = [str(row[0]) for row in store.rows(f"SELECT id FROM memory_blocks WHERE {condition}", [given])]
    if ids:
        stored_edges.delete(store, [stored_edges.key(e) for e in stored_edges.touching(store, ids)])
        stored_blocks.delete(store, ids)


def rewind_reinforcement(store: Store, at: datetime, kept: Mapping[str, int]) -> None:
    """Take out later events, and put the clock and the counter of each block that had some to what is left.

    kept: for a source of events at the very instant, how many of its events a block keeps; others keep all.
    """
    store.execute(
        "CREATE TEMP TABLE late AS SELECT rowid AS place, block_id FROM reinforcement_log WHERE timestamp > ? "
        "UNION ALL SELECT r.place, r.block_id FROM (SELECT rowid AS place, block_id, source, row_number() "
        "OVER (PARTITION BY block_id, source ORDER BY rowid) AS nth FROM reinforcement_log WHERE timestamp = "
        "?) r JOIN (SELECT unnest(?::VARCHAR[]) AS source, unnest(?::BIGINT[]) AS keeps) k USING (source) "
        "WHERE r.nth > k.keeps",
        [stored(at), stored(at), list(kept), list(kept.values())],
    )
    store.execute("DELETE FROM reinforcement_log WHERE rowid IN (SELECT place FROM late)")
    store.execute(
        "UPDATE memory_blocks SET reinforcements = s.n, last_reinforced_at = greatest(created_at, "
        "coalesce(s.latest, created_at)) FROM (SELECT l.block_id, count(r.block_id) AS n, max(r.timestamp) AS "
        "latest FROM (SELECT DISTINCT block_id FROM late) l LEFT JOIN reinforcement_log r USING (block_id) "
        "GROUP BY 1) AS s WHERE memory_blocks.id = s.block_id"
    )
    store.execute("DROP TABLE late")


def set_edge_clocks(store: Store, keys: Sequence[Key], walked: Mapping[Key, datetime]) -> None:
    """Put the clocks of edges to their last walk, or to what they were made with."""
    edges = stored_edges.get(store, keys)
    made = _clocks_when_made(store, [key for key in edges if key not in walked])
    stored_edges.put(
        store,
        [
            replace(edge, last_reinforced_at=walked.get(key, made.get(key, edge.created_at)))
            for key, edge in edges.items()
        ],
    )


def _clocks_when_made(store: Store, keys: Sequence[Key]) -> dict[Key, datetime]:
    """The clock that the journal gives for edges when an operation made them."""
    found = store.rows(
        "SELECT key, after::VARCHAR FROM operation_rows WHERE target = 'edge' AND before IS NULL AND "
        "key IN (SELECT unnest(?::VARCHAR[])) ORDER BY operation_id",
        [[" ".join(key) for key in keys]],
    )
    clocks: dict[Key, datetime] = {}
    for key, after in found:
        source, target, relation = str(key).split(" ", 2)
        clocks[(source, target, relation)] = as_utc(parse_instant(json.loads(after)["last_reinforced_at"]))
    return clocks
