"""The reference memory server of MCP: the file of its graph, entities with observations and relations between them.

Source: modelcontextprotocol/servers, src/memory; one object a line in `memory.json` or `memory.jsonl`, or one document
as its tool `read_graph` gives it.
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
        """Return whether it holds entities or relations as that server writes them."""
        listed = data.get("entities", data.get("relations")) if isinstance(data, dict) else data
        if isinstance(data, dict) and not any(isinstance(data.get(key), list) for key in _GRAPH):
            listed = [data]
        return some(listed, lambda one: "entityType" in one or "relationType" in one)

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Read a block for each observation and each relation, and for each entity of which nothing was observed."""
        records = Records(self.name, settings)
        if isinstance(data, dict) and any(key in data for key in _GRAPH):
            for here, one in records.objects("entity", data.get("entities"), "entities"):
                _take_entity(records, one, here)
            for here, one in records.objects("relation", data.get("relations"), "relations"):
                _take_relation(records, one, here)
            return records.result()
        for here, one in records.objects("record", data if isinstance(data, list) else [data], ""):
            kind = name(one.get("type"))
            if kind == "relation" or "relationType" in one:
                _take_relation(records, one, here)
            elif kind in _TYPES or "entityType" in one:
                _take_entity(records, one, here)
            else:
                records.leave("record", here, f"it is of the type {kind}" if kind else "it has no type")
        return records.result()


def _take_entity(records: Records, one: Mapping[str, Any], path: str) -> None:
    called, kind = name(one.get("name", one.get("entityName"))), name(one.get("entityType"))
    seen = one.get("observations", one.get("contents"))
    if not called:
        records.leave("entity", path, "it has no name")
        return
    meta: dict[str, Any] = {"entity": called} | ({"tags": [kind]} if kind else {})
    observations = seen if isinstance(seen, list) else [seen] if seen else []
    for n, given in enumerate(observations):
        told = text(given.get("content", given.get("text"))) if isinstance(given, dict) else text(given)
        at = records.instant(given.get("timestamp"), path) if isinstance(given, dict) else None
        said = f"{called}: {told}" if told and told.strip() else told
        source = records.source(called, str(n + 1))
        records.fact("observation", f"{path}.observations[{n}]", said, source=source, at=at, meta=meta)
    if not observations:
        said = f"{called} is of the type {kind}." if kind else called
        records.fact("entity", path, said, source=records.source(called), at=None, meta=meta)


def _take_relation(records: Records, one: Mapping[str, Any], path: str) -> None:
    source, target = name(one.get("from")), name(one.get("to"))
    relation = name(one.get("relationType")).replace("_", " ")
    if not (source and target and relation):
        records.leave("relation", path, "it lacks its source, its relationship or its target")
        return
    said = f"{source} {relation} {target}."
    records.fact("relation", path, said, source=records.source("relation", said[:-1]), at=None, meta={})
