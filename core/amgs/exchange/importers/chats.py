"""Importers for the data exports of ChatGPT and Claude."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from amgs.clock import EPOCH
from amgs.exchange.importers.parsing import instant, some, text
from amgs.exchange.importers.records import ForeignFormat, ForeignMessage, ForeignRecords, Records, speaker
from amgs.exchange.importers.transcripts import read_messages
from amgs.sessions.lines import fields, name
from amgs.sessions.messages import RESULTS
from amgs.settings import IngestSettings

_THOUGHTS = ("thoughts", "reasoning_recap")
_POINTERS = ("asset_pointer", "audio_asset_pointer", "video_container_asset_pointer")
_FIELDS = (
    "title",
    "url",
    "text",
    "result",
    "summary",
    "user_profile",
    "user_instructions",
    "model_set_context",
    "content",
)
"""Text fields of contents without parts."""
_CONTEXTS = {"user_editable_context": "Instructions", "model_editable_context": "Memory"}
"""Contents inserted by the program, with speaker names for them."""
_CITED = re.compile(r"(?<![ \t])[ \t]*\ue200(?:file)?cite\ue202[^\ue200\ue201]*\ue201")
"""Marks of sources in the text, which a screen shows as links."""
OTHER_BRANCH = "it stands on another branch than the one that the conversation ended on"


class ChatGPTImporter:
    """Reads `conversations.json` of ChatGPT's data export, with a tree of messages per conversation."""

    name: ForeignFormat = "chatgpt"
    program = "ChatGPT"

    def recognises(self, data: Any) -> bool:
        """Return whether a conversation has a tree of messages."""
        return some(data, lambda conversation: isinstance(conversation.get("mapping"), dict))

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return a block for each message of the branch on which each conversation ended."""
        records = Records(self.name, settings)
        whole = data if isinstance(data, list) else [data]
        for path, conversation in records.objects("conversation", whole, ""):
            mapping = conversation.get("mapping")
            if not isinstance(mapping, dict):
                records.leave("conversation", path, "it has no `mapping` of messages")
                continue
            here = path if isinstance(data, list) else ""
            _take(records, conversation, mapping, here)
        return records.result()


def _take(records: Records, conversation: dict[str, Any], mapping: dict[str, Any], path: str) -> None:
    chosen = choose_branch(records, mapping, conversation.get("current_node"), path)
    messages = [message for node in chosen for message in _message(records, mapping[node], _place(path, node))]
    for node, tree_node in mapping.items():
        if not isinstance(tree_node, dict) or (
            tree_node.get("message") is not None and _read_message(tree_node) is None
        ):
            records.leave("message", _place(path, node), "it is no object")
        elif node not in set(chosen) and _read_message(tree_node) is not None:
            records.leave("message", _place(path, node), OTHER_BRANCH)
    at = records.instant(conversation.get("create_time"), _at(path, "create_time"))
    meta = records.original(conversation, path, without=("mapping", "title", "current_node", "create_time"))
    id = name(conversation.get("conversation_id")) or name(conversation.get("id"))
    records.conversation(messages, path, id=id, title=name(conversation.get("title")), at=at, meta=meta)


def choose_branch(records: Records, mapping: dict[str, Any], current: Any, path: str) -> list[str]:
    """Return the nodes from the root to the current node; if none is named, to the last node without children."""
    if not isinstance(current, str) or current not in mapping:
        parents = {tree_node.get("parent") for tree_node in mapping.values() if isinstance(tree_node, dict)}
        parents = {parent for parent in parents if isinstance(parent, str)}
        leaves = [node for node in mapping if node not in parents]
        current = next(reversed(leaves), next(reversed(mapping), None))
        if current is not None:
            why = "it names no message; the branch of the last message without an answer was followed"
            records.note("current_node", _at(path, "current_node"), why)
    chain: dict[str, None] = {}
    while isinstance(current, str) and current in mapping:
        if current in chain:
            records.note("parent", _place(path, current), "the parents of the messages go round in a circle")
            break
        chain[current] = None
        node = mapping[current]
        current = node.get("parent") if isinstance(node, dict) else None
    return list(reversed(chain))


def _read_message(node: Any) -> dict[str, Any] | None:
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def _message(records: Records, node: Any, path: str) -> Iterator[ForeignMessage]:
    message = _read_message(node)
    if message is None:
        return
    author = message.get("author")
    author = author if isinstance(author, dict) else {}
    content = message.get("content")
    if not isinstance(content, dict):
        records.leave("message", path, "it has no content")
        return
    kind = name(content.get("content_type"))
    if kind in _THOUGHTS:
        records.leave("message", path, "what the model thought is no memory")
        return
    written = _text(records, content, kind, f"{path}.message.content")
    if written is None:
        records.leave("message", path, f"its content of type {kind or 'unknown'} has no text")
        return
    role = name(author.get("role"))
    hidden = fields(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if kind in _CONTEXTS or (role == "user" and hidden):  # the program wrote it in the user's place
        role = "system"
    tool = author.get("name") if role == "tool" else _CONTEXTS.get(kind)
    at = records.instant(message.get("create_time"), f"{path}.message.create_time")
    without = ("author", "content", "create_time")
    meta = {"role": role} | records.original(message, path, without=without)
    yield ForeignMessage(path, speaker(role, tool), written, at, meta)


def _text(records: Records, content: dict[str, Any], kind: str, path: str) -> str | None:
    """Return the text of a content; None for kinds without text."""
    parts = content.get("parts")
    if isinstance(parts, list):
        passages = (_CITED.sub("", _part(records, part, f"{path}.parts[{n}]")) for n, part in enumerate(parts))
        return "\n".join(passage for passage in passages if passage)
    if kind == "code" and isinstance(content.get("text"), str):
        language = name(content.get("language"))
        return f"```{'' if language == 'unknown' else language}\n{content['text']}\n```"
    texts = [content[key] for key in _FIELDS if isinstance(content.get(key), str) and content[key].strip()]
    return "\n".join(texts) if texts or "text" in content else None


def _part(records: Records, part: Any, path: str) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        records.note("part", path, "it is neither a text nor an object")
        return ""
    if isinstance(text(part.get("text")), str):
        return str(part["text"])
    kind = name(part.get("content_type")) or "part"
    inner = next((part[key] for key in _POINTERS if part.get(key)), None)
    file_name = name(inner.get("asset_pointer") if isinstance(inner, dict) else inner)
    records.note("part", path, f"the file of this {kind} is not in the document; its name stands in the message")
    return f"[{kind}: {file_name}]" if file_name else f"[{kind}]"


def _place(path: str, node: str) -> str:
    return _at(path, f"mapping.{name(node)}")


def _at(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


class ClaudeImporter:
    """Reads `conversations.json` of Claude's data export, a list of messages per conversation, `memories.json`, and
    `projects.json`.

    The list of messages also contains questions and answers that were replaced; `parent_message_uuid` links each
    message to its parent. `current_leaf_message_uuid`, if present, is the last message of the displayed branch; else
    that is the latest message.
    """

    name: ForeignFormat = "claude"
    program = "Claude"

    def recognises(self, data: Any) -> bool:
        """Return whether a conversation has messages, a memory has notes, or a project has documents, under Claude's
        names.
        """
        kinds = (_holds_notes, _holds_documents)
        return some(
            data, lambda record: isinstance(record.get("chat_messages"), list) or any(fits(record) for fits in kinds)
        )

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return a block for each message of the branch on which each conversation ended, each tool result, the text of
        each attachment, each memory note, and each document of a project.
        """
        records = Records(self.name, settings)
        whole = data if isinstance(data, list) else [data]
        for path, record in records.objects("conversation", whole, ""):
            if _holds_notes(record):
                _take_notes(records, record, path)
                continue
            if _holds_documents(record):
                _take_documents(records, record, path)
                continue
            messages = record.get("chat_messages")
            if not isinstance(messages, list):
                records.leave("conversation", path, "it has no `chat_messages`")
                continue
            within = f"{path}.chat_messages" if isinstance(data, list) else "chat_messages"
            _take_conversation(records, record, path, within)
        return records.result()


