"""Frozen values over the wire: what an engine gives, as JSON that reads back as an equal value.

JSON knows no tuples, instants, enumerations or dataclasses; what it does not know is written as an object with one
key that begins with `$`: `{"$tuple": […]}`, `{"$at": "2026-03-01T09:00:00+00:00"}`, and a frozen dataclass as
`{"$type": "amgs.types.block:Block", "fields": {…}}`. Decoding makes only dataclasses and enumerations of this program's
packages, and runs none of their code but their constructors.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import json
import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from amgs.errors import InputError

MEDIA_TYPE: Final = "application/vnd.amgs+json"
"""What a client accepts that wants values which read back as they were, instead of plain JSON."""

PACKAGES: Final = frozenset({"amgs", "amgs_app", "amgs_focus"})
"""The packages whose values are built from what comes in."""

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dumps(value: Any) -> bytes:
    """Return the value as compact JSON in UTF-8; raises TypeError for what has no form on the wire."""
    return json.dumps(encode(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def loads(data: bytes | str) -> Any:
    """Read the value that `dumps` wrote. Raises InputError for anything else."""
    try:
        return decode(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise InputError(
            "The answer cannot be read: it was not written by this version of the program.",
            way_out="Use the same version on both sides.",
        ) from error


def encode(value: Any) -> Any:
    """Return the value in what JSON knows."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Enum):
        return {"$enum": _name(type(value)), "value": encode(value.value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"$type": _name(type(value)), "fields": fields}
    if type(value) is list:
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return {"$named": _name(type(value)), "values": [encode(item) for item in value]}
        return {"$tuple": [encode(item) for item in value]}
    if isinstance(value, Mapping):
        return _mapping(value)
    return _rarer(value)


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str for key in value) and not any(key.startswith("$") for key in value):
        return {key: encode(item) for key, item in value.items()}
    return {"$map": [[encode(key), encode(item)] for key, item in value.items()]}


def _rarer(value: Any) -> Any:
    """Return a value of a rarer type (time, duration, set, path, bytes, array) as a tagged object; raise
    TypeError for others.
    """
    if isinstance(value, datetime):
        return {"$at": value.isoformat()}
    if isinstance(value, timedelta):
        return {"$seconds": value.total_seconds()}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((encode(item) for item in value), key=json.dumps)}
    if isinstance(value, PurePath):
        return {"$path": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        shape, kind = list(value.shape), str(value.dtype)
        return {"$array": base64.b64encode(value.tobytes()).decode(), "shape": shape, "kind": kind}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"A {type(value).__name__} has no form on the wire.")


def decode(value: Any) -> Any:
    """Return the value that `encode` encoded. Raises ValueError for a type of another package, or for no type."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if not tag.startswith("$"):
        return {key: decode(item) for key, item in value.items()}
    return _decode_tagged(tag, value)


def _decode_tagged(tag: str, value: dict[str, Any]) -> Any:
    """Return the value of a tagged object; raise ValueError for an unknown tag."""
    content = value[tag]
    match tag:
        case "$type":
            fields = {name: decode(field_value) for name, field_value in value["fields"].items()}
            return _restore_dataclass(_class(content), fields)
        case "$tuple":
            return tuple(decode(item) for item in content)
        case "$at":
            return datetime.fromisoformat(content)
        case "$float":
            return _SPECIAL[content]
        case "$enum":
            return _class(content)(decode(value["value"]))
        case "$named":
            return _class(content)(*(decode(item) for item in value["values"]))
        case "$map":
            return {decode(key): decode(item) for key, item in content}
        case "$seconds":
            return timedelta(seconds=content)
        case "$set":
            return frozenset(decode(item) for item in content)
        case "$path":
            from pathlib import Path

            return Path(content)
        case "$bytes":
            return base64.b64decode(content)
        case "$array":
            import numpy as np

            return np.frombuffer(base64.b64decode(content), dtype=value["kind"]).reshape(value["shape"])
    raise ValueError(f"{tag} is no kind of value.")


def _restore_dataclass(kind: type, fields: dict[str, Any]) -> Any:
    """Return a dataclass from its fields, those too that its constructor does not take."""
    declared = {field.name: field for field in dataclasses.fields(kind)}
    if set(fields) != set(declared):
        raise ValueError(f"{kind.__name__} has other fields.")
    instance = kind(**{name: value for name, value in fields.items() if declared[name].init})
    for name, value in fields.items():
        if not declared[name].init:
            object.__setattr__(instance, name, value)
    return instance


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


@lru_cache(maxsize=1024)
def _resolve(name: str) -> Any:
    module, _, path = name.partition(":")
    target: Any = importlib.import_module(module)
    for attribute in path.split("."):
        target = getattr(target, attribute)
    return target


def _class(name: str) -> Any:
    """Return the class of a name; raises ValueError for a class that is not a value of these packages."""
    if name.partition(".")[0] not in PACKAGES:
        raise ValueError(f"{name} is none of this program's values.")
    candidate = _resolve(name)
    good = isinstance(candidate, type) and (dataclasses.is_dataclass(candidate) or issubclass(candidate, (Enum, tuple)))
    if not good or candidate.__module__ != name.partition(":")[0]:
        raise ValueError(f"{name} is no frozen value.")
    return candidate
