"""Check the store, by rehashing every block and following every reference (`amgs verify`), and decide when
consolidation is due, by the time since the last consolidation and by the size of the inbox (AMGS §8.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from amgs.clock import earlier
from amgs.identity import block_id
from amgs.settings import ConsolidationSettings
from amgs.storage.store import Storage
from amgs.types import STATUSES, Fault, Progress, Vector

_NORM_TOLERANCE = 1e-3
_MOST = 100


def faults(storage: Storage, progress: Progress | None = None) -> list[Fault]:
    """Return the faults of the tables, at most a hundred of each kind; [] when there are none."""
    listing: list[Fault] = []
    for check in (_blocks(storage, progress), _metadata(storage), _edges(storage), _mentions(storage), _logs(storage)):
        for i, fault in enumerate(check):
            if i == _MOST:
                listing.append(Fault(fault.where.split(" ")[0], f"more than {_MOST} faults; the rest is left out"))
                break
            listing.append(fault)
    return listing


def _blocks(storage: Storage, progress: Progress | None) -> Iterator[Fault]:
    """Yield blocks whose id is not the hash of their content, or whose embedding has another dimension or
    length than 1.
    """
    space = storage.meta.embedding_space()
    total, done = sum(storage.blocks.by_status().values()), 0
    for batch in storage.block_columns.contents():
        for block, content, embedding in batch:
            if block_id(content) != block:
                yield Fault(f"block {block[:12]}", "its content does not hash to its id")
            if embedding is not None:
                yield from _embedding(block, embedding, space)
        done += len(batch)
        if progress is not None:
            progress(done, total, "verifying")


def _embedding(block: str, embedding: Vector, space: tuple[str, int] | None) -> Iterator[Fault]:
    if space is not None and embedding.size != space[1]:
        yield Fault(f"block {block[:12]}", f"its embedding has {embedding.size} values, not {space[1]}")
    length = float(np.linalg.norm(embedding))
    if not math.isclose(length, 1.0, abs_tol=_NORM_TOLERANCE):
        yield Fault(f"block {block[:12]}", f"its embedding has length {length:.3f}, not 1")


def _metadata(storage: Storage) -> Iterator[Fault]:
    """Yield repeated numbers, fields out of range, and a change counter that is behind."""
    for number in storage.block_columns.find_repeated():
        yield Fault(f"number {number}", "several blocks have it")
    for block, what in storage.block_columns.out_of_range(STATUSES):
        yield Fault(f"block {block[:12]}", what)
    newest, counter = storage.block_columns.newest_revision(), storage.change_counter
    if newest > counter:
        yield Fault("change counter", f"it stands at {counter}, a block was changed at {newest}")


def _edges(storage: Storage) -> Iterator[Fault]:
    for (source, target, relation), what in storage.edges.dangling():
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", what)
    for source, target, relation in storage.edges.find_repeated():
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", "it is there more than once")
    for (source, target, relation), what in storage.edges.out_of_range():
        yield Fault(f"edge {source[:8]} {relation} {target[:8]}", what)


def _mentions(storage: Storage) -> Iterator[Fault]:
    for conversation, number, what in storage.mentions.faults():
        yield Fault(f"mention in #{number} of {conversation}", what)


def _logs(storage: Storage) -> Iterator[Fault]:
    for number in storage.journal.list_unowned_operations():
        yield Fault(f"journal {number}", "rows name an operation that does not exist")
    for number, row_count, total in storage.journal.incomplete():
        yield Fault(f"journal {number}", f"it has {row_count} rows where it tells of {total}")
    for block in storage.reinforcements.find_miscounted_blocks():
        yield Fault(f"block {block[:12]}", "its count of reinforcements is not that of the log")


@dataclass(frozen=True, slots=True)
class Due:
    """Whether consolidation is due now, and why. waiting: number of raw blocks. last: when it last ran; None for never.

    next_at: when it becomes due by time; None when no block waits.
    """

    due: bool
    because: str
    waiting: int
    last: datetime | None
    next_at: datetime | None


def decide_due(
    waiting: int, oldest: datetime | None, last: datetime | None, now: datetime, settings: ConsolidationSettings
) -> Due:
    """Return whether consolidation of `waiting` raw blocks is due. oldest: the date of the oldest raw block, from which
    the interval runs before the first consolidation.
    """
    if waiting == 0:
        return Due(False, "the inbox is empty", 0, last, None)
    since = last if last is not None else oldest if oldest is not None else now
    # If the clock went back, the next consolidation must not be postponed for ever.
    since = min(since, now)
    next_at = earlier(since, -timedelta(minutes=settings.interval_minutes))
    if waiting >= settings.volume:
        return Due(True, f"{waiting} blocks wait, the limit is {settings.volume}", waiting, last, next_at)
    minutes = (now - since).total_seconds() / 60.0
    if now >= next_at:
        reason = f"{minutes:.0f} minutes have passed, the interval is {settings.interval_minutes:g}"
        return Due(True, reason, waiting, last, next_at)
    reason = f"{waiting} of {settings.volume} blocks, {minutes:.0f} of {settings.interval_minutes:g} minutes"
    return Due(False, reason, waiting, last, next_at)
