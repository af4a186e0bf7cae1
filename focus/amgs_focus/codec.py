"""Frozen values as plain data and back, by their annotations: what a trace's lines are made of."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def rounded(value: Any) -> Any:
    """The same data with every float at 6 significant digits and every tuple a list."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value


def build(kind: Any, value: Any) -> Any:
    """A value of an annotated type from plain data; TypeError, KeyError or ValueError if it does not fit."""
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        # A field with a default may be missing: what a version wrote that did not know it yet.
        known = [one for one in dataclasses.fields(kind) if one.name in value or not _has_default(one)]
        return kind(**{one.name: build(hints[one.name], value[one.name]) for one in known})
    if origin is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(build(inner[0], one) for one in value)
        return tuple(build(part, one) for part, one in zip(inner, value, strict=True))
    if origin in (Union, types.UnionType):
        return None if value is None else build(next(a for a in get_args(kind) if a is not type(None)), value)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{value!r} is not one of {get_args(kind)}")
        return value
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*value)
    if kind is float:
        return float(value)
    if kind in (int, str, bool) and not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


def _has_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)
