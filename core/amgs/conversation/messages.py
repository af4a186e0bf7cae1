"""Read messages of agents and chat programs into a conversation: in the form of OpenAI (chat completions and
responses), of Anthropic, or plain `{"speaker": …, "text": …}`; and carry on a conversation as an agent does.
What cannot be used is left out with a note, or refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, Unpack

from amgs.clock import aware
from amgs.errors import MessageError
from amgs.exchange.importers.parsing import instant
from amgs.incoming import why_unstorable
from amgs.sessions.lines import name
from amgs.sessions.messages import LISTS, THOUGHTS, TIMES, SaidMessage, read_item_messages, text_of, unwrap_message
from amgs.types import JournalEntry
from amgs.types.conversation import (
    ROLES,
    ContextOptions,
    ConversationAdded,
    ConversationStats,
    Message,
    OptimisedContext,
    Role,
)

_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)
"""How far in the future a message may be dated, since clocks and time zones differ."""
_UNCHANGED = "Nothing was added."
PAUSE = timedelta(hours=1)
"""Silence after which another session begins, whose first message follows no other."""

GivenMessage = Message | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """Messages, numbered after those before them. notes: what was changed or left out, in words."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def read_messages(messages: Sequence[GivenMessage], now: datetime, before: Sequence[Message] = ()) -> ReadConversation:
    """Return the messages that continue a conversation. before: its messages so far.

    A result must follow its call, and a call has at most a single result. An impossible time is left out with a note.
    Raises MessageError, which names the message, for anything that is not a conversation.
    """
    reading = _Reading(now, before)
    for place, message in enumerate(messages, 1):
        reading.take(message, place)
    return ReadConversation(tuple(reading.messages), tuple(reading.notes()))


def messages_in(data: Any) -> list[Any]:
    """Return the messages of a document of JSON: a list, or an object that holds a list; a `system` beside it comes
    first.

    Raises MessageError for any other.
    """
    if isinstance(data, dict):
        messages = next((data[key] for key in LISTS if isinstance(data.get(key), list)), None)
        if messages is None:
            return [data]
        system = data.get("system")
        return [{"role": "system", "content": system}, *messages] if system else list(messages)
    if not isinstance(data, list):
        raise MessageError(
            "That is no list of messages.", way_out='Give a JSON list of objects with "role" and "content".'
        )
    return data


def number_sessions(messages: Sequence[Message]) -> list[int]:
    """Number the session of each message, from 1: another begins after PAUSE in which nothing was said."""
    numbers: list[int] = []
    number, last = 1, None
    for message in messages:
        number += message.at is not None and last is not None and abs(message.at - last) > PAUSE
        last = message.at or last
        numbers.append(number)
    return numbers


