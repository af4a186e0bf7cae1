"""A store as GraphML: blocks are nodes, edges are edges, with all columns; other tables are data of the graph, so that
nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

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
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn

_SPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"BIGINT": "long", "INTEGER": "int", "DOUBLE": "double", "BOOLEAN": "boolean"}
_UNSAFE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODED = "json:"
"""Prefix of a JSON string, for texts that XML cannot contain, such as one with a null byte."""

_NODES, _EDGES = "memory_blocks", "edges"


def lines(storage: Storage, header: Header) -> Iterator[str]:
    """Yield the file in pieces."""
    schema = {name: columns for name, columns in storage.tables.schema().items() if name != "change_counter"}
    nodes, edges = schema.pop(_NODES), schema.pop(_EDGES)
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_SPACE}">\n'
    yield '<key id="header" for="graph" attr.name="header" attr.type="string"/>\n'
    for table in schema:
        yield f'<key id="t_{table}" for="graph" attr.name={quoteattr(table)} attr.type="string"/>\n'
    for kind, columns in (("node", nodes), ("edge", edges)):
        for c in columns:
            type_name = _TYPES.get(c.type, "string")
            yield f'<key id="{kind[0]}_{c.name}" for="{kind}" attr.name="{c.name}" attr.type="{type_name}"/>\n'
    yield '<graph id="memory" edgedefault="directed">\n'
    opening = {
        "version": VERSION,
        "schema": header.schema,
        "counter": header.counter,
        "exported_at": header.exported_at.isoformat(),
        "columns": {t: [[c.name, c.type] for c in cs] for t, cs in [*schema.items(), (_NODES, nodes), (_EDGES, edges)]},
    }
    yield _data("header", json.dumps(opening))
    for table, columns in schema.items():
        rows = [_outward(row, columns) for batch in storage.tables.rows(table, columns) for row in batch]
        yield _data(f"t_{table}", json.dumps(rows))
    place = [c.name for c in nodes].index("id")
    for batch in storage.tables.rows(_NODES, nodes):
        for row in batch:
            yield f"<node id={quoteattr(row[place])}>" + _row("n", row, nodes) + "</node>\n"
    ends = [[c.name for c in edges].index(name) for name in ("source_id", "target_id")]
    for batch in storage.tables.rows(_EDGES, edges):
        for row in batch:
            source, target = (quoteattr(row[end]) for end in ends)
            yield f"<edge source={source} target={target}>" + _row("e", row, edges) + "</edge>\n"
    yield "</graph>\n</graphml>\n"


def read(path: Path) -> StoreDocument:
    """Return the store in a file; raises InputError for any other file."""
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise unreadable(path, error) from error
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise damaged(path, f"it is not whole XML (line {getattr(error, 'position', (1,))[0]})") from error
    graph = root.find(f"{{{_SPACE}}}graph")
    try:
        header = None if graph is None else _values(graph).get("header")
        if graph is None or header is None:
            raise InputError(
                f"{path} is not an exported memory.",
                way_out="Choose a file that holds an exported memory.",
                about="export",
            )
        opening = json.loads(header)
        if opening["version"] != VERSION:
            raise of_another_form(path, opening["version"])
        return _document(graph, opening)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise damaged(path, say_gap(error)) from error


def _document(graph: ElementTree.Element, header: dict[str, Any]) -> StoreDocument:
    columns = {t: tuple(TableColumn(n, k) for n, k in pairs) for t, pairs in header["columns"].items()}
    values = _values(graph)
    tables: dict[str, tuple[tuple[TableColumn, ...], list[tuple[Any, ...]]]] = {}
    for table, cs in columns.items():
        if table in (_NODES, _EDGES):
            tag, mark = ("node", "n") if table == _NODES else ("edge", "e")
            elements = graph.iter(f"{{{_SPACE}}}{tag}")
            rows = [_read_row(_values(element), mark, cs) for element in elements]
        else:
            rows = [
                tuple(inward(v, c.type) for v, c in zip(row, cs, strict=True))
                for row in json.loads(values[f"t_{table}"])
            ]
        tables[table] = (cs, rows)
    return StoreDocument(header["schema"], header["counter"], tables)


def _outward(row: Sequence[Any], columns: Sequence[TableColumn]) -> list[Any]:
    return [outward(v, c.type) for v, c in zip(row, columns, strict=True)]


def _row(mark: str, row: Sequence[Any], columns: Sequence[TableColumn]) -> str:
    values = zip(_outward(row, columns), columns, strict=True)
    return "".join(_data(f"{mark}_{c.name}", _write_value(v)) for v, c in values if v is not None)


def _write_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _data(key: str, text: str) -> str:
    safe = not _UNSAFE.search(text) and not text.startswith(_CODED)
    return f'<data key="{key}">{escape(text if safe else _CODED + json.dumps(text))}</data>'


def _values(element: ElementTree.Element) -> dict[str, str]:
    """Return the data of an element by key."""
    values = {}
    for child in element.findall(f"{{{_SPACE}}}data"):
        text = child.text or ""
        values[child.attrib["key"]] = json.loads(text[len(_CODED) :]) if text.startswith(_CODED) else text
    return values


def _read_row(values: dict[str, str], mark: str, columns: Sequence[TableColumn]) -> tuple[Any, ...]:
    return tuple(_read_value(values.get(f"{mark}_{c.name}"), c.type) for c in columns)


def _read_value(text: str | None, kind: str) -> Any:
    if text is None or kind in ("VARCHAR", "JSON"):
        return text
    return inward(text, kind) if kind in ("TIMESTAMP", "FLOAT[]") else json.loads(text)
