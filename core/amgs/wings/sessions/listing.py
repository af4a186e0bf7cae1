"""List the session files on this machine from their bytes: a thousand in under a second.

Titles, durations and failures are found in the bytes too. What was needed again after a compaction requires parsing the
file; that is done in the remaining time, newest first.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Final

from amgs.clock import changed_at
from amgs.errors import AmgsError, InputError
from amgs.masking import mask
from amgs.sessions.building import ListMarks, SessionFormat
from amgs.sessions.lines import content_text, fields, instant, is_packed, open_unpacked, parse_object
from amgs.sessions.messages import find_request, words_of_user
from amgs.sessions.opening import FORMATS, NOT_READ
from amgs.sessions.turn import Session
from amgs.types import Progress
from amgs.wings.sessions.files import HEAD, format_at, id_of, list_files, read_head
from amgs.wings.sessions.regrets import regrets
from amgs.wings.sessions.regrets import select_caused as caused
from amgs.wings.sessions.work import TurnRow, row_of

_TAIL: Final = 256 * 1024
_SHORT_TAIL: Final = 32 * 1024
_END: Final = 4 * 1024
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_USAGE = re.compile(
    rb'"(input_tokens|cache_creation_input_tokens|cache_read_input_tokens|cached_input_tokens)"\s*:\s*(\d+)'
)
_AT = re.compile(rb'"(?:timestamp|time|ts)"\s*:\s*("\d{4}-[^"\\]+"|\d{10,13}\b)')
_TAG = re.compile(r"<[^<>]*>")
_SAID: Final = ("content", "message", "text", "parts", "user_input")
"""Fields with the user's words, the first present field is used."""
_PROMPT: Final = 200
"""Characters of a first prompt that are shown."""
_TRIED: Final = 5
"""Records of the user that are searched for words that a person typed."""
_READ_WHOLE: Final = 4 * 1024 * 1024
"""Largest file in bytes that is parsed for the list if its bytes do not suffice."""
_SEARCHED: Final = ("said", "call", "summary", "thinking")
"""Kinds of turns that are searched for words."""
SECONDS: Final = 0.5
"""After this time the remaining files are listed without turns and compactions."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session file, or a session in one of several: there, path ends with `#` and the id. id: opens it. changed: when
    the file was last written, or its last entry.

    turns: of the user. compactions: like `turns` None if the file was not counted. tokens: of the last window reported
    near its end, else None. what: the title set by hand, else another title, else the user's first words. started,
    ended: first and last time in it. errors: results that report a failure. again: how often something that a
    compaction dropped was needed again; None if unknown.
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
    what: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    errors: int | None = None
    again: int | None = None

    @property
    def seconds(self) -> float | None:
        """Time between its first and last entry."""
        return (self.ended - self.started).total_seconds() if self.started and self.ended else None


@dataclass(frozen=True, slots=True)
class SessionListing:
    """Sessions, newest first.

    places: folders searched. at: when. left: files not counted for lack of time. more: number of older sessions not
    listed. unread: programs with session folders that cannot be read, and those folders.
    """

    sessions: tuple[ListedSession, ...]
    places: tuple[str, ...]
    at: datetime
    left: int = 0
    more: int = 0
    unread: tuple[tuple[str, str], ...] = ()


def list_sessions(
    home: Path,
    *,
    project: str = "",
    agent: str = "",
    subagents: bool = False,
    seconds: float = SECONDS,
    limit: int | None = None,
) -> SessionListing:
    """Return the session files below a home folder, newest first.

    project: part of the project folder's name. agent: key of a format. subagents: include files of subagents. limit:
    most sessions examined; others are only counted.
    """
    end = monotonic() + seconds
    files = sorted(list_files(home, agent), key=lambda file: file[2], reverse=True)
    listed: list[tuple[SessionFormat, ListedSession, bool]] = []
    more = 0
    for form, path, changed, size in files:
        # Sessions in a file of several may be older than other files.
        newer = sum(row.changed >= changed_at(changed) for _, row, _ in listed) if limit is not None else 0
        full = limit is not None and newer >= limit
        if full and not project:
            more += subagents or not _is_side(form, path, read_head(path))
            continue
        for row, in_time in _list_file(form, path, changed, size, 0 if full else end):
            if row.subagent and not subagents:
                continue
            if project and project.lower() not in row.project.lower():
                continue
            listed.append((form, row, in_time))
    listed.sort(key=lambda entry: entry[1].changed, reverse=True)
    shown = listed[:limit]
    more += len(listed) - len(shown)
    left = sum(not in_time for *_, in_time in shown)
    rows = [_with_regrets(form, row) if monotonic() < end else row for form, row, _ in shown]
    places = tuple(str(home / pattern.split("*", 1)[0]) for form in FORMATS for pattern in form.places)
    unread = tuple(_unread(home))
    return SessionListing(tuple(rows), tuple(dict.fromkeys(places)), datetime.now().astimezone(), left, more, unread)


def _with_regrets(form: SessionFormat, row: ListedSession) -> ListedSession:
    """Return the row with its number of regrets after compactions, if there are any and the file is small enough to
    parse.
    """
    if not row.compactions or row.again is not None or row.size > _READ_WHOLE:
        return row if row.compactions != 0 else replace(row, again=0)
    try:
        return replace(row, again=len(caused(regrets(form.read(Path(row.path))))))
    except AmgsError:
        return row


def _unread(home: Path) -> Iterator[tuple[str, str]]:
    """Yield (program, folder) of programs whose sessions cannot be read."""
    for program, where in NOT_READ:
        if (home / where).exists():
            yield program, str(home / where)


def short_ids(sessions: Sequence[ListedSession]) -> list[str]:
    """Return a prefix of each session's id that identifies it, at least eight characters."""
    ids = sorted({session.id for session in sessions})
    least = {}
    for place, id in enumerate(ids):
        near = [other for other in ids[max(0, place - 1) : place + 2] if other != id]
        shared = max((_count_common_prefix(id, other) for other in near), default=0)
        least[id] = id if len(id) <= 12 else id[: max(8, shared + 2)]
    return [least[session.id] for session in sessions]


