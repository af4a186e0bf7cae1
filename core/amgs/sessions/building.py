"""Building a session while its file is read: turns are numbered, and every record is accounted for; and the parts of a
format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.lines import Line, Record, as_json, is_packed, line_at, lines_of, text, whole_document
from amgs.sessions.lines import name as name_of
from amgs.sessions.turn import Boundary, LoadedRules, Place, Session, Turn, TurnKind
from amgs.types.conversation import Role, ToolCall

KEPT_OF_LARGE: Final = 1_000
"""Characters of a turn's text held in memory for a file above `LARGE`: 100 MB for 76,000 turns."""
LARGE: Final = 64 * 1024 * 1024
"""File size in bytes from which the texts of long turns stay in the file."""


@dataclass
class SessionBuilder:
    """Builds a session while its file is read. Each record is passed to exactly one of `turn` (once or several times),
    `note` and `fail`.
    """

    agent: str
    format: str
    path: Path
    limit: int | None = None
    turns: list[Turn] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    unread: list[tuple[int, str]] = field(default_factory=list)
    rules: list[LoadedRules] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)

    def turn(
        self, place: Place, role: Role, kind: TurnKind, text: str, calls: tuple[ToolCall, ...] = (), **more: Any
    ) -> Turn:
        """Add a turn of the record at a place. more: further fields of `Turn`."""
        part = 0
        for before in reversed(self.turns):
            if before.place.line != place.line:
                break
            part += 1
        cut = 0
        if self.limit is not None and len(text) > self.limit and place.size:
            cut = len(text) - self.limit
            text = text[: self.limit]
        new_turn = Turn(len(self.turns) + 1, role, kind, text, place, part=part, calls=calls, cut=cut, **more)
        self.turns.append(new_turn)
        if place.line > 0:  # otherwise the record is in another file
            self._taken.add(place.line)
        return new_turn

    def say(self, place: Place, role: Role, kind: TurnKind, words: str, /, **more: Any) -> None:
        """Add a turn if there are words."""
        if words:
            self.turn(place, role, kind, words, **more)

    def compact(self, place: Place, mark: Boundary, summary: str = "", /, words: str = "", **more: Any) -> Turn:
        """Add a compaction, and its summary if any."""
        turn = self.turn(place, "system", "boundary", words, boundary=mark, **more)
        self.say(place, "assistant", "summary", summary, **more)
        return turn

    def calls(self, place: Place, name: Any, call: Any, arguments: Any, /, **more: Any) -> Turn:
        """Add a call of a tool."""
        tool_call = ToolCall(text(call) or name_of(name), name_of(name), as_json(arguments))
        return self.turn(place, "assistant", "call", "", (tool_call,), **more)

    def result(self, place: Place, call: Any, output: str, /, *, failed: bool = False, **more: Any) -> Turn:
        """Add the result of a tool."""
        details = more | {"usage": None, "answers": text(call), "failed": failed}
        return self.turn(place, "tool", "result", output, **details)

    def change(self, turn: Turn, **fields: Any) -> Turn:
        """Change fields of a turn that was added."""
        new_turn = replace(turn, **fields)
        self.turns[turn.number - 1] = new_turn
        return new_turn

    def note(self, what: str) -> None:
        """Count a record without turns, by kind."""
        self.evidence[what] += 1

    def fail(self, line: Line) -> None:
        """Count a record that could not be read."""
        self.unread.append((line.place.line, line.why))

    def know(self, **facts: Any) -> None:
        """Set facts of the session; for each, the first value counts."""
        for name, value in facts.items():
            if value and not self.facts.get(name):
                self.facts[name] = value

    def session(self, read_again: Callable[[Turn], str] | None = None) -> Session:
        """Return the session with everything that was added."""
        return Session(
            self.agent,
            self.format,
            str(self.path),
            self.facts.pop("id", "") or self.path.stem,
            tuple(self.turns),
            len(self._taken) + sum(self.evidence.values()) + len(self.unread),
            self.evidence,
            tuple(self.unread),
            rules=tuple(self.rules),
            read_again=read_again,
            **self.facts,
        )


class RecordReading(SessionBuilder):
    """Reads lines with a record each; a format implements `record`."""

    def take(self, line: Line) -> None:
        """Read a line into turns; count it by kind if it has none."""
        if line.value is None:
            self.fail(line)
            return
        before = len(self.turns)
        self.record(line.value, line.place)
        if len(self.turns) == before:
            self.note(self.kind_of(line.value) or "without a type")

    def kind_of(self, record: Record) -> str:
        """Return the kind under which a record without turns is counted."""
        return text(record.get("type") or record.get("role"))

    def record(self, record: Record, place: Place) -> None:
        """Read a record into turns."""
        raise NotImplementedError

    def finish(self) -> None:
        """Add the facts that only the whole file shows."""


