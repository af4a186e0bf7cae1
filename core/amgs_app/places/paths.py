"""Check where a command may write: a word that is no path creates no file or folder, and a small file is replaced
whole.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import copymode

from amgs.errors import UsageError
from amgs.regular_file import lies_there
from amgs_app.terminal.printable import UNSAFE

LONGEST_NAME, LONGEST_PATH = 255, 4000  # bytes, on every file system in use
_BARE_NAME = re.compile(r"[^\W\d_][\w .+-]*|\.\w[\w.-]*")
_WITH_ENDING = re.compile(r"[^@#-].*\.[A-Za-z]\w*")


class SentText(str):
    """A text that came from another machine: no path is looked up by it."""

    __slots__ = ()


def choose_export_path(format: str) -> Path:
    """Give the file that `export` writes without a path. Raises UsageError where one is there."""
    path = Path(f"memory.{format}")
    if path.exists():
        raise UsageError(
            f"{path} is there already, in {path.absolute().parent}.",
            title="Nothing was exported",
            way_out=f"Give a path; to replace it: `export {path} --format {format}`.",
        )
    return path


def check_place(path: Path, *, example: str) -> None:
    """Raise UsageError for a path that nobody means as one: `-`, `@1`, `L1#2`, two lines, nothing at all.

    example: what a good one looks like; where it has an ending, a bare word needs one too. What is there already, and
    what a folder is named for, is taken as it is named.
    """
    word = str(path)
    if UNSAFE.search(word) or any(sign in word for sign in "\n\t\u2028\u2029"):
        raise _none(word, "It holds characters that no name should have.")
    if len(os.fsencode(path)) > LONGEST_PATH or any(len(os.fsencode(p)) > LONGEST_NAME for p in path.parts):
        raise _none(word, f"A name has at most {LONGEST_NAME} bytes.")
    if path.name in ("", ".."):
        raise _none(word, f"Give a name, such as {example}.")
    name = _WITH_ENDING if "." in example else _BARE_NAME
    if len(path.parts) == 1 and not name.fullmatch(word) and not lies_there(path):
        raise _none(word, f"Give a name such as {example}, or the full path.")


def write_whole(path: Path, text: str) -> None:
    """Put a text in the place of a file's own, in UTF-8: a reader sees the old text or the new one, never half of it.

    Makes its folder; the file keeps its mode. A link is replaced, and nothing is written to where it leads. Raises
    OSError.
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
        error.filename = str(path)  # nobody has named the other one
        raise


def _none(word: str, way_out: str) -> UsageError:
    shown = word if len(word) <= 60 else f"{word[:60]}…"
    return UsageError(f"{shown!r} is not a path.", title="Invalid path", way_out=way_out)
