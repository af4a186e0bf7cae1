"""Claude Code: `~/.claude/projects/PROJECT/SESSION.jsonl`, and subagents in `SESSION/subagents/agent-*.jsonl`.

A line is a record with `uuid` and `parentUuid`; together they are a tree, since a user may go back and say something
else. A compaction is a `system` record of subtype `compact_boundary` without a parent, followed by the model's summary
in a record of type `user` with `isCompactSummary`. An answer of the model spans several lines with the same
`requestId`. The file contains neither the system prompt nor the definitions of tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from amgs.sessions.branches import RecordNode, find_abandoned_records
from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import Line, Record, content_text, count, fields, instant, text
from amgs.sessions.messages import CONTINUED, parts_of, turns_of_part, usage_of, window_of, words_of_user
from amgs.sessions.turn import Boundary, LoadedRules, Place, TurnKind

_HUMAN: Final = ("typed", "sdk", "queued", "paste", "voice", "suggestion", "suggestion_accepted", "user", "human")
"""Values of `promptSource` and `turnOrigin` for words that a person sent."""


class ClaudeReading(RecordReading):
    """A reading of records of Claude Code."""

    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Claude Code", "claude-code", path, limit)
        self._nodes: dict[str, RecordNode] = {}
        """All records of the main conversation that have an id."""
        self._last = ""
        """The id of the last message of the main conversation."""
        self._times: dict[tuple[str, str, int], list[str]] = {}
        """The ids of the messages of the main conversation, by time, type and the hash of their words."""
        self._compacted: tuple[int, str] = (0, "")
        """The number and time of the last compaction."""
        self._titles: dict[str, str] = {}
        """The last title in each field."""
        self._marked = ""
        """The version whose prompts state their sender, once one does."""

    def take(self, line: Line) -> None:
        """Read a line into turns; count it by kind if it has none."""
        record = line.value
        if record is None:
            self.fail(line)
            return
        self._know(record)
        before = len(self.turns)
        kind, id = text(record.get("type")), text(record.get("uuid"))
        if again := self._find_again(record, kind, id):
            kind = f"{kind}, written again"
            self._preserve(again)
        elif kind in ("user", "assistant"):
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
        if "parentUuid" in record and id and id not in self._nodes and record.get("isSidechain") is not True:
            self._chain(record, kind, before)
        if len(self.turns) == before:
            subtype = text(record.get("subtype") or fields(record.get("attachment")).get("type"))
            self.note(f"{kind}: {subtype}" if subtype else kind or "without a type")

    def _find_again(self, record: Record, kind: str, id: str) -> Sequence[str]:
        """Return the ids of the record that this one repeats, since a compaction preserved it; some versions give it
        another id, but its time and words.
        """
        if id and id in self._nodes:
            return (id,)
        if kind not in ("user", "assistant") or record.get("isSidechain") is True:
            return ()
        at = text(record.get("timestamp"))
        words = content_text(fields(record.get("message")).get("content"))
        same = self._times.setdefault((at, kind, hash(words)), [])
        if same and at and at < self._compacted[1]:
            return same
        same.append(id)
        return ()

    def _preserve(self, ids: Sequence[str]) -> None:
        if number := self._compacted[0]:
            turn = self.turns[number - 1]
            if turn.boundary is not None:
                self.change(turn, boundary=replace(turn.boundary, preserved=(*turn.boundary.preserved, *ids)))

    def _chain(self, record: Record, kind: str, before: int) -> None:
        """Add a record of any kind to the tree."""
        id, own = text(record.get("uuid")), [turn for turn in self.turns[before:] if not turn.agent]
        kinds = {turn.kind for turn in own}
        what: Literal["said", "put in", "answer", "other"] = "other"
        if kind == "assistant" or kinds & {"result", "summary", "boundary"}:
            what = "answer"
        elif kind == "user" and own:
            what = "said" if "said" in kinds else "put in"
        parent = text(record.get("parentUuid") or record.get("logicalParentUuid"))
        parent = parent or (self._last if "boundary" in kinds else "")
        self._nodes[id] = RecordNode(parent, what, own[0].request if own else "")
        if kind in ("user", "assistant"):
            self._last = id

    def _know(self, record: Record) -> None:
        forked = fields(record.get("forkedFrom"))
        self.know(
            id=text(record.get("sessionId")),
            project=text(record.get("cwd")),
            branch=text(record.get("gitBranch")),
            version=text(record.get("version")),
            forked=text(forked.get("sessionId")),
            continued=text(record.get("continuedInSessionId")),
        )
        for key in _TITLES:
            if title := text(record.get(key)):
                self._titles[key] = title

    def _message(self, record: Record, place: Place, outer: Record, agent: str) -> None:
        message = fields(record.get("message"))
        who = text(message.get("role")) or text(record.get("type"))
        if who not in ("user", "assistant"):
            return
        side = outer.get("isSidechain") is True or outer is not record
        common = self._common(record) | {
            "at": instant(record.get("timestamp") or outer.get("timestamp")),
            "request": (text(message.get("id")) or text(record.get("requestId"))) if who == "assistant" else "",
            "agent": (agent or "subagent") if side else "",
        }
        if who == "assistant":
            model = text(message.get("model"))
            if model != "<synthetic>":
                self.know(**{"side_model" if side else "model": model})
                common["model"] = model
            usage = usage_of(message.get("usage"))
            common["usage"] = usage if usage.window else None
        text_kind, speaker, human = self._classify_message(who, record, side=side)
        for part in parts_of(message.get("content")):
            for role, kind, words, more in turns_of_part(part, who, text_kind, human=human):
                named: dict[str, Any] = {"speaker": speaker} if kind == "injected" and speaker else {}
                self.turn(place, role, kind, words, **common, **named | more)

    def _classify_message(self, who: str, record: Record, *, side: bool) -> tuple[TurnKind | None, str, bool]:
        """Return the kind of a message's text, None if not recorded; the speaker; and whether a person typed it."""
        if who == "assistant":
            return ("injected" if record.get("isApiErrorMessage") is True else None), "", False
        words = content_text(fields(record.get("message")).get("content"))
        anew = bool(self.turns) and self.turns[-1].kind == "boundary"
        if record.get("isCompactSummary") is True or (anew and words.startswith(CONTINUED)):
            return "summary", "", False
        human, sender = _sender(record)
        if sender or (not human and (record.get("isMeta") is True or record.get("isSynthetic") is True)):
            return "injected", sender, False
        version = text(record.get("version")) or "unknown"
        if human:
            self._marked = version
        elif self._marked == version and not (side or "permissionMode" in record or "<command-name>" in words):
            return "injected", next((speaker for _, _, speaker in words_of_user(words)), ""), False
        return None, "", human == "typed"

    def _system(self, record: Record, place: Place) -> None:
        subtype = text(record.get("subtype"))
        if subtype not in ("compact_boundary", "microcompact_boundary"):
            return
        whole = subtype == "compact_boundary"
        about = _metadata(record, "compactMetadata" if whole else "microcompactMetadata")
        turn = self.turn(
            place,
            "system",
            "boundary",
            text(record.get("content")),
            **self._common(record),
            boundary=Boundary(
                text(about.get("trigger")),
                count(about.get("preTokens")) or None,
                count(about.get("postTokens")) or None,
                tuple(self._find_preserved_ids(about)),
                tuple(_names(about.get("compactedToolIds"), about.get("clearedToolUseIds"))),
                whole,
            ),
        )
        if whole and not turn.agent:
            self._compacted = turn.number, text(record.get("timestamp"))

    def _common(self, record: Record) -> dict[str, Any]:
        """Return the fields common to all turns of a record."""
        side = record.get("isSidechain") is True
        return {
            "at": instant(record.get("timestamp")),
            "id": text(record.get("uuid")),
            "parent": text(record.get("parentUuid") or record.get("logicalParentUuid")),
            "agent": (text(record.get("agentId")) or "subagent") if side else "",
            "copied": "forkedFrom" in record,
        }

    def _find_preserved_ids(self, about: Record) -> Iterator[str]:
        """Yield the ids of the preserved records: those named, or all from the head of a segment to its tail."""
        messages, segment = fields(about.get("preservedMessages")), fields(about.get("preservedSegment"))
        yield from _names(about.get("preservedMessages"), about.get("preservedSegment"), about.get("allUuids"))
        head, tail = text(segment.get("headUuid")), text(segment.get("tailUuid"))
        ids = [*self._nodes] or [turn.id for turn in self.turns if not turn.agent]
        if "allUuids" in {*messages, *segment, *about} or not {head, tail} & {*ids} - {""}:
            return
        first = ids.index(head) if head in ids else ids.index(tail)
        last = len(ids) - ids[::-1].index(tail) if tail in ids else len(ids)
        yield from (id for id in ids[first:last] if id)

    def _attachment(self, record: Record, place: Place) -> None:
        attachment = fields(record.get("attachment"))
        kind = text(attachment.get("type"))
        human, sender = _sender({**record, **attachment})
        spoken = kind == "queued_command" and text(attachment.get("commandMode")) in ("", "prompt") and not sender
        payload = next((attachment[key] for key in _OF_ATTACHMENT if attachment.get(key)), None)
        content = "\n".join(payload) if isinstance(payload, list) and _is_texts(payload) else content_text(payload)
        if not content.strip():
            return
        if kind in ("nested_memory", "memory"):
            where = text(fields(attachment.get("content")).get("path") or attachment.get("path"))
            self.rules.append(LoadedRules(where, content, len(self.turns) + 1))
        words = words_of_user(content, human=human == "typed") if spoken else [(False, content, sender)]
        for by_user, part, speaker in words:
            more = self._common(record) | {"speaker": speaker}
            self.turn(place, "user", "said" if by_user else "injected", part, **more)

    def finish(self) -> None:
        """Add the facts that only the whole file shows: abandoned branches, the model, the window size."""
        facts = self.facts
        forked = facts.pop("forked", "")
        if self.turns and all(turn.agent for turn in self.turns):  # the file of a subagent is its own conversation
            own = self.turns[0].agent
            self.know(parent=facts.pop("id", ""), relation="subagent")
            self.know(id=self.path.stem if self.path.stem.startswith("agent-") else own)
            for turn in [turn for turn in self.turns if turn.agent == own]:
                self.change(turn, agent="")
        elif forked:
            self.know(parent=forked, relation="fork")
        left = find_abandoned_records(self._nodes, self._last)
        for turn in [turn for turn in self.turns if turn.id in left and not turn.agent]:
            self.change(turn, abandoned=True)
        self.know(title=next((self._titles[key] for key in _TITLES if key in self._titles), ""))
        self.know(model=facts.pop("side_model", ""))
        most = max((turn.usage.window for turn in self.turns if turn.usage and not turn.agent), default=0)
        self.know(window=window_of(facts.get("model", ""), most))