def _take_conversation(records: Records, conversation: dict[str, Any], path: str, within: str) -> None:
    id, title = name(conversation.get("uuid")), name(conversation.get("name"))
    at = records.instant(conversation.get("created_at"), f"{path}.created_at")
    listed = dict(records.objects("message", conversation["chat_messages"], within))
    tree = _tree(listed)
    chosen = choose_branch(records, tree, _last_of(conversation, listed, tree), within) if listed else []
    messages = list(read_messages(records, [item for here in chosen for item in _divide(records, listed[here], here)]))
    for here in listed:
        if here in chosen:
            _attachments(records, listed[here], here, id, title)
        else:
            records.leave("message", here, OTHER_BRANCH)
    without = ("chat_messages", "uuid", "name", "created_at", "current_leaf_message_uuid")
    meta = records.original(conversation, path, without=without)
    records.conversation(messages, path, id=id, title=title, at=at, meta=meta)


def _tree(listed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the indices of messages with those of their parents and children; a message without a parent follows the
    previous message.
    """
    by_id = {message["uuid"]: here for here, message in listed.items() if isinstance(message.get("uuid"), str)}
    tree: dict[str, Any] = {here: {"parent": None, "children": []} for here in listed}
    before = None
    for here, message in listed.items():
        parent_id = message.get("parent_message_uuid")
        parent = before if parent_id is None else by_id.get(parent_id) if isinstance(parent_id, str) else None
        tree[here]["parent"] = parent
        if parent is not None:
            tree[parent]["children"].append(here)
        before = here
    return tree


def _last_of(
    conversation: Mapping[str, Any], listed: Mapping[str, Mapping[str, Any]], tree: Mapping[str, Any]
) -> str | None:
    """Return the index of the message on which the conversation ended: the named message, else the latest without
    children; None without messages.
    """
    named = conversation.get("current_leaf_message_uuid")
    ends = [(instant(message.get("created_at")) or EPOCH, n, here) for n, (here, message) in enumerate(listed.items())]
    chosen = [here for _, _, here in ends if named and listed[here].get("uuid") == named]
    chosen += [here for _, _, here in sorted(ends, reverse=True) if not tree[here]["children"]]
    return next(iter(chosen), None)


_NOTES = ("conversations_memory", "project_memories")


def _holds_notes(record: Mapping[str, Any]) -> bool:
    return any(key in record for key in _NOTES)


def _take_notes(records: Records, memory: dict[str, Any], path: str) -> None:
    """Add the notes that Claude itself writes, on all conversations and on each project, and its memory files."""
    own, projects = memory.get(_NOTES[0]), memory.get(_NOTES[1])
    notes = [("", own, _NOTES[0])] if own else []
    for key, note in projects.items() if isinstance(projects, dict) else ():
        notes.append((name(key), note, f"{_NOTES[1]}.{name(key)}"))
    for project, note, key in notes:
        meta = {"project": project} if project else {}
        records.fact("memory", f"{path}.{key}", note, source=records.source("memory", project), at=None, meta=meta)
    files = memory.get("memory_files")
    for here, file in records.objects("memory", files, f"{path}.memory_files"):
        title = name(file.get("path")) or name(file.get("name"))
        records.fact(
            "memory", here, file.get("content"), source=records.source("memory", title), at=None, meta={}, title=title
        )


def _holds_documents(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("docs"), list) and "prompt_template" in record


def _take_documents(records: Records, project: dict[str, Any], path: str) -> None:
    """Add the instructions and the documents of a project."""
    title = name(project.get("name"))
    at = records.instant(project.get("created_at"), f"{path}.created_at")
    if project["prompt_template"]:
        source = records.source("project", title)
        records.fact(
            "instructions", f"{path}.prompt_template", project["prompt_template"], source=source, at=at, meta={}
        )
    for here, document in records.objects("document", project["docs"], f"{path}.docs"):
        file, dated = name(document.get("filename")), records.instant(document.get("created_at"), here)
        source = records.source("project", title, file)
        meta = {"project": title}
        records.fact("document", here, document.get("content"), source=source, at=dated or at, meta=meta, title=file)


_NOT_SAID = ("token_budget", "flag")
"""Parts about how an answer came about."""


def _divide(records: Records, message: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Split a message into its text and the tool results within it."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content] if content else []
    parts = [None if isinstance(part, dict) and part.get("type") in _NOT_SAID else part for part in parts]
    own = {
        key: value for key, value in message.items() if key not in ("content", "text", "sender", "attachments", "files")
    }
    own["role"] = message.get("sender", message.get("role"))
    names = [f"[file: {file}]" for file in _names(message.get("files"))]
    for n, _ in enumerate(names):
        records.note("file", f"{path}.files[{n}]", "the export holds its name and not what is in it")
    names += [f"[attachment: {file}]" for file in _names(message.get("attachments"))]
    results = [n for n, part in enumerate(parts) if isinstance(part, dict) and part.get("type") in RESULTS]
    edges = sorted({0, len(parts), *results, *(n + 1 for n in results)})
    runs = [range(start, end) for start, end in pairwise(edges)]
    if not any(run[0] not in results for run in runs):
        parts, runs = [*parts, message.get("text")], [*runs, range(len(parts), len(parts) + 1)]
    last = max(run[0] for run in runs if run[0] not in results)
    for run in runs:
        run_parts = [part if n in run else None for n, part in enumerate(parts)]  # each part keeps its number
        yield path, own | {"content": [*run_parts, *(names if run[0] == last else ())]}


def _names(files: Any) -> list[str]:
    file_list = files if isinstance(files, list) else []
    return [name(file.get("file_name")) or "unnamed" for file in file_list if isinstance(file, dict)]


def _attachments(records: Records, message: dict[str, Any], path: str, conversation: str, title: str) -> None:
    at = records.instant(message.get("created_at"), f"{path}.created_at")
    for here, attachment in records.objects("attachment", message.get("attachments"), f"{path}.attachments"):
        named = name(attachment.get("file_name")) or "unnamed"
        about = {"conversation": conversation, "dialogue": title}
        records.fact(
            "attachment",
            here,
            attachment.get("extracted_content"),
            source=records.source(conversation, named),
            at=at,
            title=named,
            meta={key: value for key, value in about.items() if value}
            | records.original(attachment, here, without=("extracted_content",)),
        )
