"""Taking an operation of the journal back, and putting it back again (contract 6 of the design).

Each is one transaction. An undo keeps what it found and what it left; a redo restores the one where the other still
stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from amgs.clock import parse_instant
from amgs.errors import StoreCorruptError, UsageError
from amgs.log.journal import KEPT, STATE
from amgs.storage.duckdb import blocks as stored_blocks
from amgs.storage.duckdb import calibration_log, reinforcement_log, undone
from amgs.storage.duckdb import edges as stored_edges
from amgs.storage.duckdb import journal as stored_journal
from amgs.storage.duckdb import scores as stored_scores
from amgs.storage.duckdb.connection import Store
from amgs.storage.duckdb.journal import Row
from amgs.types import Block, Edge, JournalEntry, UndoPlan

_BY_HAND = re.compile(r", (\d+) (?:edited|corrected by hand)$")


def plan(store: Store, operation_id: int | None = None) -> UndoPlan:
    """What undoing an operation (the latest that stands) would do; changes nothing.

    Raises UsageError when there is no such operation or it is already undone.
    """
    number = operation_id if operation_id is not None else stored_journal.latest_standing(store)
    if number is None:
        raise UsageError(
            "There is nothing to undo.",
            way_out="The journal is empty, or every operation in it is undone.",
            about="operation",
        )
    operation = _standing(store, number)
    by_hand = _BY_HAND.search(operation.summary)
    corrected = 1 if operation.kind == "edit" else int(by_hand[1]) if by_hand else 0
    return UndoPlan(operation, corrected, stored_journal.later_on_same(store, number))


def undo(store: Store, operation_id: int, *, keep: bool = True) -> JournalEntry:
    """Take an operation back: every row is put to what it was.

    keep: whether what is found is kept for a redo. Raises UsageError when there is no such operation, it is undone
    already, or a later one changed the same things.
    """
    with store.transaction():
        operation = _standing(store, operation_id)
        later = stored_journal.later_on_same(store, operation_id)
        if later:
            raise UsageError(
                f"{_numbers(later)} changed the same blocks after operation {operation_id}.",
                way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
            )
        undone.forget(store, operation_id)
        if keep:
            undone.keep_found(store, operation_id)
        with _readable(operation_id):
            _put_back(store, operation_id)
        if keep:
            undone.keep_left(store, operation_id)
        stored_journal.mark(store, operation_id, undone=True)
        return replace(operation, undone=True)


def redo(store: Store, operation_id: int | None = None) -> JournalEntry:
    """Put an undone operation (the one that was undone last) back exactly as its undo found it.

    Raises UsageError when there is none, it stands, or something it changed is no longer as the undo left it.
    """
    with store.transaction():
        number = operation_id if operation_id is not None else stored_journal.latest_redoable(store)
        if number is None:
            raise UsageError(
                "There is nothing to redo.",
                way_out="No operation in the journal is undone.",
                about="operation",
            )
        operation = _found(store, number)
        if not operation.undone:
            raise UsageError(
                f"Operation {number} is not undone.",
                way_out="Only an undone operation can be redone.",
                about="operation",
            )
        _check_clear(store, operation)
        with _readable(number):
            _put_forward(store, number)
        undone.forget(store, number)
        stored_journal.mark(store, number, undone=False)
        return replace(operation, undone=False)


# --- what may be done -------------------------------------------------------------------------------------


def _found(store: Store, operation_id: int) -> JournalEntry:
    operation = stored_journal.get(store, operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.",
            way_out="Choose another operation from the journal.",
            about="operation",
        )
    return operation


def _standing(store: Store, operation_id: int) -> JournalEntry:
    operation = _found(store, operation_id)
    if operation.undone:
        raise UsageError(
            f"Operation {operation_id} is already undone.",
            way_out="Redo restores it; or choose another operation from the journal.",
            about="operation",
        )
    return operation


def _check_clear(store: Store, operation: JournalEntry) -> None:
    """Raise UsageError where something stands in the way of a redo."""
    number = operation.id
    later = stored_journal.later_on_same(store, number)
    if later:
        raise UsageError(
            f"{_numbers(later)} changed the same blocks since operation {number} was undone.",
            way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
        )
    if stored_journal.changed_anything(store, number) and not undone.kept(store, number):
        raise UsageError(
            f"Operation {number} was undone by an earlier version, which kept nothing to restore.",
            way_out="Make the change again.",
        )
    moved = undone.moved(store, number)
    if not moved:
        return
    earlier = stored_journal.earlier_undone_on_same(store, number)
    if earlier:
        raise UsageError(
            f"Operation {number} depends on {_numbers(earlier).lower()}, which {_is_are(earlier)} undone.",
            way_out=f"Redo {', '.join(map(str, earlier))} first.",
        )
    raise UsageError(
        f"What operation {number} changed has been changed since its undo: {moved[0][:8]}"
        f"{f' and {len(moved) - 1} more' if len(moved) > 1 else ''}.",
        way_out="The journal lists what was done since.",
        about="operation",
    )


def _numbers(operations: Sequence[int]) -> str:
    return f"Operation{'s' if len(operations) > 1 else ''} {', '.join(map(str, operations))}"


def _is_are(operations: Sequence[int]) -> str:
    return "are" if len(operations) > 1 else "is"


@contextmanager
def _readable(operation_id: int) -> Iterator[None]:
    """Journal rows that cannot be read are a fault of the store, not of the program."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorruptError(
            f"The journal of operation {operation_id} cannot be read: {error!r}.",
            way_out="Nothing was changed; run verify.",
        ) from error


