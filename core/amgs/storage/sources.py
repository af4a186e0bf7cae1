"""Tables `sources` and `source_blocks`: which source contains which block, at which position, from when to when.

A source is a file (a folder and a path below it) or a stated name. Equal texts in two sources are a single block in
both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, microseconds
from amgs.storage.migrations import NAME_TEXTS


@dataclass(frozen=True, slots=True)
class SourceName:
    """A source. root: its folder, "" for a text without a file. path: the file below it."""

    name: str
    root: str
    path: str

    @property
    def place(self) -> str:
        """Path of the source's file, "" if there is none."""
        return f"{self.root}/{self.path}" if self.root else ""


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A block at a position of a source, from 1.

    locator: its name there, `file` or `file#part`. until: None while the source contains it.
    """

    source: str
    position: int
    locator: str
    block_id: str
    since: datetime
    until: datetime | None = None


STANDING = (
    "(SELECT h.source, h.position, h.locator, h.block_id, h.since, "
    "CASE WHEN e.undone THEN NULL ELSE h.until END AS until FROM source_blocks h "
    "LEFT JOIN operations a ON a.id = h.added_by LEFT JOIN operations e ON e.id = h.ended_by "
    "WHERE a.undone IS NOT TRUE)"
)
"""SQL: pieces whose operations are not undone."""

_GIVEN = "(SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS root, unnest(?::VARCHAR[]) AS path)"
_PIECE = "source, position, locator, block_id, since, until"


class SourceStorage(StoragePart, ABC):
    """Sources and their blocks.

    A piece counts while the operation that added it is not undone; its end while the operation that ended it is not.
    """

    def names(self) -> tuple[SourceName, ...]:
        """Return all sources, by name."""
        rows = self._rows("SELECT name, root, path FROM sources ORDER BY name")
        return tuple(SourceName(name, root, str(path)) for name, root, path in rows)

    def put_names(self, names: Iterable[SourceName]) -> None:
        """Insert sources, or update their locations."""
        every = list({source.name: source for source in names}.values())
        columns = [
            [source.name for source in every],
            [source.root for source in every],
            [source.path for source in every],
        ]
        # Not ON CONFLICT, which needs a B-tree key and so limits the length of names.
        for sql in (
            f"UPDATE sources SET root = g.root, path = g.path FROM {_GIVEN} AS g WHERE sources.name = g.name",
            f"INSERT INTO sources SELECT name, root, path FROM {_GIVEN} AS g "
            "WHERE NOT EXISTS (SELECT 1 FROM sources s WHERE s.name = g.name)",
        ):
            if every:
                self._note(sql, columns)

    def add(self, pieces: Sequence[SourcePiece], operation: int | None) -> None:
        """Record that sources contain blocks. operation: None if not journalled."""
        if pieces:
            self._note(
                "INSERT INTO source_blocks SELECT unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::VARCHAR[]), "
                "unnest(?::VARCHAR[]), make_timestamp(unnest(?::BIGINT[])), NULL, ?, NULL",
                [
                    [p.source for p in pieces],
                    [p.position for p in pieces],
                    [p.locator for p in pieces],
                    [p.block_id for p in pieces],
                    microseconds([p.since for p in pieces]),
                    operation,
                ],
            )

    def end(self, pieces: Sequence[SourcePiece], operation: int) -> None:
        """Record that sources no longer contain blocks, from each piece's `until` on."""
        if pieces:
            self._note(
                "UPDATE source_blocks SET until = greatest(since, g.at), ended_by = ? FROM (SELECT "
                "make_timestamp(unnest(?::BIGINT[])) AS at, unnest(?::VARCHAR[]) AS of, unnest(?::BIGINT[]) AS place, "
                "unnest(?::VARCHAR[]) AS id) AS g "
                "WHERE source = g.of AND position = g.place AND block_id = g.id "
                "AND (ended_by IS NULL OR ended_by IN (SELECT id FROM operations WHERE undone)) "
                "AND (added_by IS NULL OR added_by NOT IN (SELECT id FROM operations WHERE undone))",
                [
                    operation,
                    microseconds([p.until or p.since for p in pieces]),
                    [p.source for p in pieces],
                    [p.position for p in pieces],
                    [p.block_id for p in pieces],
                ],
            )

    def read_pieces(self, sources: Sequence[str] | None = None) -> tuple[SourcePiece, ...]:
        """Return the present pieces of these sources (None: all), by source and position."""
        if sources is None:
            return self._pieces("until IS NULL", [])
        return self._pieces("until IS NULL AND source IN (SELECT unnest(?::VARCHAR[]))", [list(sources)])

    def holding(self, ids: Sequence[str]) -> tuple[SourcePiece, ...]:
        """Return the present pieces that are these blocks, by source and position."""
        return self._pieces("until IS NULL AND block_id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])

    def history(self, source: str) -> tuple[SourcePiece, ...]:
        """Return all pieces that a source ever had, oldest first."""
        return self._pieces("source = ?", [source], "since, position")

    @abstractmethod
    def adopt(self) -> None:
        """Fill the tables from the metadata of blocks, for stores older than the tables."""

    def name_texts(self) -> None:
        """Give texts without a named source a name each, for stores older than such names."""
        for statement in NAME_TEXTS.strip().split(";\n"):
            self._note(statement.rstrip(";"))

    def _pieces(self, where: str, parameters: list[Any], order: str = "source, position") -> tuple[SourcePiece, ...]:
        rows = self._rows(f"SELECT {_PIECE} FROM {STANDING} WHERE {where} ORDER BY {order}, locator", parameters)
        return tuple(
            SourcePiece(source, position, locator, block, as_utc(since), None if until is None else as_utc(until))
            for source, position, locator, block, since, until in rows
        )
