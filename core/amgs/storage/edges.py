"""Table `edges`: typed, weighted, directed relations between blocks, with their own decay (AMGS §3.2).

An edge is identified by source, target and relation. The tables `centrality` and `centrality_of` hold the scores of a
large graph's blocks and which graph they are of, so that every process ranks by the same scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.block_columns import FADED
from amgs.storage.connection import OfferedColumn, StoragePart, microseconds, to_stored_time
from amgs.types import Edge, EdgeKey


@dataclass(frozen=True, eq=False)
class EdgeColumns:
    """All edges between live blocks (neither archived nor pruned), as arrays of length m.

    source, target: running numbers of blocks. Times are microseconds since 1970.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    relation: NDArray[np.object_]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]

    @classmethod
    def none(cls) -> EdgeColumns:
        """Return columns without edges."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return cls(whole, whole, np.zeros(0, dtype=object), real, real, whole, whole, real)


@dataclass(frozen=True, eq=False)
class WalkColumns:
    """Edges that were walked, as arrays (w,). reinforced: time of the last walk."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    relation: NDArray[np.object_]
    reinforced: NDArray[np.int64]


_COLUMNS = "source_id, target_id, relation_type, weight, confidence, created_at, last_reinforced_at, decay_lambda"
_KEYS = (
    "SELECT unnest(?::VARCHAR[]) AS source_id, unnest(?::VARCHAR[]) AS target_id, unnest(?::VARCHAR[]) AS relation_type"
)
_OF_KEYS = f"JOIN (SELECT DISTINCT * FROM ({_KEYS}) AS given) AS k USING (source_id, target_id, relation_type)"


