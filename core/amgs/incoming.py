"""Check what comes in from outside: that text can be stored, and that a file can be read to its end."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError, UsageError

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def why_unstorable(value: Any) -> str:
    """Return what in a text, or in the texts of a value, cannot be stored, as "half a surrogate pair at character 3";
    "" where all of it can.

    Half a surrogate pair, which JSON, Python and wrongly encoded arguments can contain, has no encoding; NUL ends a
    text in PostgreSQL and in C.
    """
    if not isinstance(value, str):
        return next(filter(None, map(why_unstorable, _parts(value))), "")
    match = None if _is_storable(value) else _UNSTORABLE.search(value)
    if match is None:
        return ""
    name = "a NUL" if match[0] == "\0" else "half a surrogate pair"
    return f"{name} at character {match.start()}"


def _parts(value: Any) -> Iterable[Any]:
    """Return the values inside a mapping, sequence, set or dataclass; () for any other value."""
    if isinstance(value, Mapping):
        return chain.from_iterable(value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name) for field in fields(value))
    return ()


def check_storable(value: Any) -> None:
    """Raise UsageError for a text, or for a value with texts, that cannot be stored."""
    if why := why_unstorable(value):
        raise UsageError(f"The text holds {why}, which cannot be stored.", way_out="Remove that character.")


def make_storable(text: str) -> str:
    """Return the text with a mark in place of what cannot be stored; for files that are read, where
    refusing is no help.
    """
    return text if _is_storable(text) else _UNSTORABLE.sub("\ufffd", text)


def _is_storable(text: str) -> bool:
    """Return whether a text can be stored, without checking each character, which takes seconds for a large session."""
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:
        return False


LARGEST: Final = 64 * 2**20
"""Bytes of a text that somebody wrote; a device may have no end."""

_TOML: Final = {"overwrite": "it gives a value that was given before", "twice": "its table was begun before"}
"""What is said instead of the library's words, by each of them."""


def real_path(path: Path) -> Path:
    """Return the path without links; of a loop as far as it goes, so that whoever opens it is told."""
    return Path(os.path.realpath(path))


def lies_there(path: Path) -> bool:
    """Return whether there is anything at a path that may be none: too long for a name, with a null byte in it, or in
    the home of nobody.
    """
    try:
        return path.expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def is_folder(path: Path) -> bool:
    """Return whether a folder is there, for the same paths."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def check_ends(path: Path) -> None:
    """Raise InputError for a pipe, a device or a socket, which may have no end; what is not there passes."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path} is not a file.", way_out="Choose a file; what a pipe holds can be saved to a file.")


def read_text(path: Path, way_out: str) -> str:
    """Return the text of a file. Raises InputError for a file that is not there, may not be read, has no end or is not
    UTF-8.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name holds a null byte"
        raise InputError(f"{path} cannot be read: {why}.", way_out=way_out) from error
    if len(raw) > LARGEST:
        raise InputError(f"{path} holds more than {LARGEST // 2**20} MiB.", way_out=way_out)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}).", way_out=way_out) from error


def say_json_fault(error: ValueError | RecursionError) -> str:
    """Say why a text is no JSON, without the library's words."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is not whole JSON (line {error.lineno}, column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte {error.start})"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number in it is too long"


def read_toml(path: Path, way_out: str) -> dict[str, Any]:
    """Return what a TOML file holds. Raises InputError, which names the line that is wrong."""
    text = read_text(path, way_out)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        why, _, place = str(error).partition(" (at ")
        number = re.match(r"line (\d+)", place)
        line = f"line {number[1] if number else text.rstrip().count(chr(10)) + 1}"
        why = next((words for sign, words in _TOML.items() if sign in why), f"{why[:1].lower()}{why[1:]}")
        raise InputError(f"{path} is not TOML: {line}: {why}.", way_out=f"Correct {line}.") from error
