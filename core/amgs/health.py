"""How a whole memory stands: what it holds, and what is wrong with it."""

from __future__ import annotations

from amgs.frames import registry
from amgs.lifecycle import consolidate
from amgs.lifecycle import verify as sound
from amgs.model import Fault, Progress, StoreStatus, Verification
from amgs.room import Room
from amgs.store import blocks as stored_blocks
from amgs.store import calibration_log
from amgs.store import edges as stored_edges
from amgs.store import frames as stored_frames
from amgs.store import journal as stored_journal
from amgs.store.connection import Store


def status(room: Room) -> StoreStatus:
    """One look at the whole memory."""
    now = room.clock.now()
    _, outcomes, score = calibration_log.counts(room.store)
    return StoreStatus(
        path=room.store.path,
        schema_version=room.store.schema_version,
        change_counter=room.store.change_counter,
        blocks=stored_blocks.by_status(room.store),
        categories=stored_blocks.by_category(room.store),
        edges=stored_edges.count(room.store),
        frames=len(room.definitions()),
        mean_relevance=stored_blocks.mean_relevance(room.store, now),
        last_consolidation=stored_journal.last_of(room.store, consolidate.KIND),
        brier=score,
        outcomes=outcomes,
        now=now,
    )


def verify(room: Room, progress: Progress | None = None) -> Verification:
    """Re-hash every block, follow every reference, compare the indexes; names each fault."""
    found = sound.faults(room.store, progress)
    with room.lock:
        found += room.derived.faults()
    found += _frame_faults(room.store)
    return Verification(
        blocks=sum(stored_blocks.by_status(room.store).values()),
        edges=stored_edges.count(room.store),
        faults=tuple(found),
    )


def _frame_faults(store: Store) -> list[Fault]:
    known = registry.by_name(stored_frames.everything(store))
    return [
        Fault(f"frame {name}", f"its child {child.name} is not registered")
        for name, definition in known.items()
        for child in definition.children
        if child.name not in known
    ]
