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


def turns_of_part(part: Any, who: str, text_kind: TurnKind | None = None, *, human: bool = False) -> Iterator[PartTurn]:
    """Yield the turns of one part of a message. who: user or assistant. text_kind: what the message's text is, where
    its record says so; else words of the user are told apart from what the program put among them; see `words_of_user`.
    """
    role: Role = "assistant" if who == "assistant" else "user"
    part_fields = {"type": "text", "text": part} if isinstance(part, str) else fields(part)
    kind = text(part_fields.get("type"))
    if kind in ("thinking", "redacted_thinking"):
        yield role, "thinking", text(part_fields.get("thinking")), {}
    elif kind == "reasoning":
        yield role, "thinking", content_text(part_fields), {}
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        call = ToolCall(text(part_fields.get("id")), text(part_fields.get("name")), as_json(part_fields.get("input")))
        yield role, "call", "", {"calls": (call,)}
    elif kind.endswith("tool_result"):
        more = {"answers": text(part_fields.get("tool_use_id")), "failed": part_fields.get("is_error") is True}
        yield "tool", "result", content_text(part_fields.get("content")), more
    elif text_kind is not None:
        yield "assistant" if text_kind == "summary" else role, text_kind, content_text(part_fields), {}
    elif who == "assistant":
        yield role, "said", content_text(part_fields), {}
    else:
        for spoken, words, speaker in words_of_user(content_text(part_fields), human=human):
            yield role, "said" if spoken else "injected", words, {"speaker": speaker} if speaker else {}


def words_of_user(content: str, *, human: bool = False) -> Iterator[tuple[bool, str, str]]:
    """Yield (whether the user said it, text, whose words it is) of what stands in a message of the user. human: whether
    its record says that a person typed it; else elements at its beginning whose names are no markup of pages are put
    in.
    """
    if command := _COMMAND.search(content):
        words = _COMMAND_WORDS.search(content)
        arguments = words[1].strip() if words else ""
        yield bool(arguments), f"{command[1].strip()} {arguments}".strip(), ""
        return
    put_in = [(match[0].strip(), "") for match in _INJECTED.finditer(content)]
    rest = _INJECTED.sub("", content)
    put_in += [(match[0].strip(), "") for match in _INTERRUPTED.finditer(rest)]
    rest = _INTERRUPTED.sub("", rest).strip()
    if not human:
        others = [message for message in _MESSAGE.finditer(rest) if not _OF_USER.fullmatch(message[1])]
        put_in += [(message[0].strip(), _whose(message)) for message in others]
        for message in reversed(others):
            rest = rest[: message.start()] + rest[message.end() :]
        rest = rest.strip()
    while not human and (element := _ELEMENT.match(rest)):
        after = rest[element.end() :].strip()
        if _OF_USER.fullmatch(element[1]):
            rest = f"{element[3].strip()}\n{after}".strip()
            break
        named = _ATTRIBUTE.search(element[2] or "")
        if _MARKUP.fullmatch(element[1]) or not ("-" in element[1] or "_" in element[1] or (named and not after)):
            break
        put_in.append((element[0].strip(), _whose(element)))
        rest = after
    for part, speaker in put_in:
        yield False, part, speaker
    if rest or not put_in:
        yield True, rest, ""


def _whose(element: re.Match[str]) -> str:
    """Return whose words an element holds, by its attributes and its name."""
    named = dict(_ATTRIBUTE.findall(element[2] or ""))
    sender = next((named[key] for key in _NAMES_OF if key in named), "")
    return f"{sender} ({element[1]})" if sender else element[1]


def usage_of(usage: Any) -> Usage:
    """Return the tokens of a request as Anthropic counts them."""
    counts = fields(usage)
    return Usage(
        count(counts.get("input_tokens")),
        count(counts.get("cache_creation_input_tokens")),
        count(counts.get("cache_read_input_tokens")),
        count(counts.get("output_tokens")),
    )


def window_of(model: str, most: int) -> int | None:
    """Return tokens that one of Anthropic's models can read, by its name and the most that it read; None without a
    name.
    """
    if not model:
        return None
    return _LARGE_WINDOW if most > _WINDOW or "[1m]" in model else _WINDOW
