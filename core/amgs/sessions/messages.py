"""Read messages in the formats of model APIs, which several programs write: OpenAI's (chat completions and
responses), Anthropic's, Gemini's, or plain `{"speaker": …, "text": …}`; their content as text, their parts as
turns, the tokens of a request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from amgs.sessions.lines import Record, as_json, content_text, count, fields, items, name, text
from amgs.sessions.turn import Place, Turn, TurnKind
from amgs.types.conversation import Role, ToolCall
from amgs.types.gateway import Usage


def gemini_parts(content: Any) -> list[Record]:
    """Return the parts of a content, which may be a text, a part or a list of both."""
    every = content if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else part for part in every if isinstance(part, (str, dict))]


_REFERENCES: Final = re.compile(
    r"(\n?^--- Content from referenced files ---$(?:.*^--- End of content ---$|.*))", re.DOTALL | re.MULTILINE
)
"""What Gemini CLI and Qwen Code put behind a message that names files."""


def user_parts(content: Any) -> Iterator[tuple[Record, bool]]:
    """Yield the parts of a user's content as `gemini_parts`, and whether the user wrote them."""
    parts = gemini_parts(content)
    words = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if not _REFERENCES.search(words):
        yield from ((part, True) for part in parts)
        return
    yield from ((part, True) for part in parts if not isinstance(part.get("text"), str))
    for number, piece in enumerate(_REFERENCES.split(words)):
        if piece.strip():
            yield {"text": piece.strip()}, number % 2 == 0


def response_text(response: Record) -> str:
    """Return a tool's output in a `functionResponse`."""
    content = next((response[key] for key in ("error", "output", "content") if key in response), None)
    return content_text(content) or (as_json(response) if response else "")


