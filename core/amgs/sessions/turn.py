"""Content of a session file of any program: turns in order, with their places in the file; and what the model's
window holds at each turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, wraps
from itertools import pairwise
from typing import Final, Literal, TypeVar
from weakref import WeakKeyDictionary

from amgs.types.conversation import Role, ToolCall
from amgs.types.gateway import Usage

TurnKind = Literal["said", "call", "result", "summary", "boundary", "injected", "thinking"]
"""said: words of the user, the model or the system prompt. call: of a tool. result: of a tool. summary: written by a
compaction for what it dropped. boundary: where a compaction took place. injected: text inserted by the program as if
said: reminders, hooks, command output. thinking: of the model.
"""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A compaction.

    before, after: tokens of the window, None if not reported. trigger: auto, manual, or "" if unknown. preserved: ids
    of records that stay in the window. whole: it began a new window; others only drop tool results (`dropped`: ids of
    their calls). sealed: the summary is encrypted by the provider.
    """

    trigger: str = ""
    before: int | None = None
    after: int | None = None
    preserved: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    whole: bool = True
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a record. line: from 1, or the record's number. offset, size: its bytes in the file; size 0 if the
    format has no lines.
    """

    line: int
    offset: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said, done or inserted.

    number: from 1, over the whole session. part: index among its record's turns. id, parent: of records, "" if the
    format has none. request: groups the turns of a model answer. calls: exactly one for a call. answers: id of the call
    of a result. failed: as reported by the tool. usage: of the turn's request, if reported. agent: "" in the main
    conversation, else the subagent's id. abandoned: the user went back before it, so no later window contains it. cut:
    characters of the text that were left in the file, which `Session.text` reads. speaker: by name, of a result its
    tool, of inserted text its source, if known. copied: it was copied from another session at the beginning. cost,
    model: of the request, in dollars and by name, if reported.
    """

    number: int
    role: Role
    kind: TurnKind
    text: str
    place: Place
    at: datetime | None = None
    id: str = ""
    parent: str = ""
    request: str = ""
    part: int = 0
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    failed: bool = False
    usage: Usage | None = None
    agent: str = ""
    abandoned: bool = False
    boundary: Boundary | None = None
    cut: int = 0
    speaker: str = ""
    copied: bool = False
    cost: float = 0.0
    model: str = ""

    @property
    def words(self) -> str:
        """Text of the turn; for a call, its tool and arguments."""
        return "\n".join([self.text, *(f"{c.name}({c.arguments})" for c in self.calls)]).strip()


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """Standing instructions that were loaded according to the file.

    path: their file, as named in the session. turn: before which they were loaded. cut: characters that did not fit,
    None if not reported.
    """

    path: str
    text: str
    turn: int
    cut: int | None = None


Relation = Literal["", "subagent", "fork", "continues"]


