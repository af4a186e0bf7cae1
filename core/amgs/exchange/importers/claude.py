"""Claude: `conversations.json` of its data export, a list of messages for each conversation, and `memories.json`.

A question that was edited and an answer that was given anew stand in that list beside what replaced them, each under
`parent_message_uuid`; `current_leaf_message_uuid`, where it is there, names the last message of the branch that is
shown, else it is the one that was written last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.clock import EPOCH
from amgs.exchange.importers.chatgpt import OTHER_BRANCH, chosen_branch, other_branches
from amgs.exchange.importers.parsing import instant, some, text
from amgs.exchange.importers.records import (
    ForeignFormat,
    ForeignMessage,
    ForeignRecords,
    ImportOptions,
    Records,
    speaker,
)
from amgs.sessions.lines import as_json, name
from amgs.sessions.lines import text as storable
from amgs.sessions.messages import CALLS, RESULTS, Note, text_of
from amgs.types.conversation import Message, ToolCall


class ClaudeImporter:
    """See the module."""

    name: ForeignFormat = "claude"
    program = "Claude"

    def recognises(self, data: Any) -> bool:
        """Whether a conversation has messages, or a memory notes, under the names that Claude gives them."""
        return some(data, lambda one: isinstance(one.get("chat_messages"), list) or _holds_notes(one))

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each message of the branch that each conversation ended on (of all branches where asked), each
        result of a tool, the text of each attachment, and each text of the memory.
        """
        records = Records(self.name, options.ingest)
        whole = data if isinstance(data, list) else [data]
        for path, found in records.objects("conversation", whole, ""):
            if _holds_notes(found):
                _take_notes(records, found, path)
                continue
            said = found.get("chat_messages")
            if not isinstance(said, list):
                records.leave("conversation", path, "it has no `chat_messages`")
                continue
            within = f"{path}.chat_messages" if isinstance(data, list) else "chat_messages"
            _take_conversation(records, found, path, within, options.branches)
        return records.result()


def _take_conversation(records: Records, found: dict[str, Any], path: str, within: str, branches: bool) -> None:
    id, title = name(found.get("uuid")), name(found.get("name"))
    at = records.instant(found.get("created_at"), f"{path}.created_at")
    listed = dict(records.objects("message", found["chat_messages"], within))
    tree = _tree(listed)
    chosen = chosen_branch(records, tree, _last_of(found, listed, tree), within) if listed else []
    others = [here for here in listed if here not in set(chosen)]
    chains = [("", chosen)]
    chains += [(f"branch {n}", c) for n, c in enumerate(other_branches(tree, others), 1)] if branches else []
    messages: list[ForeignMessage] = []
    for session, chain in chains:
        for here in chain:
            messages += _messages(records, listed[here], here, session)
            _attachments(records, listed[here], here, id, title)
    for here in () if branches else others:
        records.leave("message", here, OTHER_BRANCH)
    without = ("chat_messages", "uuid", "name", "created_at", "current_leaf_message_uuid")
    meta = records.original(found, path, without=without)
    records.conversation(messages, path, id=id, title=title, at=at, meta=meta)


