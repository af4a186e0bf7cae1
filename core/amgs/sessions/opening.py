"""Open session files by path; the format is recognised by content."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from amgs.errors import InputError
from amgs.regular_file import check_ends
from amgs.sessions.building import SessionFormat
from amgs.sessions.lines import Record, items, lines_of, parse_document, text_of_file
from amgs.sessions.turn import Session
from amgs.sessions.unread import find_unread_program

_NAMES: Final = (
    "claude_bodies",
    "otlp",
    "opencode2",
    "opencode",
    "qwen_code",
    "iflow",
    "claude_code",
    "claude_stream",
    "codex",
    "codex_exec",
    "pi",
    "gemini_cli",
    "antigravity",
    "copilot_cli",
    "atif",
    "goose",
    "cursor",
    "vscode_chat",
    "openhands",
    "cline",
    "aider",
)
"""Modules of `formats`, most reliably recognised first."""

GROUP: Final = "amgs.session_formats"
"""Entry points for formats in installed packages: each names a `SessionFormat`."""


def load_formats(points: Iterable[EntryPoint]) -> Iterator[SessionFormat]:
    """Yield the formats of entry points, warning about those that cannot be loaded."""
    for point in sorted(points, key=lambda point: point.name):
        try:
            loaded = point.load()
        except Exception as error:  # noqa: BLE001 - whatever another package does at its import
            warnings.warn(f"The session format {point.name} of {point.value} cannot be loaded: {error}", stacklevel=2)
            continue
        if isinstance(loaded, SessionFormat):
            yield loaded
        else:
            warnings.warn(f"{point.value} is no session format.", stacklevel=2)


FORMATS: Final[tuple[SessionFormat, ...]] = (
    *(import_module(f"amgs.sessions.formats.{name}").FORMAT for name in _NAMES),
    *load_formats(entry_points(group=GROUP)),
)


END: Final = 8 * 1024 * 1024
"""Bytes of a large file that are shown first, after a fifth of a second, while the rest is read."""
_FIRST: Final = 40
"""Records examined to recognise a format."""
_WHOLE: Final = 64 * 1024 * 1024
"""Larger single JSON documents in bytes are not parsed to recognise them."""


def open_session(path: Path, id: str | None = None) -> Session:
    """Return the session in a file, or in a folder for formats that use one; if it contains several, the one with this
    id, by default the latest.

    Raises InputError for an unreadable file, an unknown id, and an unknown format, with a list of the known ones.
    """
    session_format = format_of(path)
    if id is not None and session_format.read_one is not None:
        return session_format.read_one(path, id)
    session = session_format.read(path)
    if id is not None and id != session.id:
        raise InputError(f"{path} holds no session {id}.", way_out=f"It is the session {session.id}; leave the id out.")
    return session


def open_end(path: Path, size: int = END) -> Session:
    """Return the session in the last `size` bytes of a file, marked as partial; the whole session if the file has at
    most twice as many, or its format cannot be read from its middle. Raises InputError like `open_session`.
    """
    session_format = format_of(path)
    if session_format.read_end is None or path.is_dir() or path.stat().st_size <= 2 * size:
        return session_format.read(path)
    return session_format.read_end(path, size)


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a file of several, latest first; none for a file with one session. Raises
    InputError like `open_session`.
    """
    session_format = format_of(path)
    return session_format.inside(path) if session_format.inside is not None else ()


def format_of(path: Path) -> SessionFormat:
    """Return the format of a file; raises InputError if it is unknown."""
    if not path.exists():
        raise InputError(f"{path} does not exist.", way_out="`amgs session` lists what lies on this machine.")
    first = first_records(path)
    for session_format in FORMATS:
        if session_format.recognises(path, first):
            return session_format
    if program := find_unread_program(path, first):
        raise InputError(
            f"{path} is of {program}, which is not read.", way_out="docs/sessions-formats.md says what is."
        )
    known = "; ".join(dict.fromkeys(known_format.agent for known_format in FORMATS))
    raise InputError(
        f"{path} is no session that is known.",
        way_out=f"Give a session file of one of these: {known}. What another program exported can be imported.",
    )


def first_records(path: Path) -> Sequence[Record]:
    """Return the first objects of a file: of its lines, or of a single list or object; none for other files. Raises
    InputError for an unreadable file.
    """
    if path.is_dir():
        return ()
    check_ends(path)
    lines = [*itertools.islice(lines_of(path), _FIRST)]
    records = [line.value for line in lines if line.value is not None]
    document = bool(lines) and lines[0].value is None  # one that is closed later, whatever stands on its lines
    if (records and not document) or path.stat().st_size > _WHOLE:
        return records
    try:
        whole = parse_document(text_of_file(path))
    except (ValueError, RecursionError):
        return records
    return [whole] if isinstance(whole, dict) else items(whole)[:_FIRST]
