"""Reinforcement: using blocks and walking edges resets their decay clocks (AMGS §8.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.errors import UnknownBlockError
from amgs.graph.view import GraphView
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.text.words import plural
from amgs.types import EdgeKey, JournalEntry


def reinforce(
    storage: Storage, ids: Sequence[str], *, event_type: str, source: str, now: datetime, walked: Sequence[EdgeKey] = ()
) -> None:
    """Log an event per block, however often it occurs, and reset the clocks of the edges walked.

    Raises UnknownBlockError if a block does not exist; then nothing is written.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    with storage.transaction():
        known = storage.blocks.existing(wanted)
        missing = [i for i in wanted if i not in known]
        if missing:
            raise UnknownBlockError(
                f"There is no block {missing[0][:12]}.", way_out="Search for the block by its words."
            )
        storage.blocks.reinforce(wanted, now)
        storage.reinforcements.append(wanted, event_type, now, source)
        if walked:
            once = list(dict.fromkeys(walked))
            storage.edges.reinforce(once, now)
            storage.reinforcements.append_walks(once, now, source)


def reinforce_shown(
    storage: Storage, ids: Sequence[str], frame: str, assembly_id: str, now: datetime, walked: Sequence[EdgeKey]
) -> JournalEntry:
    """Reinforce the blocks that a frame selected, as an operation that `undo` can revert."""
    source = f"{frame} {assembly_id}"
    with storage.transaction():
        blocks, edges = storage.blocks.get(ids), storage.edges.get(walked)
        reinforce(storage, ids, event_type="assembled", source=source, now=now, walked=list(edges))
        rows = [journal.clock_row(blocks[i], "assembled", now, source) for i in ids]
        rows += [journal.edge_row(e, replace(e, last_reinforced_at=now)) for e in edges.values()]
        summary = f"{plural(len(ids), 'block')} reinforced by being shown in {frame}"
        return journal.write(storage, "reinforce", now, summary, rows)


def find_walked_edges(view: GraphView, reached: Collection[str], selected: Mapping[str, int]) -> tuple[EdgeKey, ...]:
    """Return the edges between blocks found through the graph and other selected ones, sorted.

    reached: ids of blocks found through the graph. selected: block number by id.
    """
    ids = {number: block_id for block_id, number in selected.items()}
    c = view.columns
    edge_keys: set[EdgeKey] = set()
    for block_id in reached:
        node = view.index_of(selected[block_id])
        if node is None:
            continue
        ties = view.ties
        for row in ties.edge[int(ties.starts[node]) : int(ties.starts[node + 1])].tolist():
            begin, end = ids.get(int(c.source[row])), ids.get(int(c.target[row]))
            if begin is not None and end is not None:
                edge_keys.add((begin, end, str(c.relation[row])))
    return tuple(sorted(edge_keys))
