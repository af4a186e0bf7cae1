"""A store as one JSON document: all rows of all tables, one row per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.exchange.values import (
    VERSION,
    Header,
    StoreDocument,
    damaged,
    inward,
    of_another_form,
    outward,
    say_gap,
    unreadable,
)
from amgs.regular_file import say_json_fault
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn

FORM = "amgs memory"
_OPENING = re.compile(rb'\s*\{\s*"form"\s*:\s*"amgs memory"')
_LONGEST_OPENING = 200


def lines(storage: Storage, header: Header) -> Iterator[str]:
    """Yield the document in pieces, so that a large memory need not fit into RAM."""
    opening = {
        "form": FORM,
        "version": VERSION,
        "schema": header.schema,
        "counter": header.counter,
        "exported_at": header.exported_at.isoformat(),
    }
    yield json.dumps(opening)[:-1] + ', "tables": {'
    schema = {name: columns for name, columns in storage.tables.schema().items() if name != "change_counter"}
    for place, (table, columns) in enumerate(schema.items()):
        named = json.dumps([[column.name, column.type] for column in columns])
        yield f'{"," if place else ""}\n{json.dumps(table)}: {{"columns": {named}, "rows": ['
        first = True
        for batch in storage.tables.rows(table, columns):
            for row in batch:
                values = [outward(v, c.type) for v, c in zip(row, columns, strict=True)]
                yield ("\n" if first else ",\n") + json.dumps(values, ensure_ascii=False)
                first = False
        yield "]}"
    yield "\n}}\n"


def is_document(path: Path) -> bool:
    """Return whether a file begins like such a document."""
    try:
        with path.open("rb") as file:
            return bool(_OPENING.match(file.read(_LONGEST_OPENING)))
    except OSError as error:
        raise unreadable(path, error) from error


def read(path: Path) -> StoreDocument:
    """Return the document in a file; raises InputError for any other file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, say_json_fault(error)) from error
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise InputError(
            f"{path} is JSON, but not an exported memory.",
            way_out="Choose a file that holds an exported memory.",
            about="export",
        )
    if data.get("version") != VERSION:
        raise of_another_form(path, data.get("version"))
    try:
        return StoreDocument(
            data["schema"], data["counter"], {str(name): _table(table) for name, table in data["tables"].items()}
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, say_gap(error)) from error


def _table(table: dict[str, Any]) -> tuple[tuple[TableColumn, ...], list[tuple[Any, ...]]]:
    columns = tuple(TableColumn(str(name), str(kind)) for name, kind in table["columns"])
    rows = [tuple(inward(v, c.type) for v, c in zip(row, columns, strict=True)) for row in table["rows"]]
    return columns, rows
