"""What spans say of conversations: which operation, whose conversation, and the messages that a model read and wrote.

Understood are, with where each is described:
the GenAI semantic conventions of OpenTelemetry, attributes as merged in May 2026 and the events up to 1.36
(open-telemetry/semantic-conventions, docs/gen-ai); OpenInference (Arize-ai/openinference, spec); OpenLLMetry;
LangSmith; Strands, whose events hold Bedrock's blocks as JSON (strands-agents/sdk-python, telemetry/tracer.py); the
Vercel AI SDK (vercel/ai, "Telemetry: collected data"); pydantic-ai, which keeps its events in one attribute
(pydantic/pydantic-ai, models/instrumented.py); ADK, which keeps Gemini's request and response (google/adk-python,
telemetry/tracing.py); and MLflow (mlflow/mlflow, tracing/constant.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from amgs.sessions.lines import as_json, fields, items, text
from amgs.sessions.messages import CALLS, RESULTS, ROLES
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
    "chat_model": "chat",
}
"""Operations by the kind of a span in OpenInference, LangSmith and MLflow."""
_VERCEL: Final = re.compile(r"ai\.(?:(toolCall)|(embed)|(?:generate|stream)(?:Text|Object))")
ANSWERS: Final = ("chat", "generate_content", "text_completion")
"""Operations in which a model answers."""
_CONVERSATIONS: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
    "traceloop.association.properties.session_id",
    "gcp.vertex.agent.session_id",
    "mlflow.trace.session",
    *(f"ai.telemetry.metadata.{name}Id" for name in ("session", "conversation", "thread", "chat")),
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
_READ: Final = (
    "gen_ai.input.messages",
    "llm.input_messages",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "gcp.vertex.agent.llm_request",
    "mlflow.spanInputs",
    "input.value",
)
_WRITTEN: Final = (
    "gen_ai.output.messages",
    "llm.output_messages",
    "gen_ai.completion",
    "ai.response",
    "gcp.vertex.agent.llm_response",
    "mlflow.spanOutputs",
    "output.value",
)
"""Attributes that hold messages, the surest first; `ai.response` stands for those that tell one answer together."""
_WITHIN: Final = (
    *("message", "messages", "input", "prompt", "contents", "content", "candidates", "generations"),
    *("choices", "output", "outputs", "response"),
)
"""Fields of a request or an answer that hold messages."""
_BARE: Final = ("prompt", "input", "query", "question", "text", "content", "output", "response", "answer")
"""Fields that hold words without a role."""
_CALL: Final[Mapping[str, Sequence[str]]] = {
    "id": ("gen_ai.tool.call.id", "ai.toolCall.id", "gcp.vertex.agent.tool_call_id", "tool_call.id"),
    "name": ("gen_ai.tool.name", "ai.toolCall.name", "tool.name"),
    "arguments": (
        *("gen_ai.tool.call.arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args", "tool_arguments"),
        *("mlflow.spanInputs", "gen_ai.prompt", "input.value"),
    ),
    "result": (
        *("gen_ai.tool.call.result", "ai.toolCall.result", "gcp.vertex.agent.tool_response", "tool_response"),
        *("mlflow.spanOutputs", "gen_ai.completion", "output.value"),
    ),
}
"""What a span tells of a call of a tool, by the attributes that tell it."""
Item = dict[str, Any]
"""A message in the style of `amgs.sessions.messages`."""


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """What a model read and what it wrote; both empty where the program keeps that to itself."""

    read: tuple[Item, ...]
    written: tuple[Item, ...]


def told_by(span: RecordedSpan) -> Mapping[str, Any]:
    """Return the attributes of a span, and those that it put into an event instead."""
    more = [event.attributes for event in span.events if event.name == _DETAILS]
    if not more:
        return span.attributes
    return {key: value for one in (*more, span.attributes) for key, value in one.items()}


def operation_of(span: RecordedSpan) -> str:
    """Return the operation in the words of the GenAI conventions; "" where the span tells of none."""
    given = span.attributes
    kinds = ("openinference.span.kind", "langsmith.span.kind", "mlflow.spanType")
    kind = next((told for name in kinds if (told := text(given.get(name)))), "")
    known = _KINDS.get(kind.strip('"').lower()) or text(
        given.get("gen_ai.operation.name", given.get("llm.request.type"))
    )
    if known:
        return known
    if vercel := _VERCEL.match(text(given.get("ai.operationId", given.get("operation.name", "")))):
        return "execute_tool" if vercel[1] else "embeddings" if vercel[2] else "chat"
    return "chat" if "gcp.vertex.agent.llm_response" in given else ""


def call_of(given: Mapping[str, Any], what: str) -> Any:
    """Return the `id`, `name`, `arguments` or `result` of the call of a tool that attributes tell of; None for none."""
    told = next((told for name in _CALL[what] if (told := given.get(name)) is not None), None)
    if isinstance(told, str) and told[:1] == '"' == told[-1:]:  # a text as JSON
        with suppress(ValueError):
            return json.loads(told)
    return told


def conversation_ids(spans: Sequence[RecordedSpan]) -> dict[str, str]:
    """Return the conversation of each trace: what any of its spans calls it, else the trace's own id."""
    found: dict[str, str] = {}
    for span in spans:
        told = (str(value) for name in _CONVERSATIONS if (value := span.attributes.get(name)))
        name = next(told, "")
        if name or span.trace not in found:
            found[span.trace] = name or found.get(span.trace, span.trace)
    return found


