"""Messages as an agent or a chat program has them, read into a conversation.

In the style of OpenAI (chat completions and responses), of Anthropic, or plainly `{"speaker": …, "text": …}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from amgs.clock import aware
from amgs.errors import MessageError
from amgs.exchange.importers.parsing import instant
from amgs.sessions.lines import name
from amgs.sessions.messages import LISTS, THOUGHTS, TIMES, SaidMessage, said_in, text_of, unwrapped
from amgs.storable import why_unstorable
from amgs.types.conversation import ROLES, Message, Role

_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)
"""So far ahead of the clock a message may be dated: clocks differ, and so do time zones."""
_UNCHANGED = "Nothing was added."
PAUSE = timedelta(hours=1)
"""After so long a silence another session begins: its first message follows nothing, and what was talked of is over."""

GivenMessage = Message | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """Messages, numbered on from those before them. notes: what was not taken as it was given, in words."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def read_messages(given: Sequence[GivenMessage], now: datetime, before: Sequence[Message] = ()) -> ReadConversation:
    """Return the messages that follow on others of the conversation.

    A result follows its call, and a call has one result. A time that no message can have is left out and noted.
    Raises MessageError, which names the message, for what is no conversation.
    """
    reading = _Reading(now, before)
    for place, one in enumerate(given, 1):
        reading.take(one, place)
    return ReadConversation(tuple(reading.made), tuple(reading.notes()))


def messages_in(data: Any) -> list[Any]:
    """Return the messages of a document of JSON: a list, or an object that holds one; a `system` beside it comes first.

    Raises MessageError for any other.
    """
    if isinstance(data, dict):
        held = next((data[key] for key in LISTS if isinstance(data.get(key), list)), None)
        if held is None:
            return [data]
        system = data.get("system")
        return [{"role": "system", "content": system}, *held] if system else list(held)
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
        self.made: list[Message] = []
        self._left: dict[str, list[tuple[int, str]]] = {}
        """What was not taken as it was given: the places of the messages and what it was, by what is said of it."""
        self.open: dict[str, str] = {}
        self.answered: set[str] = set()
        self.next = before[-1].number + 1 if before else 1
        for message in before:
            self._follow(message, message.number)

    def take(self, one: GivenMessage, place: int) -> None:
        """One of the messages that were given, the `place`th."""
        if isinstance(one, Message):
            self._add(one, place)
            return
        if not isinstance(one, Mapping):
            raise _wrong(place, "is no object", "Give an object with a role and a content.")
        said = unwrapped(one)
        if said.get("type") in THOUGHTS:
            self._note(place, "what the model thought is no memory")
            return
        at = self._time({**one, **said}, place)
        for each in said_in(said):
            self._add(replace(self._message(each, said, place), at=at), place)

    def notes(self) -> Iterator[str]:
        """Yield what was not taken as it was given: a line for each reason, however many messages it befell."""
        for reason, found in self._left.items():
            place, example = found[0]
            more = f" and {len(found) - 1:,} more" if found[1:] else ""
            yield f"Message {place}{more}: {reason}{f' ({example})' if example else ''}."

    def _note(self, place: int, reason: str, example: str = "") -> None:
        self._left.setdefault(reason, []).append((place, example))

    def _message(self, said: SaidMessage, item: Mapping[str, Any], place: int) -> Message:
        if any(not call.name for call in said.calls):
            raise _wrong(place, "makes a call that names no tool", "Name the function that is called.")
        return Message(
            0,
            _role(said.role, place),
            self._text(said.content, place),
            speaker=said.speaker,
            calls=said.calls,
            answers=said.answers or (self._last_call(said.speaker) if said.role == "tool" else ""),
            pinned=item.get("pinned") is True and said.part is None,
        )

    def _text(self, content: Any, place: int) -> str:
        return text_of(content, note=lambda _kind, _path, reason: self._note(place, reason))

    def _time(self, said: Mapping[str, Any], place: int) -> datetime | None:
        given = next((said[key] for key in ("at", *TIMES) if said.get(key) not in (None, "")), None)
        if given is None:
            return None
        at = aware(given) if isinstance(given, datetime) else instant(given)
        if at is None:
            self._note(place, "its time cannot be read and was left out", repr(name(given)[:40]))
        elif not _EARLIEST <= at <= self.now + _AHEAD:
            told = "in the future" if at > self.now else "before 1900"
            self._note(place, f"its time is {told} and was left out", f"{at:%Y-%m-%d}")
            at = None
        return at

    def _last_call(self, speaker: str) -> str:
        """Return the latest open call of a tool, for a result in the old style, which names the tool alone."""
        named = [call for call, tool in self.open.items() if tool == speaker and call not in self.answered]
        return named[-1] if named else ""

    def _add(self, message: Message, place: int) -> None:
        numbered = replace(
            message,
            number=self.next,
            calls=tuple(c if c.id else replace(c, id=f"call-{self.next}-{n}") for n, c in enumerate(message.calls, 1)),
        )
        _check_text(numbered, place)
        self._follow(numbered, place)
        self.made.append(numbered)
        self.next += 1

    def _follow(self, message: Message, place: int) -> None:
        """Hold the calls and results of a message against those before it."""
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
            told = (
                f"of the call {message.answers[:40]!r}, which no message before it makes"
                if message.answers
                else "of no call"
            )
            raise _wrong(place, f"is a result {told}", "Give the call first, or leave the result out.")
        if message.answers in self.answered:
            raise _wrong(place, f"is a second result of the call {message.answers[:40]!r}", "Leave one of them out.")
        self.answered.add(message.answers)


def _wrong(place: int, told: str, way_out: str) -> MessageError:
    return MessageError(f"Message {place} {told}.", way_out=f"{way_out} {_UNCHANGED}")


def _check_text(message: Message, place: int) -> None:
    if why := why_unstorable(message):
        raise _wrong(place, f"holds {why}, which cannot be stored", "Mend its text.")


def _role(told: str, place: int) -> Role:
    role = next((known for known in ROLES if known == told), None)
    if role is None:
        told = f"has the role {told!r}" if told else "has no role"
        raise _wrong(place, told, "The roles are system, user, assistant and tool.")
    return role
