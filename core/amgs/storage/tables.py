"""Whole tables, row by row and exactly: for copies, exports and imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

BATCH = 10_000
OF_A_NEW_STORE = frozenset(
    {"change_counter", "meta", "frame_definitions", "frame_compositions", "frame_versions"}
)
"""Tables with rows in a memory that was opened, and in which nothing was done."""


TableRow = tuple[Any, ...]
"""One row in the order of the table's columns: instants are microseconds since 1970, JSON is its text."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column and its type, under its name in an export. required: whether it may not be empty."""

    name: str
    type: str
    required: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class TableSize:
    """What a table takes where it is kept: its rows, their bytes, and those of its indexes."""

    rows: int
    bytes: int
    index_bytes: int


class TableStorage(Protocol):
    """Every table of the schema. Columns carry the type names of the export format, whatever the backend calls them."""

    def schema(self) -> dict[str, tuple[TableColumn, ...]]:
        """Every table of the schema with its columns, by name."""
        ...

    def rows(self, table: str, columns: Sequence[TableColumn], *, skip: int = 0) -> Iterator[list[TableRow]]:
        """The rows of a table in order of insertion, without the first `skip`, in batches."""
        ...

    def clear(self, table: str) -> None:
        """Take every row out; inside a transaction."""
        ...

    def insert(self, table: str, columns: Sequence[TableColumn], batch: Sequence[TableRow]) -> None:
        """Add rows as `rows` gives them; inside a transaction."""
        ...

    def count(self, table: str) -> int:
        """How many rows a table has."""
        ...

    def untouched(self) -> bool:
        """Whether nothing was ever done in the store: no table has rows but those of a new one."""
        ...

    def sizes(self) -> dict[str, TableSize]:
        """What every table takes, by name; of a file in whole blocks of it, and its indexes are not counted."""
        ...

    def set_counter(self, value: int) -> None:
        """Put the change counter where revisions of imported rows are not in its future; inside a transaction."""
        ...