class _Reading:
    def __init__(self, now: datetime, before: Sequence[Message]) -> None:
        self.now = now
        self.messages: list[Message] = []
        self._left: dict[str, list[tuple[int, str]]] = {}
        """What was changed or left out: by reason, the (index, example) of each message."""
        self.open: dict[str, str] = {}
        self.answered: set[str] = set()
        self.next = before[-1].number + 1 if before else 1
        for message in before:
            self._follow(message, message.number)

    def take(self, message: GivenMessage, place: int) -> None:
        """Take in the `place`th of the input messages."""
        if isinstance(message, Message):
            self._add(message, place)
            return
        if not isinstance(message, Mapping):
            raise _wrong(place, "is no object", "Give an object with a role and a content.")
        fields = unwrap_message(message)
        if fields.get("type") in THOUGHTS:
            self._note(place, "what the model thought is no memory")
            return
        at = self._time({**message, **fields}, place)
        for utterance in read_item_messages(fields):
            self._add(replace(self._message(utterance, fields, place), at=at), place)

    def notes(self) -> Iterator[str]:
        """Yield what was changed or left out, a line for each reason, however many messages it concerns."""
        for reason, examples in self._left.items():
            place, example = examples[0]
            more = f" and {len(examples) - 1:,} more" if examples[1:] else ""
            yield f"Message {place}{more}: {reason}{f' ({example})' if example else ''}."

    def _note(self, place: int, reason: str, example: str = "") -> None:
        self._left.setdefault(reason, []).append((place, example))

    def _message(self, utterance: SaidMessage, item: Mapping[str, Any], place: int) -> Message:
        """Return an input message without number and time; raise MessageError where it is malformed."""
        if any(not call.name for call in utterance.calls):
            raise _wrong(place, "makes a call that names no tool", "Name the function that is called.")
        return Message(
            0,
            _role(utterance.role, place),
            self._text(utterance.content, place),
            speaker=utterance.speaker,
            calls=utterance.calls,
            answers=utterance.answers or (self._last_call(utterance.speaker) if utterance.role == "tool" else ""),
            pinned=item.get("pinned") is True and utterance.part is None,
        )

    def _text(self, content: Any, place: int) -> str:
        return text_of(content, note=lambda _kind, _path, reason: self._note(place, reason))

    def _time(self, fields: Mapping[str, Any], place: int) -> datetime | None:
        """Return a message's time; None, with a note, where it is unreadable or impossible."""
        stamp = next((fields[key] for key in ("at", *TIMES) if fields.get(key) not in (None, "")), None)
        if stamp is None:
            return None
        at = aware(stamp) if isinstance(stamp, datetime) else instant(stamp)
        if at is None:
            self._note(place, "its time cannot be read and was left out", repr(name(stamp)[:40]))
        elif not _EARLIEST <= at <= self.now + _AHEAD:
            problem = "in the future" if at > self.now else "before 1900"
            self._note(place, f"its time is {problem} and was left out", f"{at:%Y-%m-%d}")
            at = None
        return at

    def _last_call(self, speaker: str) -> str:
        """Return the latest open call of a tool, for a result in the old style, which names the tool alone."""
        named = [call for call, tool in self.open.items() if tool == speaker and call not in self.answered]
        return named[-1] if named else ""

    def _add(self, message: Message, place: int) -> None:
        """Number a message and its unnamed calls, check it and append it."""
        numbered = replace(
            message,
            number=self.next,
            calls=tuple(c if c.id else replace(c, id=f"call-{self.next}-{n}") for n, c in enumerate(message.calls, 1)),
        )
        _check_text(numbered, place)
        self._follow(numbered, place)
        self.messages.append(numbered)
        self.next += 1

    def _follow(self, message: Message, place: int) -> None:
        """Check the calls and results of a message against those before it, and record them."""
        if message.calls and message.role != "assistant":
            raise _wrong(place, f"is of the {message.role} and calls a tool", "Only the assistant calls tools.")
        for call in message.calls:
            if call.id in self.open and call.id not in self.answered:
                raise _wrong(
                    place,
                    f"makes the call {call.id[:40]!r} again before it has a result",
                    "Give each call an id of its own.",
                )
            self.open[call.id] = call.name
            self.answered.discard(call.id)
        if message.role != "tool":
            return
        if message.answers not in self.open:
            problem = (
                f"of the call {message.answers[:40]!r}, which no message before it makes"
                if message.answers
                else "of no call"
            )
            raise _wrong(place, f"is a result {problem}", "Give the call first, or leave the result out.")
        if message.answers in self.answered:
            raise _wrong(place, f"is a second result of the call {message.answers[:40]!r}", "Leave either out.")
        self.answered.add(message.answers)


def _wrong(place: int, problem: str, way_out: str) -> MessageError:
    return MessageError(f"Message {place} {problem}.", way_out=f"{way_out} {_UNCHANGED}")


def _check_text(message: Message, place: int) -> None:
    if why := why_unstorable(message):
        raise _wrong(place, f"holds {why}, which cannot be stored", "Mend its text.")


def _role(text: str, place: int) -> Role:
    role = next((known for known in ROLES if known == text), None)
    if role is None:
        text = f"has the role {text!r}" if text else "has no role"
        raise _wrong(place, text, "The roles are system, user, assistant and tool.")
    return role


class KeepsConversations(Protocol):
    """`memory.conversation` of a memory, or of a client of a served memory."""

    def add(self, conversation: str, messages: Sequence[GivenMessage]) -> ConversationAdded: ...

    def optimise(self, *args: Any, **options: Any) -> OptimisedContext: ...

    def stats(self, conversation: str) -> ConversationStats: ...

    def clear(self, conversation: str) -> JournalEntry: ...


class AgentConversation:
    """Carries on a conversation as an agent does. options: as `optimise` takes them.

    The plan of each context is passed to the next, so that what a provider has cached stays valid while it fits.
    """

    def __init__(self, conversations: KeepsConversations, name: str, **options: Unpack[ContextOptions]) -> None:
        self._conversations, self._options = conversations, options
        self.name = name
        self.plan = ""

    def say(self, *messages: GivenMessage) -> ConversationAdded:
        """Keep what was said, in any style that `add` reads; raises MessageError for what is no conversation."""
        return self._conversations.add(self.name, messages)

    def context(self, query: str = "") -> OptimisedContext:
        """Choose what the model should read now, by default for the user's last message; raises as `optimise`."""
        context = self._conversations.optimise(self.name, query, **{**self._options, "previous": self.plan})
        self.plan = context.plan
        return context

    def stats(self) -> ConversationStats:
        """Count what is held, by role and in tokens."""
        return self._conversations.stats(self.name)

    def clear(self) -> JournalEntry:
        """Hold it no longer; `undo` brings it back."""
        self.plan = ""
        return self._conversations.clear(self.name)
