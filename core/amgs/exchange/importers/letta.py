"""Letta: agent files (`.af`), of the form with a list of agents and of the earlier one with one agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
from amgs.sessions.messages import call_text, text_of

_CONFIGURATION = ("tools", "mcp_servers", "groups", "sources", "skills")
_PASSAGES = ("passages", "archival_memory", "archival_passages")
_NO_SPEECH = ("heartbeat", "login")
_PROMPT = "the system prompt tells the agent what to do; the memory blocks in it are taken by themselves"


class LettaImporter:
    """See the module."""

    name: ForeignFormat = "letta"
    program = "Letta"

    def recognises(self, data: Any) -> bool:
        """Whether it is an agent file of either form."""
        return some(
            data,
            lambda one: (
                (isinstance(one.get("agents"), list) and isinstance(one.get("blocks"), list))
                or (isinstance(one.get("core_memory"), list) and "agent_type" in one)
            ),
        )

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each memory block, passage, file and message."""
        records = Records(self.name, options.ingest)
        many = isinstance(data, list)
        for path, found in records.objects("agent file", data if many else [data], ""):
            here = f"{path}." if many else ""
            agents = found.get("agents") if "agents" in found else [found]
            at = records.instant(found.get("created_at"), f"{here}created_at")
            _take_blocks(records, found.get("blocks"), f"{here}blocks", at)
            _take_files(records, found.get("files"), f"{here}files")
            _take_passages(records, found, here, "")
            for key in _CONFIGURATION:
                if isinstance(found.get(key), list) and found[key]:
                    why = "it belongs to how the agent is set up, not to its memory"
                    records.leave(key.rstrip("s").replace("_", " "), f"{here}{key}", why, len(found[key]))
            inside = f"{here}agents" if "agents" in found else ""
            for place, agent in records.objects("agent", agents, inside):
                _take_agent(records, agent, f"{place}." if inside else here, found is agent)
        return records.result()


def _take_agent(records: Records, agent: dict[str, Any], path: str, whole: bool) -> None:
    id = name(agent.get("id")) or name(agent.get("name"))
    at = records.instant(agent.get("created_at"), f"{path}created_at")
    for key in ("core_memory", "memory_blocks"):
        _take_blocks(records, agent.get(key), f"{path}{key}", at)
    if not whole:
        _take_passages(records, agent, path, id)
    messages: list[ForeignMessage] = []
    for here, one in records.objects("message", agent.get("messages"), f"{path}messages"):
        messages += _message(records, one, here)
    meta = {"agent": told} if (told := name(agent.get("name"))) else {}
    if messages:
        records.conversation(messages, f"{path}messages", id=id, title=name(agent.get("name")), meta=meta)


def _take_blocks(records: Records, blocks: Any, path: str, at: Any) -> None:
    for here, one in records.objects("memory block", blocks, path):
        label = name(one.get("label")) or "block"
        own = records.instant(one.get("updated_at") or one.get("created_at"), here) or at
        records.fact(
            "memory block",
            here,
            one.get("value"),
            source=records.source("memory", name(one.get("id")) or label),
            at=own,
            title=label,
            meta=records.original(one, here, without=("value",)),
        )


def _take_passages(records: Records, found: Mapping[str, Any], path: str, agent: str) -> None:
    for key in _PASSAGES:
        for here, one in records.objects("passage", found.get(key), f"{path}{key}"):
            tags = one.get("tags")
            tags = [t for tag in tags if (t := name(tag))] if isinstance(tags, list) else []
            records.fact(
                "passage",
                here,
                one.get("text"),
                source=records.source("archival", agent, name(one.get("id")) or here),
                at=records.instant(one.get("created_at"), f"{here}.created_at"),
                meta=({"tags": tags} if tags else {})
                | records.original(one, here, without=("text", "embedding", "tags")),
            )


def _take_files(records: Records, files: Any, path: str) -> None:
    for here, one in records.objects("file", files, path):
        title = name(one.get("original_file_name")) or name(one.get("file_name"))
        written = one.get("file_last_modified_date") or one.get("file_creation_date")
        records.fact(
            "file",
            here,
            one.get("content"),
            source=records.source("file", name(one.get("id")) or title),
            at=records.instant(written, here),
            title=title,
            meta=records.original(one, here, without=("content",)),
        )


def _message(records: Records, one: dict[str, Any], path: str) -> Iterator[ForeignMessage]:
    role = name(one.get("role"))
    if role == "system":
        records.leave("message", path, _PROMPT)
        return
    content = one.get("content") if one.get("content") is not None else one.get("text")
    said = text_of(content, f"{path}.content", records.note)
    packed = _packed(said)
    if packed is not None:
        if name(packed.get("type")) in _NO_SPEECH:
            records.leave("message", path, f"it is a {name(packed['type'])} of the program, nobody said it")
            return
        said = text(packed.get("message")) or said
    calls, spoken = _calls(one.get("tool_calls"))
    if spoken and said.strip():
        records.note("reasoning", f"{path}.content", "what the model thought is no memory")
        said = ""
    if role == "tool" and said.strip() in ("", "None"):
        records.leave("message", path, "the tool returned nothing")
        return
    without = ("role", "content", "text", "tool_calls", "created_at")
    meta = {"role": role} | records.original(one, path, without=without)
    at = records.instant(one.get("created_at"), f"{path}.created_at")
    parts = [part for part in (said, *spoken, *calls) if part.strip()]
    yield ForeignMessage(path, speaker(role, one.get("name")), "\n\n".join(parts), at, meta)


def _packed(said: str) -> dict[str, Any] | None:
    """The object that Letta packs what a user says and what a tool returns into."""
    if not said.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and ("message" in found or "type" in found) else None


def _calls(calls: Any) -> tuple[list[str], list[str]]:
    """The calls of tools in words, and what the agent said: it speaks by the tool `send_message`."""
    made: list[str] = []
    spoken: list[str] = []
    for one in calls if isinstance(calls, list) else []:
        function = one.get("function") if isinstance(one, dict) else None
        if not isinstance(function, dict):
            continue
        given = function.get("arguments")
        packed = _packed(given) if isinstance(given, str) else None
        said = text(packed.get("message")) if packed is not None else None
        if function.get("name") == "send_message" and said:
            spoken.append(said)
        else:
            made.append(call_text(function.get("name"), given))
    return made, spoken
