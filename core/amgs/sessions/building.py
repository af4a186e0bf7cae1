"""A session while it is read: turns are numbered, and every record of the file is accounted for.

What a format of session files is made of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.lines import Line, Record, as_json, is_packed, line_at, lines_of, text
from amgs.sessions.lines import name as name_of
from amgs.sessions.turn import Boundary, LoadedRules, Place, Session, Turn, TurnKind
from amgs.types.conversation import Role, ToolCall

KEPT_OF_LARGE: Final = 1_000
"""Characters of a turn's text that are held of a file beyond `LARGE`: 76,000 turns are 100 MB then."""
LARGE: Final = 64 * 1024 * 1024
"""Bytes of a file from which on the texts of long turns stay in it."""


@dataclass
class SessionBuilder:
    """See the module. Each record is given to exactly one of `turn` (once or several times), `note` and `fail`."""

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
        if place.line > 0:  # else it is another file's
            self._taken.add(place.line)
        return new_turn

    def say(self, place: Place, role: Role, kind: TurnKind, words: str, /, **more: Any) -> None:
        """Add a turn where there are words."""
        if words:
            self.turn(place, role, kind, words, **more)

    def compact(self, place: Place, mark: Boundary, summary: str = "", /, words: str = "", **more: Any) -> Turn:
        """Add a compaction, and its summary where there is one."""
        turn = self.turn(place, "system", "boundary", words, boundary=mark, **more)
        self.say(place, "assistant", "summary", summary, **more)
        return turn

    def calls(self, place: Place, name: Any, call: Any, arguments: Any, /, **more: Any) -> Turn:
        """Return a call of a tool."""
        tool_call = ToolCall(text(call) or name_of(name), name_of(name), as_json(arguments))
        return self.turn(place, "assistant", "call", "", (tool_call,), **more)

    def result(self, place: Place, call: Any, output: str, /, *, failed: bool = False, **more: Any) -> Turn:
        """Return what a tool gave back."""
        details = more | {"usage": None, "answers": text(call), "failed": failed}
        return self.turn(place, "tool", "result", output, **details)

    def change(self, turn: Turn, **fields: Any) -> Turn:
        """Put other values into a turn that was added."""
        new_turn = replace(turn, **fields)
        self.turns[turn.number - 1] = new_turn
        return new_turn

    def note(self, what: str) -> None:
        """Count a record that is no turn, by what it is."""
        self.evidence[what] += 1

    def fail(self, line: Line) -> None:
        """Count a record that could not be read."""
        self.unread.append((line.place.line, line.why))

    def know(self, **facts: Any) -> None:
        """Facts of the session, each of which the first record that tells it decides."""
        for name, value in facts.items():
            if value and not self.facts.get(name):
                self.facts[name] = value

    def session(self, read_again: Callable[[Turn], str] | None = None) -> Session:
        """Return the session with all that was added."""
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
    """A reading of lines that are one record each; a format says in `record` which turns a record makes."""

    def take(self, line: Line) -> None:
        """Read one line into turns; count it by kind where it yields none."""
        if line.value is None:
            self.fail(line)
            return
        before = len(self.turns)
        self.record(line.value, line.place)
        if len(self.turns) == before:
            self.note(self.kind_of(line.value) or "without a type")

    def kind_of(self, record: Record) -> str:
        """Return what a record is counted as where it holds no turn."""
        return text(record.get("type") or record.get("role"))

    def record(self, record: Record, place: Place) -> None:
        """Read one record into turns."""
        raise NotImplementedError

    def finish(self) -> None:
        """Add the facts that only the whole file shows."""


def read_document(path: Path, reading: RecordReading, records: Any) -> Session:
    """Return the session in the records of a file that is one document. Raises InputError where there are none."""
    if not isinstance(records, list):
        raise InputError(f"{path} holds no messages.", way_out="Give a session file.")
    for number, record in enumerate(records, 1):
        value = record if isinstance(record, dict) else None
        reading.take(Line(Place(number), value, "" if value is not None else "not an object"))
    reading.finish()
    return reading.session()


def read_lines(begin: Callable[[Path, int | None], RecordReading], path: Path, end: int | None = None) -> Session:
    """Return the session in a file of lines. begin: starts a reading that holds so many characters of a turn. end: only
    the last so many bytes, from the beginning of a line on. Raises InputError for a file that cannot be read.
    """
    reading = begin(path, limit_of(path))
    start = 0 if end is None or is_packed(path) else max(0, path.stat().st_size - end)
    for line in lines_of(path, start):
        if start and line.place.offset == start:
            continue  # it begins before
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
    """Return the latest session of a file that holds many. Raises InputError where it holds none."""
    for id in inside(path):
        return read_one(path, id)
    raise InputError(f"{path} holds no session.", way_out="Give a file with one.")


def no_session(path: Path, id: str) -> InputError:
    """Return what is raised for an id that a file does not hold."""
    return InputError(f"{path} holds no session {id}.", way_out="Give an id of one that it holds.")


def limit_of(path: Path) -> int | None:
    """Return how much of a turn's text is held, by the size of its file; None for all of it. A packed one is ten times
    so large when it is read.
    """
    large = LARGE // 10 if is_packed(path) else LARGE
    return KEPT_OF_LARGE if path.is_file() and path.stat().st_size > large else None


@dataclass(frozen=True, slots=True)
class ListMarks:
    """Byte patterns by which the listing reads a file.

    prompt: in a line of the user's words; other: in a line that has `prompt` and is none. compaction: of the program.
    id: in the first line, its group is the session's id where the file's name lacks it. side: in the first line of a
    subagent's file. titles: groups that hold a title as a JSON string, one set by hand first; the last match counts.
    failed: of a result that reports a failure.
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
    """One program's files.

    key: its name in commands. agent: the program, in its own spelling. last_verified: the day on which the reader was
    last held against real files of that program, ISO 8601, with their version; "" where only the published description
    was read. places: where such files lie, as patterns below the home folder. recognises: whether a file is one, by its
    path and its first objects (none for a file that is no JSON). read: the session in it; raises InputError for a file
    that cannot be read, and for nothing else. read_end: the session in the last so many bytes of a file, of a format
    whose files may be read from a line on. marks: what the listing counts in the bytes of a file without reading it;
    None where it has to be read. inside: the ids of the sessions in a file, the
    latest first, of a format whose files hold many; `read` gives the latest of them then, and `read_one` the one with
    an id, and raises InputError for an id that is not there.
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