LISTS: Final = ("messages", "input", "items")
"""Fields with a list of messages."""
TIMES: Final = ("timestamp", "created_at", "create_time", "created", "time", "date")
"""Fields with the time of a message, in order of preference."""
CALLS: Final = ("tool_use", "function_call", "custom_tool_call")
"""Types of items and parts that call the agent's tools; calls of tools that the provider runs are ordinary parts."""
RESULTS: Final = ("tool_result", "function_call_output", "custom_tool_call_output")
"""Types of items and parts with the output of the agent's tools."""
THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning")
"""Types of items and parts with the model's thoughts, which are not remembered."""
_OF_PROVIDER: Final = ("server_tool_use", "mcp_tool_use")
_TEXTS: Final = ("text", "input_text", "output_text", "summary_text")
ROLES: Final[Mapping[str, Role]] = {
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
"""Roles by their names in model APIs."""
_IDS: Final = ("tool_call_id", "tool_use_id", "call_id")
_NAMES: Final = ("file_name", "filename", "name", "title", "file_id", "url", "asset_pointer")
_DEEPEST: Final = 8

Note = Callable[[str, str, str], object]
"""Called for a part of a content that is not used as it is: kind, place and reason."""


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """A message of an item.

    role: one of `ROLES`, else as stated, "" for none. content: a text or parts, without calls and results. answers: id
    of the call of a result. speaker: name, "" for none. part: index of a result among the item's parts, None for other
    messages. failed: a result reports a failure.
    """

    role: str
    content: Any
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    speaker: str = ""
    part: int | None = None
    failed: bool = False


def unwrap_message(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message inside of a line such as `{"type": "user", "message": {…}, "timestamp": …}`."""
    inner = record.get("message")
    return inner if isinstance(inner, dict) and "role" in inner else record


def read_item_messages(item: Mapping[str, Any]) -> list[SaidMessage]:
    """Return the messages of an item: results first, then other content, since Anthropic's format has both in a single
    item. At least one, maybe empty. Calls may lack a name, calls and results an id.
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
    messages = [_result(part, place) for place, part in enumerate(parts) if _is(part, RESULTS)]
    calls = [_call(part) for part in parts if _is(part, CALLS)]
    calls += [_call(call) for call in items(item.get("tool_calls"))]
    if isinstance(item.get("function_call"), dict):
        calls.append(_call(item["function_call"]))
    if parts:
        content = [part for part in parts if not _is(part, (*CALLS, *RESULTS))]
    content = content or (item["refusal"] if isinstance(item.get("refusal"), str) else None)
    if text_of(content) or calls or not messages:
        role, speaker = _role(item), name(item.get("speaker", item.get("name")))
        messages.append(SaidMessage(role, content, tuple(calls), _id(item) if role == "tool" else "", speaker))
    return messages


def turns_of(
    item: Mapping[str, Any], place: Place, first: int, at: datetime | None, note: Note, path: str = "content"
) -> list[Turn]:
    """Return the turns of an item, numbered from `first`.

    Unknown roles become speaker names. note: called for content that is not used; path: of the content.
    """
    turns: list[Turn] = []
    for message in read_item_messages(item):
        words = text(text_of(message.content, path, note))
        common: dict[str, Any] = {"place": place, "at": at, "request": f"{place.line}", "part": len(turns)}
        role = next((known for known in ROLES.values() if known == message.role), None)
        speaker = message.speaker or ("" if role else message.role.capitalize())
        if role == "tool":
            common |= {"answers": message.answers, "failed": message.failed, "speaker": speaker}
            turns.append(Turn(first + len(turns), "tool", "result", words, **common))
            continue
        if words.strip() or not message.calls:
            turns.append(Turn(first + len(turns), role or "user", "said", words, **common, speaker=speaker))
        for call in message.calls:
            common["part"] = len(turns)
            turns.append(Turn(first + len(turns), "assistant", "call", "", calls=(call,), **common))
    return turns


def text_of(content: Any, path: str = "content", note: Note | None = None) -> str:
    """Return the text of a content, with a blank line between parts. Pictures and files become their names in brackets,
    thoughts are omitted.
    """
    if isinstance(content, str):
        return content
    texts = _texts(content, path, note or (lambda *_: None), 0)
    return "\n\n".join(part for part in texts if part.strip())


def call_text(called: Any, arguments: Any) -> str:
    """Return a call as `search({"q": "dome"})`."""
    return f"{name(called) or 'tool'}({as_json(arguments)})"


def holds_more(content: Any) -> bool:
    """Return whether a content has parts other than text and thoughts."""
    return any(not _is(part, (*_TEXTS, "refusal", *THOUGHTS)) for part in items(content))


def _texts(content: Any, path: str, note: Note, depth: int) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif depth > _DEEPEST:
        note("part", path, f"it is nested more than {_DEEPEST} deep")
    elif isinstance(content, list):
        for n, part in enumerate(content):
            yield from _texts(part, f"{path}[{n}]", note, depth + 1)
    elif isinstance(content, dict):
        yield from _part(content, path, note, depth)
    elif content is not None:
        note("part", path, "it is neither a text nor a part with a type")


def _part(part: dict[str, Any], path: str, note: Note, depth: int) -> Iterator[str]:
    kind = name(part.get("type")) or "part"
    words = part.get("text")
    source = fields(part.get("source"))
    if kind in THOUGHTS:
        note("reasoning", path, "what the model thought is no memory")
    elif kind in (*CALLS, *_OF_PROVIDER):
        yield call_text(part.get("name"), part.get("input", part.get("arguments")))
    elif kind in RESULTS:
        yield from _texts(part.get("content", part.get("output")), f"{path}.content", note, depth + 1)
    elif kind == "refusal" and isinstance(part.get("refusal"), str):
        yield part["refusal"]
    elif isinstance(words, str):
        if kind not in _TEXTS:
            note("part", path, f"it is a {kind}; its text alone was taken")
        yield words
    elif kind == "document" and name(source.get("type")) == "text" and isinstance(source.get("data"), str):
        yield source["data"]
    else:
        yield _format_mark(kind, part, path, note)


def _format_mark(kind: str, part: dict[str, Any], path: str, note: Note) -> str:
    """Return a part without text as its name or type in brackets."""
    note("part", path, f"a part of type {kind} has no text; its name stands in the message")
    inner = part.get(kind) if isinstance(part.get(kind), dict) else part.get("source")
    known = [part, inner] if isinstance(inner, dict) else [part]
    label = next((t for record in known for key in _NAMES if (t := name(record.get(key)))), "")
    return f"[{kind}: {label}]" if label and not label.startswith("data:") else f"[{kind}]"


def _is(part: Any, kinds: tuple[str, ...]) -> bool:
    return isinstance(part, dict) and part.get("type") in kinds


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    if role is None and "speaker" in item:
        return "user"
    role_name = name(role)
    return ROLES.get(role_name.lower(), role_name)


def _result(result: Mapping[str, Any], part: int | None = None) -> SaidMessage:
    content = result.get("content", result.get("output"))
    return SaidMessage("tool", content, (), _id(result), "", part, result.get("is_error") is True)


def _call(call: Mapping[str, Any]) -> ToolCall:
    inner = call.get("function", call.get("custom"))
    function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else call
    arguments = as_json(function.get("arguments", function.get("input")))
    return ToolCall(name(call.get("call_id") or call.get("id")), name(function.get("name")), arguments)


def _id(record: Mapping[str, Any]) -> str:
    return next((identifier for key in _IDS if (identifier := name(record.get(key)))), "")


_TAGS: Final = (
    "system-reminder|task-notification|ide_[a-z_]+|local-command-[a-z]+|bash-(?:input|stdout|stderr)"
    "|user-prompt-submit-hook|new-diagnostics|session-start-hook|environment_details"
)
_INJECTED: Final = re.compile(
    rf"<({_TAGS})\b[^>]*>.*?</\1>(?:(?<=</task-notification>)\s*Last output: .*\Z)?\s*", re.DOTALL
)
_ELEMENT: Final = re.compile(r"\s*<([A-Za-z][\w.:-]*)(\s[^<>]*)?>(.*?)</\1>\s*", re.DOTALL)
_MESSAGE: Final = re.compile(
    r"^(?:[^\n<]{1,120}:\s*\n)?<((?:[a-z]+[-_])+(?:message|notification|event|prompt|task|hook|alert|update))"
    r"(\s[^<>]*)?>(.*?)</\1>[ \t\r]*$",
    re.DOTALL | re.MULTILINE,
)
"""An element whose name marks it as a message, anywhere, with the line that announces it."""
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
"""Attributes that name the speaker of an element's words, in order of preference."""
_MARKUP: Final = re.compile(
    r"a|article|aside|audio|body|button|canvas|circle|code|d[dlt]|details|dialog|div|em|fieldset|figure|footer|form|g|h[1-6]"
    r"|head|header|html|iframe|img|input|label|li|link|main|meta|nav|ol|option|p|path|pre|rect|script|section|select|span"
    r"|strong|style|svg|table|tbody|t[dhr]|template|textarea|thead|title|ul|use|video",
    re.IGNORECASE,
)
"""Elements of web pages, which users paste."""
_COMMAND: Final = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_OF_PROGRAM: Final = ("<command-", "<local-command-", "Caveat: ")
"""How a record of a command begins; a user may quote one."""
_COMMAND_WORDS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]]*\]\s*")