def _count_common_prefix(id: str, other: str) -> int:
    """Count the characters of the common prefix of two ids."""
    pairs = enumerate(zip(id, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(id), len(other)))


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that contains the words, with its session."""

    session: ListedSession
    turn: TurnRow


@dataclass(frozen=True, slots=True)
class FoundTurns:
    """Turns of all sessions that contain the words."""

    words: str
    found: tuple[FoundTurn, ...]


def search_sessions(home: Path, words: str, *, limit: int = 20, progress: Progress | None = None) -> FoundTurns:
    """Return the latest turns of sessions below a home folder that contain all words, newest file first.

    Results of tools and text that programs inserted are not searched; they would match too often. Raises Cancelled.
    """
    wanted = words.lower().split()
    files = sorted(list_files(home, ""), key=lambda file: file[2], reverse=True)
    hits: list[FoundTurn] = []
    for done, (form, path, changed, size) in enumerate(files):
        if progress is not None:
            progress(done, len(files), path.name)
        if not wanted or len(hits) >= limit or not _may_contain(path, wanted):
            continue
        with suppress(AmgsError):
            session = form.read(path)
            listed = _list_session(form, path, changed, size, counted=False)
            for turn in reversed(session.main):
                text = f"{session.text(turn)} {turn.words}".lower()
                if turn.kind in _SEARCHED and all(word in text for word in wanted):
                    hits.append(FoundTurn(listed, row_of(session, turn)))
    return FoundTurns(words, tuple(hits[:limit]))


def _may_contain(path: Path, words: Sequence[str]) -> bool:
    """Return whether a file may contain all words, ignoring case; only words of ASCII letters and digits are checked,
    since others may be escaped.
    """
    try:
        with open_unpacked(path) as file:
            data = file.read().lower()
    except OSError:
        return False
    return all(word.encode() in data for word in words if word.isascii() and word.isalnum())


LATEST: Final = "last"
"""Name that stands for the most recently written session."""


def find_session(home: Path, name: str) -> tuple[Path, str | None]:
    """Return the file of a session by its id, a prefix of it, or `LATEST`; and the id if the file contains several
    sessions.

    Raises InputError if none or several match.
    """
    if name == LATEST:
        latest = list_sessions(home, seconds=0).sessions
        if latest:
            return Path(latest[0].path), None
        raise InputError("No session lies here.", way_out="Give the path of a session file.")
    files = sorted(list_files(home, ""), key=lambda file: file[2], reverse=True)
    every: list[tuple[str, Path, str | None]] = [
        (id_of(form, path, read_head(path)), path, None) for form, path, _, _ in files
    ]
    named = [candidate for candidate in every if candidate[0].startswith(name) or candidate[1].stem.startswith(name)]
    named = named or [
        candidate
        for form, path, _, _ in files
        for candidate in _sessions_inside(form, path)
        if candidate[0].startswith(name)
    ]
    exact = [candidate for candidate in named if candidate[0] == name]
    if not named:
        raise InputError(
            f"No session here is called {name}.", way_out="`amgs session` lists them; a path to a file does as well."
        )
    if len(named) > 1 and not exact:
        few = ", ".join(candidate[0] for candidate in named[:4])
        raise InputError(f"{len(named)} sessions begin with {name}: {few}.", way_out="Give more of the id.")
    return (exact or named)[0][1:]


def _sessions_inside(form: SessionFormat, path: Path) -> Iterator[tuple[str, Path, str | None]]:
    """Yield (id, file, id) of the sessions in a file of several."""
    own = format_at(form, path)
    if own.inside is not None:
        with suppress(AmgsError):
            yield from ((id, path, id) for id in own.inside(path))


def _list_file(
    form: SessionFormat, path: Path, changed: float, size: int, end: float
) -> Iterator[tuple[ListedSession, bool]]:
    """Yield a row for each session of a file, the latest first, and whether there was time to read it before `end`;
    one row if there is no time to look into the file.
    """
    counted = monotonic() < end
    own = format_at(form, path) if form.marks is None and counted else form
    ids: Sequence[str] = ()
    if own.inside is not None and counted and size <= _READ_WHOLE:
        with suppress(AmgsError):
            ids = own.inside(path)
    row = _list_session(own, path, changed, size, counted=counted and len(ids) < 2)
    if own.read_one is None or len(ids) < 2:
        yield row, counted
        return
    for id in ids:
        row = replace(row, id=id, path=f"{path}#{id}")
        if not (counted := monotonic() < end):
            yield row, False
            continue
        listed = row
        with suppress(AmgsError):
            session = own.read_one(path, id)
            row = replace(row, changed=session.ended or row.changed)  # the next ones are no later
            listed = _fill_from_session(row, session)
        yield listed, True


def _list_session(form: SessionFormat, path: Path, changed: float, size: int, *, counted: bool) -> ListedSession:
    marks, head = form.marks, b""
    row = ListedSession("", form.agent, str(path), path.parent.name, changed_at(changed), size, None, None, None)
    try:
        if counted and marks is None and size <= _READ_WHOLE:
            row = _fill_from_session(row, form.read(path))
        with _bytes_of(path, whole=counted) as data:
            head, tail = data[:HEAD], data[max(0, len(data) - (_TAIL if counted else _SHORT_TAIL)) :]
            if match := _CWD.search(head):
                row = replace(row, project=_string(match[1]))
            if marks is not None:
                row = _fill_from_bytes(row, marks, data if counted else head, head, tail, counted=counted)
    except (OSError, ValueError, AmgsError):
        pass
    return replace(row, id=id_of(form, path, head), subagent=_is_side(form, path, head))


def _is_side(form: SessionFormat, path: Path, head: bytes) -> bool:
    """Return whether a file belongs to a subagent, by its place and first line."""
    if path.name.startswith("agent-") or "subagents" in path.parts:
        return True
    side = form.marks.side if form.marks else None
    return side is not None and side.search(head.split(b"\n", 1)[0]) is not None


def _fill_from_bytes(
    row: ListedSession, marks: ListMarks, data: mmap.mmap | bytes, head: bytes, tail: bytes, *, counted: bool
) -> ListedSession:
    """Return the row completed from bytes of the whole file, if it is counted, else of its beginning and end."""
    first = _AT.search(head)
    last = next((instants[-1] for part in (tail[-_END:], tail) if (instants := _AT.findall(part))), None)
    by_hand, *others = [*marks.titles, None]  # a title set by hand may be anywhere in the file
    places = [(by_hand, data), *((pattern, part) for pattern in (by_hand, *others) for part in (tail, head))]
    what = next((title for pattern, part in places if pattern is not None and (title := _last(pattern, part))), "")
    lines = (_read_user_line(data[start:end]) for start, end in _prompts(data, marks))
    prompts = [*lines] if counted else [*islice(lines, 0 if what else _TRIED)]
    what = what or next((words for human, words in prompts if human and words), "")
    what = what or next((words for _, words in prompts if words), "")
    row = replace(
        row,
        what=" ".join(mask(what)[:_PROMPT].split()),
        started=instant(json.loads(first[1])) if first else None,
        ended=instant(json.loads(last)) if last else None,
    )
    if not counted:
        return row
    return replace(
        row,
        tokens=_last_window(tail),
        turns=sum(human for human, _ in prompts),
        compactions=sum(1 for _ in marks.compaction.finditer(data)),
        errors=None if marks.failed is None else _failures(data, marks.failed, marks.side),
    )


def _fill_from_session(row: ListedSession, session: Session) -> ListedSession:
    """Return the row completed from the parsed session."""
    prompts = [turn for turn in session.main if turn.kind == "said" and turn.role == "user"]
    usages = [turn.usage for turn in session.main if turn.usage is not None]
    return replace(
        row,
        project=session.project or row.project,
        turns=len(prompts),
        compactions=len(session.boundaries),
        tokens=usages[-1].window if usages else None,
        what=" ".join(mask(session.title or (prompts[0].text if prompts else ""))[:_PROMPT].split()),
        started=session.started,
        ended=session.ended,
        errors=sum(turn.failed for turn in session.main),
        again=len(caused(regrets(session))),
    )


def _last(pattern: re.Pattern[bytes], data: mmap.mmap | bytes) -> str:
    """Return the last JSON string that a pattern matches; "" without a match."""
    literal = b""
    for literal in (match[1] for match in pattern.finditer(data)):  # noqa: B007 - only the last is used
        pass
    return _string(literal).strip() if literal else ""


def _read_user_line(line: bytes) -> tuple[bool, str]:
    """Return (typed by a person, words) of a line of the user; for text that a program inserted, its
    command or source.
    """
    record = parse_object(line.decode("utf-8", "replace")) or {}
    inner = next((body for key in ("message", "payload", "data") if (body := fields(record.get(key)))), record)
    inner = fields(inner.get("item")) or inner
    content = next((words for key in _SAID if (words := content_text(inner.get(key)))), "")
    request = find_request(content)
    parts = [*words_of_user(content[request.end() :] if request else content)]
    typed = next((words for by_user, words, _ in parts if by_user and words.strip()), "")
    if typed or not content:
        return True, typed
    if parts[0][1].startswith("/"):
        return False, parts[0][1]
    return False, next((f"{source}: {_TAG.sub(' ', words)}" for _, words, source in parts if source), "")


def _failures(data: mmap.mmap | bytes, failed: re.Pattern[bytes], side: re.Pattern[bytes] | None) -> int:
    """Count the results that report a failure, without those of subagents."""
    matches = failed.finditer(data)
    return sum(1 for match in matches if side is None or not side.search(data, *_line_at(data, match.start())))


def _line_at(data: mmap.mmap | bytes, place: int) -> tuple[int, int]:
    """Return start and end of the line around a position."""
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, end if end >= 0 else len(data)


@contextmanager
def _bytes_of(path: Path, *, whole: bool) -> Iterator[mmap.mmap | bytes]:
    """Yield the bytes of a file; of a compressed file only its head unless `whole`."""
    if is_packed(path):
        with open_unpacked(path) as file:
            yield file.read() if whole else file.read(HEAD)
    else:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _prompts(data: mmap.mmap | bytes, marks: ListMarks) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line with words of the user."""
    for match in marks.prompt.finditer(data):
        start, end = _line_at(data, match.start())
        if marks.other is None or not marks.other.search(data, start, end):
            yield start, end


def _last_window(tail: bytes) -> int | None:
    """Return the tokens of the last request reported at the end of a file."""
    lines: Sequence[bytes] = tail.split(b"\n")
    for line in reversed(lines):
        counts = {name: int(number) for name, number in _USAGE.findall(line)}
        if counts and sum(counts.values()):
            cached = counts.pop(b"cached_input_tokens", 0)  # Codex includes these in its input
            return sum(counts.values()) or cached
    return None


def _string(literal: bytes) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal.decode("utf-8", "replace").strip('"')
