"""Taking an operation of the journal back, and putting it back again (contract 6 of the design).

Each is one transaction. An undo keeps what it found and what it left; a redo restores the one where the other still
stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from amgs.clock import parse_instant
from amgs.errors import StoreCorruptError, UsageError
from amgs.log.journal import KEPT, STATE, VALIDITY, reinforcement_in
from amgs.storage.journal import ERASED, JournalRow, JournalTarget
from amgs.storage.store import Storage
from amgs.types import Block, Edge, EdgeKey, JournalEntry, UndoPlan

_BY_HAND = re.compile(r", (\d+) (?:edited|corrected by hand)$")


def plan(storage: Storage, operation_id: int | None = None) -> UndoPlan:
    """What undoing an operation (the latest that stands) would do; changes nothing.

    Raises UsageError when there is no such operation or it is already undone.
    """
    number = operation_id if operation_id is not None else storage.journal.latest_standing()
    if number is None:
        raise UsageError(
            "There is nothing to undo.",
            way_out="The journal is empty, or every operation in it is undone.",
            about="operation",
        )
    operation = _standing(storage, number)
    by_hand = _BY_HAND.search(operation.summary)
    corrected = 1 if operation.kind == "edit" else int(by_hand[1]) if by_hand else 0
    return UndoPlan(operation, corrected, storage.journal.later_on_same(number))


def undo(storage: Storage, operation_id: int, *, keep: bool = True) -> JournalEntry:
    """Take an operation back: every row is put to what it was.

    keep: whether what is found is kept for a redo. Raises UsageError when there is no such operation, it is undone
    already, or a later one changed the same things.
    """
    with storage.transaction():
        operation = _standing(storage, operation_id)
        later = storage.journal.later_on_same(operation_id)
        if later:
            raise UsageError(
                f"{_numbers(later)} changed the same blocks after operation {operation_id}.",
                way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
            )
        storage.undone.forget(operation_id)
        if keep:
            storage.undone.keep_found(operation_id)
        with _readable(operation_id):
            _put_back(storage, operation_id)
        if keep:
            storage.undone.keep_left(operation_id)
        storage.journal.mark(operation_id, undone=True)
        return replace(operation, undone=True)


def redo(storage: Storage, operation_id: int | None = None) -> JournalEntry:
    """Put an undone operation (the one that was undone last) back exactly as its undo found it.

    Raises UsageError when there is none, it stands, or something it changed is no longer as the undo left it.
    """
    with storage.transaction():
        number = operation_id if operation_id is not None else storage.journal.latest_redoable()
        if number is None:
            raise UsageError(
                "There is nothing to redo.",
                way_out="No operation in the journal is undone.",
                about="operation",
            )
        operation = _found(storage, number)
        if not operation.undone:
            raise UsageError(
                f"Operation {number} is not undone.",
                way_out="Only an undone operation can be redone.",
                about="operation",
            )
        _check_clear(storage, operation)
        with _readable(number):
            _put_forward(storage, number)
        storage.undone.forget(number)
        storage.journal.mark(number, undone=False)
        return replace(operation, undone=False)


# --- what may be done -------------------------------------------------------------------------------------


def _found(storage: Storage, operation_id: int) -> JournalEntry:
    operation = storage.journal.get(operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.",
            way_out="Choose another operation from the journal.",
            about="operation",
        )
    return operation


def _standing(storage: Storage, operation_id: int) -> JournalEntry:
    operation = _found(storage, operation_id)
    if operation.kind == ERASED:
        raise UsageError(
            f"Operation {operation_id} erased what it names; nothing of it is left to restore.",
            title="An erasure cannot be undone",
            way_out="Take the text in again from its source.",
        )
    if operation.undone:
        raise UsageError(
            f"Operation {operation_id} is already undone.",
            way_out="Redo restores it; or choose another operation from the journal.",
            about="operation",
        )
    return operation


def _check_clear(storage: Storage, operation: JournalEntry) -> None:
    """Raise UsageError where something stands in the way of a redo."""
    number = operation.id
    later = storage.journal.later_on_same(number)
    if later:
        raise UsageError(
            f"{_numbers(later)} changed the same blocks since operation {number} was undone.",
            way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
        )
    if storage.journal.changed_anything(number) and not storage.undone.kept(number):
        raise UsageError(
            f"Operation {number} was undone by an earlier version, which kept nothing to restore.",
            way_out="Make the change again.",
        )
    moved = storage.undone.moved(number)
    if not moved:
        return
    earlier = storage.journal.earlier_undone_on_same(number)
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


def _put_back(storage: Storage, operation_id: int) -> None:
    def pages(target: JournalTarget) -> Iterator[tuple[JournalRow, ...]]:
        return storage.journal.pages(operation_id, target)

    for rows in pages("edge"):
        storage.edges.delete([_edge_key(r.key) for r in rows if r.before is None])
    for rows in pages("block"):
        _undo_blocks(storage, rows)
    for rows in pages("edge"):
        _put_edges_back(storage, [r for r in rows if r.before is not None])
    for rows in pages("block"):
        _drop_edges_of_unlinked(storage, [r.key for r in rows if r.before and r.after])
    for rows in pages("forecast"):
        storage.forecasts.reopen([r.key for r in rows])
        for reinforced in filter(None, map(reinforcement_in, rows)):
            _turn_back(storage, reinforced)
    for rows in pages("clock"):
        for row in rows:
            _turn_back(storage, row)


def _put_edges_back(storage: Storage, rows: Sequence[JournalRow]) -> None:
    """Edges as they were, with the clock that a walk since then has set.

    One whose other end an undo took out of the store or made raw again stays away; raises UsageError where that end
    was pruned.
    """
    edges = [_edge_in(r.before) for r in rows if r.before is not None]
    ends = storage.blocks.get({e.source_id for e in edges} | {e.target_id for e in edges})
    for end in ends.values():
        if end.status == "pruned":
            raise UsageError(
                f"Block {end.id[:8]}, at the end of an edge to be restored, was pruned since.",
                way_out="Undo the pruning first.",
                about="operation",
            )
    live = {i for i, end in ends.items() if end.status != "raw"}
    edges = [e for e in edges if e.source_id in live and e.target_id in live]
    left = {edge.key: edge for edge in (_edge_in(r.after) for r in rows if r.after is not None)}
    _put_edges(storage, edges, left)


def _put_edges(storage: Storage, edges: Sequence[Edge], left: Mapping[EdgeKey, Edge] | None = None) -> None:
    """Put edges back; left: as the operation that is undone had left them."""
    present = storage.edges.get([e.key for e in edges])
    storage.edges.put([_with_clock(e, present.get(e.key), (left or {}).get(e.key)) for e in edges])


def _with_clock(edge: Edge, present: Edge | None, left: Edge | None) -> Edge:
    """The edge with the clock of a later use; the one that the operation itself began anew goes back with it."""
    if present is None or present.last_reinforced_at <= edge.last_reinforced_at:
        return edge
    if left is not None and left.last_reinforced_at == present.last_reinforced_at:
        return edge
    return replace(edge, last_reinforced_at=present.last_reinforced_at)


def _undo_blocks(storage: Storage, rows: Sequence[JournalRow]) -> None:
    made = [r.key for r in rows if r.before is None]
    changed = [r for r in rows if r.before is not None and r.after is not None]
    taken = [r for r in rows if r.before is not None and r.after is None]
    storage.scores.forget([r.key for r in rows])
    # What came after and touches a block that goes, goes with it: no edge may end nowhere.
    _cut(storage, made)
    storage.blocks.delete(made)
    now = storage.blocks.get([r.key for r in changed])
    missing = [r.key for r in changed if r.key not in now]
    if missing:
        raise StoreCorruptError(
            f"Block {missing[0][:12]} of the journal is not in the store.", way_out="Run verify."
        )
    storage.blocks.update([_restored(now[r.key], r) for r in changed])
    storage.blocks.insert([_block_in(r) for r in taken])
    storage.blocks.recount([r.key for r in taken])
    bare = [r.key for r in changed if r.embedding is None and not json.loads(r.before or "{}")[KEPT]]
    storage.blocks.set_embeddings(bare, None)
    for row in (*changed, *taken):
        if row.embedding is not None:
            storage.blocks.set_embeddings([row.key], row.embedding[None, :])


def _drop_edges_of_unlinked(storage: Storage, ids: Sequence[str]) -> None:
    """A block that is raw again has no edges: those that later operations made to it go too."""
    _cut(storage, [i for i, b in storage.blocks.get(ids).items() if b.status == "raw"])


def _cut(storage: Storage, ids: Sequence[str]) -> None:
    if ids:
        storage.edges.delete([e.key for e in storage.edges.touching(ids)])


def _turn_back(storage: Storage, row: JournalRow) -> None:
    """A reinforcement that never was: out of the log, and the clock where it stood unless another has set it since."""
    before, after = json.loads(row.before or "{}"), json.loads(row.after or "{}")
    at = parse_instant(after["at"])
    storage.reinforcements.remove(row.key, after["event_type"], at, after["source"])
    storage.blocks.turn_back(row.key, at, parse_instant(before["last_reinforced_at"]))
    storage.blocks.recount([row.key])


# --- forward ----------------------------------------------------------------------------------------------


def _put_forward(storage: Storage, number: int) -> None:
    touched = [row.key for rows in storage.journal.pages(number, "block") for row in rows]
    storage.scores.forget(touched)
    away = storage.undone.taken(number)
    _cut(storage, away)
    storage.blocks.delete(away)
    storage.edges.delete(storage.undone.edges_brought_back(number))
    storage.blocks.recount(storage.undone.put_blocks_back(number))
    _cut(storage, storage.undone.pruned(number))
    _put_own_edges(storage, number)
    lost = storage.undone.edges(number, own=False)
    _put_edges(storage, [e for e in lost if not _dead_ends(storage, [e])])
    for rows in storage.journal.pages(number, "forecast"):
        for row in rows:
            verdict = json.loads(row.after or "{}")
            at = parse_instant(verdict["decided_at"])
            storage.forecasts.decide(row.key, verdict["actual"], verdict["brier"], at)
            if (reinforced := reinforcement_in(row)) is not None:
                _reinforce_again(storage, reinforced)
    if any(storage.journal.pages(number, "forecast")):
        for rows in storage.journal.pages(number, "edge"):
            storage.edge_forecasts.count_in(number, [_edge_key(row.key) for row in rows])
    for rows in storage.journal.pages(number, "clock"):
        for row in rows:
            _reinforce_again(storage, row)


def _reinforce_again(storage: Storage, row: JournalRow) -> None:
    event = json.loads(row.after or "{}")
    at = parse_instant(event["at"])
    storage.blocks.reinforce([row.key], at)
    storage.reinforcements.append([row.key], event["event_type"], at, event["source"])


def _put_own_edges(storage: Storage, number: int) -> None:
    """The edges that the operation left: as the undo found them, else (one that went with a block at its end) as they
    were made. Raises UsageError where an end is not there to carry one.
    """
    found = {e.key: e for e in storage.undone.edges(number, own=True)}
    for rows in storage.journal.pages(number, "edge"):
        left = [_edge_in(r.after) for r in rows if r.after is not None]
        wanted = [found.get(e.key, e) for e in left]
        dead = _dead_ends(storage, [e for e in wanted if e.key in found])
        if dead:
            raise UsageError(
                f"Block {dead[0][:8]}, at the end of an edge to be restored, is raw again or gone.",
                way_out="Redo the operation that consolidated it first.",
                about="operation",
            )
        _put_edges(storage, [e for e in wanted if not _dead_ends(storage, [e])])


def _dead_ends(storage: Storage, edges: Sequence[Edge]) -> tuple[str, ...]:
    """The ends of edges that can carry none: raw, pruned, or gone."""
    ends = {e.source_id for e in edges} | {e.target_id for e in edges}
    there = storage.blocks.get(ends)
    return tuple(sorted(i for i in ends if i not in there or there[i].status in ("raw", "pruned")))


# --- JSON -------------------------------------------------------------------------------------------------


def _restored(block: Block, row: JournalRow) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        block.id,
        block.content,
        parse_instant(data["created_at"]) if "created_at" in data else block.created_at,
        block.last_reinforced_at,
        **{name: data[name] for name in STATE},
        **_validity(data),
    )


def _block_in(row: JournalRow) -> Block:
    data = json.loads(row.before or "{}")
    return Block(
        row.key,
        data["content"],
        parse_instant(data["created_at"]),
        parse_instant(data["last_reinforced_at"]),
        **{name: data[name] for name in STATE},
        **_validity(data),
    )


def _validity(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: parse_instant(data[name]) for name in VALIDITY if data.get(name)}


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


def _edge_key(text: str) -> EdgeKey:
    source, target, relation = text.split(" ", 2)
    return source, target, relation
