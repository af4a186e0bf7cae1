"""Tables `assemblies`, `waterfalls` and `searches`: the log of assembled frames, their candidates, and the latest
searches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, stored
from amgs.storage.frames import encode
from amgs.types import COMPONENTS, FrameDefinition, Weights


@dataclass(frozen=True, slots=True)
class AssemblyRecord:
    """One logged assembly of a frame.

    serial: its number, from 1. weights: the requested ones, None for the definition's own. definition: hash of the
    definitions used. last_number: running number of the newest block at that time.
    """

    serial: int
    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    weights: Weights | None
    tokens: int
    entropy_bits: float
    selected: tuple[str, ...]
    definition: str
    last_number: int


def version_of(definitions: Sequence[FrameDefinition]) -> str:
    """Return a hash of definitions, independent of their order."""
    ordered = sorted(definitions, key=lambda definition: definition.name)
    text = json.dumps([encode(definition) for definition in ordered], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_COLUMNS = (
    "serial, id, frame_name, query, timestamp, budget, weights::VARCHAR, tokens, entropy_bits, selected, "
    "definition, last_number"
)


class AssemblyStorage(StoragePart):
    """The log of assemblies."""

    def counters_for_next(self) -> tuple[int, int]:
        """Return the running number of the newest block, and the serial of the next assembly (from 1)."""
        number, serial = self._rows(
            "SELECT (SELECT coalesce(max(number), 0) FROM memory_blocks), coalesce(max(serial), 0) + 1 FROM assemblies"
        )[0]
        return number, serial

    def append(self, record: AssemblyRecord) -> None:
        """Log an assembly."""
        weights = None if record.weights is None else json.dumps({n: getattr(record.weights, n) for n in COMPONENTS})
        self._note(
            "INSERT INTO assemblies VALUES (?, ?, ?, ?, ?, ?, ?::JSON, ?, ?, ?::VARCHAR[], ?::VARCHAR[], ?, '', "
            "?, 0, 0, NULL)",
            [
                record.serial,
                record.id,
                record.name,
                record.query,
                stored(record.as_of),
                record.budget,
                weights,
                record.tokens,
                record.entropy_bits,
                list(record.selected),
                [],
                record.definition,
                record.last_number,
            ],
        )

    def latest(self, limit: int | None = None, *, name: str | None = None) -> tuple[AssemblyRecord, ...]:
        """Return the latest assemblies, newest first. name: only of this frame."""
        condition = "" if name is None else " WHERE frame_name = ?"
        sql = f"SELECT {_COLUMNS} FROM assemblies{condition} ORDER BY serial DESC"
        if limit is not None:
            sql += f" LIMIT {int(limit)}"
        return tuple(_assembly(row) for row in self._rows(sql, [] if name is None else [name]))

    def count(self, *, name: str | None = None) -> int:
        """Count the logged assemblies. name: only of this frame."""
        condition = "" if name is None else " WHERE frame_name = ?"
        sql = f"SELECT count(*) FROM assemblies{condition}"
        return self._count(sql, [] if name is None else [name])

    def matching(self, prefix: str) -> tuple[AssemblyRecord, ...]:
        """Return the assemblies whose id begins with `prefix`, newest first."""
        sql = f"SELECT {_COLUMNS} FROM assemblies WHERE starts_with(id, ?) ORDER BY serial DESC"
        return tuple(_assembly(row) for row in self._rows(sql, [prefix]))


def _assembly(row: Sequence[Any]) -> AssemblyRecord:
    weights = None if row[6] is None else Weights(**json.loads(row[6]))
    return AssemblyRecord(
        row[0], row[1], row[2], row[3], as_utc(row[4]), row[5], weights, row[7], row[8], tuple(row[9]), row[10], row[11]
    )


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """The candidates of an assembly as JSON; see `amgs.frames.why`."""

    serial: int
    candidates: str


class WaterfallStorage(StoragePart):
    """Candidates of the latest assemblies, by serial."""

    def put(self, row: WaterfallRow, keep: int) -> None:
        """Store the candidates of an assembly, and delete those of all but the latest `keep` assemblies."""
        self._note(
            "DELETE FROM waterfalls WHERE serial IN (SELECT serial FROM waterfalls ORDER BY serial DESC OFFSET ?)",
            [max(keep - 1, 0)],
        )
        if keep > 0:
            self._note("INSERT INTO waterfalls VALUES (?, ?)", [row.serial, row.candidates])

    def get(self, serial: int) -> str | None:
        """Return the candidates of an assembly as JSON; None if they were deleted."""
        value = self._value("SELECT candidates FROM waterfalls WHERE serial = ?", [serial])
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search.

    serial: its number, from 1. places: most hits it could return. pool: number of its candidates. candidates: the best
    of them as JSON; see `amgs.retrieval.stored_candidates`.
    """

    serial: int
    at: datetime
    query: str
    places: int
    pool: int
    candidates: str


_SEARCH_COLUMNS = "serial, made_at, query, places, pool, candidates"


class SearchStorage(StoragePart):
    """The latest searches, by serial."""

    def put(self, rows: Sequence[SearchRow], keep: int) -> None:
        """Store searches, and delete all but the latest `keep`. Does not raise the change counter, since the memory is
        unchanged.
        """
        for row in rows[-keep:] if keep else ():
            self._execute(
                "INSERT INTO searches VALUES (?, ?, ?, ?, ?, ?)",
                [row.serial, stored(row.at), row.query, row.places, row.pool, row.candidates],
                counted=False,
            )
        self._execute(
            "DELETE FROM searches WHERE serial IN (SELECT serial FROM searches ORDER BY serial DESC OFFSET ?)",
            [keep],
            counted=False,
        )

    def get(self, serial: int) -> SearchRow | None:
        """Return a search; None if it was deleted."""
        rows = self._rows(f"SELECT {_SEARCH_COLUMNS} FROM searches WHERE serial = ?", [serial])
        return _search(rows[0]) if rows else None

    def last(self) -> int:
        """Return the highest number of a search, 0 without one."""
        return self._count("SELECT coalesce(max(serial), 0) FROM searches")

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """Return the latest searches, newest first."""
        rows = self._rows(f"SELECT {_SEARCH_COLUMNS} FROM searches ORDER BY serial DESC LIMIT ?", [limit])
        return tuple(map(_search, rows))


def _search(row: Sequence[Any]) -> SearchRow:
    serial, at, query, places, pool, candidates = row
    return SearchRow(serial, as_utc(at), query, places, pool, candidates)
