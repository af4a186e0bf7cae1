"""The sessions that lie on this machine, counted from the bytes of their files: a thousand in under a second."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Final

from amgs.clock import changed_at
from amgs.errors import AmgsError, InputError
from amgs.sessions.building import ListMarks, SessionFormat
from amgs.sessions.lines import is_packed, open_unpacked
from amgs.sessions.opening import FORMATS, format_of
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
    more: how many older ones there are. unread: programs whose folders lie here and are not read, and where.
    """

    sessions: tuple[ListedSession, ...]
    places: tuple[str, ...]
    left: int = 0
    more: int = 0
    unread: tuple[tuple[str, str], ...] = ()


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
        in_time = monotonic() < end
        one = _listed(form, path, changed, size, counted=in_time)
        if one.subagent and not subagents:
            continue
        left += not in_time
        if not project or project.lower() in one.project.lower():
            made.append(one)
    places = tuple(str(home / pattern.split("*", 1)[0]) for form in FORMATS for pattern in form.places)
    return SessionListing(tuple(made), tuple(dict.fromkeys(places)), left, unread=tuple(_unread(home)))


_NOT_READ: Final = (
    ("Cursor's editor", ".config/Cursor/User/globalStorage/state.vscdb"),
    ("Cursor's editor", "Library/Application Support/Cursor/User/globalStorage/state.vscdb"),
    ("Amp", ".local/share/amp/threads"),
    ("Crush", ".local/share/crush"),
    ("Zed", ".local/share/zed/threads"),
    ("Zed", "Library/Application Support/Zed/threads"),
    ("Kimi", ".kimi/sessions"),
    ("Kiro", ".kiro/sessions"),
    ("Kiro", ".local/share/kiro-cli"),
    ("Droid", ".factory/sessions"),
    ("Grok", ".grok/sessions"),
    ("Continue", ".continue/sessions"),
    ("Junie", ".junie/sessions"),
    ("Vibe", ".vibe/logs/session"),
    ("gptme", ".local/share/gptme/logs"),
    ("Windsurf", ".codeium/windsurf/cascade"),
    ("iFlow", ".iflow/projects"),
    ("Trae", ".trae/sessions"),
    ("Antigravity's encrypted conversations", ".gemini/antigravity/conversations"),
)
"""Programs whose sessions are known by their folder alone."""


def _unread(home: Path) -> Iterator[tuple[str, str]]:
    """(program, where) of what lies here and is not read."""
    for program, where in _NOT_READ:
        if (home / where).exists():
            yield program, str(home / where)


def short_ids(sessions: Sequence[ListedSession]) -> list[str]:
    """Of each session, as much of its id as opens it, twelve characters at least."""
    ids = sorted({one.id for one in sessions})
    least = {}
    for place, id in enumerate(ids):
        near = [other for other in ids[max(0, place - 1) : place + 2] if other != id]
        shared = max((_shared(id, other) for other in near), default=0)
        least[id] = id[: max(12, shared + 4)]
    return [least[one.id] for one in sessions]


def _shared(id: str, other: str) -> int:
    """How many characters two ids begin with that are the same."""
    pairs = enumerate(zip(id, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(id), len(other)))


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
            listed = _listed(form, path, changed, size, counted=False)
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
        with open_unpacked(path) as file:
            data = file.read().lower()
    except OSError:
        return False
    return all(word.encode() in data for word in words if word.isascii() and word.isalnum())


def has_sessions(home: Path) -> bool:
    """Whether any session file lies below a home folder."""
    return next(_files(home, ""), None) is not None


LATEST: Final = "last"
"""The name of the session that was written last."""


