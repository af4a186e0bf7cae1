"""Columns of `memory_blocks` for many blocks at once, as arrays: what indexes, scoring and verification read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.storage.block_columns import (
    BlockColumnStorage,
    BlockFacts,
    ClockColumns,
    EmbeddingColumns,
    FadingColumns,
    ScoringColumns,
    StatusColumns,
)
from amgs.storage.sql.connection import SqlConnection
from amgs.storage.sql.filters import where
from amgs.types import STATUSES, BlockFilter

_FACTS = (
    "number, id, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
    "decay_lambda, confidence, reinforcements, valid_to IS NOT NULL AS superseded, "
    "is_self_component AS self_component"
)


class SqlBlockColumns(BlockColumnStorage):
    """What every database reads alike; embeddings and traits are read by each in its own way."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None, since: int = -1) -> NDArray[np.int64]:
        condition, parameters = where(wanted)
        sql = f"SELECT number FROM memory_blocks WHERE {condition}"
        if since >= 0:
            sql += f" AND revision > {int(since)}"
        if limit is not None:
            sql += f" ORDER BY last_reinforced_at DESC, number DESC LIMIT {int(limit)}"
        return np.sort(
            np.asarray(
                self._connection.columns(sql, parameters, whole=limit is None and since < 0)["number"],
                dtype=np.int64,
            )
        )

    def brief(self, size: int) -> NDArray[np.int64]:
        found = self._connection.columns(
            "SELECT number FROM memory_blocks WHERE bit_length(content) < ? ORDER BY number", [8 * size]
        )
        return np.asarray(found["number"], dtype=np.int64)

    def count(self) -> int:
        return int(self._connection.value("SELECT count(*) FROM memory_blocks"))

    def statuses(self, *, since: int = -1) -> StatusColumns:
        c = self._connection.columns(
            "SELECT number, array_position(?::VARCHAR[], status) - 1 AS status, embedding IS NOT NULL AS "
            "embedded FROM memory_blocks WHERE revision > ?",
            [list(STATUSES), since],
            whole=since < 0,
        )
        order = np.argsort(c["number"], kind="stable")
        return StatusColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            status=np.ma.filled(c["status"], -1).astype(np.int8)[order],
            embedded=np.asarray(c["embedded"], dtype=np.bool_)[order],
        )

    def facts(self, wanted: BlockFilter) -> BlockFacts:
        condition, parameters = where(wanted)
        c = self._connection.columns(
            f"SELECT {_FACTS} FROM memory_blocks WHERE {condition} ORDER BY number", parameters
        )
        return BlockFacts(
            numbers=np.asarray(c["number"], dtype=np.int64),
            ids=np.asarray(c["id"], dtype=object),
            created=np.asarray(c["created"], dtype=np.int64),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
            confidence=np.asarray(c["confidence"], dtype=np.float64),
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64),
            superseded=np.asarray(c["superseded"], dtype=np.bool_),
            self_component=np.asarray(c["self_component"], dtype=np.bool_),
        )

    def scoring(self, *, since: int = -1) -> ScoringColumns:
        c = self._connection.columns(
            "SELECT number, epoch_us(last_reinforced_at) AS reinforced, decay_lambda, confidence, reinforcements, "
            "valid_to IS NOT NULL AS superseded FROM memory_blocks WHERE revision > ?",
            [since],
            whole=since < 0,
        )
        order = np.argsort(
            c["number"], kind="stable"
        )  # sorting one column of numbers here is faster than all there
        return ScoringColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            reinforced=np.asarray(c["reinforced"], dtype=np.int64)[order],
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64)[order],
            confidence=np.asarray(c["confidence"], dtype=np.float64)[order],
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64)[order],
            superseded=np.asarray(c["superseded"], dtype=np.bool_)[order],
        )

    def fading(self, wanted: BlockFilter) -> FadingColumns:
        condition, parameters = where(wanted)
        found = self._connection.rows(
            f"SELECT DISTINCT category FROM memory_blocks WHERE {condition} ORDER BY 1", parameters
        )
        names = [str(row[0]) for row in found]
        c = self._connection.columns(
            "SELECT number, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
            "decay_lambda, reinforcements, array_position(?::VARCHAR[], category) - 1 AS category "
            f"FROM memory_blocks WHERE {condition} ORDER BY number",
            [names, *parameters],
        )
        return FadingColumns(
            numbers=np.asarray(c["number"], dtype=np.int64),
            created=np.asarray(c["created"], dtype=np.int64),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
            uses=np.asarray(c["reinforcements"], dtype=np.int64),
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
            category=np.asarray(c["category"], dtype=np.int64),
            names=tuple(names),
        )

    def clocks(self, *, since: int = -1) -> ClockColumns:
        changed = self._connection.clock_changes.after(since)
        if changed is not None and not changed:
            none = np.zeros(0, np.int64)
            return ClockColumns(none, none, none)
        only = "" if changed is None else "WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        c = self._connection.columns(
            "SELECT number, epoch_us(last_reinforced_at) AS reinforced, reinforcements FROM memory_blocks "
            f"{only}",
            [] if changed is None else [list(changed)],
        )
        order = np.argsort(c["number"], kind="stable")
        return ClockColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            reinforced=np.asarray(c["reinforced"], dtype=np.int64)[order],
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64)[order],
        )

    def ids_after(self, number: int) -> tuple[NDArray[np.int64], list[str]]:
        c = self._connection.columns(
            "SELECT number, id FROM memory_blocks WHERE number > ? ORDER BY number",
            [number],
            whole=not number,
        )
        return np.asarray(c["number"], dtype=np.int64), [str(i) for i in c["id"]]

    def embedding_batches(self, *, since: int = -1, batch: int = 50_000) -> Iterator[EmbeddingColumns]:
        changed = self._connection.columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ?",
            [since],
            whole=since < 0,
        )["number"]
        for start in np.unique(changed // batch).tolist():
            yield self.embeddings(since=since, above=start * batch - 1, upto=start * batch + batch - 1)

    def embedded(self) -> NDArray[np.int64]:
        found = self._connection.columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL ORDER BY number", whole=True
        )
        return np.asarray(found["number"], dtype=np.int64)

    # --- for verification ---------------------------------------------------------------------------------

    def repeated(self) -> tuple[str, ...]:
        found = self._connection.rows(
            "SELECT number FROM memory_blocks GROUP BY number HAVING count(*) > 1 ORDER BY number"
        )
        return tuple(str(row[0]) for row in found)

    def out_of_range(self, statuses: Sequence[str]) -> tuple[tuple[str, str], ...]:
        found = self._connection.rows(
            "SELECT * FROM (SELECT id, "
            "CASE WHEN status NOT IN (SELECT unnest(?::VARCHAR[])) THEN 'its status is ' || status "
            "WHEN NOT confidence BETWEEN 0 AND 1 THEN 'its confidence is ' || confidence "
            "WHEN NOT (decay_lambda >= 0 AND isfinite(decay_lambda)) THEN 'its decay constant is ' || decay_lambda "
            "WHEN status = 'consolidated' AND embedding IS NULL THEN 'it is consolidated without an embedding' "
            "END AS what FROM memory_blocks) AS seen WHERE what IS NOT NULL ORDER BY id",
            [list(statuses)],
        )
        return tuple((str(i), str(what)) for i, what in found)

    def newest_revision(self) -> int:
        return int(self._connection.value("SELECT coalesce(max(revision), 0) FROM memory_blocks"))
