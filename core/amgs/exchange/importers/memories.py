"""Importers for other memories: MCP's reference memory server, and mem0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amgs.exchange.importers.parsing import some, text
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, Records
from amgs.sessions.lines import name
from amgs.settings import IngestSettings

_GRAPH = ("entities", "relations")
_TYPES = ("entity", "relation", "observation")


class McpGraphImporter:
    """Reads the graph of MCP's reference memory server: entities with observations, and relations.

    By modelcontextprotocol/servers, src/memory: an object per line in `memory.json` or `memory.jsonl`, or a single
    document as from its tool `read_graph`.
    """

    name: ForeignFormat = "mcp"
    program = "the MCP memory server"

    def recognises(self, data: Any) -> bool:
        """Return whether it contains entities or relations as that server writes them."""
        listed = data.get("entities", data.get("relations")) if isinstance(data, dict) else data
        if isinstance(data, dict) and not any(isinstance(data.get(key), list) for key in _GRAPH):
            listed = [data]
        return some(listed, lambda record: "entityType" in record or "relationType" in record)

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return a block for each observation, each relation, and each entity without observations."""
        records = Records(self.name, settings)
        if isinstance(data, dict) and any(key in data for key in _GRAPH):
            for here, record in records.objects("entity", data.get("entities"), "entities"):
                _take_entity(records, record, here)
            for here, record in records.objects("relation", data.get("relations"), "relations"):
                _take_relation(records, record, here)
            return records.result()
        for here, record in records.objects("record", data if isinstance(data, list) else [data], ""):
            kind = name(record.get("type"))
            if kind == "relation" or "relationType" in record:
                _take_relation(records, record, here)
            elif kind in _TYPES or "entityType" in record:
                _take_entity(records, record, here)
            else:
                records.leave("record", here, f"it is of the type {kind}" if kind else "it has no type")
        return records.result()


def _take_entity(records: Records, entity: Mapping[str, Any], path: str) -> None:
    called, kind = name(entity.get("name", entity.get("entityName"))), name(entity.get("entityType"))
    seen = entity.get("observations", entity.get("contents"))
    if not called:
        records.leave("entity", path, "it has no name")
        return
    meta: dict[str, Any] = {"entity": called} | ({"tags": [kind]} if kind else {})
    observations = seen if isinstance(seen, list) else [seen] if seen else []
    for n, observation in enumerate(observations):
        content = (
            text(observation.get("content", observation.get("text")))
            if isinstance(observation, dict)
            else text(observation)
        )
        at = records.instant(observation.get("timestamp"), path) if isinstance(observation, dict) else None
        sentence = f"{called}: {content}" if content and content.strip() else content
        source = records.source(called, str(n + 1))
        records.fact("observation", f"{path}.observations[{n}]", sentence, source=source, at=at, meta=meta)
    if not observations:
        sentence = f"{called} is of the type {kind}." if kind else called
        records.fact("entity", path, sentence, source=records.source(called), at=None, meta=meta)


def _take_relation(records: Records, record: Mapping[str, Any], path: str) -> None:
    source, target = name(record.get("from")), name(record.get("to"))
    relation = name(record.get("relationType")).replace("_", " ")
    if not (source and target and relation):
        records.leave("relation", path, "it lacks its source, its relationship or its target")
        return
    sentence = f"{source} {relation} {target}."
    records.fact("relation", path, sentence, source=records.source("relation", sentence[:-1]), at=None, meta={})


_LISTS = ("results", "memories")
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")


class Mem0Importer:
    """Reads the listing of mem0's REST interface and of `Memory.get_all`, and its export of memories."""

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
