"""The tables `sources` and `source_blocks`: which source holds which block at which place, from when to when.

A source is a folder and a path below it, or a name that was given. Equal texts of two sources are one block that both
hold.
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
    """Name and location of a source: root is the folder, empty for a text without a file."""

    name: str
    root: str
    path: str

    @property
    def place(self) -> str:
        """File of the source, empty for a text without one."""
        return f"{self.root}/{self.path}" if self.root else ""


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A block at a place of a source, from 1. locator: its name there, `file` or `file#part`.

    until: None while held.
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
"""The pieces whose operations stand."""

_GIVEN = "(SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS root, unnest(?::VARCHAR[]) AS path)"
_PIECE = "source, position, locator, block_id, since, until"


class SourceStorage(StoragePart, ABC):
    """Sources and what they hold. A piece counts while the operation that added it stands, and its end while the one
    that ended it does.
    """

    def names(self) -> tuple[SourceName, ...]:
        """Return every source that was ever named, by name."""
        rows = self._rows("SELECT name, root, path FROM sources ORDER BY name")
        return tuple(SourceName(name, root, str(path)) for name, root, path in rows)

    def put_names(self, names: Iterable[SourceName]) -> None:
        """Name sources, or say anew where they lie."""
        every = list({source.name: source for source in names}.values())
        columns = [
            [source.name for source in every],
            [source.root for source in every],
            [source.path for source in every],
        ]
        # Not ON CONFLICT, which wants a key that is a tree, and so of names that are not long.
        for sql in (
            f"UPDATE sources SET root = g.root, path = g.path FROM {_GIVEN} AS g WHERE sources.name = g.name",
            f"INSERT INTO sources SELECT name, root, path FROM {_GIVEN} AS g "
            "WHERE NOT EXISTS (SELECT 1 FROM sources s WHERE s.name = g.name)",
        ):
            if every:
                self._note(sql, columns)

    def add(self, pieces: Sequence[SourcePiece], operation: int | None) -> None:
        """Note that sources hold blocks."""
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
        """Note that sources no longer hold blocks that they held: `until`, which each piece gives."""
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

    def held(self, sources: Sequence[str] | None = None) -> tuple[SourcePiece, ...]:
        """Return what sources (all without any) hold now, by source and position."""
        if sources is None:
            return self._pieces("until IS NULL", [])
        return self._pieces("until IS NULL AND source IN (SELECT unnest(?::VARCHAR[]))", [list(sources)])

    def holding(self, ids: Sequence[str]) -> tuple[SourcePiece, ...]:
        """Return where blocks are held now, by source and position."""
        return self._pieces("until IS NULL AND block_id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])

    def history(self, source: str) -> tuple[SourcePiece, ...]:
        """Return what a source ever held, the earliest first."""
        return self._pieces("source = ?", [source], "since, position")

    @abstractmethod
    def adopt(self) -> None:
        """Read the sources of blocks off their metadata: for blocks from before sources were kept."""

    def name_texts(self) -> None:
        """Give texts whose source nobody named a name each: for those from before they had one."""
        for statement in NAME_TEXTS.strip().split(";\n"):
            self._note(statement.rstrip(";"))

    def _pieces(self, where: str, parameters: list[Any], order: str = "source, position") -> tuple[SourcePiece, ...]:
        rows = self._rows(f"SELECT {_PIECE} FROM {STANDING} WHERE {where} ORDER BY {order}, locator", parameters)
        return tuple(
            SourcePiece(source, position, locator, block, as_utc(since), None if until is None else as_utc(until))
            for source, position, locator, block, since, until in rows
        )
