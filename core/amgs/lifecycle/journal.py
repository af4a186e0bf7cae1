"""The journal: what an operation found and left, and taking it back (contract 6 of the design)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from amgs.clock import as_utc, parse_instant
from amgs.errors import StoreCorruptError, UsageError
from amgs.model import Block, BlockChange, Edge, Operation, OperationDetail
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import journal as stored_journal
from amgs.store import scores as stored_scores
from amgs.store.connection import Store
from amgs.store.journal import Row

# What an operation may change of a block. The reinforcement clock is not part of it: it has its own log.
_FIELDS = ("category", "confidence", "decay_lambda", "status", "is_self_component", "meta")
_KEPT = "embedding_kept"


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


def edge_row(before: Edge | None, after: Edge | None) -> Row:
    """The journal row of an edge."""
    one = after or before
    if one is None:
        raise ValueError("a journal row needs an edge")
    return Row("edge", " ".join(stored_edges.key(one)), _edge_out(before), _edge_out(after))


def write(store: Store, kind: str, at: datetime, summary: str, rows: Sequence[Row]) -> Operation:
    """Write an operation with its rows; inside the transaction that makes the change."""
    blocks, edges = _counted(rows)
    return stored_journal.append(store, kind, at, summary, rows, blocks=blocks, edges=edges)


def extend(store: Store, operation: Operation, summary: str, rows: Sequence[Row]) -> Operation:
    """Make rows part of an operation that `is_latest`, so that one undo takes all of it back."""
    blocks, edges = _counted(rows)
    return stored_journal.extend(store, operation, summary, rows, blocks=blocks, edges=edges)


def is_latest(store: Store, operation: Operation) -> bool:
    """Whether an operation stands and none came after it: only then may it be continued."""
    return stored_journal.is_latest(store, operation.id)


def _counted(rows: Sequence[Row]) -> tuple[int, int]:
    return sum(r.target == "block" for r in rows), sum(r.target == "edge" for r in rows)


def detail(store: Store, operation_id: int, limit: int) -> OperationDetail:
    """What an operation did to its first `limit` blocks, and to edges; raises UsageError for one that is not there."""
    operation = stored_journal.get(store, operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.",
            way_out="Choose an operation from the journal.",
            about="operation",
        )
    rows = next(stored_journal.pages(store, operation_id, "block", limit), ()) if limit else ()
    known = stored_blocks.get(store, [row.key for row in rows])
    blocks = tuple(
        BlockChange(row.key, known[row.key].title if row.key in known else "", _told(row)) for row in rows
    )
    later = stored_journal.later_on_same(store, operation_id)
    return OperationDetail(operation, blocks, *stored_journal.edge_counts(store, operation_id), later)


def _told(row: Row) -> str:
    """What a row of the journal did to its block, in words."""
    if row.before is None:
        return "made"
    if row.after is None:
        return "taken out"
    before, after = json.loads(row.before), json.loads(row.after)
    changed = [f"{name} {before.get(name)} → {after.get(name)}" for name in _FIELDS[:-1]]
    said = [one for name, one in zip(_FIELDS, changed, strict=False) if before.get(name) != after.get(name)]
    extra = sorted(k for k in after["meta"] if before["meta"].get(k) != after["meta"][k])
    return ", ".join([*said, *(f"meta {name}" for name in extra)]) or "as it was"


def undo(store: Store, operation_id: int) -> Operation:
    """Take an operation back in one transaction: every row is put to what it was.

    Raises UsageError when there is no such operation, it is undone already, or a later one changed the same
    things.
    """
    with store.transaction():
        operation = stored_journal.get(store, operation_id)
        if operation is None:
            raise UsageError(
                f"There is no operation {operation_id}.",
                way_out="Choose another operation from the journal.",
                about="operation",
            )
        if operation.undone:
            raise UsageError(
                f"Operation {operation_id} is undone already.",
                way_out="Choose another operation from the journal.",
                about="operation",
            )
        later = stored_journal.later_on_same(store, operation_id)
        if later:
            raise UsageError(
                f"Operation {later[-1]} changed the same blocks after operation {operation_id}.",
                way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
            )
        try:
            _put_back(store, operation_id)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreCorruptError(
                f"The journal of operation {operation_id} cannot be read: {error!r}.",
                way_out="Nothing was changed; run verify.",
            ) from error
        stored_journal.mark_undone(store, operation_id)
        done = stored_journal.get(store, operation_id)
        if done is None:
            raise StoreCorruptError(
                f"Operation {operation_id} vanished while it was undone.", way_out="Run verify."
            )
        return done


def _put_back(store: Store, operation_id: int) -> None:
    def pages(target: stored_journal.Target) -> Iterator[tuple[Row, ...]]:
        return stored_journal.pages(store, operation_id, target)

    for rows in pages("edge"):
        stored_edges.delete(store, [_edge_key(r.key) for r in rows if r.before is None])
    for rows in pages("block"):
        _undo_blocks(store, rows)
    for rows in pages("edge"):
        _put_edges_back(store, [r for r in rows if r.before is not None])
    for rows in pages("block"):
        _drop_edges_of_unlinked(store, [r.key for r in rows if r.before and r.after])


def _put_edges_back(store: Store, rows: Sequence[Row]) -> None:
    """Edges as they were, with the clock that a walk since then has set.

    One whose other end an undo took out of the store stays away; raises UsageError where that end was pruned.
    """
    edges = [_edge_in(r.before) for r in rows if r.before is not None]
    ends = stored_blocks.get(store, {e.source_id for e in edges} | {e.target_id for e in edges})
    for end in ends.values():
        if end.status == "pruned":
            raise UsageError(
                f"Block {end.id[:8]}, at the end of an edge that would come back, was pruned since.",
                way_out="Undo the pruning first.",
                about="operation",
            )
    edges = [e for e in edges if e.source_id in ends and e.target_id in ends]
    present = stored_edges.get(store, [stored_edges.key(e) for e in edges])
    stored_edges.put(store, [_with_clock(e, present.get(stored_edges.key(e))) for e in edges])


def _with_clock(edge: Edge, present: Edge | None) -> Edge:
    if present is None or present.last_reinforced_at <= edge.last_reinforced_at:
        return edge
    return replace(edge, last_reinforced_at=present.last_reinforced_at)


def _undo_blocks(store: Store, rows: Sequence[Row]) -> None:
    made = [r.key for r in rows if r.before is None]
    changed = [r for r in rows if r.before is not None and r.after is not None]
    taken = [r for r in rows if r.before is not None and r.after is None]
    stored_scores.forget(store, [r.key for r in rows])
    # What came after and touches a block that goes, goes with it: no edge may end nowhere.
    stored_edges.delete(store, [stored_edges.key(e) for e in stored_edges.touching(store, made)])
    stored_blocks.delete(store, made)
    now = stored_blocks.get(store, [r.key for r in changed])
    missing = [r.key for r in changed if r.key not in now]
    if missing:
        raise StoreCorruptError(
            f"Block {missing[0][:12]} of the journal is not in the store.", way_out="Run verify."
        )
    stored_blocks.update(store, [_restored(now[r.key], r) for r in changed])
    stored_blocks.insert(store, [_block_in(r) for r in taken])
    stored_blocks.recount(store, [r.key for r in taken])
    bare = [r.key for r in changed if r.embedding is None and not json.loads(r.before or "{}")[_KEPT]]
    stored_blocks.set_embeddings(store, bare, None)
    for row in (*changed, *taken):
        if row.embedding is not None:
            stored_blocks.set_embeddings(store, [row.key], row.embedding[None, :])


def _drop_edges_of_unlinked(store: Store, ids: Sequence[str]) -> None:
    """A block that is raw again has no edges: those that later operations made to it go too."""
    raw = [i for i, b in stored_blocks.get(store, ids).items() if b.status == "raw"]
    stored_edges.delete(store, [stored_edges.key(e) for e in stored_edges.touching(store, raw)])


# --- JSON -------------------------------------------------------------------------------------------------


def _block_out(block: Block, *, whole: bool, embedding_kept: bool) -> str:
    data: dict[str, Any] = {name: getattr(block, name) for name in _FIELDS}
    data[_KEPT] = embedding_kept
    data["meta"] = dict(block.meta)
    if whole:
        data |= {
            "content": block.content,
            "created_at": block.created_at.isoformat(),
            "last_reinforced_at": block.last_reinforced_at.isoformat(),
        }
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def _restored(block: Block, row: Row) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        block.id,
        block.content,
        block.created_at,
        block.last_reinforced_at,
        **{name: data[name] for name in _FIELDS},
    )


def _block_in(row: Row) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        row.key,
        data["content"],
        parse_instant(data["created_at"]),
        parse_instant(data["last_reinforced_at"]),
        **{name: data[name] for name in _FIELDS},
    )


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


def _edge_in(text: str) -> Edge:
    data = json.loads(text)
    source, target, relation = data["key"]
    return Edge(
        source,
        target,
        relation,
        weight=data["weight"],
        confidence=data["confidence"],
        created_at=parse_instant(data["created_at"]),
        last_reinforced_at=parse_instant(data["last_reinforced_at"]),
        decay_lambda=data["decay_lambda"],
    )


def _edge_key(text: str) -> stored_edges.Key:
    source, target, relation = text.split(" ", 2)
    return source, target, relation