def _tree(listed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The places of messages with those of their parents and children; who tells no parent follows the one before."""
    by_id = {one["uuid"]: here for here, one in listed.items() if isinstance(one.get("uuid"), str)}
    tree: dict[str, Any] = {here: {"parent": None, "children": []} for here in listed}
    before = None
    for here, one in listed.items():
        given = one.get("parent_message_uuid")
        parent = before if given is None else by_id.get(given) if isinstance(given, str) else None
        tree[here]["parent"] = parent
        if parent is not None:
            tree[parent]["children"].append(here)
        before = here
    return tree


def _last_of(found: Mapping[str, Any], listed: Mapping[str, Mapping[str, Any]], tree: Mapping[str, Any]) -> str | None:
    """The place of the message that the conversation ended on: the latest of those that nothing follows."""
    named = found.get("current_leaf_message_uuid")
    ends = [(instant(one.get("created_at")) or EPOCH, n, here) for n, (here, one) in enumerate(listed.items())]
    chosen = [here for _, _, here in ends if named and listed[here].get("uuid") == named]
    chosen += [here for _, _, here in sorted(ends, reverse=True) if not tree[here]["children"]]
    return next(iter(chosen), None)


_NOTES = ("conversations_memory", "project_memories")


def _holds_notes(one: Mapping[str, Any]) -> bool:
    return any(key in one for key in _NOTES)


def _take_notes(records: Records, found: dict[str, Any], path: str) -> None:
    """What Claude keeps in mind of all conversations and of each project: its own words, which nobody said."""
    own, projects = found.get(_NOTES[0]), found.get(_NOTES[1])
    given = [("", own, _NOTES[0])] if own else []
    for key, told in projects.items() if isinstance(projects, dict) else ():
        given.append((name(key), told, f"{_NOTES[1]}.{name(key)}"))
    for project, told, key in given:
        meta = {"project": project} if project else {}
        records.fact("memory", f"{path}.{key}", told, source=records.source("memory", project), at=None, meta=meta)
    files = found.get("memory_files")
    for here, one in records.objects("memory", files, f"{path}.memory_files"):
        title = name(one.get("path")) or name(one.get("name"))
        records.fact(
            "memory", here, one.get("content"), source=records.source("memory", title), at=None, meta={}, title=title
        )


def _messages(records: Records, one: dict[str, Any], path: str, session: str) -> Iterator[ForeignMessage]:
    """What a message says, and apart from it what tools gave in the course of it."""
    content = one.get("content")
    names = [f"[file: {told}]" for told in _names(one.get("files"))]
    names += [f"[attachment: {told}]" for told in _names(one.get("attachments"))]
    for n, _ in enumerate(_names(one.get("files"))):
        records.note("file", f"{path}.files[{n}]", "the export holds its name and not what is in it")
    role = one.get("sender", one.get("role"))
    at = records.instant(one.get("created_at"), f"{path}.created_at")
    without = ("content", "text", "sender", "role", "created_at", "attachments", "files")
    meta = {"role": name(role)} | records.original(one, path, without=without)
    parts = content if isinstance(content, list) else [content] if content else []
    calls = _calls(parts)
    pieces: list[_Piece] = []
    for n, part in enumerate(parts):
        place = f"{path}.content[{n}]" if isinstance(content, list) else f"{path}.content"
        told = storable(text_of([part], f"{path}.content", _noting(records, n)))
        if not told.strip():
            continue
        if isinstance(part, dict) and part.get("type") in RESULTS:
            pieces.append(_Piece(place, [told], who=speaker("tool", part.get("name")), answers=calls.get(n)))
            continue
        if not pieces or pieces[-1].who:
            pieces.append(_Piece(place))
        pieces[-1].told.append(told)
        if n in calls.values():
            pieces[-1].calls.append(n)
        else:
            pieces[-1].said.append(told)
    if all(piece.who for piece in pieces):
        pieces.append(_Piece(path, [text(one.get("text")) or ""]))
    own = [piece for piece in pieces if not piece.who]
    own[0].place, own[-1].told = path, [*filter(None, own[-1].told), *names]
    own[-1].said += names
    for piece in pieces:
        told = "\n\n".join(piece.told)
        if piece.who:
            made = (
                None
                if piece.answers is None
                else Message(0, "tool", told, at, piece.who, answers=f"{path}.{piece.answers}")
            )
            yield ForeignMessage(piece.place, piece.who, told, at, {"role": "tool"}, session, message=made)
        elif told or piece is own[0]:
            called = tuple(_call(parts[n], f"{path}.{n}") for n in piece.calls)
            made = Message(0, "assistant", "\n\n".join(piece.said), at, calls=called) if called else None
            yield ForeignMessage(piece.place, speaker(role), told, at, meta, session, message=made)


@dataclass
class _Piece:
    """What stands in a message between results, or one result. told: all texts; said: those that are no call with a
    result; calls: the places of such. who: the tool of a result. answers: the place of its call, None where none fits.
    """

    place: str
    told: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    who: str = ""
    answers: int | None = None


def _calls(parts: Sequence[Any]) -> dict[int, int]:
    """The place of the call that each result answers: by its id, else the last of that tool that has no result yet."""
    made: dict[int, int] = {}
    for n, part in enumerate(parts):
        if not isinstance(part, dict) or part.get("type") not in RESULTS:
            continue
        keys = ("id", part.get("tool_use_id")) if part.get("tool_use_id") else ("name", part.get("name"))
        open_ones = [
            m
            for m, one in enumerate(parts[:n])
            if isinstance(one, dict) and one.get("type") in CALLS and m not in made.values()
        ]
        fits = [m for m in open_ones if keys[1] is not None and parts[m].get(keys[0]) == keys[1]]
        if fits:
            made[n] = fits[-1]
    return made


def _call(part: Mapping[str, Any], id: str) -> ToolCall:
    return ToolCall(id, name(part.get("name")) or "tool", as_json(part.get("input")))


def _noting(records: Records, number: int) -> Note:
    """Notes what is not taken of the part with a number, at its place in the whole."""
    return lambda kind, path, why: records.note(kind, path.replace("[0]", f"[{number}]", 1), why)


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
