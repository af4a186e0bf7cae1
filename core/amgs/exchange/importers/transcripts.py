"""Conversations as lists of messages in the style of OpenAI or Anthropic: one, several, or a message a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from amgs.exchange.importers.parsing import some
from amgs.exchange.importers.records import ForeignFormat, ForeignMessage, ForeignRecords, Records, speaker
from amgs.sessions.conversation import messages_of
from amgs.sessions.lines import name
from amgs.sessions.messages import CALLS, LISTS, RESULTS, THOUGHTS, TIMES, call_text, turns_of, unwrapped
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
"""Fields of a message that are said with it, and are no metadata."""


class TranscriptImporter:
    """Reads transcripts in the style of OpenAI or Anthropic, which are read alike."""

    name: ForeignFormat = "messages"
    program = "a model's interface"

    def recognises(self, data: Any) -> bool:
        """Return whether it holds messages."""
        return some(data, _is_message) or some(data, _is_conversation)

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Read a block for each message, split where it is long."""
        records = Records(self.name, settings)
        if isinstance(data, dict):
            _take(records, data, "")
            return records.result()
        loose: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for here, one in records.objects("message", data, ""):
            if _is_conversation(one):
                _take(records, one, here)
            else:
                loose.setdefault(name(one.get("sessionId")), []).append((here, one))
        for session, items in loose.items():
            if messages := list(read_messages(records, items)):
                records.conversation(messages, "", id=session)
        return records.result()


def _is_message(one: Mapping[str, Any]) -> bool:
    """Return whether an object is a message, or wraps one as lines of an agent's log do."""
    said = unwrapped(one)
    known = said.get("role") in _ROLES and ("content" in said or "tool_calls" in said)
    return known and not any(key in one for key in _FOREIGN)


def _is_conversation(one: Mapping[str, Any]) -> bool:
    """Return whether an object holds a list of messages."""
    return not any(key in one for key in _FOREIGN) and any(
        isinstance(one.get(key), list) and any(isinstance(m, dict) and _is_message(m) for m in one[key])
        for key in LISTS
    )


def _take(records: Records, found: Mapping[str, Any], path: str) -> None:
    key = next((key for key in LISTS if isinstance(found.get(key), list)), "")
    if not key:
        records.conversation(list(read_messages(records, [(path, found)])), path)
        return
    within = f"{path}.{key}" if path else key
    before = f"{path}.system" if path else "system"
    items: list[tuple[str, Mapping[str, Any]]] = []
    if found.get("system"):
        items.append((before, {"role": "system", "content": found["system"]}))
    items += records.objects("message", found[key], within)
    at, _ = _time(records, found, path)
    meta = records.original(found, path, without=(*LISTS, "system", *_TITLES))
    title = next((told for key in _TITLES if (told := name(found.get(key)))), "")
    id = next((told for key in _IDS if (told := name(found.get(key)))), "")
    records.conversation(list(read_messages(records, items)), path, id=id, title=title, at=at, meta=meta)


def read_messages(records: Records, items: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[ForeignMessage]:
    """Read the messages of the items of a conversation; an item that is none is named, as what does not fit together
    is.
    """
    turns: list[Turn] = []
    metas: list[dict[str, Any]] = []
    for place, (path, one) in enumerate(items):
        said = unwrapped(one)
        at, told = _time(records, one, path)
        beside = {**one, **said}
        metas.append(records.original(beside, path, without=(*_SAID, *told)))
        kind = name(said.get("type"))
        if kind in THOUGHTS:
            records.leave("message", path, "what the model thought is no memory")
        elif kind not in (*CALLS, *RESULTS) and not _says(said):
            why = "it has no role and content" + (f", its type is {kind}" if kind else "")
            records.leave("message", path, why)
        else:
            turns += turns_of(said, Place(place), len(turns) + 1, at, records.note, f"{path}.content")
    found, mended = messages_of(turns)
    for what, place in mended:
        records.note("call", items[place][0], f"{what}, kept as text")
    for each in found:
        path, one = items[each.line]
        message = each.message
        calls = [call_text(call.name, call.arguments) for call in message.calls]
        content = "\n\n".join(part for part in (message.text, *calls) if part.strip())
        given = name(unwrapped(one).get("role"))
        role = message.role if message.role == "tool" else given or message.role
        who = message.speaker or speaker(message.role)
        yield ForeignMessage(path, who, content, message.at, {"role": role} | metas[each.line], message=message)


def _says(said: Mapping[str, Any]) -> bool:
    return isinstance(said.get("role"), str) and ("content" in said or "tool_calls" in said)


def _time(records: Records, one: Mapping[str, Any], path: str) -> tuple[Any, tuple[str, ...]]:
    """Return the instant that an object tells, and the field that does."""
    for key in TIMES:
        if one.get(key) not in (None, ""):
            return records.instant(one[key], f"{path}.{key}" if path else key), (key,)
    return None, ()
