"""Turn errors of the PostgreSQL server and its driver into errors of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from amgs.errors import AmgsError, StoreAwayError, StoreCorruptError, StoreError, UsageError

_AWAY = ("08", "57P01", "57P02", "57P03", "53300")
"""SQLSTATE prefixes of lost connections, of a server that starts or stops, and of one without free connections."""
_REFUSED = (errors.InsufficientPrivilege, errors.InvalidPassword, errors.InvalidAuthorizationSpecification)


@contextmanager
def translating(path: str) -> Iterator[None]:
    """Translate errors while the block runs. path: the store's address, for messages."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UsageError(
            "The text holds half a surrogate pair, which cannot be stored.", way_out="Remove that character."
        ) from error
    except psycopg.Error as error:
        raise _translate_error(error, path) from error


def _translate_error(error: psycopg.Error, path: str) -> AmgsError:
    """Return the engine's error for an error of the driver."""
    text = (error.diag.message_primary or str(error)).strip().split("\n", 1)[0]
    if isinstance(error, errors.DiskFull):
        return StoreError(
            f"{path} cannot be extended: {text}",
            title="The disk is full",
            way_out="Free some space on the server and try again; the store is unchanged.",
            about="room",
        )
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return StoreCorruptError(f"{path} cannot be read: {text}", way_out="Restore a backup of the database.")
    if isinstance(error, _REFUSED) or "password" in text or "authentication" in text:
        return StoreError(
            f"{path} is not open to this user: {text}",
            way_out="Check the user, PGPASSWORD, ~/.pgpass or the service file, and what the user was granted.",
        )
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None
    if lost or (error.sqlstate or "").startswith(_AWAY):
        return StoreAwayError(
            f"{path} cannot be reached: {text}",
            way_out="Check the address and that the server runs, then open the store again. What was not committed "
            "is not in it.",
        )
    return StoreError(
        f"{path}: {text}", way_out="Nothing was changed. Verify the store to see whether it is sound.", about="check"
    )
