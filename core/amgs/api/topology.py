"""What an open memory consists of beside one file, for whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from amgs.api.context import MemoryContext
from amgs.api.tasks import Tasks
from amgs.clock import parse_instant
from amgs.errors import StoreError
from amgs.types.topology import IndexLag, StoreTopology

_CLAIMED = 8
"""Running tasks that are named."""


def topology(context: MemoryContext, blocks: int) -> StoreTopology | None:
    """None for a memory in a file without an index elsewhere, without workers, and of which no task was ever asked."""
    storage = context.storage
    found = Tasks(context).list(_CLAIMED)
    own = storage.namespaces(own=True)
    namespace = replace(own[0], blocks=blocks, changes=storage.change_counter) if own else None
    index = _index(context)
    if namespace is None and index is None and not found.workers and not found.counts:
        return None
    return StoreTopology(
        namespace,
        index,
        found.workers,
        _tasks(found.counts, "waiting"),
        _tasks(found.counts, "running"),
        _tasks(found.counts, "failed"),
        tuple(each for each in found.tasks if each.state == "running"),
    )


def _tasks(counts: Mapping[str, int], state: str) -> int:
    return sum(count for name, count in counts.items() if name.endswith(f" {state}"))


def _index(context: MemoryContext) -> IndexLag | None:
    tier = context.derived.tier
    if tier is None:
        return None
    store_at = context.storage.structure_counter
    try:
        dataset = tier.dataset(store_at)
    except StoreError as error:
        return IndexLag(0, 0, 0, store_at, fault=error.message)
    if dataset is None:
        return IndexLag(0, 0, 0, store_at)
    built = dataset.built
    at = parse_instant(built.at) if built.at else None
    return IndexLag(dataset.version, int(dataset.numbers.size), built.structure, store_at, at)
