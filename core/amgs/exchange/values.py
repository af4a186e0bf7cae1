"""Exact conversion of table values to and from text."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from amgs.errors import InputError
from amgs.storage.tables import TableColumn

VERSION = 1
"""Version of the file's format, not of the schema."""
_AGAIN = "Nothing was imported; export it again from the store it came from."
_LONGEST = 400
"""Most characters of a complaint: a few lines."""
_MOST = 2**53

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoreDocument:
    """A whole store as read from a file. counter: its change counter."""

    schema: int
    counter: int
    tables: Mapping[str, tuple[tuple[TableColumn, ...], Sequence[Sequence[Any]]]]

    def __post_init__(self) -> None:
        for name, value in (("schema", self.schema), ("counter", self.counter)):
            if type(value) is not int or not 0 <= value <= _MOST:
                raise ValueError(f"its {name} is {str(value)[:40]}")


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a file."""

    schema: int
    counter: int
    exported_at: datetime


def outward(value: Any, kind: str) -> Any:
    """Return a value as JSON: times as ISO 8601 to the microsecond, embeddings as base64 of float32."""
    if value is None:
        return None
    if kind == "TIMESTAMP":
        return (_EPOCH + timedelta(microseconds=int(value))).isoformat(timespec="microseconds")
    if kind == "FLOAT[]":
        return base64.b64encode(np.asarray(value, dtype="<f4").tobytes()).decode("ascii")
    return value


def inward(value: Any, kind: str) -> Any:
    """Return the value from `outward`; raises InputError for anything else."""
    if value is None:
        return None
    try:
        if kind == "TIMESTAMP":
            return (datetime.fromisoformat(value) - _EPOCH) // timedelta(microseconds=1)
        if kind == "FLOAT[]":
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").tolist()
    except (ValueError, TypeError) as error:
        raise InputError(f"{str(value)[:40]!r} is not a valid {kind}: {_short(error)}.", way_out=_AGAIN) from error
    return value


def _short(why: object) -> str:
    """Return a reason on one line, shortened, since some repeat the whole value."""
    reason = " ".join(str(why).split())
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be opened or read."""
    return InputError(
        f"{path} cannot be read: {error.strerror or error}.",
        way_out="Choose a file that holds an exported memory.",
        about="export",
    )


def say_gap(error: Exception) -> str:
    """Describe what is missing in an inconsistent export."""
    return f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else "a value in it has another form"


def damaged(path: Path, why: object) -> InputError:
    """Return the error for an inconsistent or damaged export."""
    return InputError(f"{path} is damaged: {_short(why)}.", way_out=_AGAIN)


def of_another_form(path: Path, form: object) -> InputError:
    """Return the error for an export in another format version."""
    return InputError(
        f"{path} has format version {form}; this program reads {VERSION}.", way_out="Update whichever program is older."
    )


def written(path: Path, lines: Iterator[str]) -> int:
    """Write a file completely or not at all, by way of a temporary file; return its size."""
    import os

    beside = path.with_name(f"{path.name}.part")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(line)
            out.flush()
            os.fsync(out.fileno())
        size = beside.stat().st_size
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}.",
            title="Cannot write the file",
            way_out="Choose a folder that is there, has room and can be written to; the store is unchanged.",
        ) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return size
