"""Any frozen result as JSON: field by field, instants in UTC, six significant digits, no vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from types import NoneType
from typing import TYPE_CHECKING, Any

from amgs_app.terminal.printable import in_json

if TYPE_CHECKING:
    from amgs.types import Candidate

DIGITS = 6
LINE = 120


def to_json(result: Any) -> str:
    """Return the result as JSON with a newline at its end; equal results give equal bytes.

    What fits on a line stays on one, so that it reads as a table and differences are short.
    """
    return in_json(_lay_out_value(plain(result), 0)) + "\n"


def compact(result: Any) -> str:
    """Return the same on one line: a third of the work, for what no person reads."""
    text = json.dumps(plain(result), ensure_ascii=False, allow_nan=False)
    return in_json(text) + "\n"


def _lay_out_value(value: Any, depth: int) -> str:
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(short) + depth <= LINE or not isinstance(value, (dict, list)) or not value:
        return short
    inner, outer = " " * (depth + 2), " " * depth
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_lay_out_value(item, depth + 2)}" for key, item in value.items()
        ]
        opening, closing = "{", "}"
    else:
        parts = [_lay_out_value(item, depth + 2) for item in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{outer}{closing}"


def plain(value: Any) -> Any:
    """Return the value in what JSON knows: dicts, lists, strings, numbers, booleans and None.

    Embeddings are left out; infinities and NaN become null; a named tuple becomes a list. Raises TypeError for what has
    no form in JSON.
    """
    return _form_of(type(value))(value)


def _form_of(kind: type) -> Callable[[Any], Any]:
    """Return the function that converts values of a type to plain ones; cached for speed, since an answer holds
    thousands.
    """
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _choose_form(kind)
    return known


def _choose_form(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, Enum):
        return lambda value: plain(value.value)
    if issubclass(kind, (int, NoneType)):
        return lambda value: value
    for known, form in _FORMS.items():
        if issubclass(kind, known):
            return form
    if is_dataclass(kind):
        return _form_of_dataclass(kind)
    return _of_array if hasattr(kind, "item") and hasattr(kind, "ndim") else _of_none


def _of_text(value: str) -> str:
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def _of_array(value: Any) -> Any:
    return plain(value.item()) if value.ndim == 0 else _of_none(value)


def _of_none(value: Any) -> Any:
    raise TypeError(f"A result holds a {type(value).__name__}, which has no form in JSON.")


def round_float(value: float) -> float | None:
    """Return six significant digits; None for what is not finite, and never a negative zero."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return short if short != 0 else 0.0


def instant(moment: datetime) -> str:
    """ISO 8601 in UTC, with microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _form_of_dataclass(kind: Any) -> Callable[[Any], Any]:
    from amgs.types import Block, Candidate

    names = tuple(field.name for field in fields(kind))

    def form(value: Any) -> dict[str, Any]:
        record = {}
        for name in names:
            field_value = getattr(value, name)
            encoder = _form_of(type(field_value))
            if encoder is not _of_array or field_value.ndim == 0:  # embeddings are left out
                record[name] = encoder(field_value)
        if isinstance(value, Block):
            record["title"] = _of_text(value.title)
        elif isinstance(value, Candidate):
            record |= {"source": plain(value.source), "date": instant(value.block.created_at), **plain(_passage(value))}
        return record

    return form


def _passage(value: Candidate) -> dict[str, Any]:
    """Return the text of the passage, its place in the content, and the places of the query's words there; or None."""
    span = value.passage
    if span is None:
        return {"passage": None}
    text = value.block.content[span.start : span.end]
    return {"passage": text, "offsets": [span.start, span.end], "matches": span.matches}


_FORMS: Mapping[type, Callable[[Any], Any]] = {
    float: round_float,
    str: _of_text,
    datetime: instant,
    Mapping: lambda value: {str(plain(key)): plain(item) for key, item in value.items()},
    list: lambda value: [plain(item) for item in value],
    tuple: lambda value: [plain(item) for item in value],
    set: lambda value: sorted(map(plain, value), key=str),
    frozenset: lambda value: sorted(map(plain, value), key=str),
    PurePath: str,
}
"""How values of a type and of those derived from it are made plain."""
_KNOWN: dict[type, Callable[[Any], Any]] = {}