@dataclass(frozen=True, eq=False)
class Session:
    """A session as read from a file; nothing of it is stored.

    agent: the program's name. format: key of the reader. project: its working folder. window: the model's window in
    tokens, None if neither the file nor the model's name tells it. system, tools: system prompt and tool definitions;
    None if the file does not contain them. records: number of lines or records. evidence: those without turns, by kind;
    unread: unreadable ones, line and reason. parent: id of the session from which it came; relation: how. continued: id
    of the session that continues it. notes: what to know about the file, in sentences.
    """

    agent: str
    format: str
    path: str
    id: str
    turns: tuple[Turn, ...]
    records: int
    evidence: Mapping[str, int] = field(default_factory=Counter)
    unread: tuple[tuple[int, str], ...] = ()
    project: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    version: str = ""
    window: int | None = None
    system: str | None = None
    tools: str | None = None
    rules: tuple[LoadedRules, ...] = ()
    partial: bool = False
    parent: str = ""
    relation: Relation = ""
    continued: str = ""
    notes: tuple[str, ...] = ()
    read_again: Callable[[Turn], str] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def main(self) -> tuple[Turn, ...]:
        """Turns of the main conversation that were not abandoned."""
        return tuple(turn for turn in self.turns if not turn.agent and not turn.abandoned)

    @cached_property
    def boundaries(self) -> tuple[Turn, ...]:
        """Turns of the main conversation that mark a compaction with a new window, without copied ones."""
        return tuple(turn for turn in self.main if turn.boundary and turn.boundary.whole and not turn.copied)

    @property
    def records_with_turns(self) -> int:
        """Number of records that hold turns: all but the evidence and the unread ones."""
        return self.records - sum(self.evidence.values()) - len(self.unread)

    @property
    def started(self) -> datetime | None:
        """Earliest time of any turn; None where no turn has a time."""
        return min((turn.at for turn in self.turns if turn.at), default=None)

    @property
    def ended(self) -> datetime | None:
        """Latest time of any turn; None where no turn has a time."""
        return max((turn.at for turn in self.turns if turn.at), default=None)

    def turn(self, number: int) -> Turn:
        """Return the turn with this number; raises IndexError if there is none."""
        if not 1 <= number <= len(self.turns):
            raise IndexError(number)
        return self.turns[number - 1]

    def text(self, turn: Turn) -> str:
        """Return the full text of a turn, read from the file again if it was cut."""
        return self.read_again(turn) if turn.cut and self.read_again else turn.text


CHARACTERS_A_TOKEN: Final = 2.7
"""Used if a file's own counts do not suffice: the median of `characters_a_token` over 33 sessions of two programs, with
code, paths and English.
"""
_LEAST, _MOST = 2.0, 5.0


R = TypeVar("R")


def once_a_session(function: Callable[[Session], R]) -> Callable[[Session], R]:
    """Cache a function's result per session object; a followed session is a new object each time it grows."""
    cache: WeakKeyDictionary[Session, R] = WeakKeyDictionary()

    @wraps(function)
    def once(session: Session) -> R:
        if session not in cache:
            cache[session] = function(session)
        return cache[session]

    return once


@dataclass(frozen=True, slots=True)
class Request:
    """An answer of the model. first, last: numbers of its turns. at: time of its first turn."""

    number: int
    first: int
    last: int
    usage: Usage
    at: datetime | None


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """The window at a turn, in the order in which the model reads it.

    turns: in the window. tokens: reported for the request that reads it, else estimated from the turns. has_system,
    has_tools: whether the file contains the system prompt and tool definitions, which are in every window. masked:
    calls whose results a small compaction removed.
    """

    turn: int
    turns: tuple[Turn, ...]
    tokens: int
    estimated: bool
    limit: int | None
    has_system: bool
    has_tools: bool
    masked: frozenset[str] = frozenset()

    @property
    def fill(self) -> float | None:
        """Used share of the window; None if its size is unknown."""
        return self.tokens / self.limit if self.limit else None


@once_a_session
def requests(session: Session) -> tuple[Request, ...]:
    """Return the main conversation's model answers with reported tokens, in order, without those copied from another
    session.
    """
    turns_by_request: dict[str, list[Turn]] = {}
    for turn in session.main:
        if turn.usage is not None and turn.role == "assistant" and not turn.copied:
            turns_by_request.setdefault(turn.request or f"turn {turn.number}", []).append(turn)
    session_requests = []
    for number, turns in enumerate(turns_by_request.values(), 1):
        every = [turn.usage for turn in turns if turn.usage]
        usage = max(every, key=lambda request_usage: (request_usage.window, request_usage.output))
        session_requests.append(Request(number, turns[0].number, turns[-1].number, usage, turns[0].at))
    return tuple(session_requests)


