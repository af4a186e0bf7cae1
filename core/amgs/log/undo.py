"""Undo an operation of the journal, in a single transaction (contract 6 of the design)."""

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
    """Return what undoing an operation (default: the latest) would do, without changing anything.

    Raises UsageError if the operation does not exist or is already undone.
    """
    number = operation_id if operation_id is not None else storage.journal.latest_standing()
    if number is None:
        raise UsageError(
            "There is nothing to undo.",
            way_out="The journal is empty, or every operation in it is undone.",
            about="operation",
        )
    operation = _require_undoable(storage, number)
    by_hand = _BY_HAND.search(operation.summary)
    corrected = 1 if operation.kind == "edit" else int(by_hand[1]) if by_hand else 0
    return UndoPlan(operation, corrected, storage.journal.later_on_same(number))


def undo(storage: Storage, operation_id: int) -> JournalEntry:
    """Undo an operation: restore every row to its state before.

    Raises UsageError if it does not exist, is already undone, or a later operation changed the same things.
    """
    with storage.transaction():
        operation = _require_undoable(storage, operation_id)
        later = storage.journal.later_on_same(operation_id)
        if later:
            raise UsageError(
                f"{_numbers(later)} changed the same blocks after operation {operation_id}.",
                way_out=f"Undo {', '.join(str(i) for i in reversed(later))} first.",
            )
        with _translate_errors(operation_id):
            _revert(storage, operation_id)
        storage.journal.mark(operation_id, undone=True)
        return replace(operation, undone=True)


# --- what may be done -------------------------------------------------------------------------------------


def _get_operation(storage: Storage, operation_id: int) -> JournalEntry:
    """Return an operation; raises UsageError if it does not exist."""
    operation = storage.journal.get(operation_id)
    if operation is None:
        raise UsageError(
            f"There is no operation {operation_id}.",
            way_out="Choose another operation from the journal.",
            about="operation",
        )
    return operation


def _require_undoable(storage: Storage, operation_id: int) -> JournalEntry:
    """Return an operation; raises UsageError if it does not exist or cannot be undone."""
    operation = _get_operation(storage, operation_id)
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
def _translate_errors(operation_id: int) -> Iterator[None]:
    """Raise StoreCorruptError for journal rows that cannot be read, while the block runs."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorruptError(
            f"The journal of operation {operation_id} cannot be read.", way_out="Nothing was changed; run verify."
        ) from error


# --- back -------------------------------------------------------------------------------------------------


def _revert(storage: Storage, operation_id: int) -> None:
    """Restore everything that an operation changed, in an order in which no edge lacks a block."""

    def pages(target: JournalTarget) -> Iterator[tuple[JournalRow, ...]]:
        return storage.journal.pages(operation_id, target)

    for rows in pages("edge"):
        storage.edges.delete([_edge_key(r.key) for r in rows if r.before is None])
    for rows in pages("block"):
        _undo_blocks(storage, rows)
    for rows in pages("edge"):
        _restore_edges(storage, [r for r in rows if r.before is not None])
    for rows in pages("block"):
        _drop_edges_of_unlinked(storage, [r.key for r in rows if r.before and r.after])
    for rows in pages("forecast"):
        storage.forecasts.reopen([r.key for r in rows])
        for reinforced in filter(None, map(reinforcement_in, rows)):
            _undo_reinforcement(storage, reinforced)
    for rows in pages("clock"):
        for row in rows:
            _undo_reinforcement(storage, row)
    for rows in pages("frame"):
        _undo_frames(storage, rows)
    for rows in pages("record"):
        storage.monitors.remove(parse_instant(row.key) for row in rows)


def _restore_edges(storage: Storage, rows: Sequence[JournalRow]) -> None:
    """Restore edges, with the clocks of walks since then.

    An edge stays deleted if its other block was deleted or turned raw by an undo; raises UsageError if that block was
    pruned.
    """
    edges = [_edge_from_json(r.before) for r in rows if r.before is not None]
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
    left = {edge.key: edge for edge in (_edge_from_json(r.after) for r in rows if r.after is not None)}
    present = storage.edges.get([e.key for e in edges])
    storage.edges.put([_with_clock(e, present.get(e.key), left.get(e.key)) for e in edges])


def _with_clock(edge: Edge, present: Edge | None, left: Edge | None) -> Edge:
    """Return the edge with the clock of its latest use, except a clock set by the undone operation itself."""
    if present is None or present.last_reinforced_at <= edge.last_reinforced_at:
        return edge
    if left is not None and left.last_reinforced_at == present.last_reinforced_at:
        return edge
    return replace(edge, last_reinforced_at=present.last_reinforced_at)


def _undo_blocks(storage: Storage, rows: Sequence[JournalRow]) -> None:
    """Delete created blocks, restore changed and deleted ones, with their embeddings."""
    new_ids = [r.key for r in rows if r.before is None]
    changed = [r for r in rows if r.before is not None and r.after is not None]
    taken = [r for r in rows if r.before is not None and r.after is None]
    storage.scores.forget([r.key for r in rows])
    # Later edges of the deleted blocks are deleted too, so that none dangles.
    _delete_edges_of(storage, new_ids)
    storage.blocks.delete(new_ids)
    now = storage.blocks.get([r.key for r in changed])
    missing = [r.key for r in changed if r.key not in now]
    if missing:
        raise StoreCorruptError(f"Block {missing[0][:12]} of the journal is not in the store.", way_out="Run verify.")
    storage.blocks.update([_restore_block(now[r.key], r) for r in changed])
    storage.blocks.insert([_block_from_json(r) for r in taken])
    storage.blocks.recount([r.key for r in taken])
    without_embedding = [r.key for r in changed if r.embedding is None and not json.loads(r.before or "{}")[KEPT]]
    storage.blocks.set_embeddings(without_embedding, None)
    for row in (*changed, *taken):
        if row.embedding is not None:
            storage.blocks.set_embeddings([row.key], row.embedding[None, :])


def _drop_edges_of_unlinked(storage: Storage, ids: Sequence[str]) -> None:
    """Delete all edges of blocks that are raw again, including later ones."""
    _delete_edges_of(storage, [i for i, b in storage.blocks.get(ids).items() if b.status == "raw"])


def _delete_edges_of(storage: Storage, ids: Sequence[str]) -> None:
    if ids:
        storage.edges.delete([e.key for e in storage.edges.touching(ids)])


def _undo_frames(storage: Storage, rows: Sequence[JournalRow]) -> None:
    """Restore definitions of frames. No later operation on them is valid, so no child is orphaned and no
    cycle arises.
    """
    for row in rows:
        storage.frame_cache.forget(row.key)
    storage.frames.delete([row.key for row in rows])
    storage.frames.put([decode(json.loads(row.before)) for row in rows if row.before is not None])


def _undo_reinforcement(storage: Storage, row: JournalRow) -> None:
    """Delete a reinforcement from the log and reset the clock, unless a later reinforcement has set it."""
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


def _block_from_json(row: JournalRow) -> Block:
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


def _edge_from_json(text: str) -> Edge:
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
