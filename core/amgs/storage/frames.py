"""Tables of frames: definitions and compositions (AMGS §4, §5.2), caches (`frame_cache` has the latest assembly
per request), and the logs of assembled frames, their candidates and the latest searches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from amgs.clock import as_utc, parse_instant
from amgs.errors import StoreCorruptError, WeightsError
from amgs.storage.connection import StoragePart, to_stored_time
from amgs.types import COMPONENTS, BlockFilter, ChildFrame, FrameDefinition, SelectionRule, Weights


def encode(definition: FrameDefinition) -> dict[str, Any]:
    """Return a definition as JSON values; `decode` restores it."""
    plain = {f.name: getattr(definition, f.name) for f in fields(definition)}
    return {
        **plain,
        "weights": json.loads(encode_weights(definition.weights)),
        "rule": encode_rule(definition.rule),
        "children": [[child.name, child.share] for child in definition.children],
        "rescore": None if definition.rescore is None else json.loads(encode_weights(definition.rescore)),
    }


def decode(data: Mapping[str, Any]) -> FrameDefinition:
    """Return the definition from the output of `encode`."""
    parts = dict(data)
    parts["weights"] = Weights(**parts["weights"])
    parts["rule"] = decode_rule(parts["rule"])
    parts["children"] = tuple(ChildFrame(name, float(share)) for name, share in parts["children"])
    parts["rescore"] = None if parts["rescore"] is None else Weights(**parts["rescore"])
    return FrameDefinition(**parts)


def encode_weights(weights: Weights) -> str:
    """Return weights as JSON text with sorted names."""
    return json.dumps({name: getattr(weights, name) for name in COMPONENTS}, sort_keys=True)


_ADDED = {"order": "weights"}
"""Fields added to rules later, with their default: a default is not written, so that definitions encode as in older
versions and are recognised.
"""

_OF_A_REQUEST = frozenset({"current", "as_of"})
"""Fields of a filter that only a request sets."""


def encode_rule(rule: SelectionRule) -> dict[str, Any]:
    """Return a rule as JSON values; `decode_rule` restores it."""
    plain = {f.name: getattr(rule, f.name) for f in fields(rule) if f.name != "filter"}
    plain = {name: value for name, value in plain.items() if name not in _ADDED or value != _ADDED[name]}
    wanted = {f.name: getattr(rule.filter, f.name) for f in fields(rule.filter) if f.name not in _OF_A_REQUEST}
    if not wanted["without"]:  # as an older version wrote it
        del wanted["without"]
    wanted["meta"] = dict(rule.filter.meta)
    for name in ("since", "until", "reinforced_since"):
        wanted[name] = None if wanted[name] is None else as_utc(wanted[name]).isoformat()
    return {**plain, "filter": wanted}


def decode_rule(data: Mapping[str, Any]) -> SelectionRule:
    """Return the rule from the output of `encode_rule`."""
    wanted = dict(data["filter"])
    for name in ("since", "until", "reinforced_since"):
        wanted[name] = None if wanted[name] is None else parse_instant(wanted[name])
    wanted["statuses"] = tuple(wanted["statuses"])
    wanted["categories"] = None if wanted["categories"] is None else tuple(wanted["categories"])
    return SelectionRule(**{**data, "filter": BlockFilter(**wanted)})


class FrameStorage(StoragePart):
    """The registered definitions."""

    def put(self, definitions: Sequence[FrameDefinition]) -> None:
        """Write definitions, replacing those with the same names; the caller has checked for cycles."""
        names = [d.name for d in definitions]
        self.delete(names)
        columns: list[list[Any]] = [
            names,
            ["composite" if d.is_composite else "atomic" for d in definitions],
            [d.purpose for d in definitions],
            [json.dumps(encode_rule(d.rule), sort_keys=True) for d in definitions],
            [encode_weights(d.weights) for d in definitions],
            [d.assembly for d in definitions],
            [d.budget for d in definitions],
            [d.refresh_hours for d in definitions],
            [d.merge for d in definitions],
            [d.budget_strategy for d in definitions],
            [d.semantic_threshold for d in definitions],
            [None if d.rescore is None else encode_weights(d.rescore) for d in definitions],
        ]
        self._execute(
            "INSERT INTO frame_definitions SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::VARCHAR[])::JSON, unnest(?::VARCHAR[])::JSON, "
            "unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::DOUBLE[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), unnest(?::VARCHAR[])::JSON",
            columns,
        )
        links = [(d.name, c.name, d.merge, c.share, i) for d in definitions for i, c in enumerate(d.children)]
        if links:
            self._execute(
                "INSERT INTO frame_compositions SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
                "unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), unnest(?::INTEGER[])",
                [list(column) for column in zip(*links, strict=True)],
            )

    def delete(self, names: Sequence[str]) -> None:
        """Delete definitions."""
        parameters = [list(names)]
        self._execute("DELETE FROM frame_definitions WHERE name IN (SELECT unnest(?::VARCHAR[]))", parameters)
        self._execute("DELETE FROM frame_compositions WHERE parent_frame IN (SELECT unnest(?::VARCHAR[]))", parameters)

    def everything(self) -> tuple[FrameDefinition, ...]:
        """Return all definitions by name."""
        children: dict[str, list[ChildFrame]] = {}
        for parent, child, share in self._rows(
            "SELECT parent_frame, child_frame, budget_allocation FROM frame_compositions ORDER BY "
            "parent_frame, position"
        ):
            children.setdefault(parent, []).append(ChildFrame(child, float(share)))
        rows = self._rows(
            "SELECT name, purpose, selection_rules::VARCHAR, scoring_weights::VARCHAR, assembly_strategy, "
            "budget, "
            "refresh_hours, merge_strategy, budget_strategy, semantic_threshold, rescore_weights::VARCHAR "
            "FROM frame_definitions ORDER BY name"
        )
        return tuple(definition_of(row, tuple(children.get(row[0], ()))) for row in rows)


def definition_of(row: Sequence[Any], children: tuple[ChildFrame, ...]) -> FrameDefinition:
    """Build a definition from a row; raises StoreCorruptError if it is invalid."""
    try:
        return FrameDefinition(
            name=row[0],
            purpose=row[1],
            weights=Weights(**json.loads(row[3])),
            rule=decode_rule(json.loads(row[2])),
            assembly=row[4],
            budget=row[5],
            refresh_hours=row[6],
            children=children,
            merge=row[7],
            budget_strategy=row[8],
            semantic_threshold=row[9],
            rescore=None if row[10] is None else Weights(**json.loads(row[10])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, WeightsError) as error:
        raise StoreCorruptError(
            f"The definition of the frame {row[0]} cannot be read.",
            way_out="Restore the store from a backup, or import an export of it.",
        ) from error


@dataclass(frozen=True, slots=True)
class CacheRow:
    """A cached assembly as JSON.

    structure: structure counter at which it was assembled. identity: JSON about the self; see Frames.
    """

    name: str
    request: str
    assembly: str
    computed_at: datetime
    structure: int
    definition: str
    identity: str


class FrameCacheStorage(StoragePart):
    """Cached assemblies by frame and request."""

    def put(self, row: CacheRow) -> None:
        """Cache an assembly, replacing the assembly for the same request."""
        key = [row.name, row.request]
        self._note("DELETE FROM frame_cache WHERE frame_name = ? AND request = ?", key)
        self._note(
            "INSERT INTO frame_cache VALUES (?, ?, ?::JSON, ?, ?, ?, ?::JSON)",
            [*key, row.assembly, to_stored_time(row.computed_at), row.structure, row.definition, row.identity],
        )

    def get(self, requests: Mapping[str, str]) -> dict[str, CacheRow]:
        """Return the cached assembly of each frame for its request, by frame."""
        rows = self._connection.read_cached_rows(
            "frame_cache",
            "SELECT frame_name, request, assembly::VARCHAR, computed_at, structure, definition, identity::VARCHAR "
            "FROM frame_cache JOIN (SELECT unnest(?::VARCHAR[]) AS wanted, unnest(?::VARCHAR[]) AS wanted_request) "
            "AS asked ON frame_name = wanted AND request = wanted_request",
            [list(requests), list(requests.values())],
        )
        return {row[0]: CacheRow(row[0], row[1], row[2], as_utc(row[3]), row[4], row[5], row[6]) for row in rows}

    def forget_like(self, name: str, prefix: str) -> None:
        """Delete a frame's cached assemblies for requests that begin with `prefix`."""
        self._note("DELETE FROM frame_cache WHERE frame_name = ? AND starts_with(request, ?)", [name, prefix])

    def forget(self, name: str) -> None:
        """Delete a frame's cached assemblies."""
        self._note("DELETE FROM frame_cache WHERE frame_name = ?", [name])