def usage_of(given: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of a request; None where the attributes tell none. What is read from a cache is part of the
    input.
    """
    told = fields(parsed(given.get("mlflow.chat.tokenUsage"))) or given
    start = "gen_ai.usage." if told is given else ""
    read = _first(
        told,
        *(f"{start}input_tokens", "llm.token_count.prompt", f"{start}prompt_tokens"),
        *("ai.usage.inputTokens", "ai.usage.promptTokens"),
    )
    output = _first(
        told,
        *(f"{start}output_tokens", "llm.token_count.completion", f"{start}completion_tokens"),
        *("ai.usage.outputTokens", "ai.usage.completionTokens"),
    )
    cached = _first(
        told,
        *(f"{start}cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
        *(f"{start}cache_read_input_tokens", f"{start}details.cache_read_tokens", "ai.usage.cachedInputTokens"),
    )
    put = _first(
        told,
        *(f"{start}cache_creation.input_tokens", f"{start}cache_creation_input_tokens"),
        *(f"{start}cache_write_input_tokens", f"{start}details.cache_write_tokens"),
    )
    if not read and not output:
        return None
    return Usage(max(0, read - cached - put), put, cached, output)


def _first(given: Mapping[str, Any], *names: str) -> int:
    return next((told for name in names if (told := number(given.get(name)))), 0)


def messages_of(span: RecordedSpan) -> SpanMessages:
    """Return what the model of a span read and wrote."""
    given = told_by(span)
    read: list[Item] = []
    written = _answered(given)
    for found, names, role in ((read, _READ, "user"), (written, _WRITTEN, "assistant")):
        for name in names:
            if not found and not name.startswith("ai.response"):
                found += messages_in(listed(given, name) or parsed(given.get(name)), role=role)
    told = [] if read and written else _events_of(span, given)
    read = read or [item for name, item in told if name != "gen_ai.choice"]
    written = written or [item for name, item in told if name == "gen_ai.choice"]
    system = [*_system(given.get("gen_ai.system_instructions"))]
    return SpanMessages((*system, *read), tuple(written))


def _answered(given: Mapping[str, Any]) -> list[Item]:
    """Return the answer that the Vercel AI SDK tells in attributes of their own."""
    if "gen_ai.output.messages" in given:
        return []
    thought = text(given.get("ai.response.reasoning"))
    words = given.get("ai.response.text") or given.get("ai.result.text") or given.get("ai.response.object")
    parts = [
        *([{"type": "reasoning", "content": thought}] if thought else []),
        *([{"type": "text", "text": as_json(words)}] if words else []),
        *({"type": "tool-call", **one} for one in items(parsed(given.get("ai.response.toolCalls")))),
    ]
    return [_message("assistant", {"content": parts})] if parts else []


def _events_of(span: RecordedSpan, given: Mapping[str, Any]) -> list[tuple[str, Item]]:
    """Return the messages that events tell, each with the event's name: those of the span, or those that pydantic-ai
    keeps in an attribute.
    """
    told = [(event.name, event.attributes) for event in span.events if event.name in _MESSAGE_EVENTS]
    told = told or [(text(one.get("event.name")), one) for one in items(parsed(given.get("events")))]
    found = []
    for name, attributes in told:
        if role := _MESSAGE_EVENTS.get(name):
            body = {**attributes, **fields(parsed(attributes.get("body")))}
            known = {key.removeprefix("gen_ai."): value for key, value in body.items()}
            message = parsed(known.pop("message", None))
            known |= message if isinstance(message, dict) else {}
            if isinstance(message, str | list):
                known["content"] = message
            if role == "tool":
                known.setdefault("tool_call_id", known.get("id"))
            found += [(name, item) for item in messages_in({"role": role, **known})]
    return found


def parsed(value: Any) -> Any:
    """Return a value that may be JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def listed(given: Mapping[str, Any], name: str) -> list[Any]:
    """Return what is written as `NAME.0.role`, `NAME.1.role` and so on; nothing where nothing is."""
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
    if isinstance(parts, dict):
        parts = parts.get("parts", [parts])
    if parts:
        yield _message("system", {"content": parts})


def messages_in(value: Any, depth: int = 0, role: str = "") -> Iterator[Item]:
    """Yield the messages that stand in a value, in order: in a list, beside other things, or wrapped as LangChain does.

    role: of words that stand there without one; "" where such are no message.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and role and value.strip():
        yield _message(role, {"content": value})
    if isinstance(value, list):
        for one in value:
            if not isinstance(one, str):
                yield from messages_in(one, depth + 1, role)
    if not isinstance(value, dict):
        return
    inner = fields(value.get("kwargs")) or value
    said = text(inner.get("role")) or (text(inner.get("type")) if "content" in inner else "")
    if said.lower() in ROLES and not isinstance(inner.get("message"), dict):
        yield _message(said, inner)
        return
    if inner.get("type") in (*CALLS, *RESULTS):
        yield {"role": "assistant", "content": [inner]}
        return
    config = fields(inner.get("config"))
    system = config.get("system_instruction", inner.get("systemInstruction", inner.get("system")))
    if role != "assistant":
        yield from _system(system)
    if isinstance(inner.get("parts"), list):  # Gemini's content without a role
        yield _message(role or "user", inner)
        return
    before = False
    for key in _WITHIN:
        if isinstance(inner.get(key), list | dict):
            for item in messages_in(inner[key], depth + 1, role):
                before = True
                yield item
    bare = next((inner[key] for key in _BARE if isinstance(inner.get(key), str)), "")
    if not before and role and bare.strip():
        yield _message(role, {"content": bare})


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
    """Return a content, also where a list of parts is JSON in a text."""
    told = parsed(content)
    return told if isinstance(told, list) and all(isinstance(one, dict) for one in told) else content


def _content(content: Any) -> Any:
    """Parts as interfaces of models have them."""
    return [_part(one) for one in content] if isinstance(content, list) else content


def _part(one: Any) -> Any:
    """A part of the GenAI conventions, of Bedrock, Gemini or the Vercel AI SDK as the interfaces of models have it."""
    if not isinstance(one, dict):
        return {"type": "text", "text": one} if isinstance(one, str) else one
    for key in ("toolUse", "functionCall", "function_call"):
        if isinstance(call := one.get(key), dict):
            return _called(call.get("toolUseId", call.get("id")), call.get("name"), call.get("input", call.get("args")))
    for key in ("toolResult", "functionResponse", "function_response"):
        if isinstance(told := one.get(key), dict):
            content = told.get("content", told.get("response"))
            id = told.get("toolUseId", told.get("id"))
            return _resulted(id, content, told.get("status") == "error", told.get("name"))
    if isinstance(thought := one.get("reasoningContent"), dict):
        return {"type": "thinking", "thinking": fields(thought.get("reasoningText")).get("text")}
    if one.get("thought") is True:
        return {"type": "thinking", "thinking": one.get("text")}
    match one.get("type"):
        case "text":
            return {"type": "text", "text": one.get("content", one.get("text"))}
        case "tool_call" | "tool-call":
            arguments = one.get("arguments", one.get("input", one.get("args")))
            return _called(one.get("toolCallId", one.get("id")), one.get("toolName", one.get("name")), arguments)
        case "tool_call_response" | "tool-result":
            told = one.get("response", one.get("result", one.get("output")))
            if isinstance(told, dict) and set(told) == {"type", "value"}:
                return _resulted(one.get("toolCallId"), told["value"], told["type"] in ("error-text", "error-json"))
            return _resulted(one.get("toolCallId", one.get("id")), told, one.get("isError") is True)
        case "reasoning":
            return {"type": "thinking", "thinking": one.get("content", one.get("text"))}
        case None if isinstance(one.get("text"), str):
            return {"type": "text", "text": one["text"]}
    return one


def _called(id: Any, name: Any, arguments: Any) -> Item:
    return {"type": "tool_use", "id": id or name, "name": name, "input": arguments}


def _resulted(id: Any, told: Any, failed: bool, called: Any = None) -> Item:
    if isinstance(told, list):
        told = _content([{"text": as_json(one["json"])} if _is_json(one) else one for one in told])
    elif not isinstance(told, str):
        told = as_json(told)
    return {"type": "tool_result", "tool_use_id": id or called, "content": told, "is_error": failed}


def _is_json(part: Any) -> bool:
    return isinstance(part, dict) and set(part) == {"json"}


def kinds_unread(spans: Sequence[RecordedSpan]) -> list[str]:
    """Return the kinds of spans that hold words in a vocabulary that is not understood: by their names, or what made
    them.
    """
    found: dict[str, None] = {}
    for span in spans:
        operation, given = operation_of(span), told_by(span)
        if operation and (operation not in ANSWERS or messages_of(span) != SpanMessages((), ())):
            continue
        events = (event.attributes for event in span.events if "exception" not in event.name)
        if any(_is_wordy(value) for told in (given, *events) for value in told.values()):
            found[" ".join(filter(None, (span.scope, span.name)))[:80]] = None
    return [*found][:5]


def _is_wordy(value: Any) -> bool:
    """Return whether a value may hold what was said: messages as JSON, or several words."""
    told = parsed(value)
    if isinstance(told, dict | list):
        return any(_is_wordy(one) for one in (told.values() if isinstance(told, dict) else told))
    return isinstance(told, str) and len(told.split()) > 2


def words_of(messages: Iterable[Item]) -> str:
    """All that messages say, as one text."""
    from amgs.sessions.messages import text_of

    return "\n".join(text_of(one.get("content")) for one in messages)
