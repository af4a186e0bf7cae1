"""Aider: `.aider.chat.history.md` in a project's folder, which contains all its sessions, one after the other.

It is Markdown: `# aider chat started at TIME` begins a session, `#### ` precedes each line of the user, which two
blanks follow, `> ` precedes lines of the program, and the rest is the model's, with its own headings. A record is a
block of one of them. The file has no times except the beginning's, no system prompt, and none of the summaries by which
Aider shortens a long history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from amgs.sessions.building import SessionBuilder, SessionFormat, no_session, read_latest
from amgs.sessions.lines import Record, instant, open_unpacked, text, unreadable
from amgs.sessions.turn import Boundary, Place, Session, Turn
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_HEADING: Final = "# aider chat started at "
_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?# aider chat started at \s*(\S.*)")
_FENCE: Final = re.compile(r"^\s*(```+|~~~+)")
_TOKENS: Final = re.compile(r"^Tokens: (.*)$", re.MULTILINE)
_COUNT: Final = re.compile(r"([\d.,]+)([kM]?) (sent|cache write|cache hit|received)")
_MODEL: Final = re.compile(r"^(?:Main m|M)odel: (\S+)", re.MULTILINE)
_VERSION: Final = re.compile(r"^Aider v(\S+)", re.MULTILINE)
_APPLIED: Final = re.compile(r"^(?:Applied edit to .*|Commit [0-9a-f]{6,} .*)$", re.MULTILINE)
_REFUSED: Final = re.compile(r"did not conform to the edit format|^Failed to apply|^# \d+ SEARCH/REPLACE", re.MULTILINE)
_RUN: Final = re.compile(r"^Running (.+)$", re.MULTILINE)
_TOKENS_MARK: Final = "> Tokens: "
_ASKED: Final = re.compile(r"/(?:ask|code|architect|context|help)\s+(?=\S)")
"""Commands that send the following text to the model."""
_EMPTY: Final = "<blank>"

Speaker = Literal["start", "user", "program", "model"]
_MARKS: Final[tuple[tuple[str, Speaker], ...]] = (("#### ", "user"), ("> ", "program"))


@dataclass
class _Block:
    speaker: Speaker
    place: Place
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The lines without their marks."""
        return "\n".join(self.lines).strip()


def _blocks(first: int, at: int, raw_lines: Sequence[bytes]) -> Iterator[_Block]:
    """Yield the blocks of a session that begins at line `first` and byte `at` of its file.

    Within a fenced block of the model only the token count marks a line.
    """
    lines = [text(raw.decode("utf-8-sig", "replace").rstrip("\r\n")) for raw in raw_lines]
    block: _Block | None = None
    fence, before, asked = "", "", False
    for number, (raw, line, marked) in enumerate(zip(raw_lines, lines, _find_marked(lines), strict=True), first):
        line = line.rstrip()
        if marked and line.startswith(_TOKENS_MARK):  # the answer is over, even if its last fence is open
            fence = ""
        speaker, words = _speaker(line, fence, marked=marked)
        # Blank lines and further lines of the program, which speaks first, have no marks.
        if block is not None and speaker == "model" and (not line or (block.speaker == "program" and before)):
            speaker = block.speaker
        elif speaker == "model" and not asked:
            speaker = "program"
        asked = speaker != "start" and (asked or speaker == "user")
        if speaker == "model" and (match := _FENCE.match(line)):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1]
        anew = speaker == "user" and line and not before  # the user's blank lines have marks too
        if block is None or speaker != block.speaker or anew:
            if block is not None and block.text:
                yield block
            block = _Block(speaker, Place(number, at))
        block.lines.append(words)
        block.place = Place(block.place.line, block.place.offset, at + len(raw) - block.place.offset)
        at, before = at + len(raw), line
    if block is not None and block.text:
        yield block


def _find_marked(lines: Sequence[str]) -> list[bool]:
    """Return whether each line, or the paragraph that its `> ` begins, ends with Aider's two blanks.

    If no line with the same first character does, an editor removed the blanks, and all such lines count.
    """
    marked, further = [False] * len(lines), False
    for number in range(len(lines) - 1, -1, -1):
        further = bool(lines[number].strip()) and (further or lines[number].endswith("  "))
        paragraph = further or lines[number].startswith(_TOKENS_MARK)
        marked[number] = paragraph if lines[number].startswith(">") else lines[number].endswith("  ")
    known = {line[:1] for line, mark in zip(lines, marked, strict=True) if mark}
    return [mark or line[:1] not in known for line, mark in zip(lines, marked, strict=True)]


def _speaker(line: str, fence: str, *, marked: bool) -> tuple[Speaker, str]:
    """Return the speaker and the words of a line. marked: whether it ends as Aider's lines do."""
    if line.startswith(_HEADING) and not fence:
        return "start", line[len(_HEADING) :].strip()
    if not fence and marked:
        for mark, speaker in _MARKS:
            if line == mark.strip() or line.startswith(mark):
                words = line[len(mark) :]
                return speaker, "" if words == _EMPTY else words
    return "model", line


