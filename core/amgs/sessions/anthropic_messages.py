"""Messages in Anthropic's form, which several programs write: their parts as turns, and the tokens of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from amgs.sessions.lines import as_json, content_text, count, fields, text
from amgs.sessions.turn import TurnKind
from amgs.types.conversation import Role, ToolCall
from amgs.types.usage import Usage

_TAGS: Final = (
    "system-reminder|task-notification|ide_[a-z_]+|local-command-[a-z]+|bash-(?:input|stdout|stderr)"
    "|user-prompt-submit-hook|new-diagnostics|session-start-hook|environment_details"
)
_INJECTED: Final = re.compile(rf"<({_TAGS})\b[^>]*>.*?</\1>\s*", re.DOTALL)
_ELEMENT: Final = re.compile(r"\s*<([A-Za-z][\w.:-]*)(\s[^<>]*)?>(.*?)</\1>\s*", re.DOTALL)
_MESSAGE: Final = re.compile(
    r"^(?:[^\n<]{1,120}:[ \t]*\n+)?<((?:[a-z]+[-_])+(?:message|notification|event|prompt|task|hook|alert|update))"
    r"(\s[^<>]*)?>(.*?)</\1>[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
"""An element that by its name is somebody's message, wherever it stands, with the line that announces it."""
_OF_USER: Final = re.compile(r"(?:user|human)[-_](?:query|request|message|prompt|input)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([\w-]+)\s*=\s*[\"']([^\"']+)[\"']")
_NAMES_OF: Final = (
    "from",
    "name",
    "from_name",
    "sender",
    "teammate_id",
    "agent",
    "agent_id",
    "source",
    "channel",
    "id",
)
"""Attributes that name whose words an element holds, the first that is there."""
_MARKUP: Final = re.compile(
    r"a|article|aside|audio|body|button|canvas|circle|code|d[dlt]|details|dialog|div|em|fieldset|figure|footer|form|g|h[1-6]"
    r"|head|header|html|iframe|img|input|label|li|link|main|meta|nav|ol|option|p|path|pre|rect|script|section|select|span"
    r"|strong|style|svg|table|tbody|t[dhr]|template|textarea|thead|title|ul|use|video",
    re.IGNORECASE,
)
"""Elements of pages, which users paste."""
_COMMAND: Final = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_COMMAND_WORDS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]]*\]\s*")

_WINDOW: Final = 200_000
_LARGE_WINDOW: Final = 1_000_000

PartTurn = tuple[Role, TurnKind, str, dict[str, Any]]
"""(role, kind, text, further fields of a turn)."""


def parts_of(content: Any) -> list[Any]:
    """Return the parts of a message's content, which may be one text; none for anything else."""
    return [content] if isinstance(content, str) else content if isinstance(content, list) else []


def turns_of_part(part: Any, who: str, told: TurnKind | None = None, *, human: bool = False) -> Iterator[PartTurn]:
    """Yield the turns of one part of a message. who: user or assistant. told: what the message's text is, where its
    record says so; else words of the user are told apart from what the program put among them; see `words_of_user`.
    """
    role: Role = "assistant" if who == "assistant" else "user"
    one = {"type": "text", "text": part} if isinstance(part, str) else fields(part)
    kind = text(one.get("type"))
    if kind in ("thinking", "redacted_thinking"):
        yield role, "thinking", text(one.get("thinking")), {}
    elif kind == "reasoning":
        yield role, "thinking", content_text(one), {}
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        call = ToolCall(text(one.get("id")), text(one.get("name")), as_json(one.get("input")))
        yield role, "call", "", {"calls": (call,)}
    elif kind.endswith("tool_result"):
        more = {"answers": text(one.get("tool_use_id")), "failed": one.get("is_error") is True}
        yield "tool", "result", content_text(one.get("content")), more
    elif told is not None:
        yield "assistant" if told == "summary" else role, told, content_text(one), {}
    elif who == "assistant":
        yield role, "said", content_text(one), {}
    else:
        for spoken, words, whose in words_of_user(content_text(one), human=human):
            yield role, "said" if spoken else "injected", words, {"speaker": whose} if whose else {}


def words_of_user(told: str, *, human: bool = False) -> Iterator[tuple[bool, str, str]]:
    """Yield (whether the user said it, text, whose words it is) of what stands in a message of the user. human: whether
    its record says that a person typed it; else elements at its beginning whose names are no markup of pages are put
    in.
    """
    if command := _COMMAND.search(told):
        words = _COMMAND_WORDS.search(told)
        given = words[1].strip() if words else ""
        yield bool(given), f"{command[1].strip()} {given}".strip(), ""
        return
    put_in = [(found[0].strip(), "") for found in _INJECTED.finditer(told)]
    rest = _INJECTED.sub("", told)
    put_in += [(found[0].strip(), "") for found in _INTERRUPTED.finditer(rest)]
    rest = _INTERRUPTED.sub("", rest).strip()
    if not human:
        others = [one for one in _MESSAGE.finditer(rest) if not _OF_USER.fullmatch(one[1])]
        put_in += [(one[0].strip(), _whose(one)) for one in others]
        for one in reversed(others):
            rest = rest[: one.start()] + rest[one.end() :]
        rest = rest.strip()
    while not human and (found := _ELEMENT.match(rest)):
        after = rest[found.end() :].strip()
        if _OF_USER.fullmatch(found[1]):
            rest = f"{found[3].strip()}\n{after}".strip()
            break
        named = _ATTRIBUTE.search(found[2] or "")
        if _MARKUP.fullmatch(found[1]) or not ("-" in found[1] or "_" in found[1] or (named and not after)):
            break
        put_in.append((found[0].strip(), _whose(found)))
        rest = after
    for part, whose in put_in:
        yield False, part, whose
    if rest or not put_in:
        yield True, rest, ""


def _whose(element: re.Match[str]) -> str:
    """Return whose words an element holds, by its attributes and its name."""
    named = dict(_ATTRIBUTE.findall(element[2] or ""))
    whose = next((named[key] for key in _NAMES_OF if key in named), "")
    return f"{whose} ({element[1]})" if whose else element[1]


def usage_of(given: Any) -> Usage:
    """Return the tokens of a request as Anthropic counts them."""
    one = fields(given)
    return Usage(
        count(one.get("input_tokens")),
        count(one.get("cache_creation_input_tokens")),
        count(one.get("cache_read_input_tokens")),
        count(one.get("output_tokens")),
    )


def window_of(model: str, most: int) -> int | None:
    """Return tokens that one of Anthropic's models can read, by its name and the most that it read; None without a
    name.
    """
    if not model:
        return None
    return _LARGE_WINDOW if most > _WINDOW or "[1m]" in model else _WINDOW
