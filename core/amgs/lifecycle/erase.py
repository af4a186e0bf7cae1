"""Remove what should not stay: blocks by hand, deleted so that it can be undone, or erased so that none of
their text stays; and secrets in every table, masked, and restored from the file that keeps the originals.

An erasure deletes every row that repeats an erased text; tests/engine/test_erasure.py searches the file for
it.
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

from amgs.errors import InputError, StoreError, UsageError
from amgs.identity import block_id, canonical
from amgs.lifecycle.change import Change, carry_out
from amgs.masking import TakenSecrets, count_digits, mask, own_folder, tell_masked
from amgs.storage.journal import ERASED, MASKED
from amgs.storage.store import Storage
from amgs.storage.tables import BATCH, TableRow
from amgs.types import Block, JournalEntry, Verification

KIND = "delete"
_RUN = 12
"""Characters in a row that a text may not share with an erased text."""
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class RelatedBlock:
    """A block that stays and may repeat an erased one. because: "made from it", or "it was made from this"."""

    id: str
    title: str
    status: str
    because: str


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """Plan of an erasure, which cannot be undone; nothing is written yet.

    edges: number of edges deleted with the blocks. related: blocks that stay and may repeat their text. sources: where
    the blocks came from; those files are not touched. bytes: size of the store's file, which is rewritten.
    """

    blocks: tuple[Block, ...]
    edges: int
    related: tuple[RelatedBlock, ...]
    sources: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """Proof of an erasure, without any text.

    ids: of the erased blocks, the SHA-256 of their canonical text. related: blocks that stay and may repeat it. rows:
    number of rows deleted or blanked, by table; `ledger`: lines of the ledger beside the store. indexes: number of
    entries of each index before and after. compacted: whether the file was rewritten; else that happens when the store
    is closed or opened next. bytes: of the store's file, before and after. verification: of the whole store afterwards.
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
    """Set blocks to pruned and delete their edges, journalled, so that it can be undone."""
    with storage.transaction():
        blocks = [block for block in storage.blocks.get(ids).values() if block.status != "pruned"]
        change = Change(tuple((block, replace(block, status="pruned")) for block in blocks))
        return carry_out(storage, KIND, change, f"{_count(len(blocks))} deleted, marked as pruned", now)


def plan(storage: Storage, ids: Sequence[str], size: int) -> ErasurePlan:
    """Plan the erasure of blocks; changes nothing. size: of the store's file, in bytes."""
    blocks = storage.blocks.get(list(dict.fromkeys(ids)))
    named = {str(source) for block in blocks.values() for source in (block.meta.get("sources") or ())}
    named |= {str(block.meta["source"]) for block in blocks.values() if block.meta.get("source")}
    edges = len(storage.edges.touching(list(blocks)))
    return ErasurePlan(tuple(blocks.values()), edges, find_related(storage, blocks), tuple(sorted(named)), size)


def find_related(storage: Storage, erased: Collection[str]) -> tuple[RelatedBlock, ...]:
    """Return the blocks derived from these by merging or splitting, directly or not, and those they derive from."""
    offspring: dict[str, set[str]] = {}
    origins: dict[str, set[str]] = {}
    for block, value, _ in storage.blocks.find_marked("derived_from"):
        for origin in json.loads(value):
            offspring.setdefault(str(origin), set()).add(block)
            origins.setdefault(block, set()).add(str(origin))
    reasons = dict.fromkeys(_find_reachable(erased, origins), "it was made from this")
    reasons |= dict.fromkeys(_find_reachable(erased, offspring), "made from it")
    blocks = storage.blocks.get(sorted(reasons))
    return tuple(RelatedBlock(b.id, b.title, b.status, reasons[b.id]) for b in blocks.values())


def _find_reachable(start: Collection[str], steps: Mapping[str, set[str]]) -> set[str]:
    """Return all ids reachable from `start` by the steps, without `start`."""
    closure: set[str] = set()
    waiting = list(start)
    while waiting:
        for other in steps.get(waiting.pop(), ()):
            if other not in closure:
                closure.add(other)
                waiting.append(other)
    return closure - set(start)


