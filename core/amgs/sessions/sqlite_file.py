"""SQLite databases of other programs, read from a copy; the original is never opened, so it cannot be changed.

The only SQL outside the storage, since these are no stores of ours.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from amgs.errors import InputError
from amgs.sessions.lines import unreadable

_MAGIC: Final = b"SQLite format 3\x00"
_NAME: Final = re.compile(r"[a-z_0-9]+")
_TABLE: Final = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[`\"\[]?([A-Za-z_0-9]+)")
_FIRST_PAGES: Final = 4 * 1024 * 1024
"""Bytes of a file that contain the definitions of its tables."""


def is_sqlite(path: Path) -> bool:
    """Return whether a file begins with the SQLite magic."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def tables_named_in(path: Path) -> set[str]:
    """Return the names of tables in the first pages of a database or its write-ahead log, without opening it."""
    tables: set[str] = set()
    for candidate in (path, path.with_name(path.name + "-wal")):
        if candidate.is_file():
            tables.update(name.decode() for name in _TABLE.findall(_first_pages(candidate)))
    return tables


def names_column(path: Path, column: str) -> bool:
    """Return whether the first pages of a database or its write-ahead log mention a column, without opening it."""
    pages = (page for page in (path, path.with_name(path.name + "-wal")) if page.is_file())
    return any(column.encode() in _first_pages(page) for page in pages)


def _first_pages(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_FIRST_PAGES)


class SqliteFile:
    """A database open for reading."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def rows(
        self, table: str, columns: Sequence[str], order: Sequence[str] = (), **where: str
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a table with these values of columns.

        Invalid UTF-8 is read as far as possible; missing columns are None. Raises InputError for a missing table or a
        corrupt database.
        """
        try:
            there = {name for _, name, *_ in self._connection.execute(f"PRAGMA table_info({_check_name(table)})")}
            if not there or not there.issuperset(where):
                raise InputError(f"{self._path} has no table {table} that is known.", way_out=_WAY_OUT)
            chosen = ", ".join(_check_name(column) if column in there else "NULL" for column in columns)
            condition = " AND ".join(f"{_check_name(column)} = ?" for column in where)
            asked = f"SELECT {chosen} FROM {_check_name(table)}"
            if condition:
                asked += f" WHERE {condition}"
            if ordered := ", ".join(_check_name(column) for column in order if column in there):
                asked += f" ORDER BY {ordered}"
            return self._connection.execute(asked, tuple(where.values())).fetchall()
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise InputError(f"{self._path} is damaged, or a part of it is missing.", way_out=_WAY_OUT) from error


_WAY_OUT: Final = "Give a whole database, with the `-wal` file beside it."


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"no name of a table or column: {name}")
    return name


@contextmanager
def open_copy(path: Path) -> Iterator[SqliteFile]:
    """Yield a copy of a database with its write-ahead log, which is removed afterwards. Raises InputError if it cannot
    be read.
    """
    with tempfile.TemporaryDirectory(prefix="amgs-session-") as folder:
        copy = Path(folder) / "copy.db"
        try:
            shutil.copyfile(path, copy)
            for end in ("-wal", "-shm"):
                if (beside := path.with_name(path.name + end)).is_file():
                    shutil.copyfile(beside, copy.with_name(copy.name + end))
        except OSError as error:
            raise unreadable(path, error) from error
        try:
            connection = sqlite3.connect(f"file:{quote(str(copy))}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise InputError(f"{path} is damaged, or a part of it is missing.", way_out=_WAY_OUT) from error
        with closing(connection):
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield SqliteFile(path, connection)
