"""Taking blocks out of the memory by hand: set aside so that it can be undone, or erased so that nothing of their text
is left in the store.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from amgs.errors import StoreError
from amgs.lifecycle.change import Change, carry_out
from amgs.storage.journal import ERASED
from amgs.storage.store import Storage
from amgs.types import Block, JournalEntry, Verification

KIND = "delete"
_RUN = 12
"""A text that shares so many characters in a row with an erased one gives it away."""
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class RelatedBlock:
    """A block that may tell what an erased one told. because: "made from it", or "it was made from this"."""

    id: str
    title: str
    status: str
    because: str


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """Plan of an erasure; nothing has happened yet, and an erasure cannot be undone.

    edges: how many go with the blocks. related: blocks that stay and may hold the same text. sources: where the blocks
    came from; no file is touched. bytes: size of the store's file, which is written anew.
    """

    blocks: tuple[Block, ...]
    edges: int
    related: tuple[RelatedBlock, ...]
    sources: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """Receipt of an erasure, as proof; it holds no text.

    ids: of the erased blocks, each the SHA-256 of its canonical text. related: blocks that stay and may hold the same
    text. rows: how many were deleted or blanked, by table; `ledger`: lines of the ledger beside the store. indexes:
    what each held before and holds now. compacted: whether the file was written anew; else it is when the store is
    closed or opened next. bytes: of the store's file, before and after. verification: of the whole store, afterwards.
    """

    ids: tuple[str, ...]
    at: datetime
    operation: JournalEntry
    related: tuple[RelatedBlock, ...]
    sources: tuple[str, ...]
    rows: Mapping[str, int]
    indexes: Mapping[str, tuple[int, int]]
    compacted: bool
    bytes: tuple[int, int]
    verification: Verification


def delete(storage: Storage, ids: Sequence[str], now: datetime) -> JournalEntry:
    """Set blocks aside as pruned, with their edges; journalled, so that it can be undone."""
    with storage.transaction():
        blocks = [block for block in storage.blocks.get(ids).values() if block.status != "pruned"]
        change = Change(tuple((block, replace(block, status="pruned")) for block in blocks))
        return carry_out(storage, KIND, change, f"{_count(len(blocks))} deleted, kept as pruned", now)


def plan(storage: Storage, ids: Sequence[str], size: int) -> ErasurePlan:
    """Return what erasing blocks would take; changes nothing. size: of the store's file."""
    blocks = storage.blocks.get(list(dict.fromkeys(ids)))
    named = {str(source) for block in blocks.values() for source in (block.meta.get("sources") or ())}
    named |= {str(block.meta["source"]) for block in blocks.values() if block.meta.get("source")}
    edges = len(storage.edges.touching(list(blocks)))
    return ErasurePlan(tuple(blocks.values()), edges, related(storage, blocks), tuple(sorted(named)), size)


def related(storage: Storage, erased: Collection[str]) -> tuple[RelatedBlock, ...]:
    """Return what was made from the blocks by merging or splitting, and what they were made from, at any remove."""
    offspring: dict[str, set[str]] = {}
    origins: dict[str, set[str]] = {}
    for block, value, _ in storage.blocks.marked("derived_from"):
        for origin in json.loads(value):
            offspring.setdefault(str(origin), set()).add(block)
            origins.setdefault(block, set()).add(str(origin))
    reasons = dict.fromkeys(_find_reachable(erased, origins), "it was made from this")
    reasons |= dict.fromkeys(_find_reachable(erased, offspring), "made from it")
    blocks = storage.blocks.get(sorted(reasons))
    return tuple(RelatedBlock(b.id, b.title, b.status, reasons[b.id]) for b in blocks.values())


def _find_reachable(start: Collection[str], steps: Mapping[str, set[str]]) -> set[str]:
    closure: set[str] = set()
    waiting = list(start)
    while waiting:
        for other in steps.get(waiting.pop(), ()):
            if other not in closure:
                closure.add(other)
                waiting.append(other)
    return closure - set(start)


def take(storage: Storage, planned: ErasurePlan, now: datetime) -> tuple[JournalEntry, dict[str, int]]:
    """Delete the blocks with every row that tells of them, in one transaction with its journal entry."""
    ids = [block.id for block in planned.blocks]
    texts = [text for block in planned.blocks for text in _texts(block)]
    with storage.transaction():
        edges = storage.edges.touching(ids)
        storage.edges.delete([edge.key for edge in edges])
        storage.blocks.delete(ids)
        rows = storage.erasure.erase_traces(ids, telling(texts, storage.erasure.holds))
        rows |= {"memory_blocks": len(ids), "edges": len(edges)}
        summary = f"{_count(len(ids))} erased for good"
        entry = storage.journal.append(ERASED, now, summary, (), blocks=len(ids), edges=len(edges))
    return entry, {table: count for table, count in sorted(rows.items()) if count}


def _texts(block: Block) -> list[str]:
    """Return what a block says, and what is said of it in words."""
    values: list[Any] = [block.content, block.title, *(block.meta.get(name) for name in ("note", "title", "document"))]
    values += block.meta.get("headings") or ()
    return [str(text) for text in values if text]


def telling(texts: Sequence[str], is_stored: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return whether a text gives away what the erased texts said: it repeats a run of one, or has a word that only
    they had.

    is_stored: whether a word stands in a block that stays.
    """
    folded = [" ".join(text.casefold().split()) for text in texts]
    runs = {text[at : at + _RUN] for text in folded for at in range(max(1, len(text) - _RUN + 1))}
    lengths = sorted({len(run) for run in runs})
    words = {word for text in folded for word in _WORD.findall(text)}
    known: dict[str, bool] = {}

    def only_theirs(word: str) -> bool:
        if word not in known:
            known[word] = not is_stored(word)
        return known[word]

    def tells(text: str) -> bool:
        plain_text = " ".join(text.casefold().split())
        if any(plain_text[at : at + n] in runs for n in lengths for at in range(len(plain_text) - n + 1)):
            return True
        return any(only_theirs(word) for word in words.intersection(_WORD.findall(plain_text)))

    return tells


def strike(ledger: Path, ids: Collection[str]) -> int:
    """Take the lines of these blocks out of a ledger of deleted ones; how many there were.

    Raises StoreError when the ledger cannot be written; it is then as it was.
    """
    part = ledger.with_name(f"{ledger.name}.part")
    struck = 0
    try:
        if not ledger.exists():
            return 0
        with ledger.open(encoding="utf-8") as lines, part.open("w", encoding="utf-8") as output:
            for line in lines:
                if _id_of(line) in ids:
                    struck += 1
                else:
                    output.write(line)
            output.flush()
            os.fsync(output.fileno())
        part.replace(ledger)
    except OSError as error:
        raise StoreError(
            f"The ledger {ledger} cannot be written: {error.strerror}.", way_out="Remove its lines by hand."
        ) from error
    return struck


def _id_of(line: str) -> str:
    try:
        return str(json.loads(line)["id"])
    except (ValueError, KeyError, TypeError):
        return ""


def _count(blocks: int) -> str:
    return f"{blocks:,} block{'' if blocks == 1 else 's'}"