@once_a_session
def characters_a_token(session: Session) -> float:
    """Return the characters per token by the session's own counts, over everything added between two requests of a
    window; `CHARACTERS_A_TOKEN` with too little data.
    """
    sizes = {turn.number: len(turn.words) + turn.cut for turn in session.main}
    marks = [turn.number for turn in session.boundaries]
    characters = tokens = 0
    every = requests(session)
    for before, after in pairwise(every):
        grown = after.usage.window - before.usage.window
        if grown <= 0 or any(before.first < mark < after.first for mark in marks):
            continue
        characters += sum(sizes.get(number, 0) for number in range(before.first, after.first))
        tokens += grown
    if tokens < 2_000:
        return CHARACTERS_A_TOKEN
    return min(_MOST, max(_LEAST, characters / tokens))


def tokens_of(session: Session, turn: Turn) -> int:
    """Return a turn's tokens, estimated from its characters by the session's own counts; a picture counts as its
    placeholder.
    """
    return math.ceil((len(turn.words) + turn.cut) / characters_a_token(session))


def tokens_of_all(session: Session, turns: Sequence[Turn]) -> int:
    """Return the tokens of turns together; see `tokens_of`."""
    return sum(tokens_of(session, turn) for turn in turns)


def estimate_dropped_tokens(session: Session, boundary: Turn, remaining_numbers: Collection[int] = ()) -> int:
    """Estimate the tokens that a compaction dropped, or would have dropped had it retained some turns; at most their
    share of the window's reported tokens, since some text in a file, such as thoughts, reaches no model.
    """
    gone = [turn for turn in find_dropped_turns(session, boundary) if turn.number not in remaining_numbers]
    tokens = tokens_of_all(session, gone)
    counted = boundary.boundary.before if boundary.boundary else None
    stood = tokens_of_all(session, _standing(session, boundary.number - 1)[0])
    return tokens * counted // stood if counted and stood > counted else tokens


def window_at(session: Session, number: int) -> SessionWindow:
    """Return the window that the model read for the turn with this number; if the turn is not the model's, the first
    window that contains it. Raises IndexError for an unknown number.
    """
    session.turn(number)
    turns, masked = _standing(session, number)
    counted = [request for request in requests(session) if request.first <= number <= request.last]
    limit = session.window
    tokens = counted[0].usage.window if counted else tokens_of_all(session, turns)
    return SessionWindow(
        number, turns, tokens, not counted, limit, session.system is not None, session.tools is not None, masked
    )


def find_dropped_turns(session: Session, boundary: Turn) -> tuple[Turn, ...]:
    """Return the turns that were in the window before a compaction but not after it."""
    before, _ = _standing(session, boundary.number - 1)
    after, _ = _standing(session, boundary.number)
    stays = {turn.number for turn in after}
    return tuple(turn for turn in before if turn.number not in stays)


def opening_after(session: Session, boundary: Turn) -> tuple[Turn, ...]:
    """Return the window right after a compaction: preserved turns, the summary, and inserted text until the model
    answered or the user spoke.
    """
    window_turns, _ = _standing(session, boundary.number)
    turns = list(window_turns)
    for turn in after_boundary(session, boundary):
        if turn.kind in ("summary", "injected"):
            turns.append(turn)
        elif turn.kind != "thinking":
            break
    return tuple(turns)


def after_boundary(session: Session, boundary: Turn) -> tuple[Turn, ...]:
    """Return the turns of the main conversation from a compaction to the next."""
    later = [turn for turn in session.main if turn.number > boundary.number]
    end = next((place for place, turn in enumerate(later) if turn in session.boundaries), len(later))
    return tuple(later[:end])


def _standing(session: Session, number: int) -> tuple[tuple[Turn, ...], frozenset[str]]:
    """Return the content of the window after the turn with this number, and the calls whose results were removed."""
    turns: list[Turn] = []
    masked: set[str] = set()
    for turn in session.main:
        if turn.number > number:
            break
        mark = turn.boundary
        if mark is None:
            turns.append(turn)
        elif mark.whole:
            preserved_ids = set(mark.preserved)
            turns = [
                earlier_turn
                for earlier_turn in turns
                if earlier_turn.id in preserved_ids or str(earlier_turn.number) in preserved_ids
            ]
        else:
            masked.update(mark.dropped)
    return tuple(turns), frozenset(masked)
