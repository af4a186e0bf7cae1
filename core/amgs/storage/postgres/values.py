"""Values between Python and PostgreSQL: texts with characters that it does not take, vectors as bytes.

PostgreSQL keeps no U+0000 in a text and does not read it in JSON. Both stand in the tables behind a mark that no text
needs, U+10FFFE, and the mark itself is doubled by a letter: every text comes back as it went in.
"""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np
from psycopg import adapt, pq
from psycopg.abc import AdaptContext, Buffer

_MARK = "\U0010fffe"
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_BACK = {f"{_MARK}m": _MARK, f"{_MARK}0": "\0", f"{_MARK}u": "\\u0000"}
_MARKED = re.compile("|".join(_BACK))

_TEXT, _VARCHAR, _JSON, _REAL, _REALS, _TIMESTAMP = 25, 1043, 114, 700, 1021, 1114
_INSTANT = struct.Struct(">q")
_SINCE_2000 = 946_684_800_000_000
"""From 1970 to where PostgreSQL counts from, in microseconds."""


def kept(text: str) -> str:
    """A text as the tables hold it."""
    if _MARK in text:
        text = text.replace(_MARK, f"{_MARK}m")
    if "\0" in text:
        text = text.replace("\0", f"{_MARK}0")
    if "\\u0000" in text:
        text = _ESCAPED.sub(rf"\1{_MARK}u", text)
    return text


def given(text: str) -> str:
    """A text of the tables as it went in."""
    return _MARKED.sub(lambda found: _BACK[found[0]], text) if _MARK in text else text


class _TextOut(adapt.Dumper):
    """Without a type of its own, so that the statement says which it is."""

    oid = 0

    def dump(self, obj: str) -> Buffer:
        return kept(obj).encode()


class _TextOutBinary(_TextOut):
    """For COPY, which is told the types of its columns."""

    format = pq.Format.BINARY
    oid = _TEXT


class _TextIn(adapt.Loader):
    def load(self, data: Buffer) -> str:
        return given(str(data, "utf-8"))


class _TextInBinary(_TextIn):
    format = pq.Format.BINARY


class JsonText(str):
    """The text of a JSON value, where a column of that type is copied into."""


class _JsonOut(_TextOutBinary):
    oid = _JSON


class Microseconds(int):
    """An instant as microseconds since 1970, where a column of instants is copied into."""


class _MicrosecondsOut(adapt.Dumper):
    format = pq.Format.BINARY
    oid = _TIMESTAMP

    def dump(self, obj: int) -> Buffer:
        return _INSTANT.pack(obj - _SINCE_2000)


_HEAD = np.dtype(
    [("dimensions", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("length", ">i4"), ("first", ">i4")]
)
_VALUE = np.dtype([("size", ">i4"), ("value", ">f4")])


class _VectorOut(adapt.Dumper):
    """A vector of float32 as an array of REAL."""

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
    """Let a connection give and take values so."""
    for dumper in (_TextOutBinary, _TextOut):
        context.adapters.register_dumper(str, dumper)
    context.adapters.register_dumper(np.ndarray, _VectorOut)
    # A copy asks for what writes a type, by the type: of these classes there need be no object.
    context.adapters.register_dumper(JsonText, _JsonOut)
    context.adapters.register_dumper(Microseconds, _MicrosecondsOut)
    for oid in (_TEXT, _VARCHAR, _JSON):
        for loader in (_TextIn, _TextInBinary):
            context.adapters.register_loader(oid, loader)
    context.adapters.register_loader(_REALS, _VectorIn)
