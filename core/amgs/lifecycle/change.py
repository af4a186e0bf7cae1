"""Write the planned change of a lifecycle stage to the store, in a single transaction with its journal entry.

Stages such as pruning, merging and revision plan a `Change`; `carry_out` writes it, and refuses where the store has
changed since. Undo relies on the rows that are journalled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from amgs.errors import UsageError
from amgs.log import journal
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.types import Block, Edge, EdgeKey, JournalEntry

_FIELDS = ("category", "confidence", "decay_lambda", "status", "is_self_component", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True)
class Change:
    """Blocks and edges as a plan saw them and as they will be.

    blocks: (before, after) of blocks whose metadata changes; a block that becomes pruned loses its edges. created: new
    blocks, with embedding. taken: blocks that are deleted from the store with their edges. edges: (before, after); None
    where there is no edge.
    """

    blocks: tuple[tuple[Block, Block], ...] = ()
    created: tuple[Block, ...] = ()
    taken: tuple[Block, ...] = ()
    edges: tuple[tuple[Edge | None, Edge | None], ...] = ()


def combine_changes(changes: Iterable[Change]) -> Change:
    """Combine changes into a single change; the caller makes sure that they do not contradict each other."""
    every = tuple(changes)
    return Change(
        tuple(pair for c in every for pair in c.blocks),
        tuple(b for c in every for b in c.created),
        tuple(b for c in every for b in c.taken),
        tuple(pair for c in every for pair in c.edges),
    )


def carry_out(storage: Storage, kind: str, change: Change, summary: str, now: datetime) -> JournalEntry:
    """Write a change and its journal entry in a single transaction.

    Raises UsageError when a block or an edge has changed since the plan; nothing is written then.
    """
    with storage.transaction():
        rows = [*_write_blocks(storage, change), *_write_edges(storage, change)]
        return journal.write(storage, kind, now, summary, rows)


# --- blocks -----------------------------------------------------------------------------------------------


def _write_blocks(storage: Storage, change: Change) -> list[JournalRow]:
    """Update, delete and insert the blocks of a change, with the edges that go; return the journal's rows."""
    seen = [before for before, _ in change.blocks] + list(change.taken)
    now = storage.blocks.get([b.id for b in seen])
    for block in seen:
        if block.id not in now or not _is_unchanged(block, now[block.id]):
            raise _out_of_date(f"block {block.id[:8]} has changed")
    known = storage.blocks.existing([b.id for b in change.created])
    if known:
        raise _out_of_date(f"block {min(known)[:8]} is there already")
    # A block's meta may have a new source since the plan: keep it, and add what the plan adds.
    after = [_apply_to(now[before.id], before, new) for before, new in change.blocks]
    rows = [journal.block_row(now[b.id], b) for b in after]
    storage.blocks.update(after)
    without_edges = [b.id for b in after if b.status == "pruned"] + [b.id for b in change.taken]
    rows += _delete_edges(storage, without_edges)
    rows += _delete_blocks(storage, change.taken)
    rows += _insert_blocks(storage, change.created)
    return rows


def _is_unchanged(planned: Block, present: Block) -> bool:
    return all(getattr(planned, name) == getattr(present, name) for name in _FIELDS)


def _apply_to(present: Block, before: Block, after: Block) -> Block:
    """Return the present block with the plan's changes; metadata that the plan did not change stays."""
    meta = {**present.meta, **{k: v for k, v in after.meta.items() if before.meta.get(k) != v}}
    for key in before.meta.keys() - after.meta.keys():
        meta.pop(key, None)
    return replace(
        present,
        category=after.category,
        confidence=after.confidence,
        decay_lambda=after.decay_lambda,
        status=after.status,
        is_self_component=after.is_self_component,
        valid_from=after.valid_from,
        valid_to=after.valid_to,
        meta=meta,
    )


def _delete_edges(storage: Storage, ids: Sequence[str]) -> list[JournalRow]:
    """Delete all edges of blocks that are pruned or deleted, also those added since the plan."""
    if not ids:
        return []
    gone = storage.edges.touching(ids)
    storage.edges.delete([e.key for e in gone])
    return [journal.edge_row(e, None) for e in gone]


def _delete_blocks(storage: Storage, blocks: Sequence[Block]) -> list[JournalRow]:
    """Delete blocks with their scores; the journal keeps them whole for undo."""
    ids = [b.id for b in blocks]
    whole = storage.blocks.get(ids, embeddings=True)
    rows = [journal.block_row(whole[i], None) for i in ids]
    if ids:
        storage.scores.forget(ids)
        storage.blocks.delete(ids)
    return rows


def _insert_blocks(storage: Storage, blocks: Sequence[Block]) -> list[JournalRow]:
    """Insert new blocks with their embeddings."""
    if not blocks:
        return []
    storage.blocks.insert(blocks)
    with_vector = [b for b in blocks if b.embedding is not None]
    if with_vector:
        matrix = np.stack([b.embedding for b in with_vector if b.embedding is not None])
        storage.blocks.set_embeddings([b.id for b in with_vector], matrix)
    # An earlier block with the same text may have been undone; its reinforcements are still in the log.
    storage.blocks.recount([b.id for b in blocks])
    return [journal.block_row(None, b) for b in blocks]


# --- edges ------------------------------------------------------------------------------------------------


def _write_edges(storage: Storage, change: Change) -> list[JournalRow]:
    """Write and delete the edges of a change; return the journal's rows."""
    keys = [edge.key for before, after in change.edges for edge in (before or after,) if edge]
    now = storage.edges.get(keys)
    rows: list[JournalRow] = []
    put: list[Edge] = []
    drop: list[EdgeKey] = []
    for before, after in change.edges:
        edge = before or after
        if edge is None:
            continue
        present = now.get(edge.key)
        if before is None and present is not None:
            continue  # the edge exists already and stays as it is
        if before is not None and (present is None or not _same_numbers(before, present)):
            raise _out_of_date(f"the edge {edge.source_id[:8]} {edge.relation_type} {edge.target_id[:8]} has changed")
        if after is None:
            drop.append(edge.key)
        else:
            if present is not None:  # used since the plan: keep the later time
                used = max(present.last_reinforced_at, after.last_reinforced_at)
                after = replace(after, last_reinforced_at=used)
            put.append(after)
        rows.append(journal.edge_row(present, after))
    _check_ends(storage, put)
    storage.edges.delete(drop)
    storage.edges.put(put)
    return rows


def _same_numbers(planned: Edge, present: Edge) -> bool:
    return (planned.weight, planned.confidence, planned.decay_lambda) == (
        present.weight,
        present.confidence,
        present.decay_lambda,
    )


def _check_ends(storage: Storage, edges: Sequence[Edge]) -> None:
    """Raise UsageError where an edge would end at a block that is pruned or gone."""
    ends = {e.source_id for e in edges} | {e.target_id for e in edges}
    known = storage.blocks.get(ends)
    for end in sorted(ends):
        if end not in known or known[end].status == "pruned":
            raise _out_of_date(f"block {end[:8]} is gone")


def _out_of_date(what: str) -> UsageError:
    return UsageError(f"Since the plan was computed, {what}.", title="The plan is out of date", way_out="Plan again.")
