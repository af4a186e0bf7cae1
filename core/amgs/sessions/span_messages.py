"""What spans say of conversations: which operation, whose conversation, and the messages that a model read and wrote.

Understood are the GenAI semantic conventions of OpenTelemetry (as merged in May 2026, and the events that they had
before), OpenInference, and what OpenLLMetry and LangSmith write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amgs.sessions.lines import fields, items, text
from amgs.sessions.messages import ROLES
from amgs.sessions.spans import RecordedSpan, number
from amgs.types.usage import Usage

_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event that holds the messages where a program keeps them off its spans."""
_KINDS: Final[Mapping[str, str]] = {
    "llm": "chat",
    "retriever": "retrieval",
    "tool": "execute_tool",
    "agent": "invoke_agent",
    "embedding": "embeddings",
}
"""Operations by the kind of a span in OpenInference and LangSmith."""
ANSWERS: Final = ("chat", "generate_content", "text_completion")
"""Operations in which a model answers."""
_CONVERSATIONS: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
    "traceloop.association.properties.session_id",
)
"""Attributes that name a conversation, the surest first."""
_MESSAGE_EVENTS: Final[Mapping[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_DEEPEST: Final = 12
Item = dict[str, Any]
"""A message in the style of `amgs.sessions.messages`."""


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """What a model read and what it wrote; both empty where the program keeps that to itself."""

    read: tuple[Item, ...]
    written: tuple[Item, ...]


def told_by(span: RecordedSpan) -> Mapping[str, Any]:
    """The attributes of a span, and those that it put into an event instead."""
    more = [event.attributes for event in span.events if event.name == _DETAILS]
    if not more:
        return span.attributes
    return {key: value for one in (*more, span.attributes) for key, value in one.items()}


def operation_of(span: RecordedSpan) -> str:
    """The operation in the words of the GenAI conventions; "" where the span tells of none."""
    kind = span.attributes.get("openinference.span.kind", span.attributes.get("langsmith.span.kind"))
    known = _KINDS.get(text(kind).lower())
    return known or text(
        span.attributes.get("gen_ai.operation.name", span.attributes.get("llm.request.type"))
    )


def conversation_ids(spans: Sequence[RecordedSpan]) -> dict[str, str]:
    """The conversation of each trace: what any of its spans calls it, else the trace's own id."""
    found: dict[str, str] = {}
    for span in spans:
        told = (str(value) for name in _CONVERSATIONS if (value := span.attributes.get(name)))
        name = next(told, "")
        if name or span.trace not in found:
            found[span.trace] = name or found.get(span.trace, span.trace)
    return found


def usage_of(given: Mapping[str, Any]) -> Usage | None:
    """The tokens of a request; None where the attributes tell none. What is read from a cache is part of the input."""
    read = _first(given, "gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens")
    output = _first(
        given, "gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens"
    )
    cached = _first(
        given, "gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"
    )
    put = _first(given, "gen_ai.usage.cache_creation.input_tokens")
    if not read and not output:
        return None
    return Usage(max(0, read - cached - put), put, cached, output)


def _first(given: Mapping[str, Any], *names: str) -> int:
    return next((told for name in names if (told := number(given.get(name)))), 0)


def messages_of(span: RecordedSpan) -> SpanMessages:
    """What the model of a span read and wrote."""
    given = told_by(span)
    read = [
        *_system(given.get("gen_ai.system_instructions")),
        *messages_in(parsed(given.get("gen_ai.input.messages"))),
    ]
    written = [*messages_in(parsed(given.get("gen_ai.output.messages")))]
    for more, names in (
        (read, ("llm.input_messages", "gen_ai.prompt", "input.value")),
        (written, ("llm.output_messages", "gen_ai.completion", "output.value")),
    ):
        for name in names:
            if not more:
                more += messages_in(listed(given, name) or parsed(given.get(name)))
    if not read and not written:
        for event in span.events:
            if role := _MESSAGE_EVENTS.get(event.name):
                body = {**event.attributes, **fields(event.attributes.get("body"))}
                known = {key.removeprefix("gen_ai."): value for key, value in body.items()}
                found = {"role": role, **known, **fields(known.get("message"))}
                (written if event.name == "gen_ai.choice" else read).extend(messages_in(found))
    return SpanMessages(tuple(read), tuple(written))


def parsed(value: Any) -> Any:
    """A value that may be JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def listed(given: Mapping[str, Any], name: str) -> list[Any]:
    """What is written as `NAME.0.role`, `NAME.1.role` and so on; nothing where nothing is."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in given.items():
        if key.startswith(f"{name}.") and (told := re.fullmatch(r"(\d{1,6})\.(.+)", key[len(name) + 1 :])):
            found.setdefault(int(told[1]), {})[told[2]] = value
    return [_nested(found[place]) for place in sorted(found)]


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """`{"message.role": "user"}` as `{"message": {"role": "user"}}`; numbered parts become lists."""
    made: dict[str, Any] = {}
    heads = dict.fromkeys(key.partition(".")[0] for key in flat)
    for head in heads:
        inner = {key[len(head) + 1 :]: value for key, value in flat.items() if key.startswith(f"{head}.")}
        if inner and all(re.match(r"\d{1,6}(\.|$)", key) for key in inner):
            made[head] = listed(flat, head) or list(inner.values())
        else:
            made[head] = _nested(inner) if inner else flat[head]
    return made


def _system(given: Any) -> Iterator[Item]:
    parts = parsed(given)
    if parts:
        yield from messages_in({"role": "system", "parts": parts if isinstance(parts, list) else [parts]})


def messages_in(value: Any, depth: int = 0) -> Iterator[Item]:
    """The messages that stand in a value, in order: in a list, beside other things, or wrapped as LangChain does."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from messages_in(one, depth + 1)
    if not isinstance(value, dict):
        return
    inner = fields(value.get("kwargs")) or value
    role = text(inner.get("role")) or (text(inner.get("type")) if "content" in inner else "")
    if role.lower() in ROLES and not isinstance(inner.get("message"), dict):
        yield _message(role, inner)
        return
    for key in ("message", "messages", "input", "generations", "choices", "output", "outputs"):
        if isinstance(inner.get(key), list | dict):
            yield from messages_in(inner[key], depth + 1)


def _message(role: str, given: Mapping[str, Any]) -> Item:
    content = given.get("parts") if isinstance(given.get("parts"), list) else given.get("content")
    if isinstance(given.get("contents"), list):
        content = [fields(one.get("message_content")) or one for one in items(given["contents"])]
    made: Item = {"role": ROLES[role.lower()], "content": _content(parsed_parts(content))}
    calls = [fields(one.get("tool_call")) or one for one in items(given.get("tool_calls"))]
    if calls:
        made["tool_calls"] = [
            {**one, "arguments": one["args"]} if "args" in one else one for one in calls
        ]  # LangChain's name
    for key in ("tool_call_id", "name"):
        if told := text(given.get(key)):
            made[key] = told
    return made


def parsed_parts(content: Any) -> Any:
    """A content, also where a list of parts is JSON in a text."""
    told = parsed(content)
    return told if isinstance(told, list) and all(isinstance(one, dict) for one in told) else content


def _content(content: Any) -> Any:
    """Parts of the GenAI conventions as interfaces of models have them."""
    return [_part(one) for one in content] if isinstance(content, list) else content


def _part(one: Any) -> Any:
    if not isinstance(one, dict):
        return one
    match one.get("type"):
        case "text":
            return {"type": "text", "text": one.get("content", one.get("text"))}
        case "tool_call":
            return {**one, "type": "tool_use", "input": one.get("arguments")}
        case "tool_call_response":
            told = one.get("response", one.get("result"))
            return {
                "type": "tool_result",
                "tool_use_id": one.get("id"),
                "content": told if isinstance(told, str | list) else json.dumps(told, default=str),
            }
        case "reasoning":
            return {"type": "thinking", "thinking": one.get("content")}
    return one


def words_of(messages: Iterable[Item]) -> str:
    """All that messages say, as one text."""
    from amgs.sessions.messages import text_of

    return "\n".join(text_of(one.get("content")) for one in messages)