# --- back -------------------------------------------------------------------------------------------------


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
    for rows in pages("forecast"):
        calibration_log.reopen(store, [r.key for r in rows])
    for rows in pages("clock"):
        for row in rows:
            _turn_back(store, row)


def _put_edges_back(store: Store, rows: Sequence[Row]) -> None:
    """Edges as they were, with the clock that a walk since then has set.

    One whose other end an undo took out of the store or made raw again stays away; raises UsageError where that end
    was pruned.
    """
    edges = [_edge_in(r.before) for r in rows if r.before is not None]
    ends = stored_blocks.get(store, {e.source_id for e in edges} | {e.target_id for e in edges})
    for end in ends.values():
        if end.status == "pruned":
            raise UsageError(
                f"Block {end.id[:8]}, at the end of an edge to be restored, was pruned since.",
                way_out="Undo the pruning first.",
                about="operation",
            )
    live = {i for i, end in ends.items() if end.status != "raw"}
    edges = [e for e in edges if e.source_id in live and e.target_id in live]
    _put_edges(store, edges)


def _put_edges(store: Store, edges: Sequence[Edge]) -> None:
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
    _cut(store, made)
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
    bare = [r.key for r in changed if r.embedding is None and not json.loads(r.before or "{}")[KEPT]]
    stored_blocks.set_embeddings(store, bare, None)
    for row in (*changed, *taken):
        if row.embedding is not None:
            stored_blocks.set_embeddings(store, [row.key], row.embedding[None, :])


def _drop_edges_of_unlinked(store: Store, ids: Sequence[str]) -> None:
    """A block that is raw again has no edges: those that later operations made to it go too."""
    _cut(store, [i for i, b in stored_blocks.get(store, ids).items() if b.status == "raw"])


def _cut(store: Store, ids: Sequence[str]) -> None:
    if ids:
        stored_edges.delete(store, [stored_edges.key(e) for e in stored_edges.touching(store, ids)])


def _turn_back(store: Store, row: Row) -> None:
    """A reinforcement that never was: out of the log, and the clock where it stood unless another has set it since."""
    before, after = json.loads(row.before or "{}"), json.loads(row.after or "{}")
    at = parse_instant(after["at"])
    reinforcement_log.remove(store, row.key, after["event_type"], at, after["source"])
    stored_blocks.turn_back(store, row.key, at, parse_instant(before["last_reinforced_at"]))
    stored_blocks.recount(store, [row.key])


# --- forward ----------------------------------------------------------------------------------------------


def _put_forward(store: Store, number: int) -> None:
    touched = [row.key for rows in stored_journal.pages(store, number, "block") for row in rows]
    stored_scores.forget(store, touched)
    away = undone.taken(store, number)
    _cut(store, away)
    stored_blocks.delete(store, away)
    stored_edges.delete(store, undone.edges_brought_back(store, number))
    stored_blocks.recount(store, undone.put_blocks_back(store, number))
    _cut(store, undone.pruned(store, number))
    _put_own_edges(store, number)
    lost = undone.edges(store, number, own=False)
    _put_edges(store, [e for e in lost if not _dead_ends(store, [e])])
    for rows in stored_journal.pages(store, number, "forecast"):
        for row in rows:
            verdict = json.loads(row.after or "{}")
            at = parse_instant(verdict["decided_at"])
            calibration_log.decide(store, row.key, verdict["actual"], verdict["brier"], at)
    for rows in stored_journal.pages(store, number, "clock"):
        for row in rows:
            event = json.loads(row.after or "{}")
            at = parse_instant(event["at"])
            stored_blocks.reinforce(store, [row.key], at)
            reinforcement_log.append(store, [row.key], event["event_type"], at, event["source"])


def _put_own_edges(store: Store, number: int) -> None:
    """The edges that the operation left: as the undo found them, else (one that went with a block at its end) as they
    were made. Raises UsageError where an end is not there to carry one.
    """
    found = {stored_edges.key(e): e for e in undone.edges(store, number, own=True)}
    for rows in stored_journal.pages(store, number, "edge"):
        left = [_edge_in(r.after) for r in rows if r.after is not None]
        wanted = [found.get(stored_edges.key(e), e) for e in left]
        dead = _dead_ends(store, [e for e in wanted if stored_edges.key(e) in found])
        if dead:
            raise UsageError(
                f"Block {dead[0][:8]}, at the end of an edge to be restored, is raw again or gone.",
                way_out="Redo the operation that consolidated it first.",
                about="operation",
            )
        _put_edges(store, [e for e in wanted if not _dead_ends(store, [e])])


def _dead_ends(store: Store, edges: Sequence[Edge]) -> tuple[str, ...]:
    """The ends of edges that can carry none: raw, pruned, or gone."""
    ends = {e.source_id for e in edges} | {e.target_id for e in edges}
    there = stored_blocks.get(store, ends)
    return tuple(sorted(i for i in ends if i not in there or there[i].status in ("raw", "pruned")))


# --- JSON -------------------------------------------------------------------------------------------------


def _restored(block: Block, row: Row) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        block.id,
        block.content,
        block.created_at,
        block.last_reinforced_at,
        **{name: data[name] for name in STATE},
    )


def _block_in(row: Row) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        row.key,
        data["content"],
        parse_instant(data["created_at"]),
        parse_instant(data["last_reinforced_at"]),
        **{name: data[name] for name in STATE},
    )


def _edge_in(text: str) -> Edge:
    data: dict[str, Any] = json.loads(text)
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