def erase_blocks(storage: Storage, planned: ErasurePlan, now: datetime) -> tuple[JournalEntry, dict[str, int]]:
    """Delete the blocks and every row that repeats their text, in a single transaction with its journal entry.

    Returns the entry and the number of rows deleted or blanked, by table.
    """
    ids = [block.id for block in planned.blocks]
    texts = [text for block in planned.blocks for text in _texts(block)]
    with storage.transaction():
        edges = storage.edges.touching(ids)
        storage.edges.delete([edge.key for edge in edges])
        storage.blocks.delete(ids)
        rows = storage.erasure.erase_traces(ids, gives_away(texts, storage.erasure.holds))
        rows |= {"memory_blocks": len(ids), "edges": len(edges)}
        summary = f"{_count(len(ids))} erased for good"
        entry = storage.journal.append(ERASED, now, summary, (), blocks=len(ids), edges=len(edges))
    return entry, {table: count for table, count in sorted(rows.items()) if count}


def _texts(block: Block) -> list[str]:
    """Return a block's texts: its content, title, note and headings."""
    values: list[Any] = [block.content, block.title, *(block.meta.get(name) for name in ("note", "title", "document"))]
    values += block.meta.get("headings") or ()
    return [str(text) for text in values if text]


def gives_away(texts: Sequence[str], is_stored: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return a function that says whether a text gives away an erased text: it repeats _RUN characters of it, or has a
    word that only the erased texts had. is_stored: whether a word is in a block that stays.
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


def remove_ledger_lines(ledger: Path, ids: Collection[str]) -> int:
    """Remove the lines of these blocks from a ledger of deleted blocks, and return how many there were.

    Raises StoreError when the ledger cannot be written; it is then unchanged.
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
    """Return the block id in a line of the ledger; "" where it has none."""
    try:
        return str(json.loads(line)["id"])
    except (ValueError, KeyError, TypeError):
        return ""


def _count(blocks: int) -> str:
    return f"{blocks:,} block{'' if blocks == 1 else 's'}"


_TEXTS = ("VARCHAR", "JSON")
_IDS = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])")
_DIGITS = 16
"""Digits of a block's id in the logs of searches and assemblies."""
_OWN = frozenset({"change_counter", "outbox"})


@dataclass(frozen=True, slots=True)
class SecretScan:
    """Secrets of a store.

    found: their kinds, without repeats. rows: number of rows with secrets, by table. blocks: of them, blocks.
    operation: that masked them; None where nothing was changed. originals: the file that holds the originals.
    """

    found: tuple[str, ...]
    rows: dict[str, int]
    blocks: int
    operation: JournalEntry | None = None
    originals: str = ""

    @property
    def told(self) -> str:
        """Kinds of secrets in words; empty for none."""
        return tell_masked(self.found)


CellChange = Callable[[Any], Any]


def scan(storage: Storage) -> tuple[SecretScan, TakenSecrets]:
    """Return the secrets in a store, and their originals by mark; changes nothing.

    The marks are longer than those already in the store, so that restoring does not touch those.
    """
    taken, longest = TakenSecrets(), 0

    def look(value: Any) -> Any:
        nonlocal longest
        longest = max(longest, count_digits(str(value)))
        return mask(value, taken)

    rows = _count_changed(storage, look)
    kinds = {secret: mark[len("[masked: ") :].rsplit(" #", 1)[0] for mark, secret in taken.secrets.items()}
    report = SecretScan(tuple(kinds.values()), rows, rows.get("memory_blocks", 0))
    return report, TakenSecrets(digits=longest + 2 if longest else taken.digits)


def originals_of(storage: Storage, operation: int) -> Path:
    """Return the file with the originals that an operation masked: beside the store, or for a database in the user's
    data folder.
    """
    beside = own_folder() / "store" if storage.file is None else storage.file
    return Path(f"{beside}.secrets-{operation}.json")


def apply(storage: Storage, now: datetime) -> SecretScan:
    """Write the originals to a file that only its owner can read, then mask the secrets in a journalled transaction.

    Raises StoreError where the file cannot be written; nothing is changed then.
    """
    with storage.transaction():
        report, taken = scan(storage)
        if not report.found:
            return report
        entry = storage.journal.append(MASKED, now, report.told, (), blocks=0, edges=0)
        originals = originals_of(storage, entry.id)
        _rewrite(storage, lambda value: mask(value, taken))
        _keep(originals, taken.secrets)
        storage.erasure.begin()
    return SecretScan(report.found, report.rows, report.blocks, entry, str(originals))


def restore(storage: Storage, number: int) -> JournalEntry:
    """Restore what an operation masked, from its file. Raises UsageError for an unknown operation, InputError where the
    file is gone or not readable by this user.
    """
    entry = storage.journal.get(number)
    if entry is None or entry.kind != MASKED or entry.undone:
        raise UsageError(f"Operation {number} masks no secrets.", way_out="The journal lists those that do.")
    originals = originals_of(storage, number)
    try:
        secrets: dict[str, str] = json.loads(originals.read_text())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{originals}, in which the secrets lay, cannot be read.",
            way_out="Only whoever masked them has it; the store is whole without it.",
        ) from error
    marks = re.compile("|".join(map(re.escape, secrets)))

    def clear(value: Any) -> Any:
        if isinstance(value, str):
            return marks.sub(lambda mark: secrets[mark[0]], value)
        if isinstance(value, dict):
            return {key: clear(member) for key, member in value.items()}
        return [clear(member) for member in value] if isinstance(value, list) else value

    with storage.transaction():
        _rewrite(storage, clear)
        storage.journal.mark(number, undone=True)
        storage.erasure.begin()
    return entry


