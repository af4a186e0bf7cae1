"""The journal: state before and after each operation, so that `undo` can revert it (contract 6 of the design)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from amgs.clock import EPOCH, as_utc
from amgs.decay import profile_name
from amgs.errors import UsageError
from amgs.storage.frames import encode
from amgs.storage.journal import JournalRow, JournalTarget
from amgs.storage.signature import signature
from amgs.storage.store import Storage
from amgs.types import Block, BlockChange, Edge, FrameDefinition, JournalEntry, JournalEntryDetail, Outcome
from amgs.types.lifecycle import MADE_BY

# Fields of a block that an operation may change. The reinforcement clock is excluded: it has its own log.
STATE = ("category", "confidence", "decay_lambda", "status", "is_self_component", "meta")
VALIDITY = ("valid_from", "valid_to")
"""Times that are part of the state too; stored only if set."""
KEPT = "embedding_kept"
_LISTED: tuple[JournalTarget, ...] = ("block", "forecast", "clock", "frame")


def block_row(before: Block | None, after: Block | None) -> JournalRow:
    """Return the journal row of a block that was changed, created (before None) or deleted (after None).

    The old embedding is stored only if it changed: if `after` does not have the same array.
    """
    block = after or before
    if block is None:
        raise ValueError("a journal row needs a block")
    same = before is not None and after is not None and before.embedding is after.embedding
    dated = before is not None and after is not None and before.created_at != after.created_at
    return JournalRow(
        "block",
        block.id,
        None if before is None else _block_to_json(before, whole=after is None, dated=dated, embedding_kept=same),
        None if after is None else _block_to_json(after, whole=before is None, dated=dated, embedding_kept=same),
        None if before is None or same else before.embedding,
    )


def build_new_row(block_id: str) -> JournalRow:
    """Return the journal row of a newly ingested block; its content is only in the store."""
    return JournalRow("block", block_id, None, _MADE)


def verdict_row(outcome: Outcome, reinforced: JournalRow | None = None) -> JournalRow:
    """Return the journal row of a decided forecast. reinforced: `clock_row` of its block, if the verdict
    reinforced it.
    """
    after: dict[str, Any] = {
        "block": outcome.block_id,
        "predicted": outcome.predicted,
        "actual": outcome.actual,
        "brier": outcome.brier,
        "decided_at": as_utc(outcome.at).isoformat(),
    }
    before = "{}"
    if reinforced is not None:
        before, after["reinforced"] = reinforced.before or before, json.loads(reinforced.after or "{}")
    return JournalRow("forecast", outcome.prediction_id, before, json.dumps(after, sort_keys=True))


def reinforcement_in(verdict: JournalRow) -> JournalRow | None:
    """Return the `clock_row` inside a `verdict_row`; None if the block was not reinforced."""
    after = json.loads(verdict.after or "{}")
    if "reinforced" not in after:
        return None
    return JournalRow("clock", after["block"], verdict.before, json.dumps(after["reinforced"], sort_keys=True))


def clock_row(block: Block, event_type: str, at: datetime, source: str) -> JournalRow:
    """Return the journal row of a block's reinforcement. block: before the reinforcement."""
    before = {"last_reinforced_at": as_utc(block.last_reinforced_at).isoformat()}
    after = {"event_type": event_type, "at": as_utc(at).isoformat(), "source": source}
    return JournalRow("clock", block.id, json.dumps(before), json.dumps(after, sort_keys=True))


def frame_row(name: str, before: FrameDefinition | None, after: FrameDefinition | None) -> JournalRow:
    """Return the journal row of a frame that was defined, redefined (both) or deleted (after None)."""
    left, right = (
        None if definition is None else json.dumps(encode(definition), sort_keys=True) for definition in (before, after)
    )
    return JournalRow("frame", name, left, right)


def edge_row(before: Edge | None, after: Edge | None) -> JournalRow:
    """Return the journal row of an edge."""
    edge = after or before
    if edge is None:
        raise ValueError("a journal row needs an edge")
    return JournalRow("edge", " ".join(edge.key), _edge_to_json(before), _edge_to_json(after))


def write(storage: Storage, kind: str, at: datetime, summary: str, rows: Sequence[JournalRow]) -> JournalEntry:
    """Write an operation and its rows, inside the transaction that makes the change."""
    blocks, edges = _count_rows(rows)
    return storage.journal.append(kind, at, _with_author(summary), rows, blocks=blocks, edges=edges)


def extend(
    storage: Storage, operation: JournalEntry, at: datetime, summary: str, rows: Sequence[JournalRow]
) -> JournalEntry:
    """Add rows to an operation that `is_latest`, so that a single undo reverts them together."""
    blocks, edges = _count_rows(rows)
    return storage.journal.extend(operation, at, _with_author(summary), rows, blocks=blocks, edges=edges)


def _with_author(summary: str) -> str:
    """Append the program that makes the change to the summary, unless a person asked for it."""
    by = signature().get("by", "")
    return f"{summary}{MADE_BY}{by}" if by else summary


