"""Open the DuckDB file of a store, and say in words why it cannot be opened or used."""

from __future__ import annotations

import os
import re
from pathlib import Path

import duckdb

from amgs.errors import (
    AmgsError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
    UsageError,
    saying_refusals,
)
from amgs.storage.duckdb import files
from amgs.storage.duckdb.files import SETTINGS, Note

_OTHER_PROCESS = re.compile(r"\(PID (\d+)\)")
_TOO_NEW = re.compile(r"version number|newer version", re.IGNORECASE)
_NO_ROOM = re.compile(r"no space left|file too large|disk quota|out of disk", re.IGNORECASE)
_NOT_ALLOWED = re.compile(r"permission denied|read-only file system", re.IGNORECASE)
_TORN = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")
_UNOPENED = re.compile(r'Cannot open file ".*": (.*)')
_CLASS = re.compile(r"^(?:[A-Z]\w+ )*(?:Error|Exception): ")
"""DuckDB's name of the kind of error, before its sentence."""
_DAMAGED = re.compile(
    r"corrupt|checksum|not a valid DuckDB|read enough bytes|deserialize|failure while replaying", re.IGNORECASE
)


def set_up(connection: duckdb.DuckDBPyConnection) -> None:
    """Apply DuckDB's settings to a connection."""
    for setting in SETTINGS:
        connection.execute(setting)


def connect_file(
    name: str, note: Note, *, read_only: bool, create: bool, accept_loss: bool
) -> tuple[duckdb.DuckDBPyConnection, str]:
    """Connect to the file, holding the note's lock; return the connection, and what was cut off the write-ahead file,
    in words.
    """
    files.check(Path(name), create=create and not read_only)
    if not note.lock(shared=read_only):
        raise _make_lock_error(name, files.find_lock_holder(Path(name)))
    if files.is_gone(Path(name)):
        os.truncate(note.path, 0)  # of a store that somebody took away: the store that begins here lost nothing
    if not accept_loss and note.finds_damage():
        raise StoreCorruptError(
            f"The write-ahead file of {name} does not match what was committed.",
            way_out="Restore a complete backup, or accept the loss and continue with what is left.",
            about="loss",
        )
    try:
        return duckdb.connect(name, read_only=read_only), ""
    except (duckdb.Error, UnicodeError, ValueError) as error:
        torn = _TORN.search(str(error))
        if torn is None:
            raise translate_error(error, name) from error
        at = int(torn[1])
        if read_only or not accept_loss:
            raise StoreCorruptError(
                f"The write-ahead file of {name} is torn at byte {at:,}, as a power cut leaves it.",
                way_out="Accept the loss: the end is cut off there and saved beside it, and what came before stays.",
                about="loss",
            ) from error
    with saying_refusals():
        cut = files.cut_ahead(Path(name), at)
    try:
        return duckdb.connect(name), cut
    except duckdb.Error as error:
        raise translate_error(error, name) from error


def _make_lock_error(path: str, process: str) -> StoreLockedError:
    """Return the error for a store that another process has open. process: its id, "" if unknown."""
    who = f"process {process}" if process else "another process"
    stop = f"Close it (or end process {process})" if process else "Close it"
    locked = StoreLockedError(
        f"{path} is in use by {who}, and a store has a single writer at a time.",
        way_out=f"{stop}, or choose another store.",
    )
    locked.process = process
    return locked


def translate_error(error: Exception, path: str) -> AmgsError:
    """Return the engine's error for a DuckDB error."""
    text = _CLASS.sub("", str(error).strip().split("\n", 1)[0]).rstrip(".")
    if "lock on file" in text:
        match = _OTHER_PROCESS.search(text)
        return _make_lock_error(path, match[1] if match else "")
    if _TOO_NEW.search(text):
        return StoreTooNewError(f"{path}: {text}.", way_out="Update the program, or choose another store.")
    if _DAMAGED.search(text) or isinstance(error, duckdb.FatalException | duckdb.InternalException):
        return StoreCorruptError(
            f"{path} cannot be read: {text}.", way_out="Restore a backup. The file was not changed."
        )
    if "surrogate" in text:
        return UsageError(
            "The text holds half a surrogate pair, which cannot be stored.", way_out="Remove that character."
        )
    if _NO_ROOM.search(text):
        return StoreError(
            f"{path} cannot be extended: {text}.",
            title="The disk is full",
            way_out="Free some space and try again; the store is unchanged.",
            about="room",
        )
    if _NOT_ALLOWED.search(text):
        return StoreError(
            f"{path}, its folder or the whole disk is read-only for this program.",
            title="The store cannot be written",
            way_out="Allow writing there, or open it for reading.",
            about="unwritable",
        )
    if unopened := _UNOPENED.fullmatch(text):
        return StoreError(f"{path} cannot be opened: {unopened[1]}.", way_out="Check the path.")
    return StoreError(
        f"{path}: {text}.", way_out="Nothing was changed. Verify the store to see whether it is sound.", about="check"
    )
