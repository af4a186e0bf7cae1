"""Claude: `conversations.json` of its data export, a list of messages for each conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amgs.exchange.importers.parsing import some, text
from amgs.exchange.importers.records import (
    ForeignFormat,
    ForeignMessage,
    ForeignRecords,
    ImportOptions,
    Records,
    speaker,
)
from amgs.sessions.lines import name
from amgs.sessions.messages import text_of


class ClaudeImporter:
    """See the module."""

    name: ForeignFormat = "claude"
    program = "Claude"

    def recognises(self, data: Any) -> bool:
        """Whether a conversation has messages under the name that Claude gives them."""
        return some(data, lambda one: isinstance(one.get("chat_messages"), list))

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each message, and the text of each attachment."""
        records = Records(self.name, options.ingest)
        whole = data if isinstance(data, list) else [data]
        for path, found in records.objects("conversation", whole, ""):
            said = found.get("chat_messages")
            if not isinstance(said, list):
                records.leave("conversation", path, "it has no `chat_messages`")
                continue
            within = f"{path}.chat_messages" if isinstance(data, list) else "chat_messages"
            id, title = name(found.get("uuid")), name(found.get("name"))
            at = records.instant(found.get("created_at"), f"{path}.created_at")
            messages: list[ForeignMessage] = []
            for here, one in records.objects("message", said, within):
                messages += _message(records, one, here)
                _attachments(records, one, here, id, title)
            meta = records.original(found, path, without=("chat_messages", "uuid", "name", "created_at"))
            records.conversation(messages, path, id=id, title=title, at=at, meta=meta)
        return records.result()


def _message(records: Records, one: dict[str, Any], path: str) -> Iterator[ForeignMessage]:
    content = one.get("content")
    written = text_of(content, f"{path}.content", records.note) if content else ""
    written = written or text(one.get("text")) or ""
    names = [f"[file: {told}]" for told in _names(one.get("files"))]
    names += [f"[attachment: {told}]" for told in _names(one.get("attachments"))]
    for n, _ in enumerate(_names(one.get("files"))):
        records.note("file", f"{path}.files[{n}]", "the export holds its name and not what is in it")
    role = one.get("sender", one.get("role"))
    at = records.instant(one.get("created_at"), f"{path}.created_at")
    without = ("content", "text", "sender", "role", "created_at", "attachments", "files")
    meta = {"role": name(role)} | records.original(one, path, without=without)
    yield ForeignMessage(
        path, speaker(role), "\n\n".join(part for part in (written, *names) if part), at, meta
    )


def _names(files: Any) -> list[str]:
    given = files if isinstance(files, list) else []
    return [name(one.get("file_name")) or "unnamed" for one in given if isinstance(one, dict)]


def _attachments(records: Records, one: dict[str, Any], path: str, conversation: str, title: str) -> None:
    at = records.instant(one.get("created_at"), f"{path}.created_at")
    for here, found in records.objects("attachment", one.get("attachments"), f"{path}.attachments"):
        named = name(found.get("file_name")) or "unnamed"
        about = {"conversation": conversation, "dialogue": title}
        records.fact(
            "attachment",
            here,
            found.get("extracted_content"),
            source=records.source(conversation, named),
            at=at,
            title=named,
            meta={key: told for key, told in about.items() if told}
            | records.original(found, here, without=("extracted_content",)),
        )
