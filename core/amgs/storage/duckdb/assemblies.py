"""The tables `assemblies` and `frame_versions`: what was assembled, compactly, so that it can be replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.duckdb import frames as stored_frames
from amgs.storage.duckdb.connection import Store, stored
from amgs.storage.duckdb.edges import Key
from amgs.types import COMPONENTS, FrameDefinition, Weights


@dataclass(frozen=True, slots=True)
class Assembly:
    """One logged assembly. weights: those that were asked for, None for the definition's own.

    last_number, last_operation, undone: the newest block, the newest journal entry and how many entries were
    undone when it was made. walked: keys of the edges it walked. kept: children whose candidates were taken over,
    with the serial of the assembly that scored them.
    """

    serial: int
    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    weights: Weights | None
    tokens: int
    entropy_bits: float
    selected: tuple[str, ...]
    walked: tuple[Key, ...]
    definition: str
    setup: str
    last_number: int
    last_operation: int
    undone: int
    kept: Mapping[str, int] = field(default_factory=dict, hash=False)


_COLUMNS = (
    "serial, id, frame_name, query, timestamp, budget, weights::VARCHAR, tokens, entropy_bits, selected, "
    "walked, definition, setup, last_number, last_operation, undone, kept::VARCHAR"
)


def standing(store: Store) -> tuple[int, int, int]:
    """(number of the newest block, id of the newest operation, how many operations are undone)."""
    number = store.value("SELECT coalesce(max(number), 0) FROM memory_blocks")
    last, undone = store.rows("SELECT coalesce(max(id), 0), count(*) FILTER (undone) FROM operations")[0]
    return int(number), int(last), int(undone)


def next_serial(store: Store) -> int:
    """The serial that the next assembly will have, from 1."""
    return int(store.value("SELECT coalesce(max(serial), 0) + 1 FROM assemblies"))


def append(store: Store, one: Assembly) -> None:
    """Log an assembly."""
    weights = None if one.weights is None else json.dumps({n: getattr(one.weights, n) for n in COMPONENTS})
    store.execute(
        "INSERT INTO assemblies VALUES (?, ?, ?, ?, ?, ?, ?::JSON, ?, ?, ?::VARCHAR[], ?::VARCHAR[], ?, ?, "
        "?, ?, ?, ?::JSON)",
        [
            one.serial,
            one.id,
            one.name,
            one.query,
            stored(one.as_of),
            one.budget,
            weights,
            one.tokens,
            one.entropy_bits,
            list(one.selected),
            [" ".join(key) for key in one.walked],
            one.definition,
            one.setup,
            one.last_number,
            one.last_operation,
            one.undone,
            json.dumps(dict(one.kept)),
        ],
        structural=False,
    )


def latest(store: Store, limit: int | None = None, *, name: str | None = None) -> tuple[Assembly, ...]:
    """The latest assemblies, of one frame when it is named, the newest first."""
    condition = "" if name is None else " WHERE frame_name = ?"
    sql = f"SELECT {_COLUMNS} FROM assemblies{condition} ORDER BY serial DESC"
    if limit is not None:
        sql += f" LIMIT {int(limit)}"
    return tuple(_assembly(row) for row in store.rows(sql, [] if name is None else [name]))


def by_serial(store: Store, serials: Iterable[int]) -> dict[int, Assembly]:
    """The assemblies with these serials."""
    sql = f"SELECT {_COLUMNS} FROM assemblies WHERE serial IN (SELECT unnest(?::BIGINT[]))"
    found = (_assembly(row) for row in store.rows(sql, [list(serials)]))
    return {one.serial: one for one in found}


def matching(store: Store, prefix: str) -> tuple[Assembly, ...]:
    """Assemblies whose id begins so, the newest first."""
    sql = f"SELECT {_COLUMNS} FROM assemblies WHERE starts_with(id, ?) ORDER BY serial DESC"
    return tuple(_assembly(row) for row in store.rows(sql, [prefix]))


# --- definitions as they were -----------------------------------------------------------------------------


def keep_version(store: Store, definitions: Sequence[FrameDefinition]) -> str:
    """Keep definitions under their hash, once; returns it. Inside a transaction."""
    text, mark = _version(definitions)
    if not store.value("SELECT count(*) FROM frame_versions WHERE hash = ?", [mark]):
        store.execute("INSERT INTO frame_versions VALUES (?, ?::JSON)", [mark, text], structural=False)
    return mark


def version_of(definitions: Sequence[FrameDefinition]) -> str:
    """The hash under which definitions are kept."""
    return _version(definitions)[1]


def version(store: Store, mark: str) -> tuple[FrameDefinition, ...]:
    """The definitions kept under a hash, () when there are none."""
    text = store.value("SELECT definitions::VARCHAR FROM frame_versions WHERE hash = ?", [mark])
    return () if text is None else tuple(stored_frames.decode(one) for one in json.loads(text))


def _version(definitions: Sequence[FrameDefinition]) -> tuple[str, str]:
    ordered = sorted(definitions, key=lambda definition: definition.name)
    text = json.dumps([stored_frames.encode(one) for one in ordered], sort_keys=True)
    return text, hashlib.sha256(text.encode()).hexdigest()[:16]


def _assembly(row: Sequence[Any]) -> Assembly:
    weights = None if row[6] is None else Weights(**json.loads(row[6]))
    walked: list[Key] = []
    for key in row[10]:
        source, target, relation = str(key).split(" ", 2)
        walked.append((source, target, relation))
    return Assembly(
        int(row[0]),
        str(row[1]),
        str(row[2]),
        str(row[3]),
        as_utc(row[4]),
        int(row[5]),
        weights,
        int(row[7]),
        float(row[8]),
        tuple(str(i) for i in row[9]),
        tuple(walked),
        str(row[11]),
        str(row[12]),
        int(row[13]),
        int(row[14]),
        int(row[15]),
        {} if row[16] is None else {str(name): int(serial) for name, serial in json.loads(row[16]).items()},
    )
