"""Unpacked copies of models: made once, checked at every use, made anew when damaged or outdated.

A copy is a folder with a seal: what it was made from, and size and CRC-32 of each of its files. It is written
beside its place and put there whole, so that a crash or a full disk leaves the old copy or none.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

SEAL = "seal.json"
_DRAFT = ".new-"
_CHUNK = 1 << 22


def is_sound(copy: Path, mark: str) -> bool:
    """Whether a copy is there, was made from what `mark` says, and every file is as it was written."""
    try:
        sealed = json.loads((copy / SEAL).read_text(encoding="utf-8"))
        return bool(sealed["mark"] == mark and sealed["files"] == _files(copy))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def keep(copy: Path, mark: str, write: Callable[[Path], None]) -> None:
    """Let `write` fill a folder, seal it, and put it in the place of the copy; raises OSError."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    _sweep(copy.parent)
    draft = copy.parent / f"{_DRAFT}{os.getpid()}"
    try:
        made, old = draft / "made", draft / "old"
        made.mkdir(parents=True)
        write(made)
        (made / SEAL).write_text(json.dumps({"mark": mark, "files": _files(made)}), encoding="utf-8")
        if copy.exists():
            copy.rename(old)
        made.rename(copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove what a process that died in the middle of `keep` left behind; what a living one makes stays."""
    for draft in folder.glob(f"{_DRAFT}*"):
        try:
            os.kill(int(draft.name.removeprefix(_DRAFT)), 0)
        except (ProcessLookupError, ValueError):
            shutil.rmtree(draft, ignore_errors=True)
        except OSError:
            continue  # another user's process


def _files(copy: Path) -> dict[str, list[int]]:
    """Size and CRC-32 of each file, by name; 540 MB take a fifth of a second."""
    found: dict[str, list[int]] = {}
    for path in sorted(copy.rglob("*")):
        if path.is_file() and path.name != SEAL:
            check = 0
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    check = zlib.crc32(chunk, check)
            found[path.relative_to(copy).as_posix()] = [path.stat().st_size, check]
    return found