class EdgeStorage(StoragePart):
    """Reads and writes edges, singly and as columns."""

    # --- writing ------------------------------------------------------------------------------------------

    def insert(self, edges: Sequence[Edge]) -> tuple[Edge, ...]:
        """Insert the edges whose key is not in the store; return those inserted. Repeated keys count once."""
        unique = list({e.key: e for e in reversed(edges)}.values())[::-1]
        known = self.existing([e.key for e in unique])
        fresh = tuple(e for e in unique if e.key not in known)
        if fresh:
            self._append(fresh)
        return fresh

    def put(self, edges: Sequence[Edge]) -> None:
        """Write edges, replacing those with the same key."""
        unique = list({e.key: e for e in edges}.values())
        if unique:
            self.delete([e.key for e in unique])
            self._append(unique)

    def delete(self, keys: Iterable[EdgeKey]) -> None:
        """Delete edges; unknown keys are ignored."""
        keys = list(keys)
        self._connection.edge_changes.note(keys)
        self._execute(
            f"DELETE FROM edges USING ({_KEYS}) AS k WHERE edges.source_id = k.source_id AND edges.target_id = "
            "k.target_id "
            "AND edges.relation_type = k.relation_type",
            _to_lists(keys),
        )

    def reinforce(self, keys: Iterable[EdgeKey], at: datetime) -> None:
        """Set the decay clock of walked edges to `at`, unless it is later already."""
        self._note(
            "UPDATE edges SET last_reinforced_at = greatest(edges.last_reinforced_at, ?) FROM "
            f"({_KEYS}) AS k WHERE edges.source_id = k.source_id AND edges.target_id = k.target_id "
            "AND edges.relation_type = k.relation_type",
            [to_stored_time(at), *_to_lists(keys)],
        )

    # --- reading ------------------------------------------------------------------------------------------

    def existing(self, keys: Iterable[EdgeKey]) -> set[EdgeKey]:
        """Return those of the keys that the store holds."""
        return set(self._rows(f"SELECT source_id, target_id, relation_type FROM edges {_OF_KEYS}", _to_lists(keys)))

    def get(self, keys: Iterable[EdgeKey]) -> dict[EdgeKey, Edge]:
        """Return edges by key; unknown keys are left out."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM edges {_OF_KEYS}", _to_lists(keys))
        return {e.key: e for e in map(_edge, rows)}

    def everything(self) -> tuple[Edge, ...]:
        """Return all edges, sorted by source, target and relation."""
        return tuple(_edge(r) for r in self._rows(f"SELECT {_COLUMNS} FROM edges ORDER BY 1, 2, 3"))

    def touching(self, ids: Iterable[str]) -> tuple[Edge, ...]:
        """Return edges that begin or end at any of the blocks."""
        wanted = list(ids)
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM edges WHERE source_id IN (SELECT unnest(?::VARCHAR[])) "
            "OR target_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY 1, 2, 3",
            [wanted, wanted],
        )
        return tuple(_edge(row) for row in rows)

    def table(self) -> EdgeColumns:
        """Return all edges between live blocks, sorted by source, target and relation, to build the graph from (AMGS
        §5.3).
        """
        with self._connection.snapshot():
            rows = self._rows("SELECT DISTINCT relation_type FROM edges")
            return self._read_columns("", [], [row[0] for row in rows], whole=True)

    def rows(self, keys: Iterable[EdgeKey]) -> EdgeColumns:
        """Return the rows of `table` with these keys."""
        split = _to_lists(keys)
        return self._read_columns(_OF_KEYS, split, split[2])

    def find_changed(self, since: int) -> frozenset[EdgeKey] | None:
        """Return the keys of edges changed after revision `since`, and possibly a few more; None if they are not known,
        as for an earlier session.
        """
        return self._connection.edge_changes.after(since)

    def _read_columns(
        self, only: str, parameters: list[list[str]], relations: Iterable[str], *, whole: bool = False
    ) -> EdgeColumns:
        """Read edges with their relation as a number, since text columns are slow to read."""
        names = sorted(set(relations), key=lambda name: name.encode("utf-8", "surrogatepass"))
        c = self._columns(
            "SELECT s.number AS source, t.number AS target, "
            "array_position(?::VARCHAR[], e.relation_type) - 1 AS relation, e.weight, "
            "e.confidence, epoch_us(e.created_at) AS created, epoch_us(e.last_reinforced_at) AS reinforced, "
            "e.decay_lambda "
            f"FROM (SELECT * FROM edges {only}) AS e JOIN memory_blocks s ON s.id = e.source_id JOIN memory_blocks t "
            "ON t.id = e.target_id "
            "WHERE s.status NOT IN ('archived', 'pruned') AND t.status NOT IN ('archived', 'pruned') ORDER BY "
            "1, 2, 3",
            [names, *parameters],
            whole=whole,
        )
        named = np.array(names, dtype=object)
        return EdgeColumns(
            source=np.asarray(c["source"], dtype=np.int64),
            target=np.asarray(c["target"], dtype=np.int64),
            relation=named[np.asarray(c["relation"], dtype=np.int64)],
            weight=np.asarray(c["weight"], dtype=np.float64),
            confidence=np.asarray(c["confidence"], dtype=np.float64),
            created=np.asarray(c["created"], dtype=np.int64),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
        )

    def read_walked(self, since: int) -> WalkColumns:
        """Return the edges walked at or after a time (microseconds since 1970), each once."""
        c = self._columns(
            "SELECT s.number AS source, t.number AS target, w.relation_type AS relation, "
            "epoch_us(max(w.timestamp)) AS reinforced FROM edge_walks w "
            "JOIN memory_blocks s ON s.id = w.source_id JOIN memory_blocks t ON t.id = w.target_id "
            "WHERE w.timestamp >= make_timestamp(?) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            [since],
        )
        return WalkColumns(
            source=np.asarray(c["source"], dtype=np.int64),
            target=np.asarray(c["target"], dtype=np.int64),
            relation=np.asarray(c["relation"], dtype=object),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
        )

    def count(self) -> int:
        """Count all edges."""
        return self._count("SELECT count(*) FROM edges")

    def count_faded(self, now: datetime, below: float) -> int:
        """Count the edges whose strength (weight × confidence × decay) is below a value."""
        return int(
            self._value(
                f"SELECT count(*) FROM edges WHERE weight * confidence * {FADED} < ?", [to_stored_time(now), below]
            )
        )

    def leading_to(self, ids: Sequence[str]) -> dict[str, int]:
        """Count the edges that lead to each block; blocks without edges are left out."""
        return dict(
            self._rows(
                "SELECT target_id, count(*) FROM edges WHERE target_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY 1",
                [list(ids)],
            )
        )

    def alone(self) -> int:
        """Count the consolidated blocks without any edge."""
        return int(
            self._value(
                "SELECT count(*) FROM memory_blocks WHERE status = 'consolidated' AND id NOT IN "
                "(SELECT source_id FROM edges UNION SELECT target_id FROM edges)"
            )
        )

    def dangling(self) -> tuple[tuple[EdgeKey, str], ...]:
        """Return edges with a missing or pruned end, and what is wrong; empty in a sound store."""
        rows = self._rows(
            "SELECT e.source_id, e.target_id, e.relation_type, "
            "CASE WHEN s.id IS NULL THEN 'its source does not exist' WHEN t.id IS NULL THEN 'its target does "
            "not exist' "
            "WHEN s.status = 'pruned' THEN 'its source is pruned' ELSE 'its target is pruned' END "
            "FROM edges e LEFT JOIN memory_blocks s ON s.id = e.source_id LEFT JOIN memory_blocks t ON t.id = "
            "e.target_id "
            "WHERE s.id IS NULL OR t.id IS NULL OR s.status = 'pruned' OR t.status = 'pruned' ORDER BY 1, 2, 3"
        )
        return tuple(((s, t, r), why) for s, t, r, why in rows)

    def find_repeated(self) -> tuple[EdgeKey, ...]:
        """Return keys that more than one edge has; empty in a sound store."""
        return tuple(
            self._rows(
                "SELECT source_id, target_id, relation_type FROM edges GROUP BY 1, 2, 3 HAVING count(*) > 1 ORDER BY "
                "1, 2, 3"
            )
        )

    def out_of_range(self) -> tuple[tuple[EdgeKey, str], ...]:
        """Return edges with invalid numbers, and what is wrong; empty in a sound store."""
        rows = self._rows(
            "SELECT * FROM (SELECT source_id, target_id, relation_type, "
            "CASE WHEN source_id = target_id THEN 'it ends where it begins' "
            "WHEN NOT weight BETWEEN 0 AND 1 THEN 'its weight is ' || weight "
            "WHEN NOT confidence BETWEEN 0 AND 1 THEN 'its confidence is ' || confidence "
            "WHEN NOT (decay_lambda >= 0 AND isfinite(decay_lambda)) THEN 'its decay constant is ' || decay_lambda "
            "END AS what FROM edges) AS seen WHERE what IS NOT NULL ORDER BY 1, 2, 3"
        )
        return tuple(((s, t, r), what) for s, t, r, what in rows)

    # --- rows ---------------------------------------------------------------------------------------------

    def _append(self, edges: Sequence[Edge]) -> None:
        self._connection.edge_changes.note([e.key for e in edges])
        self._execute(
            f"INSERT INTO edges ({_COLUMNS}) SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), "
            "unnest(?::DOUBLE[]), unnest(?::DOUBLE[]), make_timestamp(unnest(?::BIGINT[])), "
            "make_timestamp(unnest(?::BIGINT[])), unnest(?::DOUBLE[])",
            [
                [e.source_id for e in edges],
                [e.target_id for e in edges],
                [e.relation_type for e in edges],
                [e.weight for e in edges],
                [e.confidence for e in edges],
                microseconds([e.created_at for e in edges]),
                microseconds([e.last_reinforced_at for e in edges]),
                [e.decay_lambda for e in edges],
            ],
        )


def _to_lists(keys: Iterable[EdgeKey]) -> list[list[str]]:
    """Return keys as three lists: sources, targets, relations."""
    wanted = list(keys)
    return [[k[0] for k in wanted], [k[1] for k in wanted], [k[2] for k in wanted]]


def _edge(row: Sequence[Any]) -> Edge:
    return Edge(row[0], row[1], row[2], row[3], row[4], as_utc(row[5]), as_utc(row[6]), row[7])


@dataclass(frozen=True, slots=True)
class CentralityOrigin:
    """The graph of the stored scores.

    structure: structure counter. blocks, edges: number of live ones. worked_out_at: time for which decay was computed.
    """

    structure: int
    blocks: int
    edges: int
    worked_out_at: datetime


class CentralityStorage(StoragePart):
    """Centrality scores of a graph. They are part of the memory, so that stores with the same content rank alike."""

    def origin(self) -> CentralityOrigin | None:
        """Return the graph that the scores are of; None if none are stored."""
        rows = self._rows("SELECT structure, blocks, edges, worked_out_at FROM centrality_of")
        if not rows:
            return None
        structure, blocks, edges, at = rows[0]
        return CentralityOrigin(structure, blocks, edges, as_utc(at))

    def scores(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return running numbers of blocks (n,), rising, and their scores (n,); other blocks have 0."""
        columns = self._columns(
            "SELECT b.number, c.score FROM centrality c JOIN memory_blocks b ON b.id = c.block_id ORDER BY b.number"
        )
        return np.asarray(columns["number"], dtype=np.int64), np.asarray(columns["score"], dtype=np.float64)

    def put(self, origin: CentralityOrigin, numbers: NDArray[np.int64], scores: NDArray[np.float64]) -> bool:
        """Replace the scores; return False, with nothing written, if those stored are of the same or a later structure.

        numbers, scores: (n,).
        """
        stored_origin = self.origin()
        if stored_origin is not None and stored_origin.structure >= origin.structure:
            return False
        some = scores > 0
        ranked = {"number": OfferedColumn("BIGINT", numbers[some]), "score": OfferedColumn("DOUBLE", scores[some])}
        for old in ("centrality", "centrality_of"):
            self._note(f"DELETE FROM {old}")
        with self._connection.offer_columns("worked_out", ranked):
            self._note(
                "INSERT INTO centrality SELECT b.id, w.score FROM worked_out w "
                "JOIN memory_blocks b ON b.number = w.number"
            )
        self._note(
            "INSERT INTO centrality_of VALUES (?, ?, ?, ?)",
            [origin.structure, origin.blocks, origin.edges, to_stored_time(origin.worked_out_at)],
        )
        return True
