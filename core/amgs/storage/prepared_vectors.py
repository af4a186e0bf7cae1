"""The table `prepared_vectors`: vectors of raw blocks, computed before their consolidation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.storage.connection import OfferedColumn, SqlConnection
from amgs.types import Vector

_IDS = "(SELECT unnest(?::VARCHAR[]))"


class PreparedVectorStorage:
    """Vectors by block; each knows the text that it is of, and counts for no other. They are no part of the memory."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def lacking(self, space: str) -> NDArray[np.int64]:
        """Running numbers of the raw blocks without a vector in this space, rising."""
        found = self._connection.columns(
            "SELECT number FROM memory_blocks b WHERE status = 'raw' AND NOT EXISTS "
            "(SELECT 1 FROM prepared_vectors v WHERE v.block_id = b.id AND v.space = ?) ORDER BY number",
            [space],
        )
        return np.asarray(found["number"], dtype=np.int64)

    def put(self, blocks: Sequence[str], texts: Sequence[str], space: str, vectors: Vector) -> int:
        """Keep vectors (n, d) of those of these blocks that are raw and have none in this space; how many that were.

        texts: SHA-256 of what was embedded.
        """
        wanted = {
            str(row[0])
            for row in self._connection.rows(
                f"SELECT id FROM memory_blocks b WHERE status = 'raw' AND id IN {_IDS} AND NOT EXISTS "
                "(SELECT 1 FROM prepared_vectors v WHERE v.block_id = b.id AND v.space = ?)",
                [list(blocks), space],
            )
        }
        rows = [row for row, block in enumerate(blocks) if block in wanted]
        if not rows:
            return 0
        computed = {
            "block_id": OfferedColumn("VARCHAR", [blocks[row] for row in rows]),
            "text": OfferedColumn("VARCHAR", [texts[row] for row in rows]),
            "embedding": OfferedColumn("FLOAT[]", list(vectors[rows])),
        }
        with self._connection.offer_columns("computed", computed):
            self._write(
                "INSERT INTO prepared_vectors SELECT block_id, text, ?, embedding FROM computed "
                "ON CONFLICT (block_id) DO UPDATE SET text = excluded.text, space = excluded.space, "
                "embedding = excluded.embedding",
                [space],
            )
        return len(rows)

    def get(self, blocks: Sequence[str], space: str) -> dict[str, tuple[str, Vector]]:
        """The SHA-256 of what was embedded, and its vector (d,), by block."""
        found = self._connection.rows(
            f"SELECT block_id, text, embedding FROM prepared_vectors WHERE block_id IN {_IDS} AND space = ?",
            [list(blocks), space],
        )
        return {str(i): (str(text), np.asarray(values, dtype=np.float32)) for i, text, values in found}

    def delete(self, blocks: Sequence[str]) -> None:
        """Drop the vectors of these blocks."""
        self._write(f"DELETE FROM prepared_vectors WHERE block_id IN {_IDS}", [list(blocks)])

    def tidy(self) -> None:
        """Drop the vectors of blocks that are not raw any more, or gone."""
        self._write(
            "DELETE FROM prepared_vectors WHERE block_id NOT IN (SELECT id FROM memory_blocks WHERE status = 'raw')",
            [],
        )

    def _write(self, sql: str, parameters: Sequence[Any]) -> None:
        self._connection.execute(sql, parameters, structural=False, counted=False)