def _keep(path: Path, value: Any) -> None:
    """Write originals to a new file with mode 600, flushed to disk; raise StoreError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}.", way_out="Nothing was masked; make room for that file."
        ) from error


def _change_cell(kind: str, cell: Any, change: CellChange) -> Any:
    """Return a table cell after a change of its texts; JSON is changed member by member."""
    if kind not in _TEXTS or not isinstance(cell, str):
        return cell
    if kind == "VARCHAR":
        return change(cell)
    value = json.loads(cell)
    new_value = change(value)
    return cell if new_value == value else json.dumps(new_value, ensure_ascii=False)


def _count_changed(storage: Storage, change: CellChange) -> dict[str, int]:
    """Return the number of rows that a change would alter, by table."""
    counts: dict[str, int] = {}
    for table, columns in storage.tables.schema().items():
        texts = [column for column in columns if column.type in _TEXTS]
        if table in _OWN or not texts:
            continue
        for batch in storage.tables.rows(table, texts):
            for row in batch:
                changed = any(
                    _change_cell(column.type, cell, change) != cell for column, cell in zip(texts, row, strict=True)
                )
                counts[table] = counts.get(table, 0) + changed
    return {table: count for table, count in counts.items() if count}


def _rewrite(storage: Storage, change: CellChange) -> None:
    """Change every text of a store, rehash the blocks, and replace their old ids everywhere."""
    tables = storage.tables
    schema = tables.schema()
    own = [column for column in schema["memory_blocks"] if column.name in ("id", "content")]
    at_id = [column.name for column in own].index("id")
    new_texts = {
        row[at_id]: canonical(change(row[1 - at_id])) for batch in tables.rows("memory_blocks", own) for row in batch
    }
    ids = {old: new for old, text in new_texts.items() if (new := block_id(text)) != old}
    known = ids | {old[:_DIGITS]: new[:_DIGITS] for old, new in ids.items()}

    def name_anew(cell: Any) -> Any:
        return _IDS.sub(lambda id: known.get(id[0], id[0]), cell) if isinstance(cell, str) and known else cell

    for table, columns in schema.items():
        if table in _OWN:
            continue
        rows: list[TableRow] = []
        differ = False
        for batch in tables.rows(table, columns):
            for row in batch:
                cells = [
                    name_anew(_change_cell(column.type, cell, change))
                    for column, cell in zip(columns, row, strict=True)
                ]
                differ = differ or any(
                    isinstance(after, str) and after != before for after, before in zip(cells, row, strict=True)
                )
                rows.append(tuple(cells))
        if differ:
            tables.clear(table)
            for start in range(0, len(rows), BATCH):
                tables.insert(table, columns, rows[start : start + BATCH])
