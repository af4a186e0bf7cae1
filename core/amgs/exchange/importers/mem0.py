"""mem0: the listing of its REST interface and of `Memory.get_all`, the export of memories, and histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from amgs.exchange.importers.parsing import instant, some, text
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, ImportOptions, Records
from amgs.sessions.lines import name

_LISTS = ("results", "memories")
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")
_HISTORY = ("history", "versions")


class Mem0Importer:
    """See the module."""

    name: ForeignFormat = "mem0"
    program = "mem0"

    def recognises(self, data: Any) -> bool:
        """Whether it lists memories, or what became of one."""
        return some(_memories(data)[0], _is_memory) or some(data, _is_version)

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each memory, each relation and each earlier version of a memory."""
        records = Records(self.name, options.ingest)
        given, path = _memories(data)
        listed = given if isinstance(given, list) else [given] if _is_memory(given) else []
        current: dict[str, str] = {}
        versions: list[tuple[str, dict[str, Any]]] = []
        for here, one in records.objects("memory", listed, path):
            if _is_version(one):
                versions.append((here, one))
                continue
            _take_memory(records, one, here, current)
            for key in _HISTORY:
                for place, entry in records.objects("earlier version", one.get(key), f"{here}.{key}"):
                    versions.append((place, {"memory_id": one.get("id")} | entry))
        if isinstance(data, dict) and given is not data:
            for key in _HISTORY:
                versions += records.objects("earlier version", data.get(key), key)
            _take_relations(records, data.get("relations"), "relations", {})
        _take_versions(records, versions, current)
        return records.result()


def _memories(data: Any) -> tuple[Any, str]:
    """The list of memories and its path."""
    if isinstance(data, dict):
        for key in _LISTS:
            if isinstance(data.get(key), list):
                return data[key], key
    return data, ""


def _is_memory(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("memory"), str) and any(key in one for key in ("id", *_SCOPES))


def _is_version(one: Mapping[str, Any]) -> bool:
    return "memory_id" in one and ("new_memory" in one or "old_memory" in one)


def _take_memory(records: Records, memory: dict[str, Any], path: str, current: dict[str, str]) -> None:
    said = memory.get("memory", memory.get("data"))
    categories = memory.get("categories")
    tags = [tag for one in categories if (tag := name(one))] if isinstance(categories, list) else []
    id = name(memory.get("id"))
    own = {key: told for key in _SCOPES if (told := name(memory.get(key)))}
    without = ("memory", "data", "relations", *_HISTORY, *_SCOPES, *(("categories",) if tags else ()))
    meta = own | ({"tags": tags} if tags else {}) | records.original(memory, path, without=without)
    expires = records.instant(memory.get("expiration_date"), f"{path}.expiration_date")
    at = records.instant(memory.get("created_at"), f"{path}.created_at")
    records.fact("memory", path, said, source=records.source(id or _numbered(path)), at=at, meta=meta, valid_to=expires)
    if id and isinstance(said, str):
        current[id] = said
    _take_relations(records, memory.get("relations"), f"{path}.relations", _names(memory.get("entities")))


def _names(entities: Any) -> dict[str, str]:
    given = entities if isinstance(entities, list) else []
    return {name(one.get("id")): name(one.get("name")) for one in given if isinstance(one, dict)}


def _take_relations(records: Records, relations: Any, path: str, names: Mapping[str, str]) -> None:
    """`Alex likes pizza.` of a relation of the graph memory."""
    for here, one in records.objects("relation", relations, path):
        source, target = (
            names.get(name(end), "") or name(end)
            for end in (one.get("source"), one.get("target", one.get("destination")))
        )
        relation = name(one.get("relationship", one.get("relation"))).replace("_", " ")
        if not (source and target and relation):
            records.leave("relation", here, "it lacks its source, its relationship or its target")
            continue
        records.fact(
            "relation",
            here,
            f"{source} {relation} {target}.",
            source=records.source("relation", f"{source} {relation} {target}"),
            at=None,
            meta=records.original(one, here),
        )


@dataclass
class _Version:
    """A text that a memory had, from when to when, and the entry of the history that tells of it."""

    path: str
    entry: Mapping[str, Any]
    began: datetime | None = None
    ended: datetime | None = None


def _take_versions(records: Records, entries: Sequence[tuple[str, dict[str, Any]]], current: Mapping[str, str]) -> None:
    """A block for each text of a history but the one that the listing holds: superseded where another took its place
    or it was deleted.
    """
    by_memory: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path, entry in entries:
        if text(entry.get("old_memory")) is None and text(entry.get("new_memory")) is None:
            records.leave("earlier version", path, "it tells neither the old text nor the new one")
            continue
        by_memory.setdefault(name(entry.get("memory_id")), []).append((path, entry))
    for id, told in by_memory.items():
        versions: dict[str, _Version] = {}
        at: datetime | None = None
        for path, entry in sorted(told, key=lambda one: _order(one[1])):
            at = records.instant(entry.get("updated_at") or entry.get("created_at"), path) or at
            old, new = text(entry.get("old_memory")), text(entry.get("new_memory"))
            if name(entry.get("event")).upper() == "DELETE":
                old, new = old or new, None
            if old:
                versions.setdefault(old, _Version(path, entry)).ended = at
            if new:
                versions.setdefault(new, _Version(path, entry, began=at)).ended = None
        for said, version in versions.items():
            if said != current.get(id):
                ended = version.ended or (at if id in current else None)
                _take_version(records, id, said, replace(version, ended=ended))


def _take_version(records: Records, id: str, said: str, version: _Version) -> None:
    own = {key: told for key in _SCOPES if (told := name(version.entry.get(key)))}
    without = ("old_memory", "new_memory", *_SCOPES)
    records.fact(
        "earlier version",
        version.path,
        said,
        source=records.source(id, "before"),
        at=version.began or version.ended,
        meta=own | records.original(version.entry, version.path, without=without),
        valid_from=version.began,
        valid_to=version.ended,
    )


def _order(entry: Mapping[str, Any]) -> tuple[bool, float]:
    at = instant(entry.get("updated_at") or entry.get("created_at"))
    return at is None, at.timestamp() if at is not None else 0.0


def _numbered(path: str) -> str:
    return f"memory {path}"
