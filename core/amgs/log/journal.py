"""The journal: what an operation found and left; `undo` takes it back (contract 6 of the design)."""

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

# What an operation may change of a block. The reinforcement clock is not part of it: it has its own log.
STATE = ("category", "confidence", "decay_lambda", "status", "is_self_component", "meta")
VALIDITY = ("valid_from", "valid_to")
"""Of the state, too: instants, kept only where they are given."""
KEPT = "embedding_kept"
_LISTED: tuple[JournalTarget, ...] = ("block", "forecast", "clock", "frame")


def block_row(before: Block | None, after: Block | None) -> JournalRow:
    """Return the journal row of a block that was changed, made (before None) or taken away (after None).

    The embedding before is kept only where it changes: where `after` does not carry the same array.
    """
    block = after or before
    if block is None:
        raise ValueError("a journal row needs a block")
    same = before is not None and after is not None and before.embedding is after.embedding
    dated = before is not None and after is not None and before.created_at != after.created_at
    return JournalRow(
        "block",
        block.id,
        None if before is None else _block_out(before, whole=after is None, dated=dated, embedding_kept=same),
        None if after is None else _block_out(after, whole=before is None, dated=dated, embedding_kept=same),
        None if before is None or same else before.embedding,
    )


def build_new_row(block_id: str) -> JournalRow:
    """Return the journal row of a raw block that was taken in; its content stays in the store and is not kept twice."""
    return JournalRow("block", block_id, None, _MADE)


def verdict_row(outcome: Outcome, reinforced: JournalRow | None = None) -> JournalRow:
    """Return the journal row of a forecast that was given its outcome. reinforced: the `clock_row` of its block, where
    the verdict reinforced it.
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
    """Return the `clock_row` that a `verdict_row` carries."""
    after = json.loads(verdict.after or "{}")
    if "reinforced" not in after:
        return None
    return JournalRow("clock", after["block"], verdict.before, json.dumps(after["reinforced"], sort_keys=True))


def clock_row(block: Block, event_type: str, at: datetime, source: str) -> JournalRow:
    """Return the journal row of a block's reinforcement; block: as it was before."""
    before = {"last_reinforced_at": as_utc(block.last_reinforced_at).isoformat()}
    after = {"event_type": event_type, "at": as_utc(at).isoformat(), "source": source}
    return JournalRow("clock", block.id, json.dumps(before), json.dumps(after, sort_keys=True))


def frame_row(name: str, before: FrameDefinition | None, after: FrameDefinition | None) -> JournalRow:
    """Give the journal row of a frame that was defined, defined anew (both) or deleted (after None)."""
    left, right = (
        None if definition is None else json.dumps(encode(definition), sort_keys=True) for definition in (before, after)
    )
    return JournalRow("frame", name, left, right)


def edge_row(before: Edge | None, after: Edge | None) -> JournalRow:
    """Return the journal row of an edge."""
    edge = after or before
    if edge is None:
        raise ValueError("a journal row needs an edge")
    return JournalRow("edge", " ".join(edge.key), _edge_out(before), _edge_out(after))


def write(storage: Storage, kind: str, at: datetime, summary: str, rows: Sequence[JournalRow]) -> JournalEntry:
    """Write an operation with its rows; inside the transaction that makes the change."""
    blocks, edges = _counted(rows)
    return storage.journal.append(kind, at, _by_whom(summary), rows, blocks=blocks, edges=edges)


def extend(
    storage: Storage, operation: JournalEntry, at: datetime, summary: str, rows: Sequence[JournalRow]
) -> JournalEntry:
    """Make rows, written at this instant, part of an operation that `is_latest`: one undo takes all of it back."""
    blocks, edges = _counted(rows)
    return storage.journal.extend(operation, at, _by_whom(summary), rows, blocks=blocks, edges=edges)


def _by_whom(summary: str) -> str:
    """Return the summary, with the program that makes the change where nobody asked for it."""
    by = signature().get("by", "")
    return f"{summary}{MADE_BY}{by}" if by else summary


def is_latest(storage: Storage, operation: JournalEntry) -> bool:
    """Return whether an operation stands and none came after it: only then may it be continued."""
    return storage.journal.is_latest(operation.id)


def _counted(rows: Sequence[JournalRow]) -> tuple[int, int]:
    """Return (rows of blocks and of what is known about them, rows of edges)."""
    edges = sum(r.target == "edge" for r in rows)
    return len(rows) - edges, edges


def detail(storage: Storage, operation_id: int, limit: int) -> JournalEntryDetail:
    """Return what an operation did to its first `limit` blocks, and to edges; raises UsageError for one that is not
    there.
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
    """Return what changed of a block's state, in words: `standard → core`."""
    phrases = []
    for name in STATE[:-1]:
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name == "decay_lambda":
            phrases.append(f"{_pace(old)} → {_pace(new)}")
        elif name == "confidence":
            phrases.append(f"confidence {old:.2f} → {new:.2f}")
        elif name == "is_self_component":
            phrases.append("now part of the self" if new else "no longer part of the self")
        else:
            phrases.append(f"{old} → {new}")
    return phrases


def _pace(decay_lambda: Any) -> str:
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
    """Return what a row of the journal did to its block, in words."""
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


def _block_out(block: Block, *, whole: bool, dated: bool, embedding_kept: bool) -> str:
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


def _edge_out(edge: Edge | None) -> str | None:
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
"""The state of every block that was just taken in."""
