"""The content of a message in the style of the OpenAI and Anthropic interfaces, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from amgs.exchange.importers.fields import name, text
from amgs.exchange.importers.records import Records

_DEEPEST = 8
TEXTS = ("text", "input_text", "output_text", "summary_text")
THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "function_call", "custom_tool_call")
ANTHROPIC = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use")
"""Types of parts that only the Anthropic interface has."""


def text_of(records: Records, content: Any, path: str) -> str:
    """The text of a content. A picture or a file leaves its name in brackets and is named, as reasoning is."""
    return "\n\n".join(one for one in _texts(records, content, path, 0) if one.strip())


def call_text(called: Any, arguments: Any) -> str:
    """`search({"q": "dome"})` of a call of a tool."""
    given = arguments if isinstance(arguments, str) else _json(arguments if arguments is not None else {})
    return f"{name(called) or 'tool'}({given})"


def calls_of(records: Records, calls: Any, path: str) -> list[str]:
    """The calls in a `tool_calls` of the OpenAI interface."""
    made: list[str] = []
    for n, one in enumerate(calls if isinstance(calls, list) else []):
        function = one.get("function", one) if isinstance(one, dict) else None
        if isinstance(function, dict):
            made.append(call_text(function.get("name"), function.get("arguments")))
        else:
            records.note("tool call", f"{path}[{n}]", "it names no function")
    return made


def _texts(records: Records, content: Any, path: str, depth: int) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif depth > _DEEPEST:
        records.note("part", path, f"it is nested more than {_DEEPEST} deep")
    elif isinstance(content, list):
        for n, part in enumerate(content):
            yield from _texts(records, part, f"{path}[{n}]", depth + 1)
    elif isinstance(content, dict):
        yield from _part(records, content, path, depth)
    elif content is not None:
        records.note("part", path, "it is neither a text nor a part with a type")


def _part(records: Records, part: dict[str, Any], path: str, depth: int) -> Iterator[str]:
    kind = name(part.get("type")) or "part"
    said = text(part.get("text"))
    if kind in THOUGHTS:
        records.note("reasoning", path, "what the model thought is no memory")
    elif kind in _CALLS:
        yield call_text(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in ("tool_result", "function_call_output"):
        yield from _texts(records, part.get("content", part.get("output")), f"{path}.content", depth + 1)
    elif kind == "refusal" and isinstance(part.get("refusal"), str):
        yield part["refusal"]
    elif said is not None:
        if kind not in TEXTS:
            records.note("part", path, f"it is a {kind}; its text alone was taken")
        yield said
    elif kind == "document" and isinstance(part.get("source"), dict) and text(part["source"].get("data")):
        source = part["source"]
        if name(source.get("type")) == "text":
            yield source["data"]
        else:
            yield _marked(records, kind, part, path)
    else:
        yield _marked(records, kind, part, path)


def _marked(records: Records, kind: str, part: dict[str, Any], path: str) -> str:
    """A part without text, by the name that it has, if any."""
    records.note("part", path, f"a part of type {kind} has no text; its name stands in the message")
    inner = part.get(kind) if isinstance(part.get(kind), dict) else part.get("source")
    known = [part, inner] if isinstance(inner, dict) else [part]
    keys = ("file_name", "filename", "name", "title", "file_id", "url", "asset_pointer")
    told = next((t for one in known for key in keys if (t := name(one.get(key)))), "")
    return f"[{kind}: {told}]" if told and not told.startswith("data:") else f"[{kind}]"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "…"
