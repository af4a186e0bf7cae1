"""Check paths before something is written, and replace small files atomically."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import copymode

from amgs.errors import UsageError
from amgs.incoming import lies_there
from amgs_app.terminal.output import UNSAFE

LONGEST_NAME, LONGEST_PATH = 255, 4000  # bytes, on every file system in use
_BARE_NAME = re.compile(r"[^\W\d_][\w .+-]*|\.\w[\w.-]*")
_WITH_ENDING = re.compile(r"[^@#-].*\.[A-Za-z]\w*")


class SentText(str):
    """A text sent by another machine, which is never looked up as a path here."""

    __slots__ = ()


def choose_export_path(format: str | None) -> Path:
    """Return the file that `export` writes if no path is named, JSON by default. Raises UsageError if it exists."""
    format = format or "json"
    path = Path(f"memory.{format}")
    if path.exists():
        raise UsageError(
            f"{path} is there already, in {path.absolute().parent}.",
            title="Nothing was exported",
            way_out=f"Give a path; to replace it: `export {path} --format {format}`.",
        )
    return path


def check_place(path: Path, *, example: str) -> None:
    """Raise UsageError for a word that nobody means as a path: `-`, `@1`, `L1#2`, several lines, nothing.

    example: a valid path, for the message; if it has an ending, a bare word needs it too. Existing paths and paths with
    a folder are accepted.
    """
    word = str(path)
    if UNSAFE.search(word) or any(sign in word for sign in "\n\t\u2028\u2029"):
        raise _not_a_path(word, "It holds characters that no name should have.")
    if len(os.fsencode(path)) > LONGEST_PATH or any(len(os.fsencode(p)) > LONGEST_NAME for p in path.parts):
        raise _not_a_path(word, f"A name has at most {LONGEST_NAME} bytes.")
    if path.name in ("", ".."):
        raise _not_a_path(word, f"Give a name, such as {example}.")
    name = _WITH_ENDING if "." in example else _BARE_NAME
    if len(path.parts) == 1 and not name.fullmatch(word) and not lies_there(path):
        raise _not_a_path(word, f"Give a name such as {example}, or the full path.")


def write_whole(path: Path, text: str) -> None:
    """Replace a file's text atomically, in UTF-8: a reader sees the old text or the new text.

    Creates the folder and keeps the file's mode. A link is replaced, not followed. Raises OSError.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)
        with fresh.open("x", encoding="utf-8", newline="\n") as file:
            if path.is_file() and not path.is_symlink():
                copymode(path, fresh)
            file.write(text)
        fresh.replace(path)
    except OSError as error:
        error.filename = str(path)  # nobody has named the other file
        raise


def _not_a_path(word: str, way_out: str) -> UsageError:
    """Return the error that a word is not a path."""
    shown = word if len(word) <= 60 else f"{word[:60]}…"
    return UsageError(f"{shown!r} is not a path.", title="Invalid path", way_out=way_out)
