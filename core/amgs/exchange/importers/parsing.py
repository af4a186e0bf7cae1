"""Parse a foreign file as JSON or JSON Lines, and its values: texts, names, times."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amgs.clock import UNPLACED, parse_instant
from amgs.errors import InputError
from amgs.incoming import check_ends, say_json_fault
from amgs.ingest.raw_blocks import format_source
from amgs.sessions.lines import open_unpacked, parse_document, seconds_of

_ARCHIVE = b"PK\x03\x04"


class _TwiceError(ValueError):
    """An object with a repeated key, whose first value would be lost."""


def parse(path: Path) -> Any:
    """Return the value in a JSON file, or a list of those in its lines, with an `Unread` for each invalid line.

    Raises InputError for a file that cannot be read, is not JSON, is nested too deeply or repeats a key.
    """
    check_ends(path)
    try:
        with open_unpacked(path) as file:
            raw = file.read()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", way_out="Choose a file that exists and may be read."
        ) from error
    if raw.startswith(_ARCHIVE):
        raise InputError(
            f"{path} is an archive.", way_out="Unpack it and import the JSON file in it, such as conversations.json."
        )
    try:
        return _parse_text(raw.decode("utf-8-sig"))
    except _TwiceError as error:
        raise _unfit(path, str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _unfit(path, say_json_fault(error)) from error


def _parse_text(written: str) -> Any:
    try:
        return _value(written)
    except _TwiceError:
        raise
    except json.JSONDecodeError as error:
        lines = [(n, line) for n, line in enumerate(written.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_object(lines[0][1]):
            try:
                return parse_document(written, _object)
            except json.JSONDecodeError:
                raise error from None  # which names the place
    return [_line(number, line) for number, line in lines]


def _is_object(line: str) -> bool:
    try:
        return isinstance(_value(line), dict)
    except ValueError:
        return False


def _line(number: int, line: str) -> Any:
    try:
        return _value(line)
    except _TwiceError as error:
        return Unread(number, str(error)[:120])
    except (ValueError, RecursionError):
        return Unread(number, "it is no JSON")


def _value(written: str) -> Any:
    return json.loads(written, object_pairs_hook=_object)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"the key {format_source(twice)[:40]!r} stands twice in one object")
    return members


def _unfit(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} cannot be imported: {why}.", way_out="Nothing was imported; export it again, or choose another file."
    )


_SPOKEN = re.compile(r"\d{1,2}:\d\d [ap]m on \d{1,2} [A-Z][a-z]+, \d{4}", re.IGNORECASE)
_AS_SPOKEN = "%I:%M %p on %d %B, %Y"
"""Format of a session's start in recorded research chats (LoCoMo, REALTALK)."""
_VECTORS = ("embedding", "embeddings", "vector")
"""Suffixes of fields that contain vectors."""


@dataclass(frozen=True, slots=True)
class Unread:
    """An invalid line of a JSON Lines file."""

    line: int
    reason: str


def text(value: Any) -> str | None:
    """Return a text; None for anything else."""
    return value if isinstance(value, str) else None


def instant(value: Any) -> datetime | None:
    """Return a time in ISO 8601, as "1:56 pm on 8 May, 2023", or as a number since 1970, see
    `amgs.sessions.lines.seconds_of`; None for anything else.
    """
    try:
        if isinstance(value, str):
            spoken = _SPOKEN.fullmatch(value.strip())
            return (
                datetime.strptime(spoken[0], _AS_SPOKEN).replace(tzinfo=UTC)
                if spoken
                else _strip_machine_zone(parse_instant(value), value)
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return datetime.fromtimestamp(seconds_of(value), UNPLACED)
    except (ValueError, OverflowError, OSError):
        return None


def _strip_machine_zone(at: datetime, written: str) -> datetime:
    return at.replace(tzinfo=UNPLACED) if written.strip().endswith(("Z", "z")) else at


def without_vectors(record: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a record without its vectors, and whether there were any."""
    fields = {k: v for k, v in record.items() if not (isinstance(v, list) and k.lower().endswith(_VECTORS))}
    return fields, len(fields) < len(record)


def some(data: Any, fits: Any) -> bool:
    """Return whether the data are a fitting object, or a list that contains such objects."""
    records = data if isinstance(data, list) else [data]
    return any(isinstance(record, dict) and fits(record) for record in records)
