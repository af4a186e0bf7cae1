"""MCP's reference memory server: the file of its graph, entities with observations and relations.

By modelcontextprotocol/servers, src/memory: one object per line in `memory.json` or `memory.jsonl`, or one document as
from its tool `read_graph`.
"""

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
    """See the module."""

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
