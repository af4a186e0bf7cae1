"""A memory small enough to know by heart, for the tests of the engine's door and its lifecycle."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.settings import Settings
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn
from tests.prepared_store import copy_store

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)

NOTES = {
    "people/ilse.md": ("---\ndate: 2026-02-01\ntags: [person]\n---\n# Ilse\n\nMechanic. Keeps the QX-7741-B valve.\n"),
    "places/dome.md": (
        "---\ndate: 2026-02-02\ntags: [place]\n---\n# Dome\n\nThe dome has valve QX-7741-B. See [[ilse]].\n"
    ),
    "values/self.md": ("---\ndate: 2026-02-03\ntags: [self]\nauthor: Tally\n---\n# What I am\n\nI keep notes.\n"),
    "talks/first.md": (
        "---\nkind: dialogue\ndate: 2026-02-10T20:00:00Z\nparticipants: [Ilse, Tally]\n---\n"
        "**Ilse:** The dome stalls again.\n\n**Tally:** Since yesterday?\n\n**Ilse:** Yes, at azimuth 200.\n"
    ),
}
"""Four files, six blocks: three notes and a dialogue of three turns."""


def write_notes(folder: Path, notes: dict[str, str] | None = None) -> Path:
    """The notes as files below a folder."""
    for name, text in (NOTES if notes is None else notes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def open_memory(path: Path | str | None = None, *, now: datetime = NOW, settings: Settings | None = None) -> Memory:
    """A memory that stands still at `now`, a new one where no path is given."""
    return Memory.open(copy_store(_make_empty) if path is None else path, clock=FixedClock(now), settings=settings)


def consolidated(folder: Path, path: Path | str | None = None) -> Memory:
    """A memory that holds the notes, consolidated by operation 1; the notes lie in the folder.

    path: where its file is to lie; as a string ":memory:" or an address, where nothing can be copied to.
    """
    write_notes(folder)
    return _make_consolidated(path) if isinstance(path, str) else open_memory(copy_store(_make_consolidated, path))


def _make_empty(path: Path) -> Memory:
    return open_memory(path)


def _make_consolidated(path: Path | str) -> Memory:
    memory = open_memory(path)
    with tempfile.TemporaryDirectory() as folder:
        memory.ingest_folder(write_notes(Path(folder) / "notes"))
    memory.consolidate()
    return memory


def table_rows(storage: Storage, table: str, columns: tuple[TableColumn, ...]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, with vectors as lists, which can be compared."""
    for batch in storage.tables.rows(table, columns):
        for row in batch:
            yield tuple(one.tolist() if isinstance(one, np.ndarray) else one for one in row)
