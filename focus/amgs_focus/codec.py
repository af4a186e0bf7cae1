"""Frozen values as JSON and back, by their annotations (pydantic): the lines of a trace and of a lifetime's journal.

Reading is strict: a number in quotes is no number. A field with a default may be missing, as a version that did not
know it yet leaves it out; a field that no version knows is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what reads and writes values of a type; made when it is first needed."""
    return TypeAdapter(kind)


def plain(value: Any) -> Any:
    """Return a frozen value as dicts, lists, texts and numbers."""
    kind: Any = type(value)
    return adapter(kind).dump_python(value, mode="json", warnings=False)


def rounded(value: Any) -> Any:
    """Return plain data with every float at 6 significant digits and every tuple a list."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def compact(value: Any) -> str:
    """Return plain data as JSON on one line. Raises ValueError for a float that is no number."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parsed(kind: Any, raw: bytes) -> Any:
    """Return a value of a type from JSON. Raises ValueError, in one sentence, where it does not fit."""
    try:
        return adapter(kind).validate_json(raw, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
