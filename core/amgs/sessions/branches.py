"""Find the records of a file that are not of its session: those of a tree that a user abandoned by going back
and saying something else, and lines of a Codex rollout that belong to another thread.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from amgs.errors import InputError
from amgs.sessions.lines import Record, fields, lines_of, text
from amgs.sessions.turn import Relation


@dataclass(frozen=True, slots=True)
class RecordNode:
    """A record of the tree.

    parent: its id, "" for none. what: words of the user, inserted words, output of the model or a tool, or other.
    request: of the model's answer.
    """

    parent: str
    what: Literal["said", "put in", "answer", "other"]
    request: str = ""

    @property
    def is_prompt(self) -> bool:
        """Return whether it contains words to the model."""
        return self.what in ("said", "put in")


def way_back(nodes: Mapping[str, RecordNode], last: str) -> dict[str, None]:
    """Return the ids from a record back to the first, including records of all kinds."""
    way: dict[str, None] = {}
    while last in nodes and last not in way:
        way[last] = None
        last = nodes[last].parent
    return way


def find_abandoned_records(nodes: Mapping[str, RecordNode], last: str) -> Set[str]:
    """Return the ids of records on abandoned branches.

    A branch is abandoned if, from the answer where it begins, or from the beginning, the way to the last record
    continues with other words to the model. Results of parallel calls are on branches that are not abandoned, nor is
    anything below a record that the file lacks.
    """
    path = way_back(nodes, last)
    asked = {_answer_above(nodes, id) for id in path if nodes[id].is_prompt}
    begun = [*path][-1:]
    anew = any(not nodes[id].parent and nodes[id].what == "said" for id in begun)
    heads: dict[str, str] = {}
    for id in nodes:
        way: dict[str, None] = {}
        while id in nodes and id not in path and id not in heads and id not in way:
            way[id] = None
            id = nodes[id].parent
        head = heads.get(id, "")
        if way and (id in path or (not id and anew and nodes[[*way][-1]].what == "said")):
            head = [*way][-1]
        heads.update(dict.fromkeys(way, head))
    branches: dict[str, list[str]] = {}
    for id, head in heads.items():
        if head:
            branches.setdefault(head, []).append(id)
    left: set[str] = set()
    for head, ids in branches.items():
        above = _answer_above(nodes, head)
        request = nodes[above].request if above else ""
        own = (nodes[id] for id in ids)
        if above in asked and any(
            node.is_prompt or (node.what == "answer" and node.request not in ("", request)) for node in own
        ):
            left.update(ids)
    return left


def _answer_above(nodes: Mapping[str, RecordNode], id: str) -> str:
    """Return the id of the nearest answer above a record; "" if there is none."""
    seen: set[str] = set()
    id = nodes[id].parent
    while id in nodes and id not in seen:
        if nodes[id].what == "answer":
            return id
        seen.add(id)
        id = nodes[id].parent
    return ""


_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
"""An id that begins with its time, so that later ones are greater."""
TASK_STARTS: Final = ("task_started", "turn_started")
"""Types of the event with which Codex begins to work on what was asked."""
_DEEPEST: Final = 8


def thread_above(meta: Record) -> tuple[str, Relation]:
    """Return the id of the thread from which this thread came, and how; ("", "") for none."""
    source = meta.get("source")
    spawned = fields(source).get("subagent", fields(source).get("internal"))
    base = text(fields(meta.get("history_base")).get("thread_id"))
    parent = text(fields(fields(spawned).get("thread_spawn")).get("parent_thread_id") or meta.get("parent_thread_id"))
    side = bool(spawned) or source == "subagent" or meta.get("thread_source") == "subagent"
    above = parent or text(meta.get("forked_from_id"))
    if side or parent:
        return above, "subagent"
    if base and above in ("", text(meta.get("id"))):
        return base, "continues"
    return (above, "fork") if above else ("", "")


@dataclass
class CopiedBeginning:
    """Finds where a thread's own turns begin; reads each line of the file, with its time and the number of turns before
    it. began: when the thread began.

    Subagents and forks begin with a copy of the previous conversation, and a continuing file leaves it in the earlier
    file (`RolloutLine` and `SessionMeta` of openai/codex).
    """

    path: Path
    id: str
    parent: str
    began: datetime | None
    _lines: list[tuple[int, int]] = field(default_factory=list)
    _earlier: int = 0
    _starts: list[tuple[str, int]] = field(default_factory=list)
    _foreign: bool = False

    def take(self, kind: str, payload: Record, at: datetime | None, turns: int) -> None:
        """Read a line."""
        if kind == "session_meta":
            self._foreign = self._foreign or text(payload.get("id")) != self.id
            return
        self._lines.append((_mark(kind, payload), turns))
        if at is not None and self.began is not None and at < self.began:
            self._earlier = len(self._lines)
        if payload.get("type") in TASK_STARTS:
            self._starts.append((text(payload.get("turn_id")), turns))

    def turns(self, all_turns: int) -> int:
        """Return how many of the turns belong to the other thread."""
        timed = [(id, at) for id, at in self._starts if _UUID.fullmatch(id)]
        if timed and _UUID.fullmatch(self.id):
            if not self._foreign and timed[0][0] > self.id:
                return 0
            return next((at for id, at in timed if id > self.id), all_turns)
        same = self._earlier  # else the copy may have times of its own
        same = same or max((self._same_as(above) for above in thread_files(self.path, self.parent)), default=0)
        if same:
            return self._lines[same][1] if same < len(self._lines) else all_turns
        return self._starts[-1][1] if self._foreign and self._starts else 0

    def _same_as(self, above: Path) -> int:
        """Return the number of first lines that another file holds in this order, maybe among others."""
        payloads = ((text(record.get("type")), fields(record.get("payload"))) for record in _records(above))
        marks = (_mark(kind, payload) for kind, payload in payloads if kind != "session_meta")
        return sum(1 for _ in itertools.takewhile(lambda line: line[0] in marks, self._lines))


def lines_before(path: Path, base: Record, depth: int = 0) -> list[Record] | None:
    """Return the records of the file that another continues, up to the continuation; None if it is not found."""
    end, size = base.get("end_ordinal_exclusive"), base.get("end_byte_offset")
    size = size if isinstance(size, int) else None
    for other in thread_files(path, text(base.get("thread_id"))):
        records: list[Record] = []
        for line in lines_of(other):
            ordinal = (line.value or {}).get("ordinal", None if size else line.place.line - 1)
            if isinstance(end, int) and isinstance(ordinal, int):
                if ordinal >= end:
                    break
            elif size is not None and line.place.offset >= size:
                break
            if line.value is not None:
                records.append(line.value)
        meta = fields((records[0] if records else {}).get("payload"))
        deeper = fields(meta.get("history_base"))
        if (
            isinstance(end, int)
            and isinstance(first := (records[0] if records else {}).get("ordinal"), int)
            and first >= end
        ):
            continue
        if deeper and depth < _DEEPEST:
            return [*(lines_before(other, deeper, depth + 1) or ()), *records]
        if records:
            return records
    return None


def thread_files(path: Path, id: str) -> Iterator[Path]:
    """Yield the files of a thread beside another file, or in its days' folders, those named by the id first."""
    if not re.fullmatch(r"[\w-]+", id):
        return
    top = next((above for above in path.parents if above.name in ("sessions", "archived_sessions")), None)
    named = {*path.parent.glob(f"rollout-*{id}*.jsonl*")}
    if top is not None:
        named.update(top.parent.glob(f"sessions/**/rollout-*{id}*.jsonl*"))
        named.update(top.parent.glob(f"archived_sessions/**/rollout-*{id}*.jsonl*"))
    others = [file for file in path.parent.glob("*.jsonl*") if file not in named] if not named - {path} else []
    for file in (*sorted(named, key=lambda file: (len(file.name), file)), *sorted(others)[:200]):
        if file != path and (id in file.name or _id_of(file) == id):
            yield file


def _id_of(path: Path) -> str:
    try:
        first = next((line.value for line in lines_of(path) if line.value is not None), None)
    except InputError:
        return ""
    return text(fields((first or {}).get("payload")).get("id"))


def _records(path: Path) -> Iterator[Record]:
    try:
        yield from (line.value for line in lines_of(path) if line.value is not None)
    except InputError:
        return


def _mark(kind: str, payload: Any) -> int:
    """Return a hash of a line without its time."""
    return hash((kind, repr(payload)))
