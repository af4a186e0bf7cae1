"""Use keeps memory alive.

The decay clock of what was assembled, and of the edges walked, starts anew (AMGS §8.4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from amgs.errors import UnknownBlockError
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import reinforcement_log
from amgs.store.connection import Store


def reinforce(
    store: Store,
    ids: Sequence[str],
    *,
    event_type: str,
    source: str,
    now: datetime,
    walked: Sequence[stored_edges.Key] = (),
) -> None:
    """One event for each block, however often it is named, and a fresh clock for the edges walked.

    Raises UnknownBlockError when a block does not exist; then nothing is written.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    with store.transaction():
        known = stored_blocks.existing(store, wanted)
        missing = [i for i in wanted if i not in known]
        if missing:
            raise UnknownBlockError(
                f"There is no block {missing[0][:12]}.",
                way_out="`block find TEXT` looks for one by its words.",
            )
        stored_blocks.reinforce(store, wanted, now)
        reinforcement_log.append(store, wanted, event_type, now, source)
        if walked:
            once = list(dict.fromkeys(walked))
            stored_edges.reinforce(store, once, now)
            reinforcement_log.append_walks(store, once, now, source)


def walked_edges(
    store: Store, reached: Collection[str], selected: Collection[str]
) -> tuple[stored_edges.Key, ...]:
    """Edges by which blocks found through the graph hang on the other selected ones."""
    if not reached:
        return ()
    keep = set(selected)
    return tuple(
        stored_edges.key(e)
        for e in stored_edges.touching(store, reached)
        if e.source_id in keep and e.target_id in keep
    )