_TITLES: Final = ("customTitle", "aiTitle", "summary")
"""Fields with a title, one set by hand first."""
_OF_ATTACHMENT: Final = ("content", "prompt", "addedBlocks", "addedLines", "snippet", "stdout", "message")
"""Fields with the text of an attachment; the first present one counts."""


def _sender(record: Record) -> tuple[str, str]:
    """Return how a person sent the words ("typed", "sent", or "" if none did), and the program that sent them."""
    raw_origin = record.get("origin")
    origin = fields(raw_origin)
    kind = text(origin.get("kind")) or text(raw_origin) or text(record.get("turnOrigin"))
    source = text(record.get("promptSource"))
    if kind and kind not in _HUMAN:
        sender = next((name for key in ("name", "from", "source", "server") if (name := text(origin.get(key)))), "")
        return "", f"{sender} ({kind})" if sender else kind
    if source and source not in _HUMAN and not kind:
        return "", source
    return (
        "typed" if kind == "human" or source in ("typed", "paste", "voice") else "sent" if kind or source else ""
    ), ""


def _metadata(record: Record, key: str) -> Record:
    """Return a record's data on a compaction, spelled as in the file or as in printed records (`compact_metadata`)."""
    snake = re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", key)
    return fields(_as_camel(fields(record.get(key)) or fields(record.get(snake))))