_REQUEST: Final = re.compile(r"^#+ My request(?:( for [^\n:]{1,60}):|:[ \t\r]*$)(?:[ \t\r]*$)?", re.MULTILINE)
_SHOWN: Final = re.compile(r"\s*(?:# [^\n]*:\s*\n|#+ My request|<[a-z][\w-]*>)")
_SETUP: Final = re.compile(r"\s*# Context from my IDE setup:")
"""How begins what an editor shows; before a request that is for nobody, which users write too, only in these words."""
CONTINUED: Final = "This session is being continued from a previous conversation"
"""How Claude Code's summary of a compaction begins."""
_PROGRAM: Final = re.compile(
    rf"{CONTINUED}"
    r"|(?:Stop|(?:Pre|Post)\w+|Subagent\w+|Session\w+|UserPromptSubmit|Notification)(?::\w+)? hook"
    r" (?:feedback:|success:|additional context:|blocking error from command:|stopped continuation:)"
    r"|Base directory for this skill:|Caveat: The messages below were generated by the user while running local"
    r"|(?:(?:Another Claude|A peer) session sent a message|The coordinator sent a message"
    r"|A message arrived from [^\n]+(?= while you were working:)|A background agent completed a task)"
    r"(?: while you were working)?:[ \t\r]*\n"
    r"|(?:Background agent \"[^\n]*\" was|\d+ background agents were) stopped by the user[.:]"
    r"|\[(?:SYSTEM NOTIFICATION|Cross-session [a-z]+ notice)\b"
    r"|This came from another Claude session\W+not\b|That \"other Claude session\" is an agent"
    r"|IMPORTANT: This is NOT from your user|Read the output file to retrieve the result:"
)
"""How words begin that the program writes in the user's place without a mark."""

