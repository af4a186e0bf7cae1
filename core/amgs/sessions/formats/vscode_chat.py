"""Copilot in VS Code: `workspaceStorage/HASH/chatSessions/SESSION.json`, and newer `SESSION.jsonl`.

A record is a request: what the user asked, and the parts of what came back. The newer files are a log of changes to
such a document: `kind` 0 is the whole, 1 sets a value at a path, 2 puts values at the end of a list, 3 takes a value
away. Results of tools, tokens and compactions are not told.

Source: `chatModel.ts` and `chatSessionStore.ts` of the microsoft/vscode repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.sessions.building import RecordReading, SessionFormat, read_document
from amgs.sessions.lines import Record, content_text, document_at, fields, instant, items, lines_of, text
from amgs.sessions.turn import Place, Session


class _Reading(RecordReading):
    def __init__(self, path: Path) -> None:
        super().__init__("Copilot in VS Code", "vscode-chat", path)

    def kind_of(self, record: Record) -> str:
        """Return the kind under which a record without turns is counted."""
        return "request" if "message" in record else "request without a message"

    def record(self, record: Record, place: Place) -> None:
        """Read one request into turns."""
        asked, id = record.get("message"), text(record.get("requestId"))
        more: dict[str, Any] = {"at": instant(record.get("timestamp")), "id": id}
        if prompt := asked if isinstance(asked, str) else text(fields(asked).get("text")):
            self.turn(place, "user", "said", text(prompt), **more)
        self.know(model=text(record.get("modelId")))
        more["request"] = id or f"request {place.line}"
        words: list[str] = []
        answer = record.get("response")
        for part in answer if isinstance(answer, list) else []:
            kind = text(fields(part).get("kind"))
            if kind == "toolInvocationSerialized":
                self._say(words, place, more)
                self._call(part, place, more)
            elif kind == "thinking":
                self._say(words, place, more)
                self.say(place, "assistant", "thinking", content_text(part.get("value")), **more)
            elif kind in ("", "markdownContent", "markdownVuln"):
                words.append(_markdown(part))
            elif kind == "inlineReference":
                words.append(text(part.get("name")))
        self._say(words, place, more)
        self.say(
            place,
            "system",
            "injected",
            text(fields(fields(record.get("result")).get("errorDetails")).get("message")),
            **more,
        )

    def _say(self, words: list[str], place: Place, more: dict[str, Any]) -> None:
        self.say(place, "assistant", "said", "".join(words).strip(), **more)
        words.clear()

    def _call(self, part: Record, place: Place, more: dict[str, Any]) -> None:
        shown = _markdown(part.get("pastTenseMessage") or part.get("invocationMessage"))
        command = fields(fields(part.get("toolSpecificData")).get("commandLine"))
        arguments = {"command": text(command.get("original"))} if command else {"what": shown}
        self.calls(place, part.get("toolId"), part.get("toolCallId"), arguments, **more)
        if (result := content_text(part.get("resultDetails"))) or part.get("isComplete") is True:
            self.result(place, part.get("toolCallId"), result, **more)


def _markdown(value: Any) -> str:
    """Return a text, or the value of a text in Markdown."""
    if isinstance(value, str):
        return text(value)
    markdown = fields(value)
    return text(markdown.get("value")) or content_text(markdown.get("content"))


def _replay_log(path: Path) -> Record:
    """Return the document that a log of changes builds. Raises InputError for an unreadable file."""
    whole: Any = {}
    for line in lines_of(path):
        change = line.value or {}
        kind, keys, value = change.get("kind"), change.get("k"), change.get("v")
        if kind == 0:
            whole = deepcopy(value)
            continue
        if not isinstance(keys, list) or not keys:
            continue
        try:
            container = whole
            for key in keys[:-1]:
                container = container[key]
            if kind == 1:
                container[keys[-1]] = value
            elif kind == 2:
                del container[keys[-1]][change["i"] if isinstance(change.get("i"), int) else len(container[keys[-1]]) :]
                container[keys[-1]].extend(value)
            elif kind == 3:
                del container[keys[-1]]
        except (LookupError, TypeError, AttributeError):
            continue
    return fields(whole)


def read(path: Path) -> Session:
    """Return the session in a file; see the module. Raises InputError for a file that cannot be read, or is no JSON."""
    first = next(lines_of(path), None)
    is_log = first is not None and first.value is not None and "kind" in first.value
    whole = _replay_log(path) if is_log else fields(document_at(path))
    if not isinstance(whole.get("requests"), list):
        raise InputError(f"{path} has no requests.", way_out="Give a chat of Copilot in VS Code.")
    reading = _Reading(path)
    reading.know(id=text(whole.get("sessionId")), title=text(whole.get("customTitle")))
    return read_document(path, reading, whole["requests"])


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether a document has requests and who answers, or a log begins with such a document."""
    del path
    whole = fields(first[0].get("v")) if first and first[0].get("kind") == 0 else first[0] if first else {}
    known = {"responderUsername", "requesterUsername", "initialLocation", "creationDate", "lastMessageDate"}
    return isinstance(whole.get("requests"), list) and (bool(known & {*whole}) or bool(items(whole["requests"])))


FORMAT: Final = SessionFormat(
    "vscode-chat",
    "Copilot in VS Code",
    "",
    (
        ".config/Code*/User/workspaceStorage/*/chatSessions/*.json*",
        ".config/Code*/User/globalStorage/emptyWindowChatSessions/*.json*",
        "Library/Application Support/Code*/User/workspaceStorage/*/chatSessions/*.json*",
        "AppData/Roaming/Code*/User/workspaceStorage/*/chatSessions/*.json*",
        ".vscode-server*/data/User/workspaceStorage/*/chatSessions/*.json*",
    ),
    recognises,
    read,
)
