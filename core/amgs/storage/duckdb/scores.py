"""The table `scores_cache`: the latest composite score of a block in a frame (AMGS §5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from amgs.storage.duckdb.connection import Store, stored


def put(store: Store, frame: str, scores: Mapping[str, float], at: datetime) -> None:
    """Write the scores of blocks in a frame, in place of older ones."""
    ids = list(scores)
    if not ids:
        return
    store.execute(
        "DELETE FROM scores_cache WHERE frame_name = ? AND block_id IN (SELECT unnest(?::VARCHAR[]))",
        [frame, ids],
        structural=False,
    )
    store.execute(
        "INSERT INTO scores_cache SELECT unnest(?::VARCHAR[]), ?, unnest(?::DOUBLE[]), ?",
        [ids, frame, [float(scores[i]) for i in ids], stored(at)],
        structural=False,
    )


def get(store: Store, frame: str) -> dict[str, float]:
    """The cached scores of a frame by block id."""
    found = store.rows(
        "SELECT block_id, score FROM scores_cache WHERE frame_name = ? ORDER BY block_id", [frame]
    )
    return {str(i): float(s) for i, s in found}


def forget(store: Store, ids: Iterable[str]) -> None:
    """Drop the cached scores of blocks."""
    store.execute(
        "DELETE FROM scores_cache WHERE block_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(ids)],
        structural=False,
    )
