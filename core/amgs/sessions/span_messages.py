"""Read conversations in spans: the operation, the conversation, and the messages that a model read and wrote.

Understood are, with where each is described: the GenAI semantic conventions of OpenTelemetry, attributes as merged in
May 2026 and the events of 1.27 to 1.36 (open-telemetry/semantic-conventions, docs/gen-ai); OpenInference
(Arize-ai/openinference, spec); OpenLLMetry; LangSmith; Strands, whose events hold Bedrock's blocks as JSON
(strands-agents/sdk-python, telemetry/tracer.py); the Vercel AI SDK (vercel/ai, "Telemetry: collected data");
pydantic-ai, which keeps its events in a single attribute (pydantic/pydantic-ai, models/instrumented.py); ADK, which
keeps Gemini's request and response (google/adk-python, telemetry/tracing.py); MLflow (mlflow/mlflow,
tracing/constant.py); Langfuse's own attributes; and Logfire's `request_data`.
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
from amgs.types.gateway import Usage

_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""Event with the messages, for programs that keep them off their spans."""
_KINDS: Final[Mapping[str, str]] = {
    "llm": "chat",
    "retriever": "retrieval",
    "tool": "execute_tool",
    "agent": "invoke_agent",
    "embedding": "embeddings",
    "chat_model": "chat",
    "generation": "chat",
    "completion": "text_completion",
}
"""Operations by the kind of a span in OpenInference, LangSmith, Langfuse, MLflow and OpenLLMetry."""
_VERCEL: Final = re.compile(r"ai\.(?:(toolCall)|(embed)|(?:generate|stream)(?:Text|Object))")
ANSWERS: Final = ("chat", "generate_content", "text_completion")
"""Operations in which a model answers."""
_MODELS: Final = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.response.model",
    "ai.model.id",
    "mlflow.llm.model",
    "langfuse.observation.model.name",
)
_ASIDE: Final = re.compile(r"execute_tool|invoke_\w+|create_\w+|embeddings?|retriev\w+|rerank\w*|plan\w*|\w*memor\w*")
"""Operations in which no model answers, whatever their spans report."""
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
"""Attributes with the conversation's id, most reliable first."""
_MESSAGE_EVENTS: Final[Mapping[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_CONTENT_EVENTS: Final[Mapping[str, str]] = {"gen_ai.content.prompt": "user", "gen_ai.content.completion": "assistant"}
"""Events of the conventions up to 1.27, with all messages in a single attribute."""
_ANSWER_EVENTS: Final = ("gen_ai.choice", "gen_ai.content.completion")
_DEEPEST: Final = 12
_READ: Final = (
    "gen_ai.input.messages",
    "llm.input_messages",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "request_data",
    "langfuse.observation.input",
    "gcp.vertex.agent.llm_request",
    "mlflow.spanInputs",
    "input.value",
    "pydantic_ai.all_messages",
    "all_messages_events",
)
_WRITTEN: Final = (
    "gen_ai.output.messages",
    "llm.output_messages",
    "gen_ai.completion",
    "ai.response",
    "response_data",
    "langfuse.observation.output",
    "gcp.vertex.agent.llm_response",
    "mlflow.spanOutputs",
    "output.value",
)
"""Attributes with messages, most reliable first; `ai.response` stands for those that form an answer together."""
_WITHIN: Final = (
    *("message", "messages", "input", "prompt", "contents", "content", "candidates", "generations"),
    *("choices", "output", "outputs", "response"),
)
"""Fields of requests and answers that contain messages."""
_BARE: Final = ("prompt", "input", "query", "question", "text", "content", "output", "response", "answer")
"""Fields with words without a role."""
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
"""Parts of a tool call, by the attributes that contain them."""
_USAGES: Final = ("mlflow.chat.tokenUsage", "langfuse.observation.usage_details")
"""Attributes with all counts of tokens."""
Item = dict[str, Any]
"""A message in a format of `amgs.sessions.messages`."""


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """Messages that a model read and wrote; both empty if the program does not report them."""

    read: tuple[Item, ...]
    written: tuple[Item, ...]


def read_attributes(span: RecordedSpan) -> Mapping[str, Any]:
    """Return the attributes of a span, including those that it put into an event."""
    more = [event.attributes for event in span.events if event.name == _DETAILS]
    if not more:
        return span.attributes
    return {key: value for attributes in (*more, span.attributes) for key, value in attributes.items()}


def operation_of(span: RecordedSpan) -> str:
    """Return the operation by its name in the GenAI conventions; "" if unknown."""
    attributes = span.attributes
    kinds = ("openinference.span.kind", "langsmith.span.kind", "mlflow.spanType", "langfuse.observation.type")
    kind = next((kind_name for name in kinds if (kind_name := text(attributes.get(name)))), "")
    told = text(attributes.get("gen_ai.operation.name", attributes.get("llm.request.type")))
    if known := _KINDS.get(kind.strip('"').lower()) or _KINDS.get(told) or told:
        answered = any(name.startswith(("gen_ai.output.messages", "gen_ai.usage.output_tokens")) for name in attributes)
        return known if not answered or known in ANSWERS or _ASIDE.fullmatch(known) else "chat"
    if vercel := _VERCEL.match(text(attributes.get("ai.operationId", attributes.get("operation.name", "")))):
        return "execute_tool" if vercel[1] else "embeddings" if vercel[2] else "chat"
    return "chat" if "gcp.vertex.agent.llm_response" in attributes else ""


def model_of(attributes: Mapping[str, Any]) -> str:
    """Return the name of the model that answered; "" if no attribute has it."""
    return text(next((model for name in _MODELS if (model := attributes.get(name))), "")).strip('"')


def call_of(attributes: Mapping[str, Any], what: str) -> Any:
    """Return `id`, `name`, `arguments` or `result` of the tool call in attributes; None for none."""
    value = next((value for name in _CALL[what] if (value := attributes.get(name)) is not None), None)
    if isinstance(value, str) and value[:1] == '"' == value[-1:]:  # a JSON string
        with suppress(ValueError):
            return json.loads(value)
    return value


def conversation_ids(spans: Sequence[RecordedSpan]) -> dict[str, str]:
    """Return the conversation of each trace: by any of its spans, else the trace's id."""
    names: dict[str, str] = {}
    for span in spans:
        candidates = (str(value) for name in _CONVERSATIONS if (value := span.attributes.get(name)))
        name = next(candidates, "")
        if name or span.trace not in names:
            names[span.trace] = name or names.get(span.trace, span.trace)
    return names


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of a request; None if not reported. Cached ones are part of the input."""
    own = (fields(parse_value(attributes.get(name))) for name in _USAGES)
    counts = next(filter(None, own), attributes)
    start = "gen_ai.usage." if counts is attributes else ""
    read = _first(
        counts,
        *(f"{start}input_tokens", "llm.token_count.prompt", f"{start}prompt_tokens"),
        *("ai.usage.inputTokens", "ai.usage.promptTokens", "input"),
    )
    output = _first(
        counts,
        *(f"{start}output_tokens", "llm.token_count.completion", f"{start}completion_tokens"),
        *("ai.usage.outputTokens", "ai.usage.completionTokens", "output"),
    )
    cached = _first(
        counts,
        *(f"{start}cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
        *(f"{start}cache_read_input_tokens", f"{start}details.cache_read_tokens", "ai.usage.cachedInputTokens"),
    )
    put = _first(
        counts,
        *(f"{start}cache_creation.input_tokens", f"{start}cache_creation_input_tokens"),
        *(f"{start}cache_write_input_tokens", f"{start}details.cache_write_tokens"),
    )
    if not read and not output:
        return None
    return Usage(max(0, read - cached - put), put, cached, output)


def _first(attributes: Mapping[str, Any], *names: str) -> int:
    return next((count for name in names if (count := number(attributes.get(name)))), 0)


def messages_of(span: RecordedSpan) -> SpanMessages:
    """Return the messages that a span's model read and wrote."""
    attributes = read_attributes(span)
    read: list[Item] = []
    written = _read_answer(attributes)
    for messages, names, role in ((read, _READ, "user"), (written, _WRITTEN, "assistant")):
        for name in names:
            if not messages and not name.startswith("ai.response"):
                messages += messages_in(collect_list(attributes, name) or parse_value(attributes.get(name)), role=role)
    events = [] if read and written else _events_of(span, attributes)
    read = read or [item for name, item in events if name not in _ANSWER_EVENTS]
    written = written or [item for name, item in events if name in _ANSWER_EVENTS]
    system = [*_system(attributes.get("gen_ai.system_instructions"))]
    return SpanMessages((*system, *read), tuple(written))


def _read_answer(attributes: Mapping[str, Any]) -> list[Item]:
    """Return the answer that the Vercel AI SDK writes in separate attributes."""
    if "gen_ai.output.messages" in attributes:
        return []
    thought = text(attributes.get("ai.response.reasoning"))
    words = (
        attributes.get("ai.response.text") or attributes.get("ai.result.text") or attributes.get("ai.response.object")
    )
    parts = [
        *([{"type": "reasoning", "content": thought}] if thought else []),
        *([{"type": "text", "text": as_json(words)}] if words else []),
        *({"type": "tool-call", **call} for call in items(parse_value(attributes.get("ai.response.toolCalls")))),
    ]
    return [_message("assistant", {"content": parts})] if parts else []


def _events_of(span: RecordedSpan, span_attributes: Mapping[str, Any]) -> list[tuple[str, Item]]:
    """Return the messages in events, with the events' names: those of the span, or those in pydantic-ai's attribute."""
    events = [(event.name, event.attributes) for event in span.events if event.name in _MESSAGE_EVENTS]
    events = events or [
        (text(record.get("event.name")), record) for record in items(parse_value(span_attributes.get("events")))
    ]
    messages: list[tuple[str, Item]] = []
    for event in span.events:
        if role := _CONTENT_EVENTS.get(event.name):
            for value in event.attributes.values():
                messages += [(event.name, item) for item in messages_in(parse_value(value), role=role)]
    for name, attributes in events:
        if role := _MESSAGE_EVENTS.get(name):
            body = {**attributes, **fields(parse_value(attributes.get("body")))}
            known = {key.removeprefix("gen_ai."): value for key, value in body.items()}
            message = parse_value(known.pop("message", None))
            known |= message if isinstance(message, dict) else {}
            if isinstance(message, str | list):
                known["content"] = message
            if role == "tool":
                known.setdefault("tool_call_id", known.get("id"))
            messages += [(name, item) for item in messages_in({"role": role, **known})]
    return messages


def parse_value(value: Any) -> Any:
    """Return a value, parsed if it is JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def collect_list(attributes: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list written as `NAME.0.role`, `NAME.1.role` and so on; [] for none."""
    entries: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{name}.") and (match := re.fullmatch(r"(\d{1,6})\.(.+)", key[len(name) + 1 :])):
            entries.setdefault(int(match[1]), {})[match[2]] = value
    return [_nest_keys(entries[place]) for place in sorted(entries)]


def _nest_keys(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"message.role": "user"}` as `{"message": {"role": "user"}}`; numbered parts become lists."""
    tree: dict[str, Any] = {}
    heads = dict.fromkeys(key.partition(".")[0] for key in flat)
    for head in heads:
        inner = {key[len(head) + 1 :]: value for key, value in flat.items() if key.startswith(f"{head}.")}
        if inner and all(re.match(r"\d{1,6}(\.|$)", key) for key in inner):
            tree[head] = collect_list(flat, head) or list(inner.values())
        else:
            tree[head] = _nest_keys(inner) if inner else flat[head]
    return tree


def _system(instructions: Any) -> Iterator[Item]:
    parts = parse_value(instructions)
    if isinstance(parts, dict):
        parts = parts.get("parts", [parts])
    if parts:
        yield _message("system", {"content": parts})


def messages_in(value: Any, depth: int = 0, role: str = "") -> Iterator[Item]:
    """Yield the messages in a value in order: in a list, among other things, or wrapped as by LangChain.

    role: of words without a role; "" if those are no message.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and role and value.strip():
        yield _message(role, {"content": value})
    if isinstance(value, list):
        for element in value:
            if not isinstance(element, str):
                yield from messages_in(element, depth + 1, role)
    if not isinstance(value, dict):
        return
    inner = fields(value.get("kwargs")) or value
    own_role = text(inner.get("role")) or (text(inner.get("type")) if "content" in inner else "")
    if own_role.lower() in ROLES and not isinstance(inner.get("message"), dict):
        yield _message(own_role, inner)
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


def _message(role: str, message: Mapping[str, Any]) -> Item:
    content = message.get("parts") if isinstance(message.get("parts"), list) else message.get("content")
    if isinstance(message.get("contents"), list):
        content = [fields(entry.get("message_content")) or entry for entry in items(message["contents"])]
    item: Item = {"role": ROLES[role.lower()], "content": _content(parse_parts(content))}
    calls = [fields(call.get("tool_call")) or call for call in items(parse_value(message.get("tool_calls")))]
    if calls:
        item["tool_calls"] = [
            {**call, "arguments": call["args"]} if "args" in call else call for call in calls
        ]  # LangChain's name
    for key in ("tool_call_id", "name"):
        if value := text(message.get(key)):
            item[key] = value
    return item


def parse_parts(content: Any) -> Any:
    """Return a content, parsed if it is a list of parts as JSON text."""
    parts = parse_value(content)
    return parts if isinstance(parts, list) and all(isinstance(part, dict) for part in parts) else content


def _content(content: Any) -> Any:
    """Return parts in the formats of model APIs."""
    return [_part(part) for part in content] if isinstance(content, list) else content


def _part(part: Any) -> Any:
    """Convert a part of the GenAI conventions, Bedrock, Gemini or the Vercel AI SDK to the formats of model APIs."""
    if not isinstance(part, dict):
        return {"type": "text", "text": part} if isinstance(part, str) else part
    for key in ("toolUse", "functionCall", "function_call"):
        if isinstance(call := part.get(key), dict):
            return _build_call(
                call.get("toolUseId", call.get("id")), call.get("name"), call.get("input", call.get("args"))
            )
    for key in ("toolResult", "functionResponse", "function_response"):
        if isinstance(result := part.get(key), dict):
            content = result.get("content", result.get("response"))
            id = result.get("toolUseId", result.get("id"))
            return _make_tool_result(id, content, result.get("status") == "error", result.get("name"))
    if isinstance(thought := part.get("reasoningContent"), dict):
        return {"type": "thinking", "thinking": fields(thought.get("reasoningText")).get("text")}
    if part.get("thought") is True:
        return {"type": "thinking", "thinking": part.get("text")}
    match part.get("type"):
        case "text":
            return {"type": "text", "text": part.get("content", part.get("text"))}
        case "tool_call" | "tool-call":
            arguments = part.get("arguments", part.get("input", part.get("args")))
            return _build_call(
                part.get("toolCallId", part.get("id")), part.get("toolName", part.get("name")), arguments
            )
        case "tool_call_response" | "tool-result":
            result = part.get("response", part.get("result", part.get("output")))
            if isinstance(result, dict) and set(result) == {"type", "value"}:
                return _make_tool_result(
                    part.get("toolCallId"), result["value"], result["type"] in ("error-text", "error-json")
                )
            return _make_tool_result(part.get("toolCallId", part.get("id")), result, part.get("isError") is True)
        case "reasoning":
            return {"type": "thinking", "thinking": part.get("content", part.get("text"))}
        case None if isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
    return part


def _build_call(id: Any, name: Any, arguments: Any) -> Item:
    return {"type": "tool_use", "id": id or name, "name": name, "input": arguments}


def _make_tool_result(id: Any, output: Any, failed: bool, called: Any = None) -> Item:
    if isinstance(output, list):
        output = _content([{"text": as_json(part["json"])} if _is_json(part) else part for part in output])
    elif not isinstance(output, str):
        output = as_json(output)
    return {"type": "tool_result", "tool_use_id": id or called, "content": output, "is_error": failed}


def _is_json(part: Any) -> bool:
    return isinstance(part, dict) and set(part) == {"json"}


def kinds_unread(spans: Sequence[RecordedSpan]) -> list[str]:
    """Return the first five kinds of spans with words in unknown attributes, by library and name."""
    kinds: dict[str, None] = {}
    for span in spans:
        operation, attributes = operation_of(span), read_attributes(span)
        if operation and (operation not in ANSWERS or messages_of(span) != SpanMessages((), ())):
            continue
        events = (event.attributes for event in span.events if "exception" not in event.name)
        if any(_is_wordy(value) for record in (attributes, *events) for value in record.values()):
            kinds[" ".join(filter(None, (span.scope, span.name)))[:80]] = None
    return [*kinds][:5]


def _is_wordy(value: Any) -> bool:
    """Return whether a value may be a message: a text of more than two words, or JSON that contains a message."""
    content = parse_value(value)
    if isinstance(content, dict | list):
        return any(_is_wordy(child) for child in (content.values() if isinstance(content, dict) else content))
    return isinstance(content, str) and len(content.split()) > 2


def words_of(messages: Iterable[Item]) -> str:
    """Return the words of all messages as a single text."""
    from amgs.sessions.messages import text_of

    return "\n".join(text_of(message.get("content")) for message in messages)
