"""Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`, and subagents in `SESSION/subagents/agent-*.jsonl`.

A line is a record with `uuid` and `parentUuid`; together they are a tree, for a user may go back and say something
else. A compaction is a `system` record of subtype `compact_boundary` without a parent, followed by the model's summary
in a record of type `user` with `isCompactSummary`. One answer of the model spans several lines of one `requestId`. The
file holds neither the system prompt nor the definitions of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.anthropic_messages import parts_of, turns_of_part, usage_of, window_of
from amgs.sessions.building import SessionBuilder, SessionFormat, read_lines
from amgs.sessions.lines import (
    Line,
    Record,
    content_text,
    count,
    fields,
    instant,
    items,
    text,
)
from amgs.sessions.turn import Boundary, LoadedRules, Place, Session, Turn, TurnKind


class _Reading:
    def __init__(self, path: Path, limit: int | None) -> None:
        self.made = SessionBuilder("Claude Code", "claude-code", path, limit)

    def take(self, line: Line) -> None:
        """One line: turns, or a count of what it is."""
        record = line.value
        if record is None:
            self.made.fail(line)
            return
        self._know(record)
        before = len(self.made.turns)
        kind = text(record.get("type"))
        if kind in ("user", "assistant"):
            self._message(record, line.place, record, text(record.get("agentId")))
        elif kind == "system":
            self._system(record, line.place)
        elif kind == "attachment":
            self._attachment(record, line.place)
        elif kind == "progress":
            data = fields(record.get("data"))
            kind = f"progress: {text(data.get('type')) or 'other'}"
            if data.get("type") == "agent_progress":
                self._message(fields(data.get("message")), line.place, record, text(data.get("agentId")))
        if len(self.made.turns) == before:
            subtype = text(record.get("subtype") or fields(record.get("attachment")).get("type"))
            self.made.note(f"{kind}: {subtype}" if subtype else kind or "without a type")

    def _know(self, record: Record) -> None:
        self.made.know(
            id=text(record.get("sessionId")),
            project=text(record.get("cwd")),
            branch=text(record.get("gitBranch")),
            version=text(record.get("version")),
            title=text(record.get("customTitle") or record.get("summary") or record.get("aiTitle")),
        )

    def _message(self, record: Record, place: Place, outer: Record, agent: str) -> None:
        said = fields(record.get("message"))
        who = text(said.get("role")) or text(record.get("type"))
        if who not in ("user", "assistant"):
            return
        side = outer.get("isSidechain") is True or outer is not record
        common: dict[str, Any] = {
            "at": instant(record.get("timestamp") or outer.get("timestamp")),
            "id": text(record.get("uuid")),
            "parent": text(record.get("parentUuid") or record.get("logicalParentUuid")),
            "request": text(record.get("requestId")) or (text(said.get("id")) if who == "assistant" else ""),
            "agent": (agent or "subagent") if side else "",
        }
        if who == "assistant":
            model = text(said.get("model"))
            if model != "<synthetic>":
                self.made.know(**{"side_model" if side else "model": model})
            usage = usage_of(said.get("usage"))
            common["usage"] = usage if usage.window else None
        for part in parts_of(said.get("content")):
            for role, kind, told, more in turns_of_part(part, who, _told(who, record)):
                self.made.turn(place, role, kind, told, **common, **more)

    def _system(self, record: Record, place: Place) -> None:
        subtype = text(record.get("subtype"))
        if subtype not in ("compact_boundary", "microcompact_boundary"):
            return
        whole = subtype == "compact_boundary"
        about = fields(record.get("compactMetadata" if whole else "microcompactMetadata"))
        self.made.turn(
            place,
            "system",
            "boundary",
            text(record.get("content")),
            at=instant(record.get("timestamp")),
            id=text(record.get("uuid")),
            parent=text(record.get("parentUuid") or record.get("logicalParentUuid")),
            agent="subagent" if record.get("isSidechain") is True else "",
            boundary=Boundary(
                text(about.get("trigger")),
                count(about.get("preTokens")) or None,
                count(about.get("postTokens")) or None,
                tuple(_names(about.get("preservedMessages"), about.get("preservedSegment"))),
                tuple(_names(about.get("compactedToolIds"), about.get("clearedToolUseIds"))),
                whole,
            ),
        )

    def _attachment(self, record: Record, place: Place) -> None:
        one = fields(record.get("attachment"))
        kind = text(one.get("type"))
        spoken = kind == "queued_command" and text(one.get("commandMode")) in ("", "prompt")
        held = next((one[key] for key in _OF_ATTACHMENT if one.get(key)), None)
        told = "\n".join(held) if isinstance(held, list) and _is_texts(held) else content_text(held)
        if not told.strip():
            return
        if kind in ("nested_memory", "memory"):
            where = text(fields(one.get("content")).get("path") or one.get("path"))
            self.made.rules.append(LoadedRules(where, told, len(self.made.turns) + 1))
        self.made.turn(
            place,
            "user",
            "said" if spoken else "injected",
            told,
            at=instant(record.get("timestamp")),
            id=text(record.get("uuid")),
            parent=text(record.get("parentUuid")),
            agent="subagent" if record.get("isSidechain") is True else "",
        )

    def finish(self) -> None:
        """What only the whole file tells: which branches were left, whose model it is, how large the window is."""
        turns = self.made.turns
        agents = {turn.agent for turn in turns}
        if (
            len(agents) == 1 and "" not in agents
        ):  # the file of one subagent, which is a conversation of its own
            for turn in list(turns):
                self.made.change(turn, agent="")
        for turn in _abandoned(turns):
            self.made.change(turn, abandoned=True)
        self.made.know(model=self.made.facts.pop("side_model", ""))
        most = max((turn.usage.window for turn in turns if turn.usage and not turn.agent), default=0)
        self.made.know(window=window_of(self.made.facts.get("model", ""), most))


_OF_ATTACHMENT: Final = ("content", "prompt", "addedBlocks", "addedLines", "snippet", "stdout", "message")
"""Where the text of an attachment stands, the first that is there."""


def _told(who: str, record: Record) -> TurnKind | None:
    """What the text of a message is, where its record says so."""
    if who == "assistant":
        return "injected" if record.get("isApiErrorMessage") is True else None
    if record.get("isCompactSummary") is True:
        return "summary"
    return "injected" if record.get("isMeta") is True else None


def _names(*given: Any) -> Iterator[str]:
    """Every text in values of any shape: ids, however they are wrapped."""
    for one in given:
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from _names(*one.values())
        elif isinstance(one, list):
            yield from _names(*one)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _abandoned(turns: Sequence[Turn]) -> list[Turn]:
    """The turns on branches that the user left: below words of the user that are not on the way to the last record.

    Calls that are made at once have results on branches of their own, which nobody left.
    """
    main = [turn for turn in turns if not turn.agent and turn.id]
    parent = {turn.id: turn.parent for turn in main}
    spoken = {turn.id for turn in main if turn.kind == "said" and turn.role == "user"}
    path: set[str] = set()
    at = main[-1].id if main else ""
    while at and at not in path:
        path.add(at)
        at = parent.get(at, "")
    children: dict[str, list[str]] = {}
    for turn in main:
        siblings = children.setdefault(turn.parent, [])
        if turn.id in spoken and turn.id not in siblings:
            siblings.append(turn.id)
    left = {
        id
        for above, ids in children.items()
        if above and any(one in path for one in ids)
        for id in ids
        if id not in path
    }
    for turn in main:  # a child stands after its parent
        if turn.parent in left:
            left.add(turn.id)
    return [turn for turn in main if turn.id in left]


def read(path: Path, end: int | None = None) -> Session:
    """The session in a file, or in its last so many bytes; see the module. Raises InputError for a file that cannot be
    read.
    """
    return read_lines(path, partial(_Reading, path), end)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Whether lines are of Claude Code: records with a `sessionId` and a `uuid` or `message`."""
    del path
    return any(
        "sessionId" in one and ("parentUuid" in one or isinstance(one.get("message"), dict))
        for one in items([*first])
    )


FORMAT: Final = SessionFormat(
    "claude-code",
    "Claude Code",
    "2026-11-26, 2.1.38 to 2.1.117",
    (".claude/projects/**/*.jsonl", ".config/claude/projects/**/*.jsonl"),
    recognises,
    read,
    (b'"role":"user","content":"', b'"subtype":"compact_boundary"'),
    read_end=read,
)
