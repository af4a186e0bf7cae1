"""Follow a session while it is being written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from amgs.sessions.opening import open_session
from amgs.sessions.turn import Session
from amgs.types import Progress
from amgs.wings.sessions.outlook import Outlook, look_ahead

_EVERY: Final = 1.0
"""Seconds between two checks of the file."""


def follow(path: Path, seconds: float | None = None, progress: Progress | None = None) -> tuple[Session, Outlook]:
    """Read a session again whenever its file has grown, until `seconds` have passed or it is cancelled; return its last
    state.

    progress: is given the fill of the window, and near a compaction, which files that are likely needed again it would
    drop. Raises InputError for an unreadable file, and Cancelled.
    """
    end = None if seconds is None else time.monotonic() + seconds
    size: int | None = None
    while True:
        now = _size(path)
        if size is None or now != size:
            size = now
            session = open_session(path)
            outlook = look_ahead(session)
            line = describe_outlook(outlook)
        if progress is not None:
            progress(outlook.tokens, outlook.limit or 0, line)
        if end is not None and time.monotonic() >= end:
            return session, outlook
        time.sleep(_EVERY if end is None else min(_EVERY, max(0.0, end - time.monotonic())))


def describe_outlook(outlook: Outlook) -> str:
    """`turn 212, 81 % of the window; a compaction would drop app.py, store.py`."""
    line = f"turn {outlook.turn}, {outlook.tokens:,} tokens"
    if outlook.fill is not None:
        line = f"turn {outlook.turn}, {outlook.fill:.0%} of the window"
    if not outlook.near:
        return line
    names = ", ".join(file.path.rsplit("/", 1)[-1] for file in outlook.files[:4])
    return f"{line}; a compaction would drop {names or 'all of it'}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
