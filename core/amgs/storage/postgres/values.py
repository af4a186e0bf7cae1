"""Convert values, SQL and errors between the form of DuckDB, in which parts are written, and PostgreSQL, which
stores no U+0000 in text or JSON: it becomes U+10FFFE with a letter, and U+10FFFE likewise, so that texts read
back unchanged. Columns are read from binary COPY into NumPy arrays. Then the schema of a namespace.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import Connection, adapt, errors, pq
from psycopg.abc import AdaptContext, Buffer
from psycopg.sql import SQL, Identifier

from amgs.errors import AmgsError, StoreAwayError, StoreCorruptError, StoreError, UsageError
from amgs.storage.connection import mask_missing
from amgs.storage.migrations import LATEST, MIGRATIONS

_AWAY = ("08", "57P01", "57P02", "57P03", "53300")
"""SQLSTATE prefixes of lost connections, of a server that starts or stops, and of a server without free connections."""
_REFUSED = (errors.InsufficientPrivilege, errors.InvalidPassword, errors.InvalidAuthorizationSpecification)


@contextmanager
def translating(path: str) -> Iterator[None]:
    """Translate errors while the block runs. path: the store's address, for messages."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UsageError(
            "The text holds half a surrogate pair, which cannot be stored.", way_out="Remove that character."
        ) from error
    except psycopg.Error as error:
        raise _translate_error(error, path) from error


def _translate_error(error: psycopg.Error, path: str) -> AmgsError:
    """Return the engine's error for an error of the driver."""
    text = (error.diag.message_primary or str(error)).strip().split("\n", 1)[0]
    if isinstance(error, errors.DiskFull):
        return StoreError(
            f"{path} cannot be extended: {text}",
            title="The disk is full",
            way_out="Free some space on the server and try again; the store is unchanged.",
            about="room",
        )
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return StoreCorruptError(f"{path} cannot be read: {text}", way_out="Restore a backup of the database.")
    if isinstance(error, _REFUSED) or "password" in text or "authentication" in text:
        return StoreError(
            f"{path} is not open to this user: {text}",
            way_out="Check the user, PGPASSWORD, ~/.pgpass or the service file, and what the user was granted.",
        )
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None
    if lost or (error.sqlstate or "").startswith(_AWAY):
        return StoreAwayError(
            f"{path} cannot be reached: {text}",
            way_out="Check the address and that the server runs, then open the store again. What was not committed "
            "is not in it.",
        )
    return StoreError(
        f"{path}: {text}", way_out="Nothing was changed. Verify the store to see whether it is sound.", about="check"
    )


_MARK = "\U0010fffe"
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_BACK = {f"{_MARK}m": _MARK, f"{_MARK}0": "\0", f"{_MARK}u": "\\u0000"}
_MARKED = re.compile("|".join(_BACK))

_TEXT, _VARCHAR, _JSON, _REAL, _REALS, _TIMESTAMP = 25, 1043, 114, 700, 1021, 1114
_INSTANT = struct.Struct(">q")
_SINCE_2000 = 946_684_800_000_000
"""Microseconds from 1970 to 2000, PostgreSQL's epoch."""


def escape_text(text: str) -> str:
    """Return a text as the tables hold it, without U+0000."""
    if _MARK in text:
        text = text.replace(_MARK, f"{_MARK}m")
    if "\0" in text:
        text = text.replace("\0", f"{_MARK}0")
    if "\\u0000" in text:
        text = _ESCAPED.sub(rf"\1{_MARK}u", text)
    return text


def restore_text(text: str) -> str:
    """Return the original of a stored text."""
    return _MARKED.sub(lambda match: _BACK[match[0]], text) if _MARK in text else text


class _TextOut(adapt.Dumper):
    """Dumps text without a type, so that the statement decides it."""

    oid = 0

    def dump(self, obj: str) -> Buffer:
        return escape_text(obj).encode()


class _TextOutBinary(_TextOut):
    """Dumps text for COPY, which knows the types of its columns."""

    format = pq.Format.BINARY
    oid = _TEXT


class _TextIn(adapt.Loader):
    def load(self, data: Buffer) -> str:
        return restore_text(str(data, "utf-8"))


class _TextInBinary(_TextIn):
    format = pq.Format.BINARY


class JsonText(str):
    """Marker type for JSON columns of COPY."""