_WHILE_WORKING: Final = re.compile(
    r"(?:<system-reminder>\s*)?The user sent a new message while you were working:(.*?)"
    r"^[ \t]*IMPORTANT: After completing your current task, you MUST address[^\n<]*(?:\s*</system-reminder>)?",
    re.DOTALL | re.MULTILINE,
)
"""How the program hands on what the user said while the model worked."""

_WINDOW: Final = 200_000
_LARGE_WINDOW: Final = 1_000_000

PartTurn = tuple[Role, TurnKind, str, dict[str, Any]]
"""(role, kind, text, further fields of a turn)."""


def parts_of(content: Any) -> list[Any]:
    """Return the parts of a message's content, which may be a single text; none for anything else."""
    return [content] if isinstance(content, str) else content if isinstance(content, list) else []


def turns_of_part(part: Any, who: str, text_kind: TurnKind | None = None, *, human: bool = False) -> Iterator[PartTurn]:
    """Yield the turns of a part of a message.

    who: user or assistant. text_kind: kind of its text, if its record says so; else words of the user are separated
    from inserted ones, see `words_of_user`.
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


def find_request(content: str, begin: int = 0) -> re.Match[str] | None:
    """Return the heading that separates what the user's editor shows from their own words; None without it."""
    heading = _REQUEST.search(content, begin)
    return heading if heading and (_SHOWN if heading[1] else _SETUP).match(content, begin) else None


def words_of_user(content: str, *, human: bool = False) -> Iterator[tuple[bool, str, str]]:
    """Yield (said by the user, text, speaker) of the content of a user's message.

    human: its record says that a person typed it; else elements at its beginning count as inserted, unless they have
    names of HTML elements.
    """
    command = _COMMAND.search(content)
    if command and content.lstrip().startswith(_OF_PROGRAM):
        words = _COMMAND_WORDS.search(content)
        arguments = words[1].strip() if words else ""
        yield bool(arguments), f"{command[1].strip()} {arguments}".strip(), ""
        return
    if "you MUST address" in content:
        content = _WHILE_WORKING.sub(r"\1", content)
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
        begun = None if human else _PROGRAM.match(rest)
        framed = _ELEMENT.match(rest, begun.end()) if begun else None
        yield begun is None, rest, _whose(framed) if framed else ""


def _whose(element: re.Match[str]) -> str:
    """Return the speaker of an element's words, by its attributes and name."""
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
    """Return the window of an Anthropic model in tokens, by its name and the largest request; None without a name."""
    if not model:
        return None
    return _LARGE_WINDOW if most > _WINDOW or "[1m]" in model else _WINDOW
