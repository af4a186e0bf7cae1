"""mem0: the listing of its REST interface and of `Memory.get_all`, and its export of memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amgs.exchange.importers.parsing import some
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, Records
from amgs.sessions.lines import name
from amgs.settings import IngestSettings

_LISTS = ("results", "memories")
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")


class Mem0Importer:
    """See the module."""

    name: ForeignFormat = "mem0"
    program = "mem0"

    def recognises(self, data: Any) -> bool:
        """Return whether it lists memories."""
        return some(_memories(data)[0], _is_memory)

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return a block for each memory and each relation."""
        records = Records(self.name, settings)
        memories, path = _memories(data)
        listed = memories if isinstance(memories, list) else [memories] if _is_memory(memories) else []
        for here, memory in records.objects("memory", listed, path):
            _take_memory(records, memory, here)
        if isinstance(data, dict) and memories is not data:
            _take_relations(records, data.get("relations"), "relations", {})
        return records.result()


def _memories(data: Any) -> tuple[Any, str]:
    """Return the list of memories and its path."""
    if isinstance(data, dict):
        for key in _LISTS:
            if isinstance(data.get(key), list):
                return data[key], key
    return data, ""


def _is_memory(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("memory"), str)
        and any(key in record for key in ("id", *_SCOPES))
    )


def _take_memory(records: Records, memory: dict[str, Any], path: str) -> None:
    content = memory.get("memory", memory.get("data"))
    categories = memory.get("categories")
    tags = [tag for category in categories if (tag := name(category))] if isinstance(categories, list) else []
    id = name(memory.get("id"))
    own = {key: scope for key in _SCOPES if (scope := name(memory.get(key)))}
    without = ("memory", "data", "relations", *_SCOPES, *(("categories",) if tags else ()))
    meta = own | ({"tags": tags} if tags else {}) | records.original(memory, path, without=without)
    expires = records.instant(memory.get("expiration_date"), f"{path}.expiration_date")
    at = records.instant(memory.get("created_at"), f"{path}.created_at")
    records.fact(
        "memory", path, content, source=records.source(id or _name_memory(path)), at=at, meta=meta, valid_to=expires
    )
    _take_relations(records, memory.get("relations"), f"{path}.relations", _names(memory.get("entities")))


def _names(entities: Any) -> dict[str, str]:
    entity_list = entities if isinstance(entities, list) else []
    return {name(entity.get("id")): name(entity.get("name")) for entity in entity_list if isinstance(entity, dict)}


def _take_relations(records: Records, relations: Any, path: str, names: Mapping[str, str]) -> None:
    """Add relations of the graph memory, such as `Alex likes pizza.`"""
    for here, record in records.objects("relation", relations, path):
        source, target = (
            names.get(name(end), "") or name(end)
            for end in (record.get("source"), record.get("target", record.get("destination")))
        )
        relation = name(record.get("relationship", record.get("relation"))).replace("_", " ")
        if not (source and target and relation):
            records.leave("relation", here, "it lacks its source, its relationship or its target")
            continue
        records.fact(
            "relation",
            here,
            f"{source} {relation} {target}.",
            source=records.source("relation", f"{source} {relation} {target}"),
            at=None,
            meta=records.original(record, here),
        )


def _name_memory(path: str) -> str:
    return f"memory {path}"
