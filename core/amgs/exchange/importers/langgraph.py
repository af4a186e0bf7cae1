"""LangGraph: items of a store, as `Item.dict()`, the REST interface and the tables of its stores give them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amgs.exchange.importers.parsing import some
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, ImportOptions, Records
from amgs.sessions.lines import name

_SAID = ("memory", "content", "text", "fact", "data", "value")
_SPACES = ("namespace", "prefix")


class LangGraphImporter:
    """See the module."""

    name: ForeignFormat = "langgraph"
    program = "LangGraph"

    def recognises(self, data: Any) -> bool:
        """Whether it lists items of a store."""
        return some(_items(data)[0], _is_item)

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each item: the text in its value, or its fields line by line."""
        records = Records(self.name, options.ingest)
        found, within = _items(data)
        for path, item in records.objects("item", found if isinstance(found, list) else [found], within):
            if not _is_item(item):
                records.leave("item", path, "it lacks its namespace, its key or its value")
                continue
            space = _namespace(item)
            key = name(item["key"])
            said, beside = _said(item["value"])
            meta: dict[str, Any] = {"namespace": space} if space else {}
            kept = {k: v for k, v in item.items() if k not in ("value", *_SPACES)}
            written = item.get("created_at", item.get("createdAt"))
            records.fact(
                "item",
                path,
                said,
                source=records.source(*space, key),
                at=records.instant(written, f"{path}.created_at"),
                meta=meta | records.original(kept | ({"value": beside} if beside else {}), path),
            )
        return records.result()


def _items(data: Any) -> tuple[Any, str]:
    if isinstance(data, dict) and isinstance(data.get("items"), list):
        return data["items"], "items"
    return data, ""


def _is_item(one: Mapping[str, Any]) -> bool:
    return "key" in one and "value" in one and any(isinstance(one.get(k), list | str) for k in _SPACES)


def _namespace(item: Mapping[str, Any]) -> list[str]:
    """The labels of the namespace; a table joins them with full stops."""
    given = next(item[key] for key in _SPACES if isinstance(item.get(key), list | str))
    labels = given if isinstance(given, list) else given.split(".")
    return [told for label in labels if (told := name(label))]


def _said(value: Any) -> tuple[Any, Any]:
    """The text of a value and what stands beside it. Without a text under a usual name, all fields are the text."""
    if not isinstance(value, dict):
        return (value if isinstance(value, str) or value is None else _json(value)), None
    for key in _SAID:
        inner = value.get(key)
        if isinstance(inner, str) and inner.strip():
            return inner, {k: v for k, v in value.items() if k != key}
        nested = inner.get("content") if isinstance(inner, dict) else None
        if isinstance(nested, str) and nested.strip():
            rest = {k: v for k, v in value.items() if k != key}
            more = {k: v for k, v in inner.items() if k != "content"} if isinstance(inner, dict) else {}
            return nested, rest | ({key: more} if more else {})
    return "\n".join(f"{k}: {v if isinstance(v, str) else _json(v)}" for k, v in value.items()), None


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""