def _as_camel(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_camel(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {re.sub(r"_([a-z])", lambda match: match[1].upper(), key): _as_camel(inner) for key, inner in value.items()}


def _names(*values: Any) -> Iterator[str]:
    """Yield every text in values of any shape, which are ids."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _names(*value.values())
        elif isinstance(value, list):
            yield from _names(*value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, str) for element in value)


read: Final = partial(read_lines, ClaudeReading)


def has_form(first: Sequence[Record]) -> bool:
    """Return whether lines are of Claude Code's form: records with a `sessionId` and a parent or a message."""
    messages = [fields(record.get("message")) for record in first]
    if any("systemPayload" in record for record in first) or any(
        "parts" in message or message.get("role") == "model" for message in messages
    ):
        return False  # records of Qwen Code
    return any(
        "sessionId" in record and ("parentUuid" in record or isinstance(record.get("message"), dict))
        for record in first
    )


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines are of Claude Code, whose sessions have UUIDs."""
    del path
    return has_form(first) and not any(text(record.get("sessionId")).startswith("session-") for record in first)


FORMAT: Final = SessionFormat(
    "claude-code",
    "Claude Code",
    "2026-11-28, 2.1.38 to 2.1.237",
    (".claude/projects/**/*.jsonl", ".config/claude/projects/**/*.jsonl"),
    recognises,
    read,
    ListMarks(
        re.compile(rb'"type"\s*:\s*"user"'),
        re.compile(rb'"subtype"\s*:\s*"compact_boundary"'),
        re.compile(
            rb'"type"\s*:\s*"(?:progress|tool_result)"|"is(?:Meta|CompactSummary|Sidechain|Synthetic)"\s*:\s*true'
            rb'|"origin"\s*:\s*\{[^}]*"kind"\s*:\s*"(?!human")'
        ),
        side=re.compile(rb'"isSidechain"\s*:\s*true'),
        titles=(
            re.compile(rb'"customTitle"\s*:\s*("(?:[^"\\]|\\.)*")'),
            re.compile(rb'"aiTitle"\s*:\s*("(?:[^"\\]|\\.)*")'),
            re.compile(rb'"type"\s*:\s*"summary"\s*,\s*"summary"\s*:\s*("(?:[^"\\]|\\.)*")'),
        ),
        failed=re.compile(rb'"is_error"\s*:\s*true'),
    ),
    read_end=read,
)
