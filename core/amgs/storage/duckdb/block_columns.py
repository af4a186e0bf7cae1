"""Columns of `memory_blocks` for many blocks at once, as arrays: what indexes, scoring and verification read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.errors import StoreCorruptError
from amgs.storage.block_columns import (
    BlockColumnStorage,
    BlockFacts,
    ClockColumns,
    EmbeddingColumns,
    FadingColumns,
    FeatureColumns,
    ScoringColumns,
    StatusColumns,
)
from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.filters import where
from amgs.types import STATUSES, BlockFilter, Vector

_FACTS = (
    "number, id, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
    "decay_lambda, confidence, reinforcements, valid_to IS NOT NULL AS superseded, "
    "is_self_component AS self_component"
)
# Who speaks: what the source says, else a name before a colon at the very start ("Mara Lind: …").
_SPEAKER = (
    "lower(coalesce(said[2], said[3], "
    r"regexp_extract(content, '^(\p{Lu}[\p{L}\p{N}.''’-]*(?: \p{Lu}[\p{L}\p{N}.''’-]*){0,2}):\s', 1)))"
)


class DuckDBBlockColumns(BlockColumnStorage):
    """`BlockColumnStorage` in DuckDB."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None, since: int = -1) -> NDArray[np.int64]:
        condition, parameters = where(wanted)
        sql = f"SELECT number FROM memory_blocks WHERE {condition}"
        if since >= 0:
            sql += f" AND revision > {int(since)}"
        if limit is not None:
            sql += f" ORDER BY last_reinforced_at DESC, number DESC LIMIT {int(limit)}"
        return np.sort(np.asarray(self._connection.columns(sql, parameters)["number"], dtype=np.int64))

    def count(self) -> int:
        return int(self._connection.value("SELECT count(*) FROM memory_blocks"))

    def statuses(self, *, since: int = -1) -> StatusColumns:
        c = self._connection.columns(
            "SELECT number, (list_position(?::VARCHAR[], status) - 1)::TINYINT AS status, embedding IS NOT NULL AS "
            "embedded FROM memory_blocks WHERE revision > ?",
            [list(STATUSES), since],
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
            "decay_lambda, reinforcements, list_position(?::VARCHAR[], category) - 1 AS category "
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
            "SELECT number, id FROM memory_blocks WHERE number > ? ORDER BY number", [number]
        )
        return np.asarray(c["number"], dtype=np.int64), [str(i) for i in c["id"]]

    def embeddings(
        self,
        *,
        since: int = -1,
        wanted: BlockFilter | None = None,
        above: int = 0,
        upto: int | None = None,
    ) -> EmbeddingColumns:
        condition, parameters = where(wanted) if wanted is not None else ("true", [])
        if upto is not None:
            condition += f" AND number > {int(above)} AND number <= {int(upto)}"
        which = f"FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ? AND {condition}"
        given = [since, *parameters]
        lengths = [
            int(row[0]) for row in self._connection.rows(f"SELECT DISTINCT len(embedding) {which}", given)
        ]
        if len(lengths) > 1:
            raise StoreCorruptError(
                "Its embeddings have different lengths.",
                way_out="Verify the store to see which blocks.",
                about="check",
            )
        c = self._connection.columns(f"SELECT number, id {which} ORDER BY number", given)
        # One flat column: a list a row would be an object a row.
        flat = self._connection.columns(
            f"SELECT unnest(embedding) AS x FROM (SELECT embedding {which} ORDER BY number)", given
        )["x"]
        matrix = np.asarray(flat, dtype=np.float32).reshape(len(c["id"]), lengths[0] if lengths else 0)
        return EmbeddingColumns(
            np.asarray(c["number"], dtype=np.int64), np.asarray(c["id"], dtype=object), matrix
        )

    def embedding_batches(self, *, since: int = -1, batch: int = 50_000) -> Iterator[EmbeddingColumns]:
        changed = self._connection.columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ?", [since]
        )["number"]
        for start in np.unique(changed // batch).tolist():
            yield self.embeddings(since=since, above=start * batch - 1, upto=start * batch + batch - 1)

    def traits(self, *, since: int = -1) -> FeatureColumns:
        c = self._connection.columns(
            # Most blocks ask nothing: their marks need not be counted.
            "SELECT number, CASE WHEN said[1] IS NULL THEN 0 ELSE "
            "hash(regexp_replace(said[1], '(#[0-9]+){1,2}$', '')) END AS "
            f"episode, {_SPEAKER} AS name, strlen(content) AS characters, "
            "CASE WHEN asking THEN strlen(content) - strlen(replace(content, '?', '')) ELSE 0 END AS questions, "
            "CASE WHEN asking THEN length(content) - length(translate(content, '.!?…', '')) ELSE 0 END AS "
            r"sentences, asking AND regexp_matches(content, '\?[^.!?…]*$') AS asks FROM ("
            "SELECT number, content, contains(content, '?') AS asking, "
            "json_extract_string(meta, ['$.source', '$.speaker', '$.author']) AS said "
            "FROM memory_blocks WHERE revision > ?) ORDER BY number",
            [since],
        )
        return FeatureColumns(
            numbers=np.asarray(c["number"], dtype=np.int64),
            episode=np.asarray(c["episode"], dtype=np.uint64),
            name=tuple(c["name"].tolist()),
            characters=np.asarray(c["characters"], dtype=np.int64),
            questions=np.asarray(c["questions"], dtype=np.int64),
            sentences=np.asarray(c["sentences"], dtype=np.int64),
            asks=np.asarray(c["asks"], dtype=np.bool_),
        )

    def embedded(self) -> NDArray[np.int64]:
        found = self._connection.columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL ORDER BY number"
        )
        return np.asarray(found["number"], dtype=np.int64)

    # --- for verification ---------------------------------------------------------------------------------

    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        last = 0
        while True:
            some = "FROM memory_blocks WHERE number > ? ORDER BY number LIMIT ?"
            c = self._connection.columns(
                f"SELECT number, id, content, coalesce(len(embedding), 0) AS size {some}", [last, batch]
            )
            if not len(c["number"]):
                return
            flat = self._connection.columns(
                f"SELECT unnest(embedding) AS x FROM (SELECT embedding {some})", [last, batch]
            )
            ends = np.cumsum(np.asarray(c["size"], dtype=np.int64))
            held = np.asarray(flat["x"], dtype=np.float32)
            last = int(c["number"][-1])
            yield [
                (str(i), str(text), held[end - size : end] if size else None)
                for i, text, size, end in zip(c["id"], c["content"], c["size"], ends, strict=True)
            ]

    def repeated(self) -> tuple[str, ...]:
        found = self._connection.rows(
            "SELECT number FROM memory_blocks GROUP BY number HAVING count(*) > 1 ORDER BY number"
        )
        return tuple(str(row[0]) for row in found)

    def out_of_range(self, statuses: Sequence[str]) -> tuple[tuple[str, str], ...]:
        found = self._connection.rows(
            "SELECT id, CASE WHEN status NOT IN (SELECT unnest(?::VARCHAR[])) THEN 'its status is ' || status "
            "WHEN NOT confidence BETWEEN 0 AND 1 THEN 'its confidence is ' || confidence "
            "WHEN NOT (decay_lambda >= 0 AND isfinite(decay_lambda)) THEN 'its decay constant is ' || "
            "decay_lambda "
            "WHEN status = 'consolidated' AND embedding IS NULL THEN 'it is consolidated without an embedding' "
            "END AS what "
            "FROM memory_blocks WHERE what IS NOT NULL ORDER BY id",
            [list(statuses)],
        )
        return tuple((str(i), str(what)) for i, what in found)

    def newest_revision(self) -> int:
        return int(self._connection.value("SELECT coalesce(max(revision), 0) FROM memory_blocks"))

    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        found = self._connection.rows(
            "SELECT number, list_cosine_similarity(embedding, ?::FLOAT[]) AS cosine FROM memory_blocks "
            "WHERE embedding IS NOT NULL ORDER BY cosine DESC, number LIMIT ?",
            [query.tolist(), limit],
        )
        return [(int(number), float(cosine)) for number, cosine in found]
