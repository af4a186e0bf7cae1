"""Plain JSON of any frozen result: field by field, times in UTC, six significant digits, no vectors.

Other programs read this format; `server/answer_schema.py` describes it and must match.
"""

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

from amgs_app.terminal.output import in_json

if TYPE_CHECKING:
    from amgs.types import Candidate

DIGITS = 6
_NOTHING = 1e-12
"""Below it a number is rounding: its digits, and its sign, depend on how many threads added it up."""
LINE = 120


def to_json(result: Any) -> str:
    """Return the result as JSON that ends with a newline; equal results give equal bytes.

    Values that fit on a line of 120 characters stay on it, so that it reads as a table and diffs are short.
    """
    return in_json(_lay_out_value(plain(result), 0)) + "\n"


def compact(result: Any) -> str:
    """Return the result as JSON on a single line, which is faster; for programs."""
    text = json.dumps(plain(result), ensure_ascii=False, allow_nan=False)
    return in_json(text) + "\n"


def _lay_out_value(value: Any, depth: int) -> str:
    """Return JSON broken into lines of at most 120 characters where possible. depth: spaces of indentation."""
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
    """Convert a value to JSON types: dicts, lists, strings, numbers, booleans and None.

    Embeddings are left out; infinity and NaN become null; a named tuple becomes a list. Raises TypeError for a type
    without a JSON form.
    """
    return _form_of(type(value))(value)


def _form_of(kind: type) -> Callable[[Any], Any]:
    """Return the function that converts values of a type; cached, since an answer holds thousands."""
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _choose_form(kind)
    return known


def _choose_form(kind: type) -> Callable[[Any], Any]:
    """Return the function that converts values of a type."""
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
    """Return text whose lone surrogates are replaced."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def _of_array(value: Any) -> Any:
    return plain(value.item()) if value.ndim == 0 else _of_none(value)


def _of_none(value: Any) -> Any:
    """Raise TypeError: the type has no JSON form."""
    raise TypeError(f"A result holds a {type(value).__name__}, which has no form in JSON.")


def round_float(value: float) -> float | None:
    """Round to six significant digits; None for infinity and NaN, 0 for what is less than `_NOTHING`."""
    if not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}") if abs(value) >= _NOTHING else 0.0


def instant(moment: datetime) -> str:
    """Format a time as ISO 8601 in UTC, without zero microseconds."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _form_of_dataclass(kind: Any) -> Callable[[Any], Any]:
    """Return a function that converts a dataclass; blocks and candidates get a few derived fields."""
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
    """Return the passage's text, its offsets in the content, and the offsets of the query's words."""
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
"""Conversion by base type; the first that fits is used."""
_KNOWN: dict[type, Callable[[Any], Any]] = {}
