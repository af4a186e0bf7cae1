"""Whole columns of consolidated blocks and of edges, written at once: for large stores that benches fill.

The rows are trusted: ids hash their content, edges end at blocks. `amgs verify` checks them like all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.storage.connection import OfferedColumn
from amgs.storage.store import Storage
from amgs.types import Vector


@dataclass(frozen=True, eq=False)
class BulkBlocks:
    """n blocks as columns. Instants are microseconds since 1970; meta is JSON text; embeddings (n, d), or
    None for raw blocks.
    """

    ids: Sequence[str]
    contents: Sequence[str]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    category: Sequence[str]
    confidence: NDArray[np.float64]
    decay_lambda: NDArray[np.float64]
    status: Sequence[str]
    self_component: NDArray[np.bool_]
    meta: Sequence[str]
    reinforcements: NDArray[np.int64]
    embeddings: Vector | None


@dataclass(frozen=True, eq=False)
class BulkEdges:
    """m edges as columns, ends by id; created now and never walked: both clocks read `created`."""

    source: Sequence[str]
    target: Sequence[str]
    relation: Sequence[str]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    created: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]


def append_blocks(store: Storage, rows: BulkBlocks) -> None:
    """Add blocks whose ids the store does not hold; inside a transaction. About 30,000 blocks a second with
    embeddings of 384 values.
    """
    n = len(rows.ids)
    first = int(store.value("SELECT coalesce(max(number), 0) FROM memory_blocks")) + 1
    first = max(first, int(store.meta.get("highest_number") or 0) + 1)
    columns = {
        "id": OfferedColumn("VARCHAR", rows.ids),
        "content": OfferedColumn("VARCHAR", rows.contents),
        "created": OfferedColumn("BIGINT", rows.created),
        "reinforced": OfferedColumn("BIGINT", rows.reinforced),
        "category": OfferedColumn("VARCHAR", rows.category),
        "confidence": OfferedColumn("DOUBLE", rows.confidence),
        "decay_lambda": OfferedColumn("DOUBLE", rows.decay_lambda),
        "embedding": OfferedColumn("FLOAT[]", [None] * n if rows.embeddings is None else list(rows.embeddings)),
        "status": OfferedColumn("VARCHAR", rows.status),
        "self": OfferedColumn("BOOLEAN", rows.self_component),
        "meta": OfferedColumn("VARCHAR", rows.meta),
        "reinforcements": OfferedColumn("BIGINT", rows.reinforcements),
        "number": OfferedColumn("BIGINT", np.arange(first, first + n, dtype=np.int64)),
    }
    with store.offer_columns("given_blocks", columns):
        store.execute(
            "INSERT INTO memory_blocks SELECT id, content, make_timestamp(created), make_timestamp(reinforced), "
            "category, confidence, decay_lambda, embedding, status, self, meta::JSON, reinforcements, number, ?, "
            "NULL, NULL "
            "FROM given_blocks ORDER BY number",
            [store.revision()],
        )


def append_edges(store: Storage, rows: BulkEdges) -> None:
    """Add edges whose keys the store does not hold; inside a transaction."""
    columns = {
        "source": OfferedColumn("VARCHAR", rows.source),
        "target": OfferedColumn("VARCHAR", rows.target),
        "relation": OfferedColumn("VARCHAR", rows.relation),
        "weight": OfferedColumn("DOUBLE", rows.weight),
        "confidence": OfferedColumn("DOUBLE", rows.confidence),
        "created": OfferedColumn("BIGINT", rows.created),
        "decay_lambda": OfferedColumn("DOUBLE", rows.decay_lambda),
    }
    store.edge_changes.forget()
    with store.offer_columns("given_edges", columns):
        store.execute(
            "INSERT INTO edges (source_id, target_id, relation_type, weight, confidence, created_at, "
            "last_reinforced_at, decay_lambda) SELECT source, target, relation, weight, confidence, "
            "make_timestamp(created), make_timestamp(created), decay_lambda FROM given_edges"
        )
