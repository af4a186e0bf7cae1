"""Whole columns of consolidated blocks and of edges, written at once: for stores that come from elsewhere.

The rows are trusted: ids hash their content, edges end at blocks. `amgs verify` checks them like all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amgs.storage.bulk import BulkBlocks, BulkEdges, BulkStorage
from amgs.storage.meta import MetaStorage
from amgs.storage.sql.connection import SqlConnection


class SqlBulk(BulkStorage):
    """`BulkStorage` in SQL."""

    def __init__(self, connection: SqlConnection, meta: MetaStorage) -> None:
        self._connection = connection
        self._meta = meta

    def append_blocks(self, rows: BulkBlocks) -> None:
        import pyarrow as pa  # here: the import takes longer than most sessions have use for it

        n = len(rows.ids)
        first = int(self._connection.value("SELECT coalesce(max(number), 0) FROM memory_blocks")) + 1
        first = max(first, int(self._meta.get("highest_number") or 0) + 1)
        columns: dict[str, Any] = {
            "id": pa.array(rows.ids, pa.string()),
            "content": pa.array(rows.contents, pa.string()),
            "created": rows.created,
            "reinforced": rows.reinforced,
            "category": pa.array(rows.category, pa.string()),
            "confidence": rows.confidence,
            "decay_lambda": rows.decay_lambda,
            "embedding": pa.nulls(n, pa.list_(pa.float32())),
            "status": pa.array(rows.status, pa.string()),
            "self": rows.self_component,
            "meta": pa.array(rows.meta, pa.string()),
            "reinforcements": rows.reinforcements,
            "number": np.arange(first, first + n, dtype=np.int64),
        }
        if rows.embeddings is not None:
            values = np.ascontiguousarray(rows.embeddings, dtype=np.float32)
            places = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
            columns["embedding"] = pa.ListArray.from_arrays(pa.array(places), pa.array(values.reshape(-1)))
        with self._connection.arrays("given_blocks", pa.table(columns)):
            self._connection.execute(
                "INSERT INTO memory_blocks SELECT id, content, make_timestamp(created), make_timestamp(reinforced), "
                "category, confidence, decay_lambda, embedding, status, self, meta::JSON, reinforcements, number, ?, "
                "NULL, NULL "
                "FROM given_blocks ORDER BY number",
                [self._connection.revision()],
            )

    def append_edges(self, rows: BulkEdges) -> None:
        import pyarrow as pa

        columns: dict[str, Any] = {
            "source": pa.array(rows.source, pa.string()),
            "target": pa.array(rows.target, pa.string()),
            "relation": pa.array(rows.relation, pa.string()),
            "weight": rows.weight,
            "confidence": rows.confidence,
            "created": rows.created,
            "decay_lambda": rows.decay_lambda,
        }
        self._connection.edge_changes.forget()
        with self._connection.arrays("given_edges", pa.table(columns)):
            self._connection.execute(
                "INSERT INTO edges (source_id, target_id, relation_type, weight, confidence, created_at, "
                "last_reinforced_at, decay_lambda) SELECT source, target, relation, weight, confidence, "
                "make_timestamp(created), make_timestamp(created), decay_lambda FROM given_edges"
            )
