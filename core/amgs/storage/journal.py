"""Tables `operations` and `operation_rows`: the state before and after each change, so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, to_stored_time

if TYPE_CHECKING:
    from amgs.types import JournalEntry, Vector


JournalTarget = Literal["block", "edge", "forecast", "clock", "frame", "record"]
"""What a row is about. forecast: an outcome. clock: a reinforcement of a block. frame: a definition. record: metrics
stored at a time.
"""

RECALIBRATION = "calibrate"
"""Kind of operations that learn from all verdicts."""
PROPOSAL = "propose"
"""Kind of operations in stores of an earlier version that only list what may be pruned; they have no rows."""

ERASED = "erase"
MASKED = "mask secrets"
"""With ERASED, a kind of operations that cannot be undone since nothing of the old state is stored."""


@dataclass(frozen=True)
class JournalRow:
    """One changed thing, as JSON before (None if it was created) and after (None if it was deleted).

    key: id of a block or forecast, "source target relation" of an edge, a frame's name, or a time. embedding: a block's
    embedding before.
    """

    target: JournalTarget
    key: str
    before: str | None
    after: str | None
    embedding: Vector | None = field(default=None, compare=False)


_COLUMNS = "id, kind, timestamp, summary, blocks, edges, undone"


class JournalStorage(StoragePart):
    """Journal entries and their rows."""

    def append(
        self, kind: str, at: datetime, summary: str, rows: Sequence[JournalRow], *, blocks: int, edges: int
    ) -> JournalEntry:
        """Write a journal entry with its rows; return it with its id, which rises from 1."""
        number = self._connection.highest("operations", "id") + 1
        self._note(
            "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, false)",
            [number, kind, to_stored_time(at), summary, blocks, edges],
        )
        self._connection.note_highest("operations", number)
        self._append_rows(number, rows)
        from amgs.types import JournalEntry

        return JournalEntry(number, kind, at, summary, blocks, edges)

    def extend(
        self,
        operation: JournalEntry,
        at: datetime,
        summary: str,
        rows: Sequence[JournalRow],
        *,
        blocks: int,
        edges: int,
    ) -> JournalEntry:
        """Add rows to an entry and update its time and summary. blocks, edges: number of added rows."""
        self._note(
            "UPDATE operations SET timestamp = ?, summary = ?, blocks = blocks + ?, edges = edges + ? WHERE id = ?",
            [to_stored_time(at), summary, blocks, edges, operation.id],
        )
        self._append_rows(operation.id, rows)
        return replace(
            operation, at=at, summary=summary, blocks=operation.blocks + blocks, edges=operation.edges + edges
        )

    def _append_rows(self, number: int, rows: Sequence[JournalRow]) -> None:
        plain = [row for row in rows if row.embedding is None]
        if plain:
            self._note(
                "INSERT INTO operation_rows SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
                "unnest(?::VARCHAR[])::JSON, unnest(?::VARCHAR[])::JSON, NULL",
                [
                    number,
                    [r.target for r in plain],
                    [r.key for r in plain],
                    [r.before for r in plain],
                    [r.after for r in plain],
                ],
            )
        for row in rows:
            if row.embedding is not None:
                self._note(
                    "INSERT INTO operation_rows VALUES (?, ?, ?, ?, ?, ?)",
                    [number, row.target, row.key, row.before, row.after, row.embedding.tolist()],
                )

    def latest(self, limit: int) -> tuple[JournalEntry, ...]:
        """Return the latest entries, newest first."""
        return tuple(
            _operation(row)
            for row in self._rows(f"SELECT {_COLUMNS} FROM operations ORDER BY id DESC LIMIT ?", [limit])
        )

    def last_event(self) -> datetime | None:
        """Return the time of the latest operation, forecast or assembly; None if there was none."""
        instant = self._value(
            "SELECT max(done) FROM ((SELECT timestamp AS done FROM operations ORDER BY id DESC LIMIT 1) UNION ALL "
            "(SELECT timestamp FROM calibration_log ORDER BY serial DESC LIMIT 1) UNION ALL "
            "(SELECT timestamp FROM assemblies ORDER BY serial DESC LIMIT 1)) AS latest"
        )
        return None if instant is None else as_utc(instant)

    def get(self, operation_id: int) -> JournalEntry | None:
        """Return the entry with this id; None if there is none."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM operations WHERE id = ?", [operation_id])
        return _operation(rows[0]) if rows else None

    def latest_standing(self) -> int | None:
        """Return the id of the latest operation that can be undone; None if there is none."""
        latest_id = self._value(
            "SELECT max(id) FROM operations WHERE NOT undone AND kind NOT IN (?, ?, ?)", [PROPOSAL, ERASED, MASKED]
        )
        return None if latest_id is None else int(latest_id)

    def is_latest(self, operation_id: int) -> bool:
        """Return whether the operation is the latest and not undone."""
        rows = self._rows("SELECT id, undone FROM operations ORDER BY id DESC LIMIT 1")
        return bool(rows) and rows[0][0] == operation_id and not rows[0][1]

    def last_of(self, kind: str) -> JournalEntry | None:
        """Return the latest operation of this kind that is not undone."""
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM operations WHERE kind = ? AND NOT undone ORDER BY id DESC LIMIT 1", [kind]
        )
        return _operation(rows[0]) if rows else None

    def pages(self, operation_id: int, target: JournalTarget, size: int = 10_000) -> Iterator[tuple[JournalRow, ...]]:
        """Yield the rows of an operation for a kind of target, by key, in batches, since it may have changed
        everything.
        """
        last = ""
        while True:
            rows = self._rows(
                "SELECT target, key, before::VARCHAR, after::VARCHAR, embedding FROM operation_rows "
                "WHERE operation_id = ? AND target = ? AND key > ? ORDER BY key LIMIT ?",
                [operation_id, target, last, size],
            )
            if not rows:
                return
            last = rows[-1][1]
            yield tuple(
                JournalRow(t, k, b, a, None if e is None else np.asarray(e, dtype=np.float32)) for t, k, b, a, e in rows
            )

    def edge_counts(self, operation_id: int) -> tuple[int, int, int]:
        """Count the edges that an operation created, changed and deleted."""
        counts = self._rows(
            "SELECT count(*) FILTER (WHERE before IS NULL), count(*) FILTER (WHERE before IS NOT NULL AND after "
            "IS NOT NULL), count(*) FILTER (WHERE after IS NULL) FROM operation_rows "
            "WHERE operation_id = ? AND target = 'edge'",
            [operation_id],
        )[0]
        return counts[0], counts[1], counts[2]

    def later_on_same(self, operation_id: int) -> tuple[int, ...]:
        """Return later operations, not undone, that changed the same things or learned from this operation's verdicts.

        Any two frame definitions count as the same thing, since a frame may contain the other.
        """
        rows = self._rows(
            "SELECT DISTINCT r.operation_id FROM operation_rows r JOIN operations o ON o.id = r.operation_id "
            "WHERE r.operation_id > ? AND NOT o.undone AND EXISTS (SELECT 1 FROM operation_rows m "
            "WHERE m.operation_id = ? AND m.target = r.target AND (m.key = r.key OR m.target = 'frame')) "
            "UNION SELECT id FROM operations WHERE id > ? AND NOT undone AND kind = ? AND EXISTS (SELECT 1 "
            "FROM operation_rows m WHERE m.operation_id = ? AND m.target = 'forecast') ORDER BY 1",
            [operation_id, operation_id, operation_id, RECALIBRATION, operation_id],
        )
        return tuple(row[0] for row in rows)

    def mark(self, operation_id: int, *, undone: bool) -> None:
        """Mark an operation as undone, or as valid again."""
        self._note("UPDATE operations SET undone = ? WHERE id = ?", [undone, operation_id])

    def list_unowned_operations(self) -> tuple[int, ...]:
        """Return operation ids that rows refer to but no operation has; empty in a sound store."""
        rows = self._rows(
            "SELECT DISTINCT operation_id FROM operation_rows r WHERE NOT EXISTS (SELECT 1 FROM operations o "
            "WHERE o.id = r.operation_id) ORDER BY 1"
        )
        return tuple(row[0] for row in rows)

    def incomplete(self) -> tuple[tuple[int, int, int], ...]:
        """Return (operation, rows found, rows recorded) where these differ; empty in a sound store."""
        return tuple(
            self._rows(
                "SELECT o.id, count(r.key), o.blocks + o.edges FROM operations o "
                "LEFT JOIN operation_rows r ON r.operation_id = o.id WHERE o.kind NOT IN (?, ?) "
                "GROUP BY o.id, o.blocks, o.edges HAVING count(r.key) <> o.blocks + o.edges ORDER BY 1",
                [PROPOSAL, ERASED],
            )
        )


def _operation(row: Sequence[Any]) -> JournalEntry:
    from amgs.types import JournalEntry

    return JournalEntry(row[0], row[1], as_utc(row[2]), row[3], row[4], row[5], bool(row[6]))
