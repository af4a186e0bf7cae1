"""Find secrets in every table of a store, mask them, and restore them from the file that keeps the originals."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from amgs.errors import InputError, StoreError, UsageError
from amgs.identity import block_id, canonical
from amgs.masking import TakenSecrets, count_digits, mask, own_folder, tell_masked
from amgs.storage.journal import MASKED
from amgs.storage.store import Storage
from amgs.storage.tables import BATCH, TableRow
from amgs.types import JournalEntry

_TEXTS = ("VARCHAR", "JSON")
_IDS = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])")
_DIGITS = 16
"""Digits of a block's id in the logs of searches and assemblies."""
_OWN = frozenset({"change_counter", "outbox"})


@dataclass(frozen=True, slots=True)
class SecretScan:
    """Secrets of a store.

    found: their kinds, without repeats. rows: number of rows that hold one, by table. blocks: of them, blocks.
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


Change = Callable[[Any], Any]


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


def _change_cell(kind: str, cell: Any, change: Change) -> Any:
    """Return a table cell after a change of its texts; JSON is changed member by member."""
    if kind not in _TEXTS or not isinstance(cell, str):
        return cell
    if kind == "VARCHAR":
        return change(cell)
    value = json.loads(cell)
    new_value = change(value)
    return cell if new_value == value else json.dumps(new_value, ensure_ascii=False)


def _count_changed(storage: Storage, change: Change) -> dict[str, int]:
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


def _rewrite(storage: Storage, change: Change) -> None:
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
