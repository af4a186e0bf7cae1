"""ChatGPT: `conversations.json` of its data export, with a tree of messages per conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amgs.exchange.importers.parsing import some, text
from amgs.exchange.importers.records import ForeignFormat, ForeignMessage, ForeignRecords, Records, speaker
from amgs.sessions.lines import name
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
OTHER_BRANCH = "it stands on another branch than the one that the conversation ended on"


class ChatGPTImporter:
    """See the module."""

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
    """Return the nodes from the root to the current one; if none is named, to the last one without children."""
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
    role = "system" if kind in _CONTEXTS else name(author.get("role"))
    tool = author.get("name") if role == "tool" else _CONTEXTS.get(kind)
    at = records.instant(message.get("create_time"), f"{path}.message.create_time")
    without = ("author", "content", "create_time")
    meta = {"role": role} | records.original(message, path, without=without)
    yield ForeignMessage(path, speaker(role, tool), written, at, meta)


def _text(records: Records, content: dict[str, Any], kind: str, path: str) -> str | None:
    """Return the text of a content; None for kinds without text."""
    parts = content.get("parts")
    if isinstance(parts, list):
        passages = (_part(records, part, f"{path}.parts[{n}]") for n, part in enumerate(parts))
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
