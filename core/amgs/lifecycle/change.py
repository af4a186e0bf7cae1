"""Apply the changes of every later lifecycle stage to the store: one set of changes, one transaction, one journal
entry.

A stage plans a Change from what it saw; `carry_out` refuses when the store has moved on under it.
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
    """Blocks and edges as they were seen and as they will be.

    blocks: (before, after) of blocks whose metadata changes; one that becomes pruned loses its edges. made:
    new blocks, with embedding. taken: blocks that leave the store, with their edges. edges: (before, after),
    None for an edge that is not there.
    """

    blocks: tuple[tuple[Block, Block], ...] = ()
    made: tuple[Block, ...] = ()
    taken: tuple[Block, ...] = ()
    edges: tuple[tuple[Edge | None, Edge | None], ...] = ()


def joined(changes: Iterable[Change]) -> Change:
    """Return several changes as one; the caller sees to it that they do not contradict each other."""
    every = tuple(changes)
    return Change(
        tuple(pair for c in every for pair in c.blocks),
        tuple(b for c in every for b in c.made),
        tuple(b for c in every for b in c.taken),
        tuple(pair for c in every for pair in c.edges),
    )


def carry_out(storage: Storage, kind: str, change: Change, summary: str, now: datetime) -> JournalEntry:
    """Write a change and its journal entry in one transaction.

    Raises UsageError when a block or an edge is no longer as the plan saw it; nothing is written then.
    """
    with storage.transaction():
        rows = [*_blocks(storage, change), *_edges(storage, change)]
        return journal.write(storage, kind, now, summary, rows)


# --- blocks -----------------------------------------------------------------------------------------------


def _blocks(storage: Storage, change: Change) -> list[JournalRow]:
    seen = [before for before, _ in change.blocks] + list(change.taken)
    now = storage.blocks.get([b.id for b in seen])
    for block in seen:
        if block.id not in now or not _same(block, now[block.id]):
            raise _stale(f"block {block.id[:8]} has changed")
    known = storage.blocks.existing([b.id for b in change.made])
    if known:
        raise _stale(f"block {min(known)[:8]} is there already")
    # meta may have gained a source since: it keeps what is there and takes what the plan adds.
    after = [_onto(now[before.id], before, new) for before, new in change.blocks]
    rows = [journal.block_row(now[b.id], b) for b in after]
    storage.blocks.update(after)
    lost = [b.id for b in after if b.status == "pruned"] + [b.id for b in change.taken]
    rows += _cut(storage, lost)
    rows += _take(storage, change.taken)
    rows += _make(storage, change.made)
    return rows


def _same(planned: Block, present: Block) -> bool:
    return all(getattr(planned, name) == getattr(present, name) for name in _FIELDS)


def _onto(present: Block, before: Block, after: Block) -> Block:
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


def _cut(storage: Storage, ids: Sequence[str]) -> list[JournalRow]:
    """No edge may end at a block that is pruned or gone: all that touch it go, those made since the plan too."""
    if not ids:
        return []
    gone = storage.edges.touching(ids)
    storage.edges.delete([e.key for e in gone])
    return [journal.edge_row(e, None) for e in gone]


def _take(storage: Storage, blocks: Sequence[Block]) -> list[JournalRow]:
    ids = [b.id for b in blocks]
    whole = storage.blocks.get(ids, embeddings=True)
    rows = [journal.block_row(whole[i], None) for i in ids]
    if ids:
        storage.scores.forget(ids)
        storage.blocks.delete(ids)
    return rows


def _make(storage: Storage, blocks: Sequence[Block]) -> list[JournalRow]:
    if not blocks:
        return []
    storage.blocks.insert(blocks)
    with_vector = [b for b in blocks if b.embedding is not None]
    if with_vector:
        matrix = np.stack([b.embedding for b in with_vector if b.embedding is not None])
        storage.blocks.set_embeddings([b.id for b in with_vector], matrix)
    # A text that was made before and undone may still stand in the log of reinforcements.
    storage.blocks.recount([b.id for b in blocks])
    return [journal.block_row(None, b) for b in blocks]


# --- edges ------------------------------------------------------------------------------------------------


def _edges(storage: Storage, change: Change) -> list[JournalRow]:
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
            continue  # What was to be made is there already, and stays as it is.
        if before is not None and (present is None or not _alike(before, present)):
            raise _stale(f"the edge {edge.source_id[:8]} {edge.relation_type} {edge.target_id[:8]} has changed")
        if after is None:
            drop.append(edge.key)
        else:
            if present is not None:  # walked since the plan, or confirmed by it: the later use counts
                used = max(present.last_reinforced_at, after.last_reinforced_at)
                after = replace(after, last_reinforced_at=used)
            put.append(after)
        rows.append(journal.edge_row(present, after))
    _check_ends(storage, put)
    storage.edges.delete(drop)
    storage.edges.put(put)
    return rows


def _alike(planned: Edge, present: Edge) -> bool:
    return (planned.weight, planned.confidence, planned.decay_lambda) == (
        present.weight,
        present.confidence,
        present.decay_lambda,
    )


def _check_ends(storage: Storage, edges: Sequence[Edge]) -> None:
    ends = {e.source_id for e in edges} | {e.target_id for e in edges}
    there = storage.blocks.get(ends)
    for end in sorted(ends):
        if end not in there or there[end].status == "pruned":
            raise _stale(f"block {end[:8]} is gone")


def _stale(what: str) -> UsageError:
    return UsageError(f"Since the plan was made, {what}.", title="The plan is out of date", way_out="Plan again.")