def find_session(home: Path, name: str) -> tuple[Path, str | None]:
    """The file of a session by its id or the beginning of it, or the one that was written last; and its id where the
    file holds many. Raises InputError where none or several have it.
    """
    if name == LATEST:
        latest = list_sessions(home, seconds=0).sessions
        if latest:
            return Path(latest[0].path), None
        raise InputError("No session lies here.", way_out="Give the path of a session file.")
    files = sorted(_files(home, ""), key=lambda one: one[2], reverse=True)
    every: list[tuple[str, Path, str | None]] = [
        (_id_of(form, path, _head(path)), path, None) for form, path, _, _ in files
    ]
    named = [one for one in every if one[0].startswith(name) or one[1].stem.startswith(name)]
    named = named or [
        one for form, path, _, _ in files for one in _inside(form, path) if one[0].startswith(name)
    ]
    exact = [one for one in named if one[0] == name]
    if not named:
        raise InputError(
            f"No session here is called {name}.",
            way_out="`amgs session` lists them; a path to a file does as well.",
        )
    if len(named) > 1 and not exact:
        few = ", ".join(one[0] for one in named[:4])
        raise InputError(f"{len(named)} sessions begin with {name}: {few}.", way_out="Give more of the id.")
    return (exact or named)[0][1:]


def _inside(form: SessionFormat, path: Path) -> Iterator[tuple[str, Path, str | None]]:
    """(id, file, id) of the sessions in a file that holds many."""
    own = _format_of(form, path)
    if own.inside is not None:
        with suppress(AmgsError):
            yield from ((id, path, id) for id in own.inside(path))


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


def _id_of(form: SessionFormat, path: Path, head: bytes) -> str:
    """The id by which a session is opened: of its file's name, where it has one of its own, else of the folder that
    holds it, or what its first line says.
    """
    name = path.name
    for end in _ENDS:
        name = name.removesuffix(end)
    if dated := _DATED.fullmatch(name):
        return dated[1]
    if name in _UNNAMED:
        return next((above.name for above in path.parents if above.name not in _BETWEEN), name)
    found = form.marks.id.search(head.split(b"\n", 1)[0]) if form.marks and form.marks.id else None
    return found[1].decode() if found else name


def _head(path: Path) -> bytes:
    """The beginning of a file."""
    try:
        with open_unpacked(path) as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _files(home: Path, agent: str) -> Iterator[tuple[SessionFormat, Path, float, int]]:
    """(format, path, when it was written, bytes) of each file where sessions lie. Of one that lies there packed, too,
    the one that is not.
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
    """(format, path) of each file where sessions lie, each once, the oldest first."""
    found = {path: (form, at) for form, path, at, _ in _files(home, "")}
    for path, (form, _) in sorted(found.items(), key=lambda one: one[1][1]):
        yield _format_of(form, path), path


def _format_of(form: SessionFormat, path: Path) -> SessionFormat:
    """The format of a file that lies where one's files do: of two with the same folder, the one that it is of."""
    try:
        return format_of(path)
    except AmgsError:
        return form


def _listed(form: SessionFormat, path: Path, changed: float, size: int, *, counted: bool) -> ListedSession:
    turns = compactions = tokens = None
    project, head = path.parent.name, b""
    try:
        with _bytes_of(path, whole=counted) as data:
            head = data[:_HEAD]
            if found := _CWD.search(head):
                project = _string(found[1])
            if counted:
                tokens = _last_window(data[max(0, len(data) - _TAIL) :])
                if form.marks is not None:
                    turns = _prompts(data, form.marks)
                    compactions = sum(1 for _ in form.marks.compaction.finditer(data))
    except (OSError, ValueError):
        pass
    side = path.name.startswith("agent-") or "subagents" in path.parts
    if form.marks is not None and form.marks.side is not None:
        side = side or form.marks.side.search(head.split(b"\n", 1)[0]) is not None
    at = changed_at(changed)
    id = _id_of(form, path, head)
    return ListedSession(id, form.agent, str(path), project, at, size, turns, compactions, tokens, side)


@contextmanager
def _bytes_of(path: Path, *, whole: bool) -> Iterator[mmap.mmap | bytes]:
    """The bytes of a file; of a packed one all only where that is asked."""
    if is_packed(path):
        with open_unpacked(path) as file:
            yield file.read() if whole else file.read(_HEAD)
    else:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _prompts(data: mmap.mmap | bytes, marks: ListMarks) -> int:
    """How many lines hold words of the user."""
    number = 0
    for found in marks.prompt.finditer(data):
        if marks.other is not None:
            start, end = data.rfind(b"\n", 0, found.start()) + 1, data.find(b"\n", found.end())
            if marks.other.search(data, start, end if end >= 0 else len(data)):
                continue
        number += 1
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
