"""Content of a session file, whoever wrote it: turns in the order of the file, with their places in it."""

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
"""said: words of the user, of the model or of the system prompt. call: of a tool. result: what a tool gave back.
summary: what a compaction wrote in place of what it dropped. boundary: where a compaction took place. injected: what
the program put in as if it had been said: reminders, hooks, command output. thinking: of the model.
"""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A compaction. before, after: tokens of the window, None where the file does not say.

    trigger: auto, manual, or "" where unknown. preserved: ids of records that stay in the window. whole: whether it
    began a new window; a small compaction drops results of tools (`dropped`: ids of their calls) and leaves the rest.
    sealed: whether the summary is there in a form that nobody but the provider can read.
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
    """Place of a record.

    line: from 1 on, or the record's number. offset, size: bytes of it in the file; size 0 where the format has no
    lines.
    """

    line: int
    offset: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said, done or put in.

    number: from 1 on, over the whole session. part: which of its record's turns it is. id, parent: of records, "" where
    the format has none. request: what groups the turns of one answer of the model. calls: exactly one for a call.
    answers: the id of the call whose result this is. failed: whether the tool said so. usage: of the request that this
    turn belongs to, where the file tells it. agent: "" in the main conversation, else the subagent's id. abandoned:
    whether the user went back before it, so that no later window holds it. cut: characters of the text that were left
    in the file; `Session.text` reads them. speaker: who says it, by name, of a result its tool, and of what was put in
    whose words they are, where the format tells. copied: whether it is another session's, which this one began with.
    cost, model: of the request, in dollars and by name, where the file tells them of each.
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
        """Text of the turn: of a call, its tool and arguments."""
        return "\n".join([self.text, *(f"{c.name}({c.arguments})" for c in self.calls)]).strip()


@dataclass(frozen=True, slots=True)
class LoadedRules:
    """Standing instructions that the file says were loaded. path: of the file they came from, as the session names
    it. turn: before which turn. cut: characters that did not fit, None where the file does not say.
    """

    path: str
    text: str
    turn: int
    cut: int | None = None


Relation = Literal["", "subagent", "fork", "continues"]


@dataclass(frozen=True, eq=False)
class Session:
    """A session as it was read. Nothing of it is kept anywhere.

    agent: the program, in its own spelling. format: the key of the reader. project: the folder it worked in. window:
    tokens that the model can read, None where neither the file nor the model's name says. system, tools: the system
    prompt and the definitions of tools; None where the file does not hold them. records: how many lines or records the
    file has. evidence: those that are no turn, by what they are; unread: those that could not be read, line and reason.
    parent: the id of the session that it came from; relation: how. continued: the id of the one that goes on from it.
    notes: what one has to know of the file, in sentences.
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
        """Turns of the main conversation that were not taken back."""
        return tuple(turn for turn in self.turns if not turn.agent and not turn.abandoned)

    @cached_property
    def boundaries(self) -> tuple[Turn, ...]:
        """Its own compactions of the main conversation that began a new window."""
        return tuple(turn for turn in self.main if turn.boundary and turn.boundary.whole and not turn.copied)

    @property
    def taken(self) -> int:
        """Records that became turns; with evidence and unread ones they are all of the file."""
        return self.records - sum(self.evidence.values()) - len(self.unread)

    @property
    def started(self) -> datetime | None:
        """Time of the first turn."""
        return min((turn.at for turn in self.turns if turn.at), default=None)

    @property
    def ended(self) -> datetime | None:
        """Time of the last turn."""
        return max((turn.at for turn in self.turns if turn.at), default=None)

    def turn(self, number: int) -> Turn:
        """Return the turn with a number; raises IndexError for none."""
        if not 1 <= number <= len(self.turns):
            raise IndexError(number)
        return self.turns[number - 1]

    def text(self, turn: Turn) -> str:
        """Return what a turn says, whole, read from the file again where it was cut."""
        return self.read_again(turn) if turn.cut and self.read_again else turn.text
