"""A whole memory copied exactly into another store: from a file into a database, back, or between two of a kind.

Tables go over in batches, each one transaction of the destination, so that a copy that was stopped goes on where it
stood: how many rows of a table are there tells where. Until every table was read back and found equal, a mark in the
destination keeps it from being opened as a memory. The destination keeps an id of its own: what is derived from one
store must not be taken for that of the other, once both go on.
"""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from amgs.errors import StoreCorruptError, StoreError, UsageError
from amgs.lifecycle import verify
from amgs.storage.meta import MIGRATION
from amgs.storage.opening import MEMORY, is_address, open_storage
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn, TableRow
from amgs.types import Fault, Progress

_OWN = ("store_id", "schema_version", MIGRATION)
"""Keys of `meta` that belong to a store and not to what it holds."""
_FIRST, _LAST = "change_counter", "meta"
"""Tables that are not copied in turn: the counter is there before anything else, the named values come last."""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table that is the same on both sides. digest: SHA-256 of its rows in their order, without what `meta` says of
    its own store.
    """

    name: str
    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Migration:
    """What was copied, and read back from the destination.

    rows: of all tables; before: those that an earlier attempt had copied. operations: entries of the journal. counter:
    the change counter, equal on both sides. faults: what `verify` finds in both; empty when all is well.
    """

    source: str
    destination: str
    blocks: int
    edges: int
    operations: int
    counter: int
    rows: int
    before: int
    tables: tuple[TableCopy, ...]
    faults: tuple[Fault, ...]


def migrate(
    source: Path | str, destination: Path | str, *, restart: bool = False, progress: Progress | None = None
) -> Migration:
    """Copy a whole memory into a store that is new or empty, and read back that it is the same, row by row.

    source, destination: a file, or `postgresql://user@host/database?namespace=name`. The source is only read; while a
    file is read, nobody else can write to it, and to the destination nobody else writes until the copy ends. After an
    error, a kill or Cancelled the same call goes on where it stopped, as long as the source has not changed. restart:
    take out what an earlier attempt copied, and begin anew.

    Raises UsageError for stores that are the same or in memory, and for a destination that holds something else;
    StoreError where the source has changed meanwhile, StoreCorruptError where the copy differs, and what opening either
    store raises.
    """
    _check_places(source, destination)
    with (
        open_storage(source, read_only=True, create=False) as old,
        open_storage(destination, unfinished=True) as new,
        new.alone(),
    ):
        with old.snapshot():
            begun = _Origin(old.path, old.meta.store_id(), old.change_counter)
            tables = old.tables.schema()
            before = _prepared(old, new, tables, begun, restart=restart)
            _copy(old, new, tables, progress)
            faults = verify.faults(new, progress)
            equal = tuple(_compared(old, new, name, tables[name], progress) for name in tables)
        if old.change_counter != begun.counter:
            raise _changed(begun, old.change_counter)
        with new.transaction(counted=False):
            new.meta.remove(MIGRATION)
        rows = {each.name: each.rows for each in equal}
        return Migration(
            source=old.path,
            destination=new.path,
            blocks=rows["memory_blocks"],
            edges=rows["edges"],
            operations=rows["operations"],
            counter=begun.counter,
            rows=sum(rows.values()),
            before=before,
            tables=equal,
            faults=tuple(faults),
        )


@dataclass(frozen=True, slots=True)
class _Origin:
    """What is copied: where it lies, the id of its store, and its change counter."""

    source: str
    store: str
    counter: int


def _check_places(source: Path | str, destination: Path | str) -> None:
    places = (str(source), str(destination))
    if MEMORY in places:
        raise UsageError(
            "A store in memory has no copy elsewhere.", way_out="Name two files, or a file and a database."
        )
    same = places[0] == places[1]
    if not any(map(is_address, places)):
        same = Path(source).resolve() == Path(destination).resolve()
    if same:
        raise _the_same(*places)


def _prepared(
    old: Storage,
    new: Storage,
    tables: Mapping[str, tuple[TableColumn, ...]],
    begun: _Origin,
    *,
    restart: bool,
) -> int:
    """Make the destination ready; how many rows an earlier attempt has left in it."""
    if tables != new.tables.schema():
        raise StoreError(f"{old.path} and {new.path} do not have the same tables.", way_out="Verify both.")
    if new.meta.store_id() == begun.store:
        raise _the_same(old.path, new.path)
    mark = new.meta.get(MIGRATION)
    if mark is None and not new.tables.untouched():
        raise UsageError(f"{new.path} holds a memory already.", way_out="Choose a new destination.")
    if mark is not None and not restart:
        earlier = _Origin(**json.loads(mark))
        if earlier.store != begun.store:
            raise UsageError(
                f"{new.path} holds a part of {earlier.source}, which is another memory.",
                way_out="Choose another destination.",
                about="migration",
            )
        if earlier.counter != begun.counter:
            raise _changed(earlier, begun.counter)
        return sum(new.tables.count(name) for name in tables if name not in (_FIRST, _LAST))
    with new.transaction(counted=False):
        for name in tables:
            if name != _LAST:
                new.tables.clear(name)
        for batch in old.tables.rows(_FIRST, tables[_FIRST]):
            new.tables.insert(_FIRST, tables[_FIRST], batch)
        new.meta.put(MIGRATION, json.dumps(asdict(begun)))
    return 0


def _copy(
    old: Storage, new: Storage, tables: Mapping[str, tuple[TableColumn, ...]], progress: Progress | None
) -> None:
    """Every table from the row on that the destination does not hold, then the named values."""
    counts = {name: old.tables.count(name) for name in tables}
    done, total = 0, sum(counts.values())
    for name, columns in tables.items():
        if name == _LAST:
            continue
        there = new.tables.count(name)
        done += there
        for batch in old.tables.rows(name, columns, skip=there):
            if progress is not None:
                progress(done, total, f"copying {name}")
            with new.transaction(counted=False):
                new.tables.insert(name, columns, batch)
            done += len(batch)
    with new.transaction(counted=False):
        own = {key: new.meta.get(key) for key in _OWN}
        new.tables.clear(_LAST)
        for key, value in [*own.items(), *_shared(old, tables[_LAST])]:
            if value is not None:
                new.meta.put(key, value)


def _shared(storage: Storage, columns: Sequence[TableColumn]) -> list[tuple[str, str]]:
    """The named values that are not of one store alone, by name."""
    found = [row for batch in storage.tables.rows(_LAST, columns) for row in batch]
    return sorted((str(key), str(value)) for key, value in found if key not in _OWN)


def _compared(
    old: Storage, new: Storage, name: str, columns: Sequence[TableColumn], progress: Progress | None
) -> TableCopy:
    """A table, read on both sides; raises StoreCorruptError where they differ."""
    there, here = (_digest(storage, name, columns, progress) for storage in (old, new))
    if there != here:
        raise StoreCorruptError(
            f"{name} has {here.rows:,} rows in {new.path} that are not the {there.rows:,} of {old.path}.",
            title="The copy differs",
            way_out="The source is as it was.",
            about="migration",
        )
    return here


def _digest(
    storage: Storage, name: str, columns: Sequence[TableColumn], progress: Progress | None
) -> TableCopy:
    count, whole = 0, hashlib.sha256()
    total = storage.tables.count(name)
    lists = [place for place, column in enumerate(columns) if column.type.endswith("[]")]
    batches: Iterable[Sequence[TableRow]] = storage.tables.rows(name, columns)
    if name == _LAST:
        batches = [_shared(storage, columns)]
    for batch in batches:
        if progress is not None:
            progress(count, total, f"comparing {name}")
        for row in batch:
            values = list(row)
            for place in lists:
                values[place] = _plain(values[place], columns[place].type)
            # Every value with its type and its length; of a version that knows no references from one to another.
            whole.update(marshal.dumps(values, 2))
        count += len(batch)
    return TableCopy(name, count, whole.hexdigest())


def _plain(value: Any, kind: str) -> Any:
    """A list as it is told alike by every backend: a vector is its bytes."""
    if value is None:
        return None
    return np.asarray(value, dtype=np.float32).tobytes() if kind == "FLOAT[]" else list(value)


def _the_same(source: str, destination: str) -> UsageError:
    return UsageError(
        f"{source} and {destination} are the same memory.",
        way_out="Choose another destination.",
    )


def _changed(begun: _Origin, now: int) -> StoreError:
    return StoreError(
        f"{begun.source} was at change {begun.counter:,} when its copy was begun, and is at {now:,} now.",
        title="The source has changed",
        way_out="Let nobody write to it, and begin anew.",
        about="migration",
    )
