"""What a format of session files is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amgs.sessions.lines import Record
from amgs.sessions.turn import Session


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """One program's files.

    key: its name in commands. agent: the program, in its own spelling. last_verified: the day on which the reader was
    last held against real files of that program, ISO 8601, with their version; "" where only the published description
    was read. places: where such files lie, as patterns below the home folder. recognises: whether a file is one, by its
    path and its first objects (none for a file that is no JSON). read: the session in it; raises InputError for a file
    that cannot be read, and for nothing else. read_end: the session in the last so many bytes of a file, of a format
    whose files may be read from a line on. marks: what the listing counts in the bytes of a file without reading it:
    (a turn of the user, a compaction); empty where it has to be read. inside: the ids of the sessions in a file, the
    latest first, of a format whose files hold many; `read` gives the latest of them then, and `read_one` the one with
    an id, and raises InputError for an id that is not there.
    """

    key: str
    agent: str
    last_verified: str
    places: tuple[str, ...]
    recognises: Callable[[Path, Sequence[Record]], bool]
    read: Callable[[Path], Session]
    marks: tuple[bytes, bytes] | None = None
    inside: Callable[[Path], Sequence[str]] | None = None
    read_one: Callable[[Path, str], Session] | None = None
    read_end: Callable[[Path, int], Session] | None = None