class ScoreStorage(StoragePart):
    """Cached scores by frame and block."""

    def put(self, frame: str, scores: Mapping[str, float], at: datetime) -> None:
        """Write the scores of blocks in a frame, replacing older ones."""
        ids = list(scores)
        if not ids:
            return
        self._note(
            "MERGE INTO scores_cache USING (SELECT unnest(?::VARCHAR[]) AS id, ?::VARCHAR AS frame, "
            "unnest(?::DOUBLE[]) AS new_score, ?::TIMESTAMP AS made_at) AS n "
            "ON block_id = n.id AND frame_name = n.frame "
            "WHEN MATCHED THEN UPDATE SET score = n.new_score, computed_at = n.made_at "
            "WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.frame, n.new_score, n.made_at)",
            [ids, frame, [float(scores[i]) for i in ids], to_stored_time(at)],
        )

    def forget(self, ids: Iterable[str]) -> None:
        """Delete the cached scores of blocks."""
        self._note("DELETE FROM scores_cache WHERE block_id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])


@dataclass(frozen=True, slots=True)
class AssemblyRecord:
    """One logged assembly of a frame.

    serial: its number, from 1. weights: the requested ones, None for the definition's own. definition: hash of the
    definitions used. last_number: running number of the newest block at that time.
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
    definition: str
    last_number: int


def version_of(definitions: Sequence[FrameDefinition]) -> str:
    """Return a hash of definitions, independent of their order."""
    ordered = sorted(definitions, key=lambda definition: definition.name)
    text = json.dumps([encode(definition) for definition in ordered], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_COLUMNS = (
    "serial, id, frame_name, query, timestamp, budget, weights::VARCHAR, tokens, entropy_bits, selected, "
    "definition, last_number"
)


class AssemblyStorage(StoragePart):
    """The log of assemblies."""

    def append(self, record: AssemblyRecord) -> None:
        """Log an assembly."""
        weights = None if record.weights is None else json.dumps({n: getattr(record.weights, n) for n in COMPONENTS})
        self._note(
            "INSERT INTO assemblies VALUES (?, ?, ?, ?, ?, ?, ?::JSON, ?, ?, ?::VARCHAR[], ?::VARCHAR[], ?, '', "
            "?, 0, 0, NULL)",
            [
                record.serial,
                record.id,
                record.name,
                record.query,
                to_stored_time(record.as_of),
                record.budget,
                weights,
                record.tokens,
                record.entropy_bits,
                list(record.selected),
                [],
                record.definition,
                record.last_number,
            ],
        )
        self._connection.note_highest("assemblies", record.serial)

    def latest(self, limit: int | None = None, *, name: str | None = None) -> tuple[AssemblyRecord, ...]:
        """Return the latest assemblies, newest first. name: only of this frame."""
        condition = "" if name is None else " WHERE frame_name = ?"
        sql = f"SELECT {_COLUMNS} FROM assemblies{condition} ORDER BY serial DESC"
        if limit is not None:
            sql += f" LIMIT {int(limit)}"
        return tuple(_assembly(row) for row in self._rows(sql, [] if name is None else [name]))

    def count(self, *, name: str | None = None) -> int:
        """Count the logged assemblies. name: only of this frame."""
        condition = "" if name is None else " WHERE frame_name = ?"
        sql = f"SELECT count(*) FROM assemblies{condition}"
        return self._count(sql, [] if name is None else [name])

    def matching(self, prefix: str) -> tuple[AssemblyRecord, ...]:
        """Return the assemblies whose id begins with `prefix`, newest first."""
        sql = f"SELECT {_COLUMNS} FROM assemblies WHERE starts_with(id, ?) ORDER BY serial DESC"
        return tuple(_assembly(row) for row in self._rows(sql, [prefix]))


def _assembly(row: Sequence[Any]) -> AssemblyRecord:
    weights = None if row[6] is None else Weights(**json.loads(row[6]))
    return AssemblyRecord(
        row[0], row[1], row[2], row[3], as_utc(row[4]), row[5], weights, row[7], row[8], tuple(row[9]), row[10], row[11]
    )


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """The candidates of an assembly as JSON; see `amgs.frames.why`."""

    serial: int
    candidates: str


_AT_ONCE = 16


class WaterfallStorage(StoragePart):
    """Candidates of the latest assemblies, by serial."""

    def put(self, row: WaterfallRow, keep: int) -> None:
        """Store the candidates of an assembly, and delete those of all but the latest `keep` assemblies; where that is
        _AT_ONCE or more, only once in _AT_ONCE assemblies.
        """
        if keep < _AT_ONCE or row.serial % _AT_ONCE == 0:
            self._note("DELETE FROM waterfalls WHERE serial <= ?", [row.serial - keep])
        if keep > 0:
            self._note("INSERT INTO waterfalls VALUES (?, ?)", [row.serial, row.candidates])

    def get(self, serial: int) -> str | None:
        """Return the candidates of an assembly as JSON; None if they were deleted."""
        value = self._value("SELECT candidates FROM waterfalls WHERE serial = ?", [serial])
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A search.

    serial: its number, from 1. places: most hits it could return. pool: number of its candidates. candidates: the best
    of them as JSON; see `amgs.retrieval.search_log`.
    """

    serial: int
    at: datetime
    query: str
    places: int
    pool: int
    candidates: str


_SEARCH_COLUMNS = "serial, made_at, query, places, pool, candidates"


class SearchStorage(StoragePart):
    """The latest searches, by serial."""

    def put(self, rows: Sequence[SearchRow], keep: int) -> None:
        """Store searches, and delete all but the latest `keep`. Does not raise the change counter, since the memory is
        unchanged.
        """
        for row in rows[-keep:] if keep else ():
            self._execute(
                "INSERT INTO searches VALUES (?, ?, ?, ?, ?, ?)",
                [row.serial, to_stored_time(row.at), row.query, row.places, row.pool, row.candidates],
                counted=False,
            )
        self._execute(
            "DELETE FROM searches WHERE serial IN (SELECT serial FROM searches ORDER BY serial DESC OFFSET ?)",
            [keep],
            counted=False,
        )

    def get(self, serial: int) -> SearchRow | None:
        """Return a search; None if it was deleted."""
        rows = self._rows(f"SELECT {_SEARCH_COLUMNS} FROM searches WHERE serial = ?", [serial])
        return _search(rows[0]) if rows else None

    def last(self) -> int:
        """Return the highest number of a search, 0 if there is none."""
        return self._count("SELECT coalesce(max(serial), 0) FROM searches")

    def latest(self, limit: int) -> tuple[SearchRow, ...]:
        """Return the latest searches, newest first."""
        rows = self._rows(f"SELECT {_SEARCH_COLUMNS} FROM searches ORDER BY serial DESC LIMIT ?", [limit])
        return tuple(map(_search, rows))


def _search(row: Sequence[Any]) -> SearchRow:
    serial, at, query, places, pool, candidates = row
    return SearchRow(serial, as_utc(at), query, places, pool, candidates)
