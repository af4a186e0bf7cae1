"""Conversations as a list of messages with a role and a content, whoever's interface they were made for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amgs.exchange.importers.fields import name
from amgs.exchange.importers.parts import ANTHROPIC, call_text, calls_of, text_of
from amgs.exchange.importers.records import ForeignMessage, Records, speaker

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TIMES = ("timestamp", "created_at", "create_time", "created", "time", "date")
_TITLES = ("title", "name", "subject")
_IDS = ("id", "conversation_id", "thread_id", "session_id", "sessionId", "uuid")
_ITEMS = ("function_call", "function_call_output", "reasoning")
LISTS = ("messages", "input", "items")
_FOREIGN = ("mapping", "chat_messages", "agents", "core_memory", "role_type")
"""Fields of other formats that have lists of messages too."""


def is_message(one: Mapping[str, Any]) -> bool:
    """Whether an object is a message, or wraps one as lines of an agent's log do."""
    said = unwrapped(one)
    known = said.get("role") in _ROLES and ("content" in said or "tool_calls" in said)
    return known and not any(key in one for key in _FOREIGN)


def is_conversation(one: Mapping[str, Any]) -> bool:
    """Whether an object holds a list of messages."""
    return not any(key in one for key in _FOREIGN) and any(
        isinstance(one.get(key), list) and any(isinstance(m, dict) and is_message(m) for m in one[key])
        for key in LISTS
    )


def unwrapped(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message inside of a line such as `{"type": "user", "message": {…}, "timestamp": …}`."""
    inner = one.get("message")
    return inner if isinstance(inner, dict) and "role" in inner else one


def is_anthropic(data: Any) -> bool:
    """Whether a transcript has what only the Anthropic interface has: its types of parts, a `system` beside the
    messages, a `stop_reason`, or lines that wrap a message.
    """
    for one in data if isinstance(data, list) else [data]:
        if not isinstance(one, dict):
            continue
        inside = [
            m for key in LISTS if isinstance(one.get(key), list) for m in one[key] if isinstance(m, dict)
        ]
        if inside and "system" in one:
            return True
        for message in inside or [one]:
            said = unwrapped(message)
            content = said.get("content")
            parts = content if isinstance(content, list) else []
            own = any(isinstance(part, dict) and _is_own(part) for part in parts)
            if own or "stop_reason" in said or (said is not message and is_message(message)):
                return True
    return False


def _is_own(part: Mapping[str, Any]) -> bool:
    return part.get("type") in ANTHROPIC or isinstance(part.get("source"), dict)


def take(records: Records, data: Any) -> None:
    """All conversations of a document: one, a list of them, or the messages of several, told apart by `sessionId`."""
    if isinstance(data, dict):
        _take_one(records, data, "")
        return
    loose: dict[str, list[ForeignMessage]] = {}
    for here, one in records.objects("message", data, ""):
        if is_conversation(one):
            _take_one(records, one, here)
        else:
            loose.setdefault(name(one.get("sessionId")), []).extend(_messages(records, one, here))
    for session, messages in loose.items():
        if messages:
            records.conversation(messages, "", id=session)


def _take_one(records: Records, found: Mapping[str, Any], path: str) -> None:
    key = next((key for key in LISTS if isinstance(found.get(key), list)), "")
    if not key:
        records.conversation(list(_messages(records, found, path)), path)
        return
    within = f"{path}.{key}" if path else key
    before = f"{path}.system" if path else "system"
    messages: list[ForeignMessage] = []
    if found.get("system"):
        messages.append(ForeignMessage(before, "System", text_of(records, found["system"], before)))
    for here, one in records.objects("message", found[key], within):
        messages += _messages(records, one, here)
    at, _ = _time(records, found, path)
    meta = records.original(found, path, without=(*LISTS, "system", *_TITLES))
    title = next((told for key in _TITLES if (told := name(found.get(key)))), "")
    id = next((told for key in _IDS if (told := name(found.get(key)))), "")
    records.conversation(messages, path, id=id, title=title, at=at, meta=meta)


def _messages(records: Records, one: Mapping[str, Any], path: str) -> Iterator[ForeignMessage]:
    """The message of an object; it is named where there is none."""
    said = unwrapped(one)
    at, told = _time(records, one, path)
    kind = name(said.get("type"))
    role: Any = said.get("role")
    if kind in _ITEMS:
        if kind == "reasoning":
            records.leave("message", path, "what the model thought is no memory")
            return
        called = kind == "function_call"
        role = "assistant" if called else "tool"
        content = call_text(said.get("name"), said.get("arguments")) if called else ""
        content = content or text_of(records, said.get("output"), f"{path}.output")
    elif not isinstance(role, str) or not ("content" in said or "tool_calls" in said):
        records.leave(
            "message", path, "it has no role and content" + (f", its type is {kind}" if kind else "")
        )
        return
    else:
        parts = [text_of(records, said.get("content"), f"{path}.content")]
        parts += calls_of(records, said.get("tool_calls"), f"{path}.tool_calls")
        called_once = said.get("function_call")
        if isinstance(called_once, dict):
            parts.append(call_text(called_once.get("name"), called_once.get("arguments")))
        content = "\n\n".join(part for part in parts if part.strip())
    beside = {**one, **said}
    without = ("content", "message", "role", "name", "tool_calls", "function_call", "output", *told)
    meta = {"role": name(role)} | records.original(beside, path, without=without)
    given = said.get("name") if kind not in _ITEMS else None
    yield ForeignMessage(path, speaker(role, given), content, at, meta)


def _time(records: Records, one: Mapping[str, Any], path: str) -> tuple[Any, tuple[str, ...]]:
    """The instant that an object tells, and the field that does."""
    for key in TIMES:
        if one.get(key) not in (None, ""):
            return records.instant(one[key], f"{path}.{key}" if path else key), (key,)
    return None, ()
