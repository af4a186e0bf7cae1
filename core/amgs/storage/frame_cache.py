"""The table `frame_cache`: the latest assembly of a frame for a request, and what it was true to."""

from __future__ import annotations

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
