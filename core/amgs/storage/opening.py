"""Open, copy and remove stores; the only place that chooses between DuckDB and PostgreSQL, by the path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import StoreError
from amgs.extras import explain_missing
from amgs.storage.duckdb import files
from amgs.storage.tables import MIGRATION

if TYPE_CHECKING:
    from amgs.storage.store import Storage

MEMORY = ":memory:"
_SCHEMES = ("postgresql://", "postgres://")


def is_address(place: Path | str) -> bool:
    """Return whether a place is the address of a PostgreSQL database, not a file."""
    return str(place).startswith(_SCHEMES)


def in_namespace(address: str, namespace: str) -> str:
    """Return the address of a namespace in the database of `address`, which names none itself.

    Raises UsageError for an invalid address or name, or for an address with a password or a namespace.
    """
    from amgs.storage.postgres.address import Address

    return Address.of(address).with_namespace(namespace).shown


def open_storage(
    path: Path | str, *, read_only: bool = False, create: bool = True, accept_loss: bool = False
) -> Storage:
    """Open or create the store at a path and migrate its schema; a refused store is not changed.

    path: a file in an existing folder, ":memory:", or `postgresql://user@host/database?namespace=name`. create: if
    False, a missing store is an error. accept_loss: open a store that has lost its last changes. Raises
    StoreLockedError, StoreTooNewError, StoreCorruptError, or StoreError for anything else; UsageError for an address
    with a password; MissingExtraError if the database's driver is not installed.
    """
    storage: Storage
    if is_address(path):
        with explain_missing():
            from amgs.storage.postgres.storage import PostgresStorage

        storage = PostgresStorage.open(str(path), read_only=read_only, create=create)
    else:
        from amgs.storage.duckdb.storage import DuckDBStorage

        storage = DuckDBStorage.open(path, read_only=read_only, create=create, accept_loss=accept_loss)
    _check_whole(storage)
    return storage


def _check_whole(storage: Storage) -> None:
    """Close and refuse a store into which a memory was copied only in part."""
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
    """Return whether a store was removed from the path while the note beside it stayed."""
    return files.is_gone(path)


def copy_in_memory(source: Storage) -> Storage:
    """Return a store in memory with the same content, a change later; the caller closes it."""
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
    """Delete a closed store and everything that belongs to it, as far as possible.

    untouched: delete a database namespace only if nothing was done in it. Raises StoreLockedError if another process
    writes to it, StoreError if the database cannot be reached.
    """
    if is_address(path):
        with explain_missing():
            from amgs.storage.postgres.storage import PostgresStorage

        PostgresStorage.remove(str(path), untouched=untouched)
    else:
        files.remove(Path(path))