def _sessions(path: Path) -> dict[str, tuple[int, int, list[bytes]]]:
    """Return (line, byte, lines) of each session by its id: the time at which it began, with a number for a repeated
    time.
    """
    try:
        with open_unpacked(path) as file:
            raw_lines = file.read().splitlines(keepends=True)
    except OSError as error:
        raise unreadable(path, error) from error
    sessions: dict[str, tuple[int, int, list[bytes]]] = {}
    own: list[bytes] | None = None
    at, before = 0, ""
    for number, raw in enumerate(raw_lines, 1):
        start = None if _FENCE.match(before) else _START.match(raw)  # in a fence, an answer shows one
        before = raw.decode("utf-8-sig", "replace")
        if start or (own is None and before.strip()):
            began = text(start[1].decode("utf-8", "replace")).strip() if start else ""
            id = next(name for name in _names(began) if name not in sessions)
            own = []
            sessions[id] = (number, at, own)
        if own is not None:
            own.append(raw)
        at += len(raw)
    return sessions


def _names(began: str) -> Iterator[str]:
    name = began.replace(" ", "T") or "unknown"
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


class _Reading(SessionBuilder):
    def __init__(self, path: Path, id: str) -> None:
        super().__init__("Aider", "aider", path)
        self.know(id=id, project=str(path.parent))
        self._at: Any = None
        self._requests = 0
        self._unpaid: list[Turn] = []
        """Turns of the model since the last token count."""

    def take(self, block: _Block) -> None:
        """Read a block into turns; count it by kind if it has none."""
        before = len(self.turns)
        if block.speaker == "start":
            self._at = instant(block.text)
            self.note("session")
            return
        if block.speaker == "user":
            self._user(block)
        elif block.speaker == "program":
            self._program(block)
        else:
            self._requests += 1
            request = f"request {self._requests}"
            self._unpaid.append(self.turn(block.place, "assistant", "said", block.text, at=self._at, request=request))
        if len(self.turns) == before:
            self.note("words of the program")

    def _user(self, block: _Block) -> None:
        if block.text.split()[0] in ("/clear", "/reset"):
            mark = Boundary("manual")
            self.turn(block.place, "system", "boundary", block.text, at=self._at, boundary=mark)
            return
        command = block.text.startswith(("/", "!")) and not _ASKED.match(block.text)
        self.turn(block.place, "user", "injected" if command else "said", block.text, at=self._at)

    def _program(self, block: _Block) -> None:
        """Read the program's action on an answer, and its token counts."""
        words = block.text
        if model := _MODEL.search(words):
            self.know(model=model[1])
        if version := _VERSION.search(words):
            self.know(version=version[1])
        for run in _RUN.findall(words):
            call = ToolCall(f"run {block.place.line}", "run", run)
            self.turn(block.place, "assistant", "call", "", (call,), at=self._at)
        failed = _REFUSED.search(words) is not None
        if failed or _APPLIED.search(words):
            self.turn(block.place, "tool", "result", words, at=self._at, failed=failed)
        if counted := _TOKENS.search(words):
            usage = _usage(counted[1])
            for turn in self._unpaid if usage.window else ():
                self.change(self.turns[turn.number - 1], usage=usage)
            self._unpaid = []


def _usage(line: str) -> Usage:
    """Return the tokens of a line such as `4.2k sent, 1.1k cache hit, 310 received.`; those sent include the cache."""
    counts = {}
    for number, unit, what in _COUNT.findall(line):
        try:
            counts[what] = round(float(number.replace(",", "")) * {"": 1, "k": 1_000, "M": 1_000_000}[unit])
        except (ValueError, OverflowError):
            continue
    written, cached = counts.get("cache write", 0), counts.get("cache hit", 0)
    fresh = max(0, counts.get("sent", 0) - written - cached)
    return Usage(fresh, written, cached, counts.get("received", 0))


def sessions_in(path: Path) -> Sequence[str]:
    """Return the ids of the sessions in a file, latest first. Raises InputError for an unreadable file."""
    return tuple(reversed(_sessions(path)))


def read_one(path: Path, id: str) -> Session:
    """Return the session with an id. Raises InputError for an unknown id or an unreadable file."""
    sessions = _sessions(path)
    if id not in sessions:
        raise no_session(path, id)
    reading = _Reading(path, id)
    for block in _blocks(*sessions[id]):
        reading.take(block)
    return reading.session()


read: Final = partial(read_latest, sessions_in, read_one)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a file has the name of Aider's histories, or begins like one."""
    del first
    if path.is_dir():
        return False
    with open_unpacked(path) as file:
        begins = file.read(4_096).decode("utf-8-sig", "replace").lstrip().startswith(_HEADING)
    return begins or path.name == ".aider.chat.history.md"


FORMAT: Final = SessionFormat(
    "aider",
    "Aider",
    "",
    (".aider.chat.history.md", "*/.aider.chat.history.md", "*/*/.aider.chat.history.md"),
    recognises,
    read,
    inside=sessions_in,
    read_one=read_one,
)
