"""Turns as messages of a well-formed conversation, whatever the file contains: every result follows its call, and every
call but those at the end has its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from errno import ENOENT
from pathlib import Path
from typing import Final

from amgs.sessions.lines import unreadable
from amgs.sessions.messages import call_text
from amgs.sessions.opening import FORMATS, first_records
from amgs.sessions.turn import Session, Turn
from amgs.types.conversation import Message, ToolCall

SUMMARY: Final = "Summary by the model"
"""Speaker of a compaction's summary."""
INJECTED: Final = "Injected"
"""Speaker of inserted text; its role is assistant, since the user did not say it, and system messages would stay in
every context.
"""
_NO_MESSAGES: Final = {"thinking": "thinking", "boundary": "compactions"}


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """A message, and the line of the file at which it begins."""

    message: Message
    line: int


@dataclass(frozen=True, slots=True)
class SessionConversation:
    """A session as a conversation.

    records: in the file; other_records: those without turns, by kind. turns: in the file; other_turns: those in no
    message. mended: what was inconsistent and is stored as text, by kind.
    """

    agent: str
    format: str
    id: str
    title: str
    messages: tuple[TurnMessage, ...]
    records: int
    other_records: tuple[tuple[str, int], ...]
    turns: int
    other_turns: tuple[tuple[str, int], ...]
    mended: tuple[tuple[str, int], ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what happened to all records and turns, in words."""
        without = sum(count for _, count in self.other_records)
        left = sum(count for _, count in self.other_turns)
        lines = [
            f"Records of {self.agent}: {self.records:,}; with turns: {self.records - without:,}; without: {without:,}"
            f"{_format_counts(self.other_records)}.",
            f"Turns: {self.turns:,}; in messages: {self.turns - left:,}; left out: {left:,}"
            f"{_format_counts(self.other_turns)}. Messages: {len(self.messages):,}.",
        ]
        if self.mended:
            lines.append(f"Kept as text{_format_counts(self.mended)}.")
        return tuple(lines)


def conversations_in(path: Path) -> Iterator[SessionConversation]:
    """Yield the conversations of the sessions in a file, latest first, reading each when needed; none for an unknown
    format. Raises InputError for an unreadable file.
    """
    if not path.exists():
        raise unreadable(path, FileNotFoundError(ENOENT, "No such file or directory"))
    first = first_records(path)
    known = next((session_format for session_format in FORMATS if session_format.recognises(path, first)), None)
    if known is None:
        return
    if known.inside is None or known.read_one is None:
        yield conversation_of(known.read(path))
        return
    for id in known.inside(path):
        yield conversation_of(known.read_one(path, id))


def conversation_of(session: Session) -> SessionConversation:
    """Return the main conversation of a session. Turns of subagents, abandoned turns, thinking and compactions are
    counted and left out.
    """
    taken: list[Turn] = []
    left: Counter[str] = Counter()
    for turn in session.turns:
        if turn.agent:
            left["of subagents"] += 1
        elif turn.abandoned:
            left["taken back by the user"] += 1
        elif turn.kind in _NO_MESSAGES:
            left[_NO_MESSAGES[turn.kind]] += 1
        elif turn.kind != "result" and not turn.words:
            left["empty"] += 1
        else:
            taken.append(turn)
    messages, mended = messages_of(taken, session.text)
    others = Counter(dict(session.evidence)) + Counter(why for _, why in session.unread)
    return SessionConversation(
        session.agent,
        session.format,
        session.id or Path(session.path).stem,
        session.title,
        messages,
        session.records,
        tuple(others.most_common()),
        len(session.turns),
        tuple(left.most_common()),
        tuple(Counter(what for what, _ in mended).most_common()),
    )


def messages_of(
    turns: Sequence[Turn], text: Callable[[Turn], str] = lambda turn: turn.text
) -> tuple[tuple[TurnMessage, ...], tuple[tuple[str, int], ...]]:
    """Return the messages of turns, numbered from 1, and what is stored as text because it was inconsistent: kind and
    line.

    Adjacent words and calls of the same answer form a message. text: returns a turn's full text.
    """
    pairs = _pair_calls(turns)
    mended: list[tuple[str, int]] = []
    messages: list[TurnMessage] = []
    before: Turn | None = None
    for turn in turns:
        message = _message(turn, text(turn), pairs, mended)
        if messages and before is not None and _go_together(before, turn):
            last = messages[-1].message
            words = "\n\n".join(piece for piece in (last.text, message.text) if piece.strip())
            messages[-1] = replace(messages[-1], message=replace(last, text=words, calls=last.calls + message.calls))
        else:
            messages.append(TurnMessage(replace(message, number=len(messages) + 1), turn.place.line))
        before = turn
    return tuple(messages), tuple(mended)


@dataclass(frozen=True)
class _Pairs:
    """calls: by turn number, each call that has a result or waits at the end. results: by turn number, the call of each
    result. answered: ids of calls with a result.
    """

    calls: dict[int, ToolCall]
    results: dict[int, ToolCall]
    answered: frozenset[str]


def _pair_calls(turns: Sequence[Turn]) -> _Pairs:
    waiting: dict[str, list[Turn]] = {}
    calls: dict[int, ToolCall] = {}
    results: dict[int, ToolCall] = {}
    answered: set[str] = set()
    last = max((n for n, turn in enumerate(turns) if turn.kind != "call"), default=-1)
    used: set[str] = set()
    for place, turn in enumerate(turns):
        if turn.kind == "call" and turn.calls:
            waiting.setdefault(turn.calls[0].id, []).append(turn)
            if place > last:
                calls[turn.number] = _name_call(turn, used)
        elif turn.kind == "result":
            called = _take_call(turn, waiting.get(turn.answers, []))
            if called is not None:
                calls[called.number] = _name_call(called, used)
                results[turn.number] = calls[called.number]
                answered.add(turn.answers)
    return _Pairs(calls, results, frozenset(answered))


def _take_call(result: Turn, waiting: list[Turn]) -> Turn | None:
    """Remove and return the call of a result: the latest with its id; without an id, the first of its tool."""
    if result.answers or not waiting:
        return waiting.pop() if waiting else None
    places = [n for n, turn in enumerate(waiting) if turn.calls[0].name == result.speaker]
    return waiting.pop(places[0] if places else 0)


def _name_call(turn: Turn, used: set[str]) -> ToolCall:
    """Return the call of a turn, with a unique id."""
    call = turn.calls[0]
    if not call.id or call.id in used:
        call = replace(call, id=f"{call.id or 'call'}-{turn.number}")
    used.add(call.id)
    return replace(call, name=call.name or "tool")


def _message(turn: Turn, content: str, pairs: _Pairs, mended: list[tuple[str, int]]) -> Message:
    if turn.kind == "call" and turn.calls:
        call = pairs.calls.get(turn.number)
        if call is not None:
            return Message(0, "assistant", content, turn.at, turn.speaker, (call,))
        mended.append(("a call without a result", turn.place.line))
        words = "\n\n".join(
            piece for piece in (content, *(call_text(c.name, c.arguments) for c in turn.calls)) if piece
        )
        return Message(0, "assistant", words, turn.at, turn.speaker)
    if turn.kind == "result":
        call = pairs.results.get(turn.number)
        tool = f"Tool {call.name if call else turn.speaker}".strip() + (" (failed)" if turn.failed else "")
        if call is not None:
            return Message(0, "tool", content, turn.at, tool, answers=call.id)
        second = turn.answers in pairs.answered
        what = "a second result of a call" if second else "a result without its call"
        mended.append((what, turn.place.line))
        return Message(0, "assistant", content, turn.at, tool)
    if turn.kind == "summary":
        return Message(0, "assistant", content, turn.at, SUMMARY)
    if turn.kind == "injected":
        return Message(0, "assistant", content, turn.at, turn.speaker or INJECTED)
    return Message(0, turn.role, content, turn.at, turn.speaker)


def _go_together(before: Turn, turn: Turn) -> bool:
    """Return whether two successive turns belong to a message of the model."""
    both = all(member.kind in ("said", "call") and member.role == "assistant" for member in (before, turn))
    return both and bool(turn.request) and turn.request == before.request


def _format_counts(counts: Sequence[tuple[str, int]]) -> str:
    return f" ({', '.join(f'{what} {count:,}' for what, count in counts)})" if counts else ""
