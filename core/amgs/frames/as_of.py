"""The store as it was: a copy in memory from which everything later is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from amgs.log.undo import undo
from amgs.storage.assemblies import AssemblyRecord
from amgs.storage.opening import copy_in_memory
from amgs.storage.store import Storage
from amgs.types import EdgeKey


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in the store's life.

    last_number, last_operation: the newest block and journal entry that count; None where only the instant is
    known: then a block counts from its creation and an operation from its own instant. before: the assembly
    whose own traces, and those of all later ones, do not count.
    """

    at: datetime
    last_number: int | None = None
    last_operation: int | None = None
    before: AssemblyRecord | None = None

    @classmethod
    def of(cls, assembly: AssemblyRecord) -> Moment:
        """The moment just before an assembly left its traces."""
        return cls(assembly.as_of, assembly.last_number, assembly.last_operation, assembly)


def rewind(storage: Storage, moment: Moment) -> Storage:
    """A copy in memory as the store was at the moment; the caller closes it.

    Later journal entries are undone, the newest first; later blocks go; the clocks of blocks and edges stand where
    the reinforcement log and the walks of earlier assemblies put them.
    """
    past = copy_in_memory(storage)
    try:
        for operation in past.as_of.later_operations(moment.at, moment.last_operation):
            undo(past, operation)
        with past.transaction():
            past.as_of.drop_later_blocks(moment.at, moment.last_number)
            kept = _kept(past, moment)
            past.as_of.rewind_reinforcement(moment.at, kept)
            _rewind_edges(past, moment)
    except BaseException:
        past.close()
        raise
    return past


def _kept(past: Storage, moment: Moment) -> dict[str, int]:
    """For each source of events at the very instant: how many of its assemblies came before the moment."""
    if moment.before is None:
        return {}
    every = past.assemblies.latest()
    same = [a for a in every if a.as_of == moment.at]
    earlier = Counter(f"{a.name} {a.id}" for a in same if a.serial < moment.before.serial)
    return {f"{a.name} {a.id}": earlier[f"{a.name} {a.id}"] for a in same}


def _rewind_edges(past: Storage, moment: Moment) -> None:
    """Edges that were walked later get the clock of their last walk before, else the one they were made with."""
    every = past.assemblies.latest()
    later = [a for a in every if _is_later(a, moment)]
    before: dict[EdgeKey, datetime] = {}
    for one in every:
        if not _is_later(one, moment):
            for key in one.walked:
                before[key] = max(one.as_of, before.get(key, one.as_of))
    walked = {key for one in later for key in one.walked}
    past.as_of.set_edge_clocks(_ordered(walked), before)


def _is_later(one: AssemblyRecord, moment: Moment) -> bool:
    return one.as_of > moment.at if moment.before is None else one.serial >= moment.before.serial


def _ordered(keys: set[EdgeKey]) -> Sequence[EdgeKey]:
    return sorted(keys)
