"""Taking back what happened later, in a copy of the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.clock import as_utc, parse_instant
from amgs.storage.connection import StoragePart, stored
from amgs.storage.store import Storage
from amgs.types import EdgeKey


class AsOfStorage(StoragePart):
    """The store wound back to an instant; only ever asked of a copy."""

    def __init__(self, store: Storage) -> None:
        super().__init__(store)
        self._blocks, self._edges = store.blocks, store.edges

    def later_operations(self, at: datetime, last: int | None) -> tuple[int, ...]:
        """Operations that stand and came after the last one that counts, or after the instant; newest first."""
        condition, given = ("timestamp > ?", stored(at)) if last is None else ("id > ?", last)
        found = self._rows(f"SELECT id FROM operations WHERE NOT undone AND {condition} ORDER BY id DESC", [given])
        return tuple(int(row[0]) for row in found)

    def drop_later_blocks(self, at: datetime, last: int | None) -> None:
        """Take out blocks that came after the last one that counts, or were created after the instant."""
        condition, given = ("created_at > ?", stored(at)) if last is None else ("number > ?", last)
        ids = [str(row[0]) for row in self._rows(f"SELECT id FROM memory_blocks WHERE {condition}", [given])]
        if ids:
            self._edges.delete([e.key for e in self._edges.touching(ids)])
            self._blocks.delete(ids)

    def rewind_reinforcement(self, at: datetime, kept: Mapping[str, int]) -> None:
        """Take out later events, and put the clock and the counter of each block that had some to what is left.

        kept: for a source of events at the very instant, how many of its events a block keeps; others keep all.
        """
        self._execute(
            "CREATE TEMP TABLE late AS SELECT rowid AS place, block_id FROM reinforcement_log WHERE timestamp > ? "
            "UNION ALL SELECT r.place, r.block_id FROM (SELECT rowid AS place, block_id, source, row_number() "
            "OVER (PARTITION BY block_id, source ORDER BY rowid) AS nth FROM reinforcement_log WHERE timestamp = "
            "?) r JOIN (SELECT unnest(?::VARCHAR[]) AS source, unnest(?::BIGINT[]) AS keeps) k USING (source) "
            "WHERE r.nth > k.keeps",
            [stored(at), stored(at), list(kept), list(kept.values())],
        )
        self._execute("DELETE FROM reinforcement_log WHERE rowid IN (SELECT place FROM late)")
        self._execute(
            "UPDATE memory_blocks SET reinforcements = s.n, last_reinforced_at = greatest(created_at, "
            "coalesce(s.latest, created_at)) FROM (SELECT l.block_id, count(r.block_id) AS n, max(r.timestamp) AS "
            "latest FROM (SELECT DISTINCT block_id FROM late) l LEFT JOIN reinforcement_log r USING (block_id) "
            "GROUP BY 1) AS s WHERE memory_blocks.id = s.block_id"
        )
        self._execute("DROP TABLE late")

    def set_edge_clocks(self, keys: Sequence[EdgeKey], walked: Mapping[EdgeKey, datetime]) -> None:
        """Put the clocks of edges to their last walk, or to what they were made with."""
        edges = self._edges.get(keys)
        made = self._clocks_when_made([key for key in edges if key not in walked])
        self._edges.put(
            [
                replace(edge, last_reinforced_at=walked.get(key, made.get(key, edge.created_at)))
                for key, edge in edges.items()
            ]
        )

    def _clocks_when_made(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, datetime]:
        """The clock that the journal gives for edges when an operation made them."""
        found = self._rows(
            "SELECT key, after::VARCHAR FROM operation_rows WHERE target = 'edge' AND before IS NULL AND "
            "key IN (SELECT unnest(?::VARCHAR[])) ORDER BY operation_id",
            [[" ".join(key) for key in keys]],
        )
        clocks: dict[EdgeKey, datetime] = {}
        for key, after in found:
            source, target, relation = str(key).split(" ", 2)
            clocks[(source, target, relation)] = as_utc(parse_instant(json.loads(after)["last_reinforced_at"]))
        return clocks
