"""Texts that are said again: a hidden text holds again, dated when it was said, as a raw block; what had replaced it
ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from amgs.clock import as_utc
from amgs.errors import UsageError
from amgs.log import journal
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.types import Block

_REPEATED = timedelta(minutes=1)
"""The same text within this time counts as a single saying, such as a request that a program repeats."""
_EVENT = "said again"
_PAST = ("superseded_by", "superseded_at", "merged_into", "split_into", "dates", "said_at", "utc_offset")
"""Metadata dropped from a text that holds again; dates are recognised again from its latest saying."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A text that was said. at: by its writer's clock. anew: False if a file was merely read again. by: block that
    replaces it, for corrections.
    """

    block_id: str
    at: datetime
    anew: bool = True
    by: str = ""


@dataclass(frozen=True, slots=True)
class HeldAgain:
    """Texts that were said again.

    ids: those that hold again. repeated: valid ones that now count as said later. pairs: (before, after) of every
    changed block. rows: journal rows of edges and clocks.
    """

    ids: tuple[str, ...]
    repeated: tuple[str, ...]
    pairs: tuple[tuple[Block, Block], ...]
    rows: tuple[JournalRow, ...]


def is_hidden(block: Block) -> bool:
    """Return whether a block is in the memory but not used: archived, pruned, superseded or no longer valid."""
    return block.superseded or block.status in ("archived", "pruned")


def say_later(block: Block, at: datetime) -> Block:
    """Return the block as last said at a time; unchanged if that is not later, or repeats a request."""
    if at - block.said_at < _REPEATED:
        return block
    return replace(block, last_reinforced_at=as_utc(at), meta={**block.meta, "said_at": at.isoformat()})


def hold_again(storage: Storage, sayings: Sequence[Saying], now: datetime) -> HeldAgain:
    """Restore hidden texts that were said again, and count valid ones as said later; inside a transaction.

    A saying from before a text was superseded does not restore it.
    """
    seen = storage.blocks.get({utterance.block_id for utterance in sayings})
    hidden = [block for block in seen.values() if is_hidden(block)]
    later = [
        utterance
        for utterance in sayings
        if utterance.anew and say_later(seen[utterance.block_id], utterance.at) is not seen[utterance.block_id]
    ]
    if not hidden and not later:
        return HeldAgain((), (), (), ())
    wanted = {block.id for block in hidden} | {utterance.block_id for utterance in later} | _successors(storage, hidden)
    present = storage.blocks.get(wanted, embeddings=True)
    first = dict(present)
    spoken: dict[str, datetime] = {}
    again: list[str] = []
    for saying in sayings:
        name, at = saying.block_id, saying.at
        if name not in present:
            continue
        block = present[name]
        if not is_hidden(block):
            if saying.anew and (later_said := say_later(block, at)) is not block:
                present[name] = later_said
                spoken[name] = min(as_utc(at), now)
            continue
        if block.valid_to is not None and "superseded_by" in block.meta and block.valid_to >= at < now:
            continue
        rival = _valid_successor(block, present)
        again.append(name)
        spoken[name] = min(as_utc(at), now)
        present[name] = _renew_block(block, at, now)
        if rival is not None:
            present[rival.id] = _end_block(rival, name, spoken[name])
    pairs = tuple((first[name], block) for name, block in present.items() if block is not first[name])
    storage.blocks.update([after for _, after in pairs])
    storage.blocks.set_embeddings(again, None)
    storage.scores.forget([after.id for _, after in pairs])
    gone = storage.edges.touching(again) if again else ()
    storage.edges.delete([edge.key for edge in gone])
    rows = [journal.edge_row(edge, None) for edge in gone]
    for name, at in spoken.items():
        rows.append(journal.clock_row(first[name], _EVENT, at, ""))
        storage.blocks.reinforce([name], at)
        storage.reinforcements.append([name], _EVENT, at, "")
    repeated = tuple(name for name in spoken if name not in again)
    return HeldAgain(tuple(again), repeated, pairs, tuple(rows))


def end_replaced(storage: Storage, corrections: Sequence[Saying], now: datetime) -> tuple[tuple[Block, Block], ...]:
    """End blocks that their writers corrected, inside a transaction; return (before, after) of each.

    Raises UsageError if a block would replace itself or was replaced by another already.
    """
    if not corrections:
        return ()
    before = storage.blocks.get({correction.block_id for correction in corrections}, embeddings=True)
    after = dict(before)
    for correction in corrections:
        block = after[correction.block_id]
        if block.id == correction.by:
            raise UsageError(
                "A text does not replace itself.", way_out="Nothing was changed. Name the text that it corrects."
            )
        if block.superseded and block.meta["superseded_by"] != correction.by:
            raise UsageError(
                f"“{block.title}” was replaced already, by {str(block.meta['superseded_by'])[:8]}.",
                way_out="Nothing was changed. Replace that block.",
            )
        if not block.superseded:
            after[block.id] = _end_block(block, correction.by, min(as_utc(correction.at), now))
    pairs = tuple((before[name], block) for name, block in after.items() if block is not before[name])
    storage.blocks.update([block for _, block in pairs])
    storage.scores.forget([block.id for _, block in pairs])
    return pairs


def _successors(storage: Storage, hidden: Sequence[Block]) -> set[str]:
    """Return ids of the blocks that replaced these, directly or indirectly."""
    successors: set[str] = set()
    asked = {str(block.meta["superseded_by"]) for block in hidden if "superseded_by" in block.meta}
    while asked := asked - successors:
        successors |= asked
        blocks = storage.blocks.get(asked).values()
        asked = {str(block.meta["superseded_by"]) for block in blocks if "superseded_by" in block.meta}
    return successors


def _valid_successor(block: Block, present: dict[str, Block]) -> Block | None:
    """Return the valid block that replaced a block, directly or indirectly; None if there is none."""
    passed = {block.id}
    while (after := present.get(str(block.meta.get("superseded_by")))) is not None and after.id not in passed:
        if not is_hidden(after):
            return after
        passed.add(after.id)
        block = after
    return None


def _renew_block(block: Block, at: datetime, now: datetime) -> Block:
    """Return the block as newly ingested, so that it is consolidated again."""
    created_at = as_utc(max(at, block.said_at))
    meta = {key: value for key, value in block.meta.items() if key not in _PAST} | utc_offset_meta(at)
    if block.valid_to is not None:
        since = block.valid_from or block.created_at
        period = "/".join(as_utc(instant).isoformat() for instant in (since, block.valid_to))
        meta["held_before"] = [*meta.get("held_before", ()), period]
    return Block(
        block.id,
        block.content,
        created_at,
        block.last_reinforced_at,
        meta=meta,
        valid_from=now if created_at > now else None,
    )


def utc_offset_meta(written: datetime) -> dict[str, str]:
    """Return the UTC offset of a writer's clock as metadata; {} for UTC."""
    offset = str(timezone(written.utcoffset() or timedelta(0)))[len("UTC") :]
    return {"utc_offset": offset} if offset else {}


def _end_block(block: Block, by: str, at: datetime) -> Block:
    """Return the block as superseded by another."""
    at = max(at, min(block.valid_from or block.created_at, at))
    marks = {"superseded_by": by, "superseded_at": as_utc(at).isoformat()}
    status = "archived" if block.status == "raw" else block.status
    return replace(block, status=status, valid_to=at, meta={**block.meta, **marks})
