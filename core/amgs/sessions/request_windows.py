"""Requests that repeat the messages of the one before: which go on with which, and what each had in its window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from amgs.sessions.anthropic_messages import parts_of
from amgs.sessions.lines import Record, content_text, fields, text
from amgs.sessions.turn import Usage

_CONTINUED: Final = "This session is being continued from a previous conversation"
_LONG: Final = 40
"""Characters of an answer from which on a message that holds it is the summary made of it."""


@dataclass
class RequestWindow:
    """What one line of requests had in its window last.

    source, key: by which a request is found to go on with it. marks: of its messages, see `mark_of`; asked: how many of
    them were in the request, without its answer. ids: of the turns made of each. numbers: of all its turns; first: the
    number of the first that the last call made. answer: the text of the last answer.
    rewriting: whether a compaction is being read.
    """

    source: str
    key: tuple[str, bool]
    calls: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    asked: int = 0
    ids: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    first: int = 0
    usage: Usage | None = None
    answer: str = ""
    rewriting: bool = False
    body: Record = field(default_factory=dict)

    def summary_in(self, told: str) -> bool:
        """Whether a message is the summary of what was in the window."""
        return _CONTINUED in told or (self.rewriting and len(self.answer) >= _LONG and self.answer in told)


def same_at_start(old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> int:
    """How many messages both begin with."""
    differing = (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    return next(differing, min(len(old), len(new)))


def mark_of(message: Record) -> tuple[int, int]:
    """What tells a message from others, all but its thoughts, which later requests leave out; and that without results
    of tools.
    """
    told: list[tuple[str, str, str]] = []
    for part in parts_of(message.get("content")):
        one = {"type": "text", "text": part} if isinstance(part, str) else fields(part)
        kind, id = text(one.get("type")), text(one.get("tool_use_id") or one.get("id"))
        if "thinking" not in kind:
            told.append((kind, id, "" if kind == "tool_use" else content_text(one).strip()))
    shape = tuple((kind, id, "" if kind.endswith("tool_result") else said) for kind, id, said in told)
    role = text(message.get("role"))
    return hash((role, tuple(told))), hash((role, shape))
