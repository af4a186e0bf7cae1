"""The tables `operations` and `operation_rows`.

What each lifecycle change found and left, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

import numpy as np

from amgs.clock import as_utc
from amgs.storage.duckdb.connection import Store, stored
from amgs.types import JournalEntry, Vector

_COLUMNS = "id, kind, timestamp, summary, blocks, edges, undone"

Target = Literal["block", "edge", "forecast", "clock"]
"""What a row is about: forecast, the outcome of one; clock, a reinforcement of a block."""
_TARGETS: tuple[Target, ...] = ("block", "edge", "forecast", "clock")
RECALIBRATION = "calibrate"
"""The kind of the operations that learn from every verdict there is."""


@dataclass(frozen=True)
class Row:
    """One thing that an operation changed: JSON before (None: it made it) and after (None: it took it away).

    key: the id of a block or of a forecast, or "source target relation" of an edge. embedding: a block's embedding
    before.
    """

    target: Target
    key: str
    before: str | None
    after: str | None
    embedding: Vector | None = field(default=None, compare=False)


def append(
    store: Store, kind: str, at: datetime, summary: str, rows: Sequence[Row], *, blocks: int, edges: int
) -> JournalEntry:
    """Write a journal entry and its rows; returns it with its id, which rises from 1."""
    number = int(store.value("SELECT coalesce(max(id), 0) + 1 FROM operations"))
    store.execute(
        "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, false)",
        [number, kind, stored(at), summary, blocks, edges],
        structural=False,
    )
    _append_rows(store, number, rows)
    return JournalEntry(number, kind, at, summary, blocks, edges)


def extend(
    store: Store, operation: JournalEntry, summary: str, rows: Sequence[Row], *, blocks: int, edges: int
) -> JournalEntry:
    """Add rows to an entry, `blocks` and `edges` of them, and say anew what it did."""
    store.execute(
        "UPDATE operations SET summary = ?, blocks = blocks + ?, edges = edges + ? WHERE id = ?",
        [summary, blocks, edges, operation.id],
        structural=False,
    )
    _append_rows(store, operation.id, rows)
    return replace(
        operation, summary=summary, blocks=operation.blocks + blocks, edges=operation.edges + edges
    )


def _append_rows(store: Store, number: int, rows: Sequence[Row]) -> None:
    plain = [row for row in rows if row.embedding is None]
    if plain:
        store.execute(
            "INSERT INTO operation_rows SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[])::JSON, unnest(?::VARCHAR[])::JSON, NULL",
            [
                number,
                [r.target for r in plain],
                [r.key for r in plain],
                [r.before for r in plain],
                [r.after for r in plain],
            ],
            structural=False,
        )
    for row in rows:
        if row.embedding is not None:
            store.execute(
                "INSERT INTO operation_rows VALUES (?, ?, ?, ?, ?, ?)",
                [number, row.target, row.key, row.before, row.after, row.embedding.tolist()],
                structural=False,
            )


def latest(store: Store, limit: int) -> tuple[JournalEntry, ...]:
    """The latest operations, the newest first."""
    return tuple(
        _operation(row)
        for row in store.rows(
            f"SELECT {_COLUMNS} FROM operations ORDER BY id DESC LIMIT ?",
            [limit],
        )
    )


def get(store: Store, operation_id: int) -> JournalEntry | None:
    """One operation, None when there is none with this id."""
    found = store.rows(
        f"SELECT {_COLUMNS} FROM operations WHERE id = ?",
        [operation_id],
    )
    return _operation(found[0]) if found else None


def latest_standing(store: Store) -> int | None:
    """The id of the latest operation that is not undone."""
    found = store.value("SELECT max(id) FROM operations WHERE NOT undone")
    return None if found is None else int(found)


def latest_redoable(store: Store) -> int | None:
    """What one redo puts back: the first of the undone operations that nothing came after, else the last undone."""
    found = store.value(
        "SELECT coalesce(min(id) FILTER (id > (SELECT coalesce(max(id), 0) FROM operations WHERE NOT undone)), "
        "max(id)) FROM operations WHERE undone"
    )
    return None if found is None else int(found)


def is_latest(store: Store, operation_id: int) -> bool:
    """Whether the operation stands and no other came after it."""
    found = store.rows("SELECT id, undone FROM operations ORDER BY id DESC LIMIT 1")
    return bool(found) and int(found[0][0]) == operation_id and not found[0][1]


def last_of(store: Store, kind: str) -> datetime | None:
    """When an operation of this kind was last applied and not undone."""
    value = store.value("SELECT max(timestamp) FROM operations WHERE kind = ? AND NOT undone", [kind])
    return None if value is None else as_utc(value)


def rows_of(store: Store, operation_id: int) -> tuple[Row, ...]:
    """What an operation changed, blocks before edges, each by key."""
    return tuple(row for target in _TARGETS for page in pages(store, operation_id, target) for row in page)


def pages(store: Store, operation_id: int, target: Target, size: int = 10_000) -> Iterator[tuple[Row, ...]]:
    """What an operation changed of blocks or of edges, by key, some at a time: one may have changed them all."""
    last = ""
    while True:
        found = store.rows(
            "SELECT target, key, before::VARCHAR, after::VARCHAR, embedding FROM operation_rows "
            "WHERE operation_id = ? AND target = ? AND key > ? ORDER BY key LIMIT ?",
            [operation_id, target, last, size],
        )
        if not found:
            return
        last = str(found[-1][1])
        yield tuple(
            Row(t, k, b, a, None if e is None else np.asarray(e, dtype=np.float32)) for t, k, b, a, e in found
        )


def changed_anything(store: Store, operation_id: int) -> bool:
    """Whether an operation changed blocks or edges, and not only what is known about them."""
    return bool(
        store.value(
            "SELECT count(*) FROM operation_rows WHERE operation_id = ? AND target IN ('block', 'edge')",
            [operation_id],
        )
    )


def edge_counts(store: Store, operation_id: int) -> tuple[int, int, int]:
    """How many edges an operation made, changed and took out."""
    found = store.rows(
        "SELECT count(*) FILTER (before IS NULL), count(*) FILTER (before IS NOT NULL AND after IS NOT NULL), "
        "count(*) FILTER (after IS NULL) FROM operation_rows WHERE operation_id = ? AND target = 'edge'",
        [operation_id],
    )[0]
    return int(found[0]), int(found[1]), int(found[2])


def rows_of_kind(store: Store, kind: str) -> tuple[Row, ...]:
    """What the operations of a kind changed that are not undone, in order of the operations; no embeddings."""
    found = store.rows(
        "SELECT r.target, r.key, r.before::VARCHAR, r.after::VARCHAR FROM operation_rows r JOIN operations o "
        "ON o.id = r.operation_id WHERE o.kind = ? AND NOT o.undone ORDER BY o.id, r.target, r.key",
        [kind],
    )
    return tuple(Row(t, k, b, a) for t, k, b, a in found)


def later_on_same(store: Store, operation_id: int) -> tuple[int, ...]:
    """Ids of later operations, not undone, that changed something this one changed, or learned from its verdicts."""
    found = store.rows(
        "SELECT DISTINCT r.operation_id FROM operation_rows r JOIN operations o ON o.id = r.operation_id "
        "WHERE r.operation_id > ? AND NOT o.undone AND EXISTS (SELECT 1 FROM operation_rows m "
        "WHERE m.operation_id = ? AND m.target = r.target AND m.key = r.key) UNION SELECT id FROM operations "
        "WHERE id > ? AND NOT undone AND kind = ? AND EXISTS (SELECT 1 FROM operation_rows m "
        "WHERE m.operation_id = ? AND m.target = 'forecast') ORDER BY 1",
        [operation_id, operation_id, operation_id, RECALIBRATION, operation_id],
    )
    return tuple(int(row[0]) for row in found)


def earlier_undone_on_same(store: Store, operation_id: int) -> tuple[int, ...]:
    """Ids of earlier operations, undone, that changed something this one changed."""
    found = store.rows(
        "SELECT DISTINCT r.operation_id FROM operation_rows r JOIN operations o ON o.id = r.operation_id "
        "WHERE r.operation_id < ? AND o.undone AND EXISTS (SELECT 1 FROM operation_rows m "
        "WHERE m.operation_id = ? AND m.target = r.target AND m.key = r.key) ORDER BY 1",
        [operation_id, operation_id],
    )
    return tuple(int(row[0]) for row in found)


def mark(store: Store, operation_id: int, *, undone: bool) -> None:
    """Note that an operation was taken back, or that it stands again."""
    store.execute("UPDATE operations SET undone = ? WHERE id = ?", [undone, operation_id], structural=False)


def unowned(store: Store) -> tuple[int, ...]:
    """Operation ids that rows name and no operation has; empty in a sound store."""
    found = store.rows(
        "SELECT DISTINCT operation_id FROM operation_rows ANTI JOIN operations ON id = operation_id ORDER "
        "BY 1"
    )
    return tuple(int(row[0]) for row in found)


def incomplete(store: Store) -> tuple[tuple[int, int, int], ...]:
    """(operation, rows kept, rows told) where the two differ; empty in a sound store."""
    found = store.rows(
        "SELECT o.id, count(r.key), o.blocks + o.edges FROM operations o "
        "LEFT JOIN operation_rows r ON r.operation_id = o.id GROUP BY o.id, o.blocks, o.edges "
        "HAVING count(r.key) <> o.blocks + o.edges ORDER BY 1"
    )
    return tuple((int(i), int(kept), int(told)) for i, kept, told in found)


def _operation(row: Sequence[Any]) -> JournalEntry:
    return JournalEntry(int(row[0]), row[1], as_utc(row[2]), row[3], int(row[4]), int(row[5]), bool(row[6]))