class _JsonOut(_TextOutBinary):
    oid = _JSON


class Microseconds(int):
    """Marker type for timestamp columns of COPY: microseconds since 1970."""


class _MicrosecondsOut(adapt.Dumper):
    format = pq.Format.BINARY
    oid = _TIMESTAMP

    def dump(self, obj: int) -> Buffer:
        return _INSTANT.pack(obj - _SINCE_2000)


_HEAD = np.dtype([("dimensions", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("length", ">i4"), ("first", ">i4")])
_VALUE = np.dtype([("size", ">i4"), ("value", ">f4")])


class _VectorOut(adapt.Dumper):
    """Dumps a float32 vector as an array of REAL."""

    format = pq.Format.BINARY
    oid = _REALS

    def dump(self, obj: Any) -> Buffer:
        values = np.empty(len(obj), dtype=_VALUE)
        values["size"], values["value"] = 4, obj
        return np.array((1, 0, _REAL, len(obj), 1), dtype=_HEAD).tobytes() + values.tobytes()


class _VectorIn(adapt.Loader):
    format = pq.Format.BINARY

    def load(self, data: Buffer) -> Any:
        raw = bytes(data)
        if len(raw) < _HEAD.itemsize:
            return np.zeros(0, dtype=np.float32)
        return np.frombuffer(raw, dtype=_VALUE, offset=_HEAD.itemsize)["value"].astype(np.float32)


def register(context: AdaptContext) -> None:
    """Register these conversions on a connection."""
    for dumper in (_TextOutBinary, _TextOut):
        context.adapters.register_dumper(str, dumper)
    context.adapters.register_dumper(np.ndarray, _VectorOut)
    # COPY looks up the dumper by column type; no value needs to be of these classes.
    context.adapters.register_dumper(JsonText, _JsonOut)
    context.adapters.register_dumper(Microseconds, _MicrosecondsOut)
    for oid in (_TEXT, _VARCHAR, _JSON):
        for loader in (_TextIn, _TextInBinary):
            context.adapters.register_loader(oid, loader)
    context.adapters.register_loader(_REALS, _VectorIn)


_COPY_HEAD = 19
"""Bytes before the first row: signature, flags and extension length."""
_TRAILER = 2
NUMBERS: Mapping[int, tuple[str, type[np.generic]]] = {
    16: (">i1", np.bool_),
    20: (">i8", np.int64),
    21: (">i2", np.int64),
    23: (">i4", np.int64),
    700: (">f4", np.float32),
    701: (">f8", np.float64),
}
"""Wire format and NumPy type of number types, by PostgreSQL's type id."""
_TEXTS = frozenset((25, 1043))


def columns_of(sent: bytes | bytearray, kinds: Sequence[int]) -> list[NDArray[Any]] | None:
    """Decode binary COPY output into columns (n,): numbers, and ASCII texts of equal length as objects; None if rows
    differ in width, as with a NULL.

    sent: the output. kinds: type ids of the columns.
    """
    size = len(sent) - _COPY_HEAD - _TRAILER
    if size <= 0:
        return None
    row = _row(sent, kinds)
    if row is None or size % row.itemsize:
        return None
    rows = np.frombuffer(sent, dtype=row, count=size // row.itemsize, offset=_COPY_HEAD)
    if not (rows["fields"] == len(kinds)).all():
        return None
    columns: list[NDArray[Any]] = []
    for place, kind in enumerate(kinds):
        values = rows[f"value{place}"]
        if not (rows[f"length{place}"] == values.dtype.itemsize).all():
            return None
        if kind in _TEXTS:
            texts = _texts(values)
            if texts is None:
                return None
            columns.append(texts)
        else:
            columns.append(values.astype(NUMBERS[kind][1]))
    return columns


def _row(sent: bytes | bytearray, kinds: Sequence[int]) -> np.dtype[Any] | None:
    """Return the layout of a row, read from the first row; None for unsupported types."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    at = _COPY_HEAD + 2
    for place, kind in enumerate(kinds):
        length = int.from_bytes(sent[at : at + 4], "big", signed=True)
        number = NUMBERS[kind][0] if kind in NUMBERS else None
        if length <= 0 or (number is None and kind not in _TEXTS):
            return None
        if number is not None and np.dtype(number).itemsize != length:
            return None
        fields += [(f"length{place}", ">i4"), (f"value{place}", number or f"V{length}")]
        at += 4 + length
    return np.dtype(fields)


def _texts(values: NDArray[Any]) -> NDArray[np.object_] | None:
    """Return fixed-width texts as objects; None if they are not ASCII."""
    width = values.dtype.itemsize
    raw = np.ascontiguousarray(values).tobytes()
    if not raw.isascii():
        return None
    whole = raw.decode("ascii")
    texts = np.empty(values.size, dtype=object)
    texts[:] = [whole[start : start + width] for start in range(0, len(whole), width)]
    return texts


OFFERED_TYPES = {
    "VARCHAR": "text",
    "JSON": "text",
    "BOOLEAN": "bool",
    "BIGINT": "int8",
    "INTEGER": "int8",
    "TIMESTAMP": "int8",
    "DOUBLE": "float8",
    "VARCHAR[]": "text[]",
    "FLOAT[]": "float4[]",
}
"""PostgreSQL's types for columns offered to a statement, by type of the export format."""


def array_of(kind: int, column: Sequence[Any]) -> NDArray[Any]:
    """Return a column as an array (n,): numbers with NULLs masked, or objects.

    kind: type id in PostgreSQL.
    """
    if kind not in NUMBERS:
        whole = np.empty(len(column), dtype=object)
        whole[:] = column
        return whole
    return mask_missing(column, NUMBERS[kind][1])


_TOKEN = re.compile(r"'(?:[^']|'')*'|--[^\n]*|\?|%|\bDOUBLE\b|\bVARCHAR\b|\bFLOAT\[\]")
_WORDS = {"?": "%s", "DOUBLE": "FLOAT8", "VARCHAR": "TEXT", "FLOAT[]": "REAL[]"}


@cache
def translate_statement(sql: str) -> str:
    """Translate a statement of the parts for psycopg; cached, since there are a few hundred."""

    def word(match: re.Match[str]) -> str:
        text = match[0]
        return _WORDS.get(text) or text.replace("%", "%%")

    return _TOKEN.sub(word, sql)


_CALLED = "LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN"
FUNCTIONS = (
    f"""CREATE FUNCTION epoch_us(at timestamp) RETURNS bigint {_CALLED}
        (extract(epoch FROM at) * 1000000)::bigint""",
    # Days and the rest of a day: as a factor of an interval either is exact, all microseconds at once are not.
    f"""CREATE FUNCTION make_timestamp(us bigint) RETURNS timestamp {_CALLED}
        timestamp '1970-01-01' + (us / 86400000000) * interval '1 day'
        + (us % 86400000000) * interval '1 microsecond'""",
    f"CREATE FUNCTION contains(whole text, part text) RETURNS boolean {_CALLED} strpos(whole, part) > 0",
    f"CREATE FUNCTION isfinite(x float8) RETURNS boolean {_CALLED} x NOT IN ('NaN', 'Infinity', '-Infinity')",
    f"""CREATE FUNCTION json_extract_string(doc json, pointer text) RETURNS text {_CALLED}
        doc ->> replace(replace(substr(pointer, 2), '~1', '/'), '~0', '~')""",
    f"""CREATE FUNCTION from_json(doc json, shape text) RETURNS text[] {_CALLED}
        CASE WHEN json_typeof(doc) = 'array' THEN ARRAY(SELECT json_array_elements_text(doc)) END""",
    "CREATE FUNCTION uuid() RETURNS uuid LANGUAGE sql VOLATILE RETURN gen_random_uuid()",
)
"""SQL functions with DuckDB's names, created in the store's schema."""


_BEGUN_WITH = 13
"""Steps older than any store in PostgreSQL; of these, only statements that create tables run."""
_MAKES = re.compile(r"CREATE|ALTER|INSERT INTO (meta|change_counter)\b")
_TEXT_TYPE = re.compile(r"\bTEXT(?!\[)")

_INDEXES = (
    "memory_blocks (number)",
    "memory_blocks (revision)",
    "edges (source_id, target_id, relation_type)",
    "edges (target_id)",
    "operation_rows (operation_id, target, key)",
    "reinforcement_log (block_id)",
    "calibration_log (prediction_id)",
    "calibration_log (block_id)",
    "edge_forecasts (prediction_id)",
    "source_blocks (block_id)",
    "messages (conversation, number)",
    "mentions (conversation, number)",
)


_ANY_LENGTH = (
    "ALTER TABLE sources DROP CONSTRAINT IF EXISTS sources_pkey",
    "ALTER TABLE sources ADD CONSTRAINT sources_once EXCLUDE USING hash (name WITH =)",
    "DROP INDEX IF EXISTS source_blocks_source_idx",
    "CREATE INDEX ON source_blocks USING hash (source)",
)
"""Source names may be as long as paths; a B-tree key is limited to about 2,700 bytes, a hash key is not."""
_OWN_STEPS = {18: _ANY_LENGTH}
"""Additional statements in PostgreSQL, by the schema version that the step leads to."""


def version_of(connection: Connection[Any], schema: str) -> int:
    """Return the schema version of a namespace; 0 if it does not exist."""
    meta_row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [f'"{schema}".meta']).fetchone()
    if meta_row is None or not meta_row[0]:
        return 0
    row = connection.execute(
        SQL("SELECT value FROM {}.meta WHERE key = 'schema_version'").format(Identifier(schema))
    ).fetchone()
    return int(row[0]) if row is not None else 0


def migrate(connection: Connection[Any], schema: str, version: int) -> None:
    """Run all steps after `version`, or none. The connection's search path must be the schema.

    A namespace is a schema of its own rather than a column in shared tables: no SQL names a namespace, so none can be
    forgotten, and DROP SCHEMA erases it. The price is a catalogue entry per table and namespace, which limits a
    database to thousands of namespaces.
    """
    with connection.transaction():
        steps = [
            _adapt_statement(statement)
            for number, step in enumerate(MIGRATIONS[version:], start=version)
            for statement in _statements(step)
            if number >= _BEGUN_WITH or _MAKES.match(statement)
        ]
        steps += [own_step for number, own in _OWN_STEPS.items() if number > version for own_step in own]
        if not version:
            connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
            steps = [*FUNCTIONS, *steps, *(f"CREATE INDEX ON {index}" for index in _INDEXES)]
        connection.execute("; ".join(steps).encode())
        _number_rows(connection, schema)
        connection.execute(
            "INSERT INTO meta VALUES ('schema_version', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [str(LATEST)],
        )


def _statements(step: str) -> list[str]:
    """Split a step into statements without comments."""
    bare = re.sub(r"--[^\n]*", "", step)
    return [statement.strip() for statement in bare.split(";\n") if statement.strip()]


def _adapt_statement(statement: str) -> str:
    """Translate a statement; text columns sort by code point, as in a file."""
    definition = translate_statement(statement).replace("%%", "%")
    return (
        _TEXT_TYPE.sub('TEXT COLLATE "C"', definition)
        if statement.startswith(("CREATE TABLE", "ALTER TABLE"))
        else definition
    )


def _number_rows(connection: Connection[Any], schema: str) -> None:
    """Give every table a last column `rowid` that numbers rows in order of insertion, as DuckDB has.

    It must be last, since rows are inserted by position; where a later step added columns after it, it is recreated.
    """
    tables = connection.execute(
        "SELECT table_name, max(ordinal_position), max(ordinal_position) FILTER (WHERE column_name = 'rowid') "
        "FROM information_schema.columns WHERE table_schema = %s GROUP BY 1 ORDER BY 1",
        [schema],
    ).fetchall()
    added = SQL("ALTER TABLE {} ADD COLUMN rowid BIGINT GENERATED BY DEFAULT AS IDENTITY UNIQUE")
    wanting = [Identifier(str(table)) for table, _, place in tables if place is None]
    if wanting:
        connection.execute(SQL("; ").join(added.format(name) for name in wanting))
    for table, last, place in tables:
        if place is None or place == last:
            continue
        name = Identifier(str(table))
        connection.execute(SQL("ALTER TABLE {} RENAME COLUMN rowid TO rowid_before").format(name))
        connection.execute(added.format(name))
        connection.execute(SQL("UPDATE {} SET rowid = rowid_before").format(name))
        connection.execute(SQL("ALTER TABLE {} DROP COLUMN rowid_before").format(name))
        connection.execute(
            SQL(
                "SELECT setval(pg_get_serial_sequence({1}, 'rowid'), coalesce(max(rowid), 0) + 1, false) FROM {0}"
            ).format(name, f'"{schema}"."{table}"')
        )
