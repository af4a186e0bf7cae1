"""What an item of a conversation says, whoever's interface it was made for.

In the style of OpenAI (chat completions and responses), of Anthropic, or plainly `{"speaker": …, "text": …}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amgs.exchange.importers.fields import name, text
from amgs.exchange.importers.parts import TEXTS, THOUGHTS
from amgs.types.conversation import Role, ToolCall

CALLS = ("tool_use", "function_call", "custom_tool_call")
"""Types of items and parts that call a tool of the agent; what a provider runs itself is a part like any other."""
RESULTS = ("tool_result", "function_call_output", "custom_tool_call_output")
"""Types of items and parts that hold what a tool of the agent gave."""
_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_IDS = ("tool_call_id", "tool_use_id", "call_id")


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """One message of an item. role: one of `ROLES`, else as it is given, "" where none is. content: a text or parts,
    without calls and results. answers: the id of the call that a result belongs to. speaker: by name, "" where none is
    given. part: the place of a result among the parts of its item, None for what is no part.
    """

    role: str
    content: Any
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    speaker: str = ""
    part: int | None = None


def said_in(item: Mapping[str, Any]) -> list[SaidMessage]:
    """The messages of an item: results first, then what is said beside them, since in the style of Anthropic both stand
    in one. At least one, which may say nothing. A call may have no name, and a call or a result no id.
    """
    kind = item.get("type")
    if kind in CALLS:
        return [SaidMessage("assistant", None, (_call(item),))]
    if kind in RESULTS:
        return [_result(item)]
    if kind in THOUGHTS:
        return [SaidMessage("assistant", None)]
    content = item.get("content", item.get("text"))
    parts = content if isinstance(content, list) else []
    made = [_result(part, place) for place, part in enumerate(parts) if _is(part, RESULTS)]
    calls = [_call(part) for part in parts if _is(part, CALLS)]
    calls += [_call(one) for one in objects(item.get("tool_calls"))]
    if isinstance(item.get("function_call"), dict):
        calls.append(_call(item["function_call"]))
    if parts:
        content = [part for part in parts if not _is(part, (*CALLS, *RESULTS))]
    content = content or text(item.get("refusal"))
    if plain_text(content) or calls or not made:
        role, speaker = _role(item), name(item.get("speaker", item.get("name")))
        made.append(SaidMessage(role, content, tuple(calls), _id(item) if role == "tool" else "", speaker))
    return made


def plain_text(content: Any) -> str:
    """The text of a content: itself, or that of its parts, a blank line between. What is no text is its type in
    brackets, and a thought of the model nothing.
    """
    if isinstance(content, str):
        return content
    return "\n\n".join(told for part in objects(content) if (told := _plain(part)))


def holds_more(content: Any) -> bool:
    """Whether a content has parts that are neither text nor a thought of the model."""
    return any(not _is(part, (*TEXTS, "refusal", *THOUGHTS)) for part in objects(content))


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing for what is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _plain(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if kind in THOUGHTS:
        return ""
    if kind in TEXTS or kind == "refusal":
        return text(part.get("refusal" if kind == "refusal" else "text")) or ""
    return f"[{kind or 'part'}]"


def _is(part: Any, kinds: tuple[str, ...]) -> bool:
    return isinstance(part, dict) and part.get("type") in kinds


def _role(item: Mapping[str, Any]) -> str:
    given = item.get("role")
    if given is None and "speaker" in item:
        return "user"
    told = name(given)
    return _ROLES.get(told.lower(), told)


def _result(given: Mapping[str, Any], part: int | None = None) -> SaidMessage:
    return SaidMessage("tool", given.get("content", given.get("output")), (), _id(given), "", part)


def _call(given: Mapping[str, Any]) -> ToolCall:
    inner = given.get("function", given.get("custom"))
    function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else given
    arguments = function.get("arguments", function.get("input"))
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False, default=str)
    return ToolCall(name(given.get("call_id") or given.get("id")), name(function.get("name")), arguments)


def _id(given: Mapping[str, Any]) -> str:
    return next((told for key in _IDS if (told := name(given.get(key)))), "")
