"""Resolve a path, check that its file can be read to the end, and read the text in one."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError

LARGEST: Final = 64 * 2**20
"""Bytes of a text that somebody wrote; a device may have no end."""

_TOML: Final = {"overwrite": "it gives a value that was given before", "twice": "its table was begun before"}
"""What is said instead of the library's words, by one of them."""


def real_path(path: Path) -> Path:
    """Return the path without links; of one that leads to itself as far as it goes, so that whoever opens it is
    told.
    """
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
        raise InputError(f"{path} is not a file.", way_out="Choose a file; what a pipe holds can be saved in one.")


def read_text(path: Path, way_out: str) -> str:
    """Return the text of a file. Raises InputError for one that is not there, may not be read, has no end or is not
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
