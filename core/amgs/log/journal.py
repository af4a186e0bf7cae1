"""The journal: what an operation found and left; `undo` takes it back (contract 6 of the design)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from amgs.clock import EPOCH, as_utc
from amgs.decay import profile_name
from amgs.errors import UsageError
from amgs.storage.duckdb import blocks as stored_blocks
from amgs.storage.duckdb import edges as stored_edges
from amgs.storage.duckdb import journal as stored_journal
from amgs.storage.duckdb.connection import Store
from amgs.storage.duckdb.journal import Row
from amgs.types import Block, BlockChange, Edge, JournalEntry, JournalEntryDetail, Outcome

# What an operation may change of a block. The reinforcement clock is not part of it: it has its own log.
STATE = ("category", "confidence", "decay_lambda", "status", "is_self_component", "meta")
KEPT = "embedding_kept"
_OF_BLOCKS: tuple[stored_journal.Target, ...] = ("block", "forecast", "clock")


def block_row(before: Block | None, after: Block | None) -> Row:
    """The journal row of a block that was changed, made (before None) or taken away (after None).

    The embedding before is kept only where it changes: where `after` does not carry the same array.
    """
    one = after or before
    if one is None:
        raise ValueError("a journal row needs a block")
    same = before is not None and after is not None and before.embedding is after.embedding
    return Row(
        "block",
        one.id,
        None if before is None else _block_out(before, whole=after is None, embedding_kept=same),
        None if after is None else _block_out(after, whole=before is None, embedding_kept=same),
        None if before is None or same else before.embedding,
    )


def made_row(block_id: str) -> Row:
    """The journal row of a raw block that was taken in; its content stays in the store and is not kept twice."""
    return Row("block", block_id, None, _MADE)


def verdict_row(outcome: Outcome) -> Row:
    """The journal row of a forecast that was given its outcome."""
    after = {
        "block": outcome.block_id,
        "predicted": outcome.predicted,
        "actual": outcome.actual,
        "brier": outcome.brier,
        "decided_at": as_utc(outcome.at).isoformat(),
    }
    return Row("forecast", outcome.prediction_id, "{}", json.dumps(after, sort_keys=True))


def clock_row(block: Block, event_type: str, at: datetime, source: str) -> Row:
    """The journal row of a block's reinforcement; block: as it was before."""
    before = {"last_reinforced_at": as_utc(block.last_reinforced_at).isoformat()}
    after = {"event_type": event_type, "at": as_utc(at).isoformat(), "source": source}
    return Row("clock", block.id, json.dumps(before), json.dumps(after, sort_keys=True))


def edge_row(before: Edge | None, after: Edge | None) -> Row:
    """The journal row of an edge."""
    one = after or before
    if one is None:
        raise ValueError("a journal row needs an edge")
    return Row("edge", " ".join(stored_edges.key(one)), _edge_out(before), _edge_out(after))


def write(store: Store, kind: str, at: datetime, summary: str, rows: Sequence[Row]) -> JournalEntry:
    """Write an operation with its rows; inside the transaction that makes the change."""
    blocks, edges = _counted(rows)
    return stored_journal.append(store, kind, at, summary, rows, blocks=blocks, edges=edges)


def extend(store: Store, operation: JournalEntry, summary: str, rows: Sequence[Row]) -> JournalEntry:
    """Make rows part of an operation that `is_latest`, so that one undo takes all of it back."""
    blocks, edges = _counted(rows)
    return stored_journal.extend(store, operation, summary, rows, blocks=blocks, edges=edges)


def is_latest(store: Store, operation: JournalEntry) -> bool:
    """Whether an operation stands and none came after it: only then may it be continued."""
    return stored_journal.is_latest(store, operation.id)


def _counted(rows: Sequence[Row]) -> tuple[int, int]:
    """(rows of blocks and of what is known about them, rows of edges)."""
    edges = sum(r.target == "edge" for r in rows)
    return len(rows) - edges, edges


def detail(store: Store, operation_id: int, limit: int) -> JournalEntryDetail:
    """What an operation did to its first `limit` blocks, and to edges; raises UsageError for one that is not there."""
    operation = stored_journal.get(store, operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.",
            way_out="Choose an operation from the journal.",
            about="operation",
        )
    rows: list[Row] = []
    for target in _OF_BLOCKS:
        if len(rows) < limit:
            rows += next(stored_journal.pages(store, operation_id, target, limit - len(rows)), ())
    ids = [_block_of(row) for row in rows]
    known = stored_blocks.get(store, ids)
    blocks = tuple(
        BlockChange(one, known[one].title if one in known else "", _told(row))
        for one, row in zip(ids, rows, strict=True)
    )
    later = stored_journal.later_on_same(store, operation_id)
    return JournalEntryDetail(operation, blocks, *stored_journal.edge_counts(store, operation_id), later)


def _block_of(row: Row) -> str:
    return str(json.loads(row.after or "{}").get("block", "")) if row.target == "forecast" else row.key


# --- in words ---------------------------------------------------------------------------------------------


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changed of a block's state, in words: `standard → core`."""
    said = []
    for name in STATE[:-1]:
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name == "decay_lambda":
            said.append(f"{_pace(old)} → {_pace(new)}")
        elif name == "confidence":
            said.append(f"confidence {old:.2f} → {new:.2f}")
        elif name == "is_self_component":
            said.append("now part of the self" if new else "no longer part of the self")
        else:
            said.append(f"{old} → {new}")
    return said


def _pace(decay_lambda: Any) -> str:
    name = profile_name(float(decay_lambda))
    return f"λ {decay_lambda:g} an hour" if name == "custom" else name


_META_WORDS = {
    "sources": "another source",
    "source": "another source",
    "follows": "another source",
    "superseded_by": "superseded",
    "superseded_at": "superseded",
    "merged_into": "merged",
    "split_into": "split",
    "proposed_category": "corrected by hand",
}


def _told(row: Row) -> str:
    """What a row of the journal did to its block, in words."""
    if row.target == "forecast":
        verdict = json.loads(row.after or "{}")
        return f"{'useful' if verdict['actual'] else 'useless'}, forecast {verdict['predicted']:.2f}"
    if row.target == "clock":
        return "reinforced"
    if row.before is None:
        return "made"
    if row.after is None:
        return "taken out"
    before, after = json.loads(row.before), json.loads(row.after)
    extra = sorted(k for k in after["meta"] if before["meta"].get(k) != after["meta"][k])
    words = [*changes(before, after), *(_META_WORDS.get(name, name.replace("_", " ")) for name in extra)]
    return ", ".join(dict.fromkeys(words)) or "as it was"


# --- JSON -------------------------------------------------------------------------------------------------


def _block_out(block: Block, *, whole: bool, embedding_kept: bool) -> str:
    data: dict[str, Any] = {name: getattr(block, name) for name in STATE}
    data[KEPT] = embedding_kept
    data["meta"] = dict(block.meta)
    if whole:
        data |= {
            "content": block.content,
            "created_at": block.created_at.isoformat(),
            "last_reinforced_at": block.last_reinforced_at.isoformat(),
        }
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
        "key": stored_edges.key(edge),
    }
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


_MADE = json.dumps(
    {name: {} if name == "meta" else getattr(Block("", "", EPOCH, EPOCH), name) for name in STATE},
    sort_keys=True,
)
"""The state of every block that was just taken in."""
