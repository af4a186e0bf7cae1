"""Cline and Roo Code: `tasks/TASK/api_conversation_history.json`, and newer `SESSION.messages.json`.

A record is a message in Anthropic's form; the file is rewritten as a whole each time. A user's message contains
`environment_details` besides the user's words. Before native tool calls, calls were XML in the model's text, and
results were text of the user.

Roo Code leaves what a compaction replaced in the file, marked with `condenseParent` or `truncationParent`, and marks
the summary with `isSummary`. Cline keeps all messages, and writes the range that it leaves out of the window into
`ui_messages.json`. Newer versions write a summary into `SESSION.compaction.json`, which does not say where it belongs
and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import SessionBuilder, SessionFormat
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    beside,
    content_text,
    count,
    document_at,
    fields,
    instant,
    items,
    text,
    usage_with_cache,
)
from amgs.sessions.messages import PartTurn, parts_of, turns_of_part
from amgs.sessions.turn import Boundary, Place, Session, TurnKind
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_NAME: Final = "api_conversation_history.json"
_TOOLS: Final = (
    "write_to_file|replace_in_file|read_file|search_files|list_files|list_code_definition_names|execute_command"
    "|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|new_task|web_fetch"
    "|plan_mode_respond|apply_diff|insert_content|search_and_replace|switch_mode|fetch_instructions|codebase_search"
    "|update_todo_list|load_mcp_documentation"
)
_CALL: Final = re.compile(rf"<({_TOOLS})>(.*?)</\1>", re.DOTALL)
_ARGUMENT: Final = re.compile(r"<([a-z_]+)>(.*?)</\1>", re.DOTALL)
_RESULT: Final = re.compile(r"\[([a-z_]+)(?: for .*?)?\] Result:\s*", re.DOTALL)
_ENVELOPE: Final = re.compile(r"</?(?:task|user_message|feedback|answer)>\n?")
_FAILED: Final = re.compile(
    r"\s*(?:The tool execution failed|Error[: ]|\[ERROR\]|<error>|Command failed|Command exited with code [1-9])"
)
_AGENTS: Final = {
    "rooveterinaryinc": "Roo Code",
    "/roo/": "Roo Code",
    "kilocode.": "Kilo Code",
    "/.kilocode/": "Kilo Code",
}
"""Programs by what is in the path of their files."""
_MARKS: Final = ("<environment_details>", "<task>", "<user_message>")


class _Reading(SessionBuilder):
    def __init__(self, path: Path, agent: str) -> None:
        super().__init__(agent, "cline", path)
        self._messages: list[Record] = []
        self._unanswered: list[str] = []
        """Ids of the calls in XML that have no result yet."""

    def take(self, messages: Sequence[Any], cuts: dict[int, Boundary]) -> None:
        """Read all messages. cuts: compactions that another file reports, by the index of the message that they
        precede.
        """
        whole = [record if isinstance(record, dict) else {} for record in messages]
        self._messages = [record for record in whole if record]
        for index, message in enumerate(messages):
            place = Place(index + 1)
            if not isinstance(message, dict):
                self.fail(Line(place, None, "not an object"))
                continue
            before = len(self.turns)
            at = instant(message.get("ts"))
            if cut := cuts.get(index):
                self.turn(place, "system", "boundary", "", at=at, boundary=cut)
            self._message(message, place, index)
            if len(self.turns) == before:
                self.note(f"message: {text(message.get('role')) or 'without a role'}")

    def _message(self, message: Record, place: Place, index: int) -> None:
        role = text(message.get("role"))
        text_kind: TurnKind | None = None
        common: dict[str, Any] = {"at": instant(message.get("ts")), "id": f"message {index}"}
        marker, summary = message.get("isTruncationMarker") is True, message.get("isSummary") is True
        if marker or summary:
            self._boundary(message, place, common)
            text_kind = "summary" if summary else "injected"
        if role not in ("user", "assistant"):
            return
        if role == "assistant":
            about = fields(message.get("modelInfo"))
            self.know(model=text(about.get("modelId") or about.get("id")))
            usage = _usage(fields(message.get("metrics")))
            common |= {"usage": usage if usage.window else None, "request": f"message {index}"}
        for number, part in enumerate(_join_results(parts_of(message.get("content")))):
            for who, kind, words, more in self._split(part, role, text_kind, f"{index}.{number}"):
                self.turn(place, who, kind, words, **common, **more)

    def _split(self, part: Any, role: str, text_kind: TurnKind | None, id: str) -> Iterator[PartTurn]:
        """Yield the turns of a part; calls and results written as XML in a text become turns of their own."""
        for who, kind, words, more in turns_of_part(part, role, text_kind):
            if kind == "result":
                failed = more["failed"] or _FAILED.match(words) is not None
                yield who, kind, words, more | {"failed": failed}
            elif kind == "said" and role == "assistant":
                rest = _CALL.sub("", words).strip()
                if rest:
                    yield who, "said", rest, more
                for number, match in enumerate(_CALL.finditer(words)):
                    call = ToolCall(f"{id}.{number}", match[1], as_json(dict(_ARGUMENT.findall(match[2]))))
                    self._unanswered.append(call.id)
                    yield who, "call", "", more | {"calls": (call,)}
            elif kind == "said" and (result := _RESULT.match(words)):
                answers = self._unanswered.pop(0) if self._unanswered else ""
                output = words[result.end() :].strip()
                yield ("tool", "result", output, {"answers": answers, "failed": _FAILED.match(output) is not None})
            elif kind == "said" and role == "user":
                yield who, kind, _ENVELOPE.sub("", words).strip(), more
            else:
                yield who, kind, words, more

    def _boundary(self, message: Record, place: Place, common: dict[str, Any]) -> None:
        """Add a compaction of Roo Code: the records that it removed name it; all others before it stay."""
        for key, own in (("condenseParent", "condenseId"), ("truncationParent", "truncationId")):
            id = text(message.get(own))
            if not id:
                continue
            message_ids = tuple(
                f"message {number}"
                for number, other_message in enumerate(self._messages[: place.line - 1])
                if other_message.get(key) != id
                and not other_message.get("condenseParent")
                and not other_message.get("truncationParent")
            )
            self.compact(place, Boundary(preserved=message_ids), **common)
            return
        self.compact(place, Boundary(), **common)


def _join_results(parts: Sequence[Any]) -> Iterator[Any]:
    """Yield the parts, joining a text that names the call of a result with the result, which is the next text."""
    waiting = ""
    for part in parts:
        words = text(fields(part).get("text"))
        if waiting and words and not words.startswith("<environment_details>"):
            yield {"type": "text", "text": f"{waiting}\n{words}"}
            waiting = ""
            continue
        if waiting:
            yield {"type": "text", "text": waiting}
        waiting = words if _RESULT.fullmatch(words.strip()) else ""
        if not waiting:
            yield part
    if waiting:
        yield {"type": "text", "text": waiting}


def _usage(metrics: Record) -> Usage:
    tokens = fields(metrics.get("tokens"))
    if tokens:
        return usage_with_cache(tokens.get("prompt"), count(tokens.get("completion")), tokens.get("cached"))
    return Usage(
        count(metrics.get("inputTokens")),
        count(metrics.get("cacheWriteTokens")),
        count(metrics.get("cacheReadTokens")),
        count(metrics.get("outputTokens")),
    )


def _cuts(shown: Any, messages: int) -> dict[int, Boundary]:
    """Return the compactions of Cline by message index, from the messages that it shows: each is a change of the range
    that a request leaves out.
    """
    boundaries: dict[int, Boundary] = {}
    before = None
    for message in items(shown):
        left_out = message.get("conversationHistoryDeletedRange")
        index = message.get("conversationHistoryIndex")
        if not (isinstance(left_out, list) and [isinstance(end, int) for end in left_out] == [True, True]):
            continue
        if left_out != before and isinstance(index, int) and 0 <= index + 1 < messages:
            message_ids = [f"message {n}" for n in range(index + 1) if not left_out[0] <= n <= left_out[1]]
            boundaries[index + 1] = Boundary(preserved=tuple(message_ids))
        before = left_out
    return boundaries


def read(path: Path) -> Session:
    """Return the task in a file; see the module. Raises InputError for a file that cannot be read or is no JSON."""
    whole = document_at(path)
    about = fields(whole)
    messages = about.get("messages") if about else whole
    if not isinstance(messages, list):
        raise InputError(f"{path} has no messages.", way_out="Give a task of Cline or Roo Code.")
    folders = f"/{path.as_posix()}".lower()
    reading = _Reading(path, next((agent for mark, agent in _AGENTS.items() if mark in folders), "Cline"))
    cuts = _cuts(beside(path.with_name("ui_messages.json")), len(messages)) if path.name == _NAME else {}
    name = path.name.removesuffix(".messages.json")
    if name != path.name:
        manifest = fields(beside(path.with_name(f"{name}.json")))
        reading.know(
            id=text(manifest.get("session_id")) or text(about.get("sessionId")) or name,
            project=text(manifest.get("workspace_root") or manifest.get("cwd")),
            model=text(manifest.get("model")),
            title=text(fields(manifest.get("metadata")).get("title")),
        )
    reading.know(id=text(about.get("taskId")) or path.parent.name)
    reading.take(messages, cuts)
    return reading.session()


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a file has the name, or messages with what only these two programs put into them."""
    if path.name == _NAME:
        return True
    inner = items(first[0].get("messages")) if len(first) == 1 else []
    if path.name.endswith(".messages.json"):
        return any("role" in message for message in inner)
    messages = [record for record in first if "role" in record and "content" in record]
    return any(content_text(message.get("content")).startswith(_MARKS) for message in messages[:4])


FORMAT: Final = SessionFormat(
    "cline",
    "Cline, Roo Code",
    "",
    (
        ".config/*/User/globalStorage/*/tasks/*/api_conversation_history.json",
        "Library/Application Support/*/User/globalStorage/*/tasks/*/api_conversation_history.json",
        "AppData/Roaming/*/User/globalStorage/*/tasks/*/api_conversation_history.json",
        ".vscode-server*/data/User/globalStorage/*/tasks/*/api_conversation_history.json",
        ".cline/data/tasks/*/api_conversation_history.json",
        ".cline/data/sessions/*/*.messages.json",
    ),
    recognises,
    read,
)
