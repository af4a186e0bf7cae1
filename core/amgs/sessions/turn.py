"""Content of a session file of any program: turns in order, with their places in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

from amgs.types.conversation import Role, ToolCall
from amgs.types.usage import Usage

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
    format has none. request: groups the turns of one model answer. calls: exactly one for a call. answers: id of the
    call of a result. failed: as reported by the tool. usage: of the turn's request, if reported. agent: "" in the main
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
    def taken(self) -> int:
        """Number of records that hold turns: all but the evidence and the unread ones."""
        return self.records - sum(self.evidence.values()) - len(self.unread)

    @property
    def started(self) -> datetime | None:
        """Earliest time of any turn; None where no turn has one."""
        return min((turn.at for turn in self.turns if turn.at), default=None)

    @property
    def ended(self) -> datetime | None:
        """Latest time of any turn; None where no turn has one."""
        return max((turn.at for turn in self.turns if turn.at), default=None)

    def turn(self, number: int) -> Turn:
        """Return the turn with this number; raises IndexError if there is none."""
        if not 1 <= number <= len(self.turns):
            raise IndexError(number)
        return self.turns[number - 1]

    def text(self, turn: Turn) -> str:
        """Return the full text of a turn, read from the file again if it was cut."""
        return self.read_again(turn) if turn.cut and self.read_again else turn.text
