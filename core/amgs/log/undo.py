"""Take an operation of the journal back, in one transaction (contract 6 of the design)."""

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
from amgs.storage.frames import decode
from amgs.storage.journal import ERASED, MASKED, JournalRow, JournalTarget
from amgs.storage.store import Storage
from amgs.types import Block, Edge, EdgeKey, JournalEntry, UndoPlan

_BY_HAND = re.compile(r", (\d+) (?:edited|corrected by hand)$")


def plan(storage: Storage, operation_id: int | None = None) -> UndoPlan:
    """Plan the undo of an operation (the latest that stands); change nothing.

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


def undo(storage: Storage, operation_id: int) -> JournalEntry:
    """Take an operation back: every row is put to what it was.

    Raises UsageError when there is no such operation, it is undone already, or a later one changed the same things.
    """
    with storage.transaction():
        operation = _standing(storage, operation_id)
        later = storage.journal.later_on_same(operation_id)
        if later:
            raise UsageError(
                f"{_numbers(later)} changed the same blocks after operation {operation_id}.",
                way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
            )
        with _readable(operation_id):
            _put_back(storage, operation_id)
        storage.journal.mark(operation_id, undone=True)
        return replace(operation, undone=True)


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
    if operation.kind == MASKED and not operation.undone:
        raise UsageError(
            f"Operation {operation_id} masked secrets; what they were stands in a file of its owner alone.",
            way_out="Its owner can put them back.",
            about="masked",
        )
    if operation.undone:
        raise UsageError(
            f"Operation {operation_id} is already undone.",
            way_out="Make the change again, or choose another operation from the journal.",
            about="operation",
        )
    return operation


def _numbers(operations: Sequence[int]) -> str:
    return f"Operation{'s' if len(operations) > 1 else ''} {', '.join(map(str, operations))}"


@contextmanager
def _readable(operation_id: int) -> Iterator[None]:
    """Journal rows that cannot be read are a fault of the store, not of the program."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorruptError(
            f"The journal of operation {operation_id} cannot be read.", way_out="Nothing was changed; run verify."
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
    for rows in pages("frame"):
        _undo_frames(storage, rows)
    for rows in pages("record"):
        storage.monitors.remove(parse_instant(row.key) for row in rows)


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
    present = storage.edges.get([e.key for e in edges])
    storage.edges.put([_with_clock(e, present.get(e.key), left.get(e.key)) for e in edges])


def _with_clock(edge: Edge, present: Edge | None, left: Edge | None) -> Edge:
    """Return the edge with the clock of a later use; the one that the operation itself began anew goes back with it."""
    if present is None or present.last_reinforced_at <= edge.last_reinforced_at:
        return edge
    if left is not None and left.last_reinforced_at == present.last_reinforced_at:
        return edge
    return replace(edge, last_reinforced_at=present.last_reinforced_at)


def _undo_blocks(storage: Storage, rows: Sequence[JournalRow]) -> None:
    new_ids = [r.key for r in rows if r.before is None]
    changed = [r for r in rows if r.before is not None and r.after is not None]
    taken = [r for r in rows if r.before is not None and r.after is None]
    storage.scores.forget([r.key for r in rows])
    # What came after and touches a block that goes, goes with it: no edge may end nowhere.
    _cut(storage, new_ids)
    storage.blocks.delete(new_ids)
    now = storage.blocks.get([r.key for r in changed])
    missing = [r.key for r in changed if r.key not in now]
    if missing:
        raise StoreCorruptError(f"Block {missing[0][:12]} of the journal is not in the store.", way_out="Run verify.")
    storage.blocks.update([_restore_block(now[r.key], r) for r in changed])
    storage.blocks.insert([_block_in(r) for r in taken])
    storage.blocks.recount([r.key for r in taken])
    bare = [r.key for r in changed if r.embedding is None and not json.loads(r.before or "{}")[KEPT]]
    storage.blocks.set_embeddings(bare, None)
    for row in (*changed, *taken):
        if row.embedding is not None:
            storage.blocks.set_embeddings([row.key], row.embedding[None, :])


def _drop_edges_of_unlinked(storage: Storage, ids: Sequence[str]) -> None:
    """Drop the edges of blocks that are raw again, including those that later operations gave them."""
    _cut(storage, [i for i, b in storage.blocks.get(ids).items() if b.status == "raw"])


def _cut(storage: Storage, ids: Sequence[str]) -> None:
    if ids:
        storage.edges.delete([e.key for e in storage.edges.touching(ids)])


def _undo_frames(storage: Storage, rows: Sequence[JournalRow]) -> None:
    """Definitions as they were: no later one stands, so that none has a child that goes or comes to contain itself."""
    for row in rows:
        storage.frame_cache.forget(row.key)
    storage.frames.delete([row.key for row in rows])
    storage.frames.put([decode(json.loads(row.before)) for row in rows if row.before is not None])


def _turn_back(storage: Storage, row: JournalRow) -> None:
    """Remove a reinforcement from the log and turn the clock back, unless another has set it since."""
    before, after = json.loads(row.before or "{}"), json.loads(row.after or "{}")
    at = parse_instant(after["at"])
    storage.reinforcements.remove(row.key, after["event_type"], at, after["source"])
    storage.blocks.turn_back(row.key, at, parse_instant(before["last_reinforced_at"]))
    storage.blocks.recount([row.key])


# --- JSON -------------------------------------------------------------------------------------------------


def _restore_block(block: Block, row: JournalRow) -> Block:
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
