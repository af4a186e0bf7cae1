"""The tables `centrality` and `centrality_of`: how central each block of a large graph is, and which graph that was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.centrality import CentralityOrigin, CentralityStorage
from amgs.storage.sql.connection import SqlConnection, stored


class SqlCentrality(CentralityStorage):
    """`CentralityStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def origin(self) -> CentralityOrigin | None:
        rows = self._connection.rows("SELECT structure, blocks, edges, worked_out_at FROM centrality_of")
        if not rows:
            return None
        structure, blocks, edges, at = rows[0]
        return CentralityOrigin(int(structure), int(blocks), int(edges), as_utc(at))

    def scores(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        found = self._connection.columns(
            "SELECT b.number, c.score FROM centrality c JOIN memory_blocks b ON b.id = c.block_id ORDER BY b.number"
        )
        return np.asarray(found["number"], dtype=np.int64), np.asarray(found["score"], dtype=np.float64)

    def put(self, origin: CentralityOrigin, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> bool:
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
