"""The tables `frame_cache` and `scores_cache`: the latest assembly of a frame for a request, and its blocks' scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored


@dataclass(frozen=True, slots=True)
class CacheRow:
    """A kept assembly as JSON. structure: the structure counter it was made at; identity: JSON, see Frames."""

    name: str
    request: str
    assembly: str
    computed_at: datetime
    structure: int
    definition: str
    identity: str


class FrameCacheStorage:
    """Assemblies kept by frame and request."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, row: CacheRow) -> None:
        """Keep an assembly, in place of the one before for the same request."""
        key = [row.name, row.request]
        self._connection.execute(
            "DELETE FROM frame_cache WHERE frame_name = ? AND request = ?", key, structural=False
        )
        self._connection.execute(
            "INSERT INTO frame_cache VALUES (?, ?, ?::JSON, ?, ?, ?, ?::JSON)",
            [*key, row.assembly, stored(row.computed_at), row.structure, row.definition, row.identity],
            structural=False,
        )

    def get(self, name: str, request: str) -> CacheRow | None:
        """The kept assembly of a frame for a request."""
        found = self._connection.rows(
            "SELECT frame_name, request, assembly::VARCHAR, computed_at, structure, definition, "
            "identity::VARCHAR FROM frame_cache WHERE frame_name = ? AND request = ?",
            [name, request],
        )
        if not found:
            return None
        row = found[0]
        return CacheRow(row[0], row[1], row[2], as_utc(row[3]), int(row[4]), row[5], row[6])

    def forget_like(self, name: str, prefix: str) -> None:
        """Drop what is kept of a frame for requests that begin so."""
        self._connection.execute(
            "DELETE FROM frame_cache WHERE frame_name = ? AND starts_with(request, ?)",
            [name, prefix],
            structural=False,
        )

    def forget(self, name: str) -> None:
        """Drop what is kept of a frame."""
        self._connection.execute("DELETE FROM frame_cache WHERE frame_name = ?", [name], structural=False)


class ScoreStorage:
    """Scores by frame and block."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, frame: str, scores: Mapping[str, float], at: datetime) -> None:
        """Write the scores of blocks in a frame, in place of older ones."""
        ids = list(scores)
        if not ids:
            return
        self._connection.execute(
            "DELETE FROM scores_cache WHERE frame_name = ? AND block_id IN (SELECT unnest(?::VARCHAR[]))",
            [frame, ids],
            structural=False,
        )
        self._connection.execute(
            "INSERT INTO scores_cache SELECT unnest(?::VARCHAR[]), ?, unnest(?::DOUBLE[]), ?",
            [ids, frame, [float(scores[i]) for i in ids], stored(at)],
            structural=False,
        )

    def get(self, frame: str) -> dict[str, float]:
        """The cached scores of a frame by block id."""
        found = self._connection.rows(
            "SELECT block_id, score FROM scores_cache WHERE frame_name = ? ORDER BY block_id", [frame]
        )
        return {str(i): float(s) for i, s in found}

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the cached scores of blocks."""
        self._connection.execute(
            "DELETE FROM scores_cache WHERE block_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(ids)],
            structural=False,
        )
