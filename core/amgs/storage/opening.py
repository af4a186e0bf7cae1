"""The one place that chooses a backend: a path opens the store that is kept there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import StoreError
from amgs.extras import explained
from amgs.storage.duckdb import files
from amgs.storage.meta import MIGRATION

if TYPE_CHECKING:
    from amgs.storage.store import Storage

MEMORY = ":memory:"
_SCHEMES = ("postgresql://", "postgres://")


def is_address(place: Path | str) -> bool:
    """Return whether a place is in a PostgreSQL database, and not a file."""
    return str(place).startswith(_SCHEMES)


def in_namespace(address: str, namespace: str) -> str:
    """Return the address of a namespace of the database that an address names without one.

    Raises UsageError for an address that is none, holds a password or names a namespace already, and for what cannot be
    the name of one.
    """
    from amgs.storage.postgres.address import Address

    return Address.of(address).with_namespace(namespace).shown


def open_storage(
    path: Path | str, *, read_only: bool = False, create: bool = True, accept_loss: bool = False
) -> Storage:
    """Open or create the store at a path and bring its schema up to date; one that is refused is left as it was.

    path: a file in a folder that is there, ":memory:", or `postgresql://user@host/database?namespace=name`.
    create: False where a missing store is an error. accept_loss: open a store that has lost its last changes, and go
    on with what is left.
    Raises StoreLockedError, StoreTooNewError, StoreCorruptError, or StoreError for anything else; UsageError for an
    address that holds a password, MissingExtraError where what talks to the database is not installed.
    """
    storage: Storage
    if is_address(path):
        with explained():
            from amgs.storage.postgres.storage import PostgresStorage

        storage = PostgresStorage.open(str(path), read_only=read_only, create=create)
    else:
        from amgs.storage.duckdb.storage import DuckDBStorage

        storage = DuckDBStorage.open(path, read_only=read_only, create=create, accept_loss=accept_loss)
    _check_whole(storage)
    return storage


def _check_whole(storage: Storage) -> None:
    """Close and refuse a store that holds a part of a memory."""
    try:
        migration = storage.meta.get(MIGRATION)
        if migration is not None:
            raise StoreError(
                f"{storage.path} holds a part of {json.loads(migration)['source']}, which was not copied to the end.",
                title="The store is not whole",
                way_out="Export that memory, and import it into a new store.",
            )
    except BaseException:
        storage.close()
        raise


def is_gone(path: Path) -> bool:
    """Return whether the store that was at a path was removed or moved away, and what was noted beside it stayed."""
    return files.is_gone(path)


def copy_in_memory(source: Storage) -> Storage:
    """Return a store in memory that holds what the source holds, one change later; the caller closes it."""
    target = open_storage(MEMORY)
    try:
        with target.transaction():
            for table, columns in source.tables.schema().items():
                target.tables.clear(table)
                for batch in source.tables.rows(table, columns):
                    target.tables.insert(table, columns, batch)
    except BaseException:
        target.close()
        raise
    return target


def remove(path: Path | str, *, untouched: bool = False) -> None:
    """Remove a closed store with all that belongs to it; of a file, what cannot be removed stays. untouched: of a
    database, only where nothing was done in it since.

    Raises StoreLockedError for a namespace that another process writes to, StoreError for a database that is not there.
    """
    if is_address(path):
        with explained():
            from amgs.storage.postgres.storage import PostgresStorage

        PostgresStorage.remove(str(path), untouched=untouched)
    else:
        files.remove(Path(path))
