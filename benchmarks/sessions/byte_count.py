"""What the bytes of session files say of compactions, of what was taken back, and of requests: counted with `json`
alone, so that the readers can be held against it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from amgs.sessions.turn import Session
from amgs.wings.sessions.tasks import trees_of, use_of

Record = Mapping[str, Any]
_COMPACTIONS = ("compacted", "compaction", "session.compaction_complete", "CHECKPOINT", "Condensation")
"""Types of records that are a compaction, of Codex, pi, Copilot CLI, Antigravity and OpenHands."""


def records_of(path: Path) -> list[Record]:
    """The objects of a file: its lines, or the messages of the document that it is."""
    whole = path.read_bytes()
    try:
        one = json.loads(whole)
        found = one.get("messages") or one.get("steps") or [] if isinstance(one, dict) else one
    except ValueError:
        found = list(_lines(whole))
    return [record for record in found if isinstance(record, dict)]


def _lines(whole: bytes) -> Iterator[Any]:
    for line in whole.split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def missed_boundaries(records: Sequence[Record], session: Session) -> int:
    """How many compactions were not found, or found where there is none."""
    found = sum(turn.boundary is not None and turn.boundary.whole for turn in session.turns)
    return abs(sum(_is_compaction(record) for record in records) - found)


def _is_compaction(record: Record) -> bool:
    info, kind = record.get("info"), record.get("type") or record.get("kind")
    if isinstance(info, dict):  # opencode
        ended = info.get("finish") or (info.get("time") or {}).get("completed")
        return bool(info.get("summary") is True and ended and not info.get("error"))
    told = json.dumps([record.get(key) for key in ("content", "extra", "$set")])
    if kind == "info":  # Gemini CLI
        return "compressed from" in told.lower()
    if any(mark in told for mark in ('"conversationCompacted"', '"context_management"', '"messages"')):
        return True  # Goose, ATIF, and Gemini CLI, which sets the whole window anew
    return kind in _COMPACTIONS or record.get("subtype") in ("compact_boundary", "chat_compression")


def missed_rewinds(records: Sequence[Record], session: Session) -> tuple[int, int]:
    """(prompts that were taken back, how many of them were not found, or found where there is none)."""
    rolled = [one for record in records if (one := _payload(record)).get("type") == "thread_rolled_back"]
    gone = [turn for turn in session.turns if turn.abandoned and turn.kind == "said" and turn.role == "user"]
    if session.format == "codex":
        there = sum(one["num_turns"] for one in rolled)
        return there, abs(there - len(gone))
    if session.format not in ("claude-code", "pi"):
        return 0, 0
    left = _left_prompts(records)
    return len(left), len(left ^ {turn.id for turn in gone if not turn.agent})


def _left_prompts(records: Sequence[Record]) -> set[str]:
    """The ids of prompts that are not on the way back from the last message, but hang on it."""
    above: dict[str, str] = {}
    prompts: set[str] = set()
    last = ""
    for record in records:
        id = record.get("uuid") or record.get("id")
        said = record.get("message")
        if not isinstance(id, str) or record.get("isSidechain") is True:
            continue
        above[id] = record.get("parentUuid") or record.get("parentId") or record.get("logicalParentUuid") or ""
        if isinstance(said, dict):
            last = id
            if said.get("role") == "user" and _is_typed(record, said.get("content")):
                prompts.add(id)
    way: list[str] = []
    while last in above and last not in way:
        way.append(last)
        last = above[last]
    return {id for id in prompts if id not in way and above[id] in way}


def _is_typed(record: Record, content: Any) -> bool:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [one.get("text") or "" for one in parts if isinstance(one, dict) and one.get("type") == "text"]
    put_in = record.get("isMeta") or record.get("isCompactSummary")
    return not put_in and any(one.strip() and not one.lstrip().startswith(("<", "/", "Caveat:")) for one in texts)


def missed_requests(read: Sequence[tuple[Sequence[Record], Session]]) -> tuple[int, int]:
    """(requests of all files, each once, how many too many or too few the sums of the readers tell)."""
    formats = {"claude-code", "codex", "pi"}
    there = {key for records, session in read if session.format in formats for key in _requests(records, session)}
    rows = trees_of([use_of(session) for _, session in read if session.format in formats])
    return len(there), abs(len(there) - sum(row.own.requests for row in rows))


def _requests(records: Sequence[Record], session: Session) -> Iterator[tuple[Any, ...]]:
    """What tells a request from all others."""
    for record in records:
        inner = record.get("data") if record.get("type") == "progress" else record
        message = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(message, dict) and isinstance(message.get("message"), dict):
            message = message["message"]
        payload = _payload(record)
        if payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
            used = payload["info"]
            last = used.get("last_token_usage") or {}
            if last.get("input_tokens"):  # else it tells the window that a compaction left
                yield used["total_token_usage"]["total_tokens"], *map(last.get, ("input_tokens", "output_tokens"))
        elif isinstance(message, dict) and message.get("role") == "assistant" and message.get("usage"):
            used = message["usage"]
            read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            if any(used.get(key) for key in (*read, "input", "cacheRead", "cacheWrite")):
                named = message.get("id") or record.get("requestId") or message.get("responseId")
                yield (named or (session.id, record.get("id")),)


def _payload(record: Record) -> Record:
    payload = record.get("payload")
    return payload if isinstance(payload, dict) else {}
