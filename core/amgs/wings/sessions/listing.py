"""The sessions that lie on this machine, counted from the bytes of their files: a thousand in under a second."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final

from amgs.errors import AmgsError, InputError
from amgs.sessions.building import SessionFormat
from amgs.sessions.opening import FORMATS
from amgs.types import Progress
from amgs.wings.sessions.review import TurnRow, row_of

_HEAD: Final = 64 * 1024
_TAIL: Final = 256 * 1024
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_USAGE = re.compile(
    rb'"(input_tokens|cache_creation_input_tokens|cache_read_input_tokens|cached_input_tokens)"\s*:\s*(\d+)'
)
_SEARCHED: Final = ("said", "call", "summary", "thinking")
"""Kinds of turns in which words are looked for."""
SECONDS: Final = 0.7
"""After so long the files that are left are listed without their turns and compactions."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session file. id: by which it is opened. changed: when its file was written last. turns: of the user.
    compactions: with `turns` None where the file was not counted. tokens: of the last window that its end tells of,
    None where it tells of none.
    """

    id: str
    agent: str
    path: str
    project: str
    changed: datetime
    size: int
    turns: int | None
    compactions: int | None
    tokens: int | None
    subagent: bool = False


@dataclass(frozen=True, slots=True)
class SessionListing:
    """Sessions, the newest first. places: where was looked. left: how many files were not counted for want of time.
    more: how many older ones there are.
    """

    sessions: tuple[ListedSession, ...]
    places: tuple[str, ...]
    left: int = 0
    more: int = 0


def list_sessions(
    home: Path, *, project: str = "", agent: str = "", subagents: bool = False, seconds: float = SECONDS
) -> SessionListing:
    """The session files below a home folder, the newest first. project: those whose folder's name holds it. agent: the
    key of a format. subagents: those of subagents too, which have files of their own.
    """
    end = monotonic() + seconds
    found = sorted(_files(home, agent), key=lambda one: one[2], reverse=True)
    made, left = [], 0
    for form, path, changed, size in found:
        side = path.name.startswith("agent-") or "subagents" in path.parts
        if side and not subagents:
            continue
        in_time = monotonic() < end
        left += not in_time
        one = _listed(form, path, changed, size, counted=in_time, subagent=side)
        if not project or project.lower() in one.project.lower():
            made.append(one)
    places = tuple(str(home / pattern.split("*", 1)[0]) for form in FORMATS for pattern in form.places)
    return SessionListing(tuple(made), tuple(dict.fromkeys(places)), left)


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that holds the words that were looked for, and where it stands."""

    session: ListedSession
    turn: TurnRow


@dataclass(frozen=True, slots=True)
class FoundTurns:
    """Turns of all sessions that hold words."""

    words: str
    found: tuple[FoundTurn, ...]


def search_sessions(
    home: Path, words: str, *, limit: int = 20, progress: Progress | None = None
) -> FoundTurns:
    """The latest turns of sessions below a home folder that hold all words, newest file first. What a tool gave back
    and what the program put in is left out: it is found in too many places. Raises Cancelled.
    """
    wanted = words.lower().split()
    files = sorted(_files(home, ""), key=lambda one: one[2], reverse=True)
    found: list[FoundTurn] = []
    for done, (form, path, changed, size) in enumerate(files):
        if progress is not None:
            progress(done, len(files), path.name)
        if not wanted or len(found) >= limit or not _holds(path, wanted):
            continue
        with suppress(AmgsError):
            session = form.read(path)
            listed = _listed(form, path, changed, size, counted=False, subagent=False)
            for turn in reversed(session.main):
                told = f"{session.text(turn)} {turn.words}".lower()
                if turn.kind in _SEARCHED and all(word in told for word in wanted):
                    found.append(FoundTurn(listed, row_of(session, turn)))
    return FoundTurns(words, tuple(found[:limit]))


def _holds(path: Path, words: Sequence[str]) -> bool:
    """Whether a file holds all words, in any case; a word may be written with escapes, so plain letters alone
    decide.
    """
    try:
        data = path.read_bytes().lower()
    except OSError:
        return False
    return all(word.encode() in data for word in words if word.isascii() and word.isalnum())


def has_sessions(home: Path) -> bool:
    """Whether any session file lies below a home folder."""
    return next(_files(home, ""), None) is not None


def find_session(home: Path, name: str) -> Path:
    """The file of a session by the beginning of its id; raises InputError where none or several have it."""
    named = [
        path for _, path, _, _ in _files(home, "") if path.stem.startswith(name) or _ends(path.stem, name)
    ]
    if not named:
        raise InputError(
            f"No session here is called {name}.",
            way_out="`amgs session` lists them; a path to a file does as well.",
        )
    if len(named) > 1:
        few = ", ".join(path.stem for path in named[:4])
        raise InputError(f"{len(named)} sessions begin with {name}: {few}.", way_out="Give more of the id.")
    return named[0]


def _ends(stem: str, name: str) -> bool:
    """Whether a name such as `rollout-DATE-ID` has an id that begins so."""
    return len(name) >= 6 and f"-{name}" in stem


def _files(home: Path, agent: str) -> Iterator[tuple[SessionFormat, Path, float, int]]:
    """(format, path, when it was written, bytes) of each file where sessions lie."""
    for form in FORMATS:
        if agent and form.key != agent:
            continue
        for pattern in form.places:
            for path in home.glob(pattern):
                try:
                    about = path.stat()
                except OSError:
                    continue
                if about.st_size:
                    yield form, path, about.st_mtime, about.st_size


def _listed(
    form: SessionFormat, path: Path, changed: float, size: int, *, counted: bool, subagent: bool
) -> ListedSession:
    turns = compactions = tokens = None
    project = path.parent.name
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _CWD.search(data[:_HEAD])
            project = _string(found[1]) if found else project
            if counted:
                tokens = _last_window(data[max(0, size - _TAIL) :])
                if form.marks is not None:
                    turns, compactions = (_count(data, mark) for mark in form.marks)
    except (OSError, ValueError):
        pass
    at = datetime.fromtimestamp(changed, UTC)
    return ListedSession(
        path.stem, form.agent, str(path), project, at, size, turns, compactions, tokens, subagent
    )


def _count(data: mmap.mmap, mark: bytes) -> int:
    number, at = 0, data.find(mark)
    while at >= 0:
        number += 1
        at = data.find(mark, at + len(mark))
    return number


def _last_window(tail: bytes) -> int | None:
    """Tokens of the last request that the end of a file counts."""
    lines: Sequence[bytes] = tail.split(b"\n")
    for line in reversed(lines):
        told = {name: int(number) for name, number in _USAGE.findall(line)}
        if told and sum(told.values()):
            cached = told.pop(b"cached_input_tokens", 0)  # Codex counts these within its input
            return sum(told.values()) or cached
    return None


def _string(literal: bytes) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal.decode("utf-8", "replace").strip('"')
