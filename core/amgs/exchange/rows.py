"""The rows of an import, each value held against its type and its range before the first row is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError, create_model

from amgs.exchange.column_kinds import BASES, KNOWN, TYPES, Row
from amgs.exchange.value_kinds import LARGEST
from amgs.storage.meta import DIMENSION, EMBEDDER
from amgs.storage.tables import TableColumn

_MOST_COMPLAINTS = 3
_LONGEST_VALUE = 40


Tables = Mapping[str, tuple[tuple[TableColumn, ...], Sequence[Sequence[Any]]]]
"""Columns and rows by table, as a file gives them."""


def complaints(
    tables: Tables,
    schema: Mapping[str, tuple[TableColumn, ...]],
) -> list[str]:
    """What is wrong with the rows, the first few of it, each in one short line; empty when they may be written."""
    found: list[str] = []
    for table, (columns, rows) in tables.items():
        names = [column.name for column in columns]
        adapter = TypeAdapter(_model(table, schema[table]))
        for number, row in enumerate(rows, 1):
            try:
                adapter.validate_python(dict(zip(names, row, strict=True)))
            except ValidationError as error:
                found.append(f"{table}, row {number}: {_told(error)}")
            if len(found) == _MOST_COMPLAINTS:
                return found
    return found or _together(tables)


def _told(error: ValidationError) -> str:
    """The first thing that is wrong with a row."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"] if isinstance(part, str))[:_LONGEST_VALUE]
    reason = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if first["type"] in ("missing", "value_error"):
        return f"{place}: {reason}".removeprefix(": ")
    given = repr(first["input"])
    shown = given if len(given) <= _LONGEST_VALUE else f"{given[: _LONGEST_VALUE - 1]}…"
    return f"{place} is {shown}: {reason}"


def _together(tables: Tables) -> list[str]:
    """What is wrong between rows that are each well formed."""
    columns, given = tables["memory_blocks"]
    names = [column.name for column in columns]
    ids = [row[names.index("id")] for row in given]
    if len(set(ids)) < len(ids):
        twice = len(ids) - len(set(ids))
        return [f"memory_blocks: {twice} {'id occurs' if twice == 1 else 'ids occur'} more than once"]
    vectors = [row[names.index("embedding")] for row in given] if "embedding" in names else []
    sizes = {len(vector) for vector in vectors if vector is not None}
    kept = {str(key): str(value) for key, value in tables["meta"][1]} if "meta" in tables else {}
    for key in (DIMENSION, "highest_number"):
        if key in kept and not (kept[key].isdecimal() and int(kept[key]) <= LARGEST):
            return [f"meta: {key} is {kept[key][:_LONGEST_VALUE]!r}, not a count"]
    if sizes and (not kept.get(EMBEDDER) or sizes != {int(kept.get(DIMENSION, 0))}):
        return [
            f"memory_blocks: embeddings of {sorted(sizes)[:3]} values, where meta names another length or none"
        ]
    return []


def _model(table: str, columns: Sequence[TableColumn]) -> type[Row]:
    """What a row of the table must be: each column by what is known of it, else by its type."""
    fields: dict[str, Any] = {}
    for column in columns:
        kind = KNOWN.get((table, column.name), TYPES[column.type])
        fields[column.name] = (kind, ...) if column.required else (kind | None, None)
    return create_model(f"row of {table}", __base__=BASES.get(table, Row), **fields)
