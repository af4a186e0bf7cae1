"""A store as a file: as a single JSON document or as GraphML, with exact conversion of all values to and from text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from amgs.errors import InputError
from amgs.incoming import say_json_fault
from amgs.storage.store import Storage
from amgs.storage.tables import TableColumn

VERSION = 1
"""Version of the file's format, not of the schema."""
_AGAIN = "Nothing was imported; export it again from the store it came from."
_LONGEST = 400
"""Most characters of a complaint: a few lines."""
_MOST = 2**53

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoreDocument:
    """A whole store as read from a file. counter: its change counter."""

    schema: int
    counter: int
    tables: Mapping[str, tuple[tuple[TableColumn, ...], Sequence[Sequence[Any]]]]

    def __post_init__(self) -> None:
        for name, value in (("schema", self.schema), ("counter", self.counter)):
            if type(value) is not int or not 0 <= value <= _MOST:
                raise ValueError(f"its {name} is {str(value)[:40]}")


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a file."""

    schema: int
    counter: int
    exported_at: datetime


def outward(value: Any, kind: str) -> Any:
    """Return a value as JSON: times as ISO 8601 to the microsecond, embeddings as base64 of float32."""
    if value is None:
        return None
    if kind == "TIMESTAMP":
        return (_EPOCH + timedelta(microseconds=int(value))).isoformat(timespec="microseconds")
    if kind == "FLOAT[]":
        return base64.b64encode(np.asarray(value, dtype="<f4").tobytes()).decode("ascii")
    return value


def inward(value: Any, kind: str) -> Any:
    """Return the value from `outward`; raises InputError for anything else."""
    if value is None:
        return None
    try:
        if kind == "TIMESTAMP":
            return (datetime.fromisoformat(value) - _EPOCH) // timedelta(microseconds=1)
        if kind == "FLOAT[]":
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").tolist()
    except (ValueError, TypeError) as error:
        raise InputError(f"{str(value)[:40]!r} is not a valid {kind}: {_short(error)}.", way_out=_AGAIN) from error
    return value


def _short(why: object) -> str:
    """Return a reason on a single line, shortened, since some repeat the whole value."""
    reason = " ".join(str(why).split())
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be opened or read."""
    return InputError(
        f"{path} cannot be read: {error.strerror or error}.",
        way_out="Choose a file that holds an exported memory.",
        about="export",
    )


def say_gap(error: Exception) -> str:
    """Describe what is missing in an inconsistent export."""
    return f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else "a value in it has another form"


def build_damage_error(path: Path, why: object) -> InputError:
    """Return the error for an inconsistent or damaged export."""
    return InputError(f"{path} is damaged: {_short(why)}.", way_out=_AGAIN)


def of_another_form(path: Path, form: object) -> InputError:
    """Return the error for an export in another format version."""
    return InputError(
        f"{path} has format version {form}; this program reads {VERSION}.", way_out="Update whichever program is older."
    )


def write_whole(path: Path, lines: Iterator[str]) -> int:
    """Write a file completely or not at all, by way of a temporary file; return its size."""
    import os

    beside = path.with_name(f"{path.name}.part")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(line)
            out.flush()
            os.fsync(out.fileno())
        size = beside.stat().st_size
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}.",
            title="Cannot write the file",
            way_out="Choose a folder that is there, has room and can be written to; the store is unchanged.",
        ) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return size


FORM = "amgs memory"
_OPENING = re.compile(rb'\s*\{\s*"form"\s*:\s*"amgs memory"')
_LONGEST_OPENING = 200


def json_lines(storage: Storage, header: Header) -> Iterator[str]:
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


def read_json(path: Path) -> StoreDocument:
    """Return the document in a file; raises InputError for any other file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise build_damage_error(path, say_json_fault(error)) from error
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
        raise build_damage_error(path, say_gap(error)) from error


def _table(table: dict[str, Any]) -> tuple[tuple[TableColumn, ...], list[tuple[Any, ...]]]:
    columns = tuple(TableColumn(str(name), str(kind)) for name, kind in table["columns"])
    rows = [tuple(inward(v, c.type) for v, c in zip(row, columns, strict=True)) for row in table["rows"]]
    return columns, rows


_SPACE = "http://graphml.graphdrawing.org/xmlns"
_TYPES = {"BIGINT": "long", "INTEGER": "int", "DOUBLE": "double", "BOOLEAN": "boolean"}
_UNSAFE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODED = "json:"
"""Prefix of a JSON string, for texts that XML cannot contain, for example because of a null byte."""

_NODES, _EDGES = "memory_blocks", "edges"


def graphml_lines(storage: Storage, header: Header) -> Iterator[str]:
    """Yield the file in pieces.

    Blocks are nodes, edges are edges, with all columns; other tables are data of the graph, so that nothing is lost.
    """
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


def read_graphml(path: Path) -> StoreDocument:
    """Return the store in a file; raises InputError for any other file."""
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise unreadable(path, error) from error
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise build_damage_error(path, f"it is not whole XML (line {getattr(error, 'position', (1,))[0]})") from error
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
        raise build_damage_error(path, say_gap(error)) from error


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
