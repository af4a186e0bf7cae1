"""The tables `centrality` and `centrality_of`: how central each block of a large graph is, and which graph that was.

A search of a large graph is scored by it, in whatever process.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored


@dataclass(frozen=True, slots=True)
class CentralityOrigin:
    """The graph that scores are of. structure: the structure counter. blocks, edges: how many live blocks and edges
    there were. worked_out_at: the instant whose decay the edges had.
    """

    structure: int
    blocks: int
    edges: int
    worked_out_at: datetime


class CentralityStorage:
    """The scores of one graph. They are part of the memory: two that hold the same are scored by the same."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def origin(self) -> CentralityOrigin | None:
        """The graph that the scores are of; None where they were never worked out."""
        rows = self._connection.rows("SELECT structure, blocks, edges, worked_out_at FROM centrality_of")
        if not rows:
            return None
        structure, blocks, edges, at = rows[0]
        return CentralityOrigin(int(structure), int(blocks), int(edges), as_utc(at))

    def scores(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Running numbers of blocks (n,), rising, and their scores (n,); the others have 0."""
        found = self._connection.columns(
            "SELECT b.number, c.score FROM centrality c JOIN memory_blocks b ON b.id = c.block_id ORDER BY b.number"
        )
        return np.asarray(found["number"], dtype=np.int64), np.asarray(found["score"], dtype=np.float64)

    def put(self, origin: CentralityOrigin, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> bool:
        """Keep the scores (n,) of blocks with these numbers (n,) in place of those that are there. False, and nothing
        is written, where those are of the same structure or of a later one.
        """
        there = self.origin()
        if there is not None and there.structure >= origin.structure:
            return False
        import pyarrow as pa  # here: the import takes longer than most sessions have use for it

        some = scores > 0
        table = pa.table({"number": pa.array(numbers[some]), "score": pa.array(scores[some])})
        for old in ("centrality", "centrality_of"):
            self._connection.execute(f"DELETE FROM {old}", structural=False)
        with self._connection.arrays("worked_out", table):
            self._connection.execute(
                "INSERT INTO centrality SELECT b.id, w.score FROM worked_out w "
                "JOIN memory_blocks b ON b.number = w.number",
                structural=False,
            )
        self._connection.execute(
            "INSERT INTO centrality_of VALUES (?, ?, ?, ?)",
            [origin.structure, origin.blocks, origin.edges, stored(origin.worked_out_at)],
            structural=False,
        )
        return True
