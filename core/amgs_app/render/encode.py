"""Any frozen result as JSON: field by field, instants in UTC, six significant digits, no vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any

from amgs.types import Block, Candidate
from amgs_app.terminal.printable import in_json

DIGITS = 6
LINE = 120


def to_json(result: Any) -> str:
    """The result as JSON with a newline at its end; equal results give equal bytes.

    What fits on a line stays on one, so that it reads as a table and differences are short.
    """
    return in_json(_laid_out(plain(result), 0)) + "\n"


def compact(result: Any) -> str:
    """The same on one line: a third of the work, for what no person reads."""
    told = json.dumps(plain(result), ensure_ascii=False, allow_nan=False)
    return in_json(told) + "\n"


def _laid_out(value: Any, depth: int) -> str:
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(short) + depth <= LINE or not isinstance(value, (dict, list)) or not value:
        return short
    inner, outer = " " * (depth + 2), " " * depth
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(each, depth + 2)}"
            for key, each in value.items()
        ]
        opening, closing = "{", "}"
    else:
        parts = [_laid_out(each, depth + 2) for each in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{outer}{closing}"


def plain(value: Any) -> Any:
    """The value in what JSON knows: dicts, lists, strings, numbers, booleans and None.

    Embeddings are left out; infinities and NaN become null; a named tuple becomes a list.
    """
    if value is None or (isinstance(value, (bool, int)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, datetime):
        return instant(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _of_dataclass(value)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each) for each in value), key=str)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return plain(value.item())
    raise TypeError(f"A result holds a {type(value).__name__}, which has no form in JSON.")


def rounded(value: float) -> float | None:
    """Six significant digits; None for what is not finite, and never a negative zero."""
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return short if short != 0 else 0.0


def instant(moment: datetime) -> str:
    """ISO 8601 in UTC, with microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _of_dataclass(value: Any) -> dict[str, Any]:
    kept = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Block):
        kept["title"] = value.title
    if isinstance(value, Candidate):
        kept |= {"source": value.source, "date": value.block.created_at, **_passage(value)}
    return {name: plain(each) for name, each in kept.items() if not _is_array(each)}


def _passage(value: Candidate) -> dict[str, Any]:
    """The text of the passage, its place in the content, and the places of the query's words there; or None."""
    told = value.passage
    if told is None:
        return {"passage": None}
    text = value.block.content[told.start : told.end]
    return {"passage": text, "offsets": [told.start, told.end], "matches": told.matches}


def _is_array(value: Any) -> bool:
    return getattr(value, "ndim", 0) > 0 and hasattr(value, "dtype")
