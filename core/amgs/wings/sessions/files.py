"""Find the session files on this machine, the format of each, and the id that opens it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from amgs.errors import AmgsError
from amgs.sessions.building import SessionFormat
from amgs.sessions.lines import open_unpacked
from amgs.sessions.opening import FORMATS, format_of

HEAD: Final = 64 * 1024
"""Bytes at the beginning of a file that are read without counting it."""
_DATED: Final = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)")
_ENDS: Final = (".zst", ".gz", ".jsonl", ".json", ".messages")
_UNNAMED: Final = (
    "events",
    "api_conversation_history",
    "transcript",
    "transcript_full",
    "messages",
    "conversation",
    "store",
)
_BETWEEN: Final = ("logs", ".system_generated", "chats")


def list_files(home: Path, agent: str) -> Iterator[tuple[SessionFormat, Path, float, int]]:
    """Yield (format, path, time of change, size) of each session file; a compressed file only if the plain file does
    not exist.
    """
    for form in FORMATS:
        if agent and form.key != agent:
            continue
        for pattern in form.places:
            for path in home.glob(pattern):
                try:
                    about = path.stat()
                except OSError:
                    continue
                packed = path.suffix in (".zst", ".gz")
                if about.st_size and not (packed and path.with_suffix("").exists()):
                    yield form, path, about.st_mtime, about.st_size


def session_files(home: Path) -> Iterator[tuple[SessionFormat, Path]]:
    """Yield (format, path) of each session file once, oldest first."""
    files = {path: (form, at) for form, path, at, _ in list_files(home, "")}
    for path, (form, _) in sorted(files.items(), key=lambda entry: entry[1][1]):
        yield format_at(form, path), path


def has_sessions() -> bool:
    """Return whether there is a session file below the user's home folder."""
    return next(list_files(Path.home(), ""), None) is not None


def format_at(form: SessionFormat, path: Path) -> SessionFormat:
    """Return the actual format of a file; two formats may share a folder."""
    try:
        return format_of(path)
    except AmgsError:
        return form


def id_of(form: SessionFormat, path: Path, head: bytes) -> str:
    """Return the id that opens a session: from its file's name, the folder's if that is generic, or the id in its first
    line.
    """
    name = path.name
    for end in _ENDS:
        name = name.removesuffix(end)
    if dated := _DATED.fullmatch(name):
        return dated[1]
    if name in _UNNAMED:
        return next((above.name for above in path.parents if above.name not in _BETWEEN), name)
    match = form.marks.id.search(head.split(b"\n", 1)[0]) if form.marks and form.marks.id else None
    return match[1].decode() if match else name


def read_head(path: Path) -> bytes:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with open_unpacked(path) as file:
            return file.read(HEAD)
    except OSError:
        return b""
