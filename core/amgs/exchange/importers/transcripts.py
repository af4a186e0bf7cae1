"""Conversations as lists of messages in the format of OpenAI or Anthropic: a conversation, several, or a message per
line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from amgs.exchange.importers.parsing import some
from amgs.exchange.importers.records import ForeignFormat, ForeignMessage, ForeignRecords, Records, speaker
from amgs.sessions.conversation import messages_of
from amgs.sessions.lines import name
from amgs.sessions.messages import CALLS, LISTS, RESULTS, THOUGHTS, TIMES, call_text, turns_of, unwrap_message
from amgs.sessions.turn import Place, Turn
from amgs.settings import IngestSettings

_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
_TITLES: Final = ("title", "name", "subject")
_IDS: Final = ("id", "conversation_id", "thread_id", "session_id", "sessionId", "uuid")
_FOREIGN: Final = ("mapping", "chat_messages", "agents", "core_memory", "role_type")
"""Fields of other formats that have lists of messages too."""
_SAID: Final = (
    "content",
    "message",
    "role",
    "name",
    "tool_calls",
    "function_call",
    "output",
    "arguments",
    "call_id",
    "tool_call_id",
)
"""Fields of a message that are its content, not metadata."""


class TranscriptImporter:
    """Reads transcripts in the format of OpenAI or Anthropic, by the same rules."""

    name: ForeignFormat = "messages"
    program = "a model's interface"

    def recognises(self, data: Any) -> bool:
        """Return whether it contains messages."""
        return some(data, _is_message) or some(data, _is_conversation)

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return a block for each message, split if long."""
        records = Records(self.name, settings)
        if isinstance(data, dict):
            _take(records, data, "")
            return records.result()
        loose: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for here, record in records.objects("message", data, ""):
            if _is_conversation(record):
                _take(records, record, here)
            else:
                loose.setdefault(name(record.get("sessionId")), []).append((here, record))
        for session, items in loose.items():
            if messages := list(read_messages(records, items)):
                records.conversation(messages, "", id=session)
        return records.result()


def _is_message(record: Mapping[str, Any]) -> bool:
    """Return whether an object is or contains a message, like lines of an agent's log."""
    payload = unwrap_message(record)
    known = payload.get("role") in _ROLES and ("content" in payload or "tool_calls" in payload)
    return known and not any(key in record for key in _FOREIGN)


def _is_conversation(record: Mapping[str, Any]) -> bool:
    """Return whether an object contains a list of messages."""
    return not any(key in record for key in _FOREIGN) and any(
        isinstance(record.get(key), list) and any(isinstance(m, dict) and _is_message(m) for m in record[key])
        for key in LISTS
    )


def _take(records: Records, conversation: Mapping[str, Any], path: str) -> None:
    key = next((key for key in LISTS if isinstance(conversation.get(key), list)), "")
    if not key:
        records.conversation(list(read_messages(records, [(path, conversation)])), path)
        return
    within = f"{path}.{key}" if path else key
    before = f"{path}.system" if path else "system"
    items: list[tuple[str, Mapping[str, Any]]] = []
    if conversation.get("system"):
        items.append((before, {"role": "system", "content": conversation["system"]}))
    items += records.objects("message", conversation[key], within)
    at, _ = _time(records, conversation, path)
    meta = records.original(conversation, path, without=(*LISTS, "system", *_TITLES))
    title = next((heading for key in _TITLES if (heading := name(conversation.get(key)))), "")
    id = next((conversation_id for key in _IDS if (conversation_id := name(conversation.get(key)))), "")
    records.conversation(list(read_messages(records, items)), path, id=id, title=title, at=at, meta=meta)


def read_messages(records: Records, items: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[ForeignMessage]:
    """Read the messages of a conversation; invalid and inconsistent items are reported."""
    turns: list[Turn] = []
    metas: list[dict[str, Any]] = []
    for place, (path, record) in enumerate(items):
        payload = unwrap_message(record)
        at, time_keys = _time(records, record, path)
        beside = {**record, **payload}
        metas.append(records.original(beside, path, without=(*_SAID, *time_keys)))
        kind = name(payload.get("type"))
        if kind in THOUGHTS:
            records.leave("message", path, "what the model thought is no memory")
        elif kind not in (*CALLS, *RESULTS) and not _says(payload):
            why = "it has no role and content" + (f", its type is {kind}" if kind else "")
            records.leave("message", path, why)
        else:
            turns += turns_of(payload, Place(place), len(turns) + 1, at, records.note, f"{path}.content")
    turn_messages, mended = messages_of(turns)
    for what, place in mended:
        records.note("call", items[place][0], f"{what}, stored as text")
    for turn_message in turn_messages:
        path, record = items[turn_message.line]
        message = turn_message.message
        calls = [call_text(call.name, call.arguments) for call in message.calls]
        content = "\n\n".join(part for part in (message.text, *calls) if part.strip())
        own_role = name(unwrap_message(record).get("role"))
        role = message.role if message.role == "tool" else own_role or message.role
        who = message.speaker or speaker(message.role)
        yield ForeignMessage(path, who, content, message.at, {"role": role} | metas[turn_message.line], message=message)


def _says(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("role"), str) and ("content" in record or "tool_calls" in record)


def _time(records: Records, record: Mapping[str, Any], path: str) -> tuple[Any, tuple[str, ...]]:
    """Return the time of an object, and the field that contains it."""
    for key in TIMES:
        if record.get(key) not in (None, ""):
            return records.instant(record[key], f"{path}.{key}" if path else key), (key,)
    return None, ()
