"""A foreign file as a JSON document: one value, or one a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.exchange.importers.fields import Unread
from amgs.ingest.raw_blocks import shown

_ARCHIVE = b"PK\x03\x04"


class _TwiceError(ValueError):
    """An object with the same key twice: one of the values would be lost."""


def parse(path: Path) -> Any:
    """The value in a file of JSON, or a list of those in its lines, of which one that is no JSON is an `Unread`.

    Raises InputError for a file that cannot be read, is no JSON, is nested too deeply or has a key twice.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.",
            way_out="Choose a file that exists and may be read.",
        ) from error
    if raw.startswith(_ARCHIVE):
        raise InputError(
            f"{path} is an archive.",
            way_out="Unpack it and import the JSON file in it, such as conversations.json.",
        )
    try:
        return _parsed(raw.decode("utf-8-sig"))
    except RecursionError as error:
        raise _unfit(path, "it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise _unfit(path, "it is not UTF-8") from error
    except ValueError as error:
        raise _unfit(path, f"it is not whole JSON: {error}") from error


def _parsed(written: str) -> Any:
    try:
        return _value(written)
    except _TwiceError:
        raise
    except json.JSONDecodeError as error:
        lines = [(n, line) for n, line in enumerate(written.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_object(lines[0][1]):
            raise error
    return [_line(number, line) for number, line in lines]


def _is_object(line: str) -> bool:
    try:
        return isinstance(_value(line), dict)
    except ValueError:
        return False


def _line(number: int, line: str) -> Any:
    try:
        return _value(line)
    except (ValueError, RecursionError) as error:
        return Unread(number, f"it is not JSON: {error}"[:120])


def _value(written: str) -> Any:
    return json.loads(written, object_pairs_hook=_object)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _TwiceError(f"the key {shown(twice)[:40]!r} stands twice in one object")
    return made


def _unfit(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} cannot be imported: {why}.",
        way_out="Nothing was imported; export it again, or choose another file.",
    )