def is_latest(storage: Storage, operation: JournalEntry) -> bool:
    """Return whether an operation is not undone and the latest; only then it can be extended."""
    return storage.journal.is_latest(operation.id)


def _count_rows(rows: Sequence[JournalRow]) -> tuple[int, int]:
    """Return the number of rows about blocks and what belongs to them, and of rows about edges."""
    edges = sum(r.target == "edge" for r in rows)
    return len(rows) - edges, edges


def detail(storage: Storage, operation_id: int, limit: int) -> JournalEntryDetail:
    """Return what an operation did to its first `limit` blocks, and its counts of edges.

    Raises UsageError if the operation does not exist.
    """
    operation = storage.journal.get(operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.", way_out="Choose an operation from the journal.", about="operation"
        )
    rows: list[JournalRow] = []
    for target in _LISTED:
        if len(rows) < limit:
            rows += next(storage.journal.pages(operation_id, target, limit - len(rows)), ())
    ids = [_block_of(row) for row in rows]
    known = storage.blocks.get(ids)
    blocks = tuple(
        BlockChange(row_id, known[row_id].title if row_id in known else "", _describe_row(row))
        for row_id, row in zip(ids, rows, strict=True)
    )
    later = storage.journal.later_on_same(operation_id)
    return JournalEntryDetail(operation, blocks, *storage.journal.edge_counts(operation_id), later)


def _block_of(row: JournalRow) -> str:
    return str(json.loads(row.after or "{}").get("block", "")) if row.target == "forecast" else row.key


# --- in words ---------------------------------------------------------------------------------------------


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Describe changes of a block's state in words: `standard → core`."""
    phrases = []
    for name in STATE[:-1]:
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name == "decay_lambda":
            phrases.append(f"{_decay_name(old)} → {_decay_name(new)}")
        elif name == "confidence":
            phrases.append(f"confidence {old:.2f} → {new:.2f}")
        elif name == "is_self_component":
            phrases.append("now part of the self" if new else "no longer part of the self")
        else:
            phrases.append(f"{old} → {new}")
    return phrases


def _decay_name(decay_lambda: Any) -> str:
    name = profile_name(float(decay_lambda))
    return f"λ {decay_lambda:g} an hour" if name == "custom" else name


_META_WORDS = {
    "sources": "another source",
    "source": "another source",
    "follows": "another source",
    "said_at": "said again",
    "superseded_by": "superseded",
    "superseded_at": "superseded",
    "merged_into": "merged",
    "split_into": "split",
    "proposed_category": "corrected by hand",
}


def _describe_row(row: JournalRow) -> str:
    """Describe in words what a journal row did to its block."""
    if row.target == "forecast":
        verdict = json.loads(row.after or "{}")
        return f"{'useful' if verdict['actual'] else 'useless'}, forecast {verdict['predicted']:.2f}"
    if row.target == "clock":
        return "reinforced"
    if row.target == "frame":
        return "deleted" if row.after is None else "defined" if row.before is None else "defined anew"
    if row.before is None:
        return "made"
    if row.after is None:
        return "taken out"
    before, after = json.loads(row.before), json.loads(row.after)
    if "created_at" in before:
        return "holds again"
    extra = sorted(k for k in after["meta"] if before["meta"].get(k) != after["meta"][k])
    if before.get("valid_to") and not after.get("valid_to"):
        extra.append("valid again")
    words = [*changes(before, after), *(_META_WORDS.get(name, name.replace("_", " ")) for name in extra)]
    return ", ".join(dict.fromkeys(words)) or "as it was"


# --- JSON -------------------------------------------------------------------------------------------------


def _block_to_json(block: Block, *, whole: bool, dated: bool, embedding_kept: bool) -> str:
    data: dict[str, Any] = {name: getattr(block, name) for name in STATE}
    dates = {name: getattr(block, name) for name in VALIDITY}
    data |= {name: as_utc(at).isoformat() for name, at in dates.items() if at is not None}
    data[KEPT] = embedding_kept
    data["meta"] = dict(block.meta)
    if whole or dated:
        data["created_at"] = as_utc(block.created_at).isoformat()
    if whole:
        data |= {"content": block.content, "last_reinforced_at": block.last_reinforced_at.isoformat()}
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def _edge_to_json(edge: Edge | None) -> str | None:
    if edge is None:
        return None
    data = {
        "weight": edge.weight,
        "confidence": edge.confidence,
        "created_at": as_utc(edge.created_at).isoformat(),
        "last_reinforced_at": as_utc(edge.last_reinforced_at).isoformat(),
        "decay_lambda": edge.decay_lambda,
        "key": edge.key,
    }
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


_MADE = json.dumps(
    {name: {} if name == "meta" else getattr(Block("", "", EPOCH, EPOCH), name) for name in STATE}, sort_keys=True
)
"""State of every newly ingested block."""