def read_document(path: Path, reading: RecordReading, records: Any) -> Session:
    """Return the session in the records of a single document. Raises InputError if these are no list."""
    if not isinstance(records, list):
        raise InputError(f"{path} holds no messages.", way_out="Give a session file.")
    for number, record in enumerate(records, 1):
        value = record if isinstance(record, dict) else None
        reading.take(Line(Place(number), value, "" if value is not None else "not an object"))
    reading.finish()
    return reading.session()


def read_lines(begin: Callable[[Path, int | None], RecordReading], path: Path, end: int | None = None) -> Session:
    """Return the session in a file of lines, or of a list with what lines would hold.

    begin: starts a reading that stores at most this number of characters of a turn, None for all. end: number of bytes
    at the end to read, from the beginning of a line; a compressed file is always read in full. Raises InputError for an
    unreadable file.
    """
    if isinstance(records := whole_document(path), list):
        return read_document(path, begin(path, None), records)
    reading = begin(path, limit_of(path))
    start = 0 if end is None or is_packed(path) else max(0, path.stat().st_size - end)
    for line in lines_of(path, start):
        if start and line.place.offset == start:
            continue  # the line begins before `start`
        reading.take(line)
    reading.finish()

    def read_again(turn: Turn) -> str:
        once = begin(path, None)
        once.take(Line(turn.place, line_at(path, turn.place)))
        size = len(turn.text) + turn.cut
        texts = (candidate.text for candidate in once.turns if len(candidate.text) == size)
        return next((text for text in texts if text.startswith(turn.text)), turn.text)

    reading.know(partial=start > 0)
    return reading.session(read_again)


def read_latest(
    inside: Callable[[Path], Sequence[str]], read_one: Callable[[Path, str], Session], path: Path
) -> Session:
    """Return the latest session in a file of several. Raises InputError without any."""
    for id in inside(path):
        return read_one(path, id)
    raise InputError(f"{path} holds no session.", way_out="Give a session file.")


def no_session(path: Path, id: str) -> InputError:
    """Return the error for an id that is not in a file."""
    return InputError(f"{path} holds no session {id}.", way_out="Give the id of a session in it.")


def limit_of(path: Path) -> int | None:
    """Return how many characters of a turn's text are stored, by file size; None for all. Compressed files count
    tenfold.
    """
    large = LARGE // 10 if is_packed(path) else LARGE
    return KEPT_OF_LARGE if path.is_file() and path.stat().st_size > large else None


@dataclass(frozen=True, slots=True)
class ListMarks:
    """Byte patterns by which the listing searches a file.

    prompt: in lines with the user's words; other: in a line that matches `prompt` but is none. compaction: of the
    program. id: in the first line, with the session's id as group, if the file name lacks it. side: in the first line
    of a subagent's file. titles: with a title as JSON string in a group, a title set by hand first; the last match
    counts. failed: in a result that reports a failure.
    """

    prompt: re.Pattern[bytes]
    compaction: re.Pattern[bytes]
    other: re.Pattern[bytes] | None = None
    id: re.Pattern[bytes] | None = None
    side: re.Pattern[bytes] | None = None
    titles: tuple[re.Pattern[bytes], ...] = ()
    failed: re.Pattern[bytes] | None = None


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """The session files of a program.

    key: its name in commands. agent: the program's name. last_verified: ISO date of the last check of the reader
    against real files, with their version; "" if only the published description was read. places: glob patterns below
    the home folder. recognises: whether a file has this format, by path and first objects (none if it is not JSON).
    read: returns its session; raises only InputError. read_end: the session in this number of last bytes, for formats
    that can be read from any line on. marks: for the listing; None if files must be parsed. inside, read_one: for files
    with several sessions: their ids, latest first, and the session with an id, or InputError; `read` returns the latest
    then.
    """

    key: str
    agent: str
    last_verified: str
    places: tuple[str, ...]
    recognises: Callable[[Path, Sequence[Record]], bool]
    read: Callable[[Path], Session]
    marks: ListMarks | None = None
    inside: Callable[[Path], Sequence[str]] | None = None
    read_one: Callable[[Path, str], Session] | None = None
    read_end: Callable[[Path, int], Session] | None = None
