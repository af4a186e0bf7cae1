"""Results of every kind with hostile text in every place, made from their types."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Literal, get_args, get_origin

import numpy as np

from amgs.types import Weights
from amgs_app.server.answer_schema import hints_of

_ASKED_FOR = ("seed", "window")  # keys that a table looks up in a mapping of anything
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DEEPEST = 6


def made(kind: Any, text: str, deep: int = 0) -> Any:
    """A value of a type with `text` wherever a string may stand. Raises TypeError for a type it does not know."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in (str, Any, object):
        return text
    if origin is Literal:
        return inner[0]
    if origin is np.ndarray:
        return np.zeros(2)
    if origin is typing.Annotated:
        return made(inner[0], text, deep)
    if origin in (typing.Union, types.UnionType):
        wanted = [one for one in inner if one is not type(None)]
        return made(wanted[0], text, deep) if deep < DEEPEST else None
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return (made(inner[0], text, deep + 1),) if deep < DEEPEST else ()
        return tuple(made(one, text, deep) for one in inner)
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        if inner[1] is Any:
            return {**dict.fromkeys(_ASKED_FOR, 1), text: text}
        return {made(inner[0], text, deep): made(inner[1], text, deep + 1)}
    if inspect.isclass(origin) and issubclass(origin, (Sequence, Collection)):
        held = [made(inner[0], text, deep + 1)]
        return held if inspect.isabstract(origin) else typing.cast("Any", origin)(held)
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return next(iter(kind))
    if inspect.isclass(kind) and issubclass(kind, PurePath):
        return Path(text.replace("\0", "") or "x")
    if hasattr(kind, "__dataclass_fields__"):
        return _of_dataclass(kind, text, deep)
    if hasattr(kind, "_fields"):
        return kind(*(made(one, text, deep + 1) for one in hints_of(kind).values()))
    raise TypeError(kind)


def _of_dataclass(kind: Any, text: str, deep: int) -> Any:
    hints = hints_of(kind)
    given = {field.name: made(hints[field.name], text, deep + 1) for field in dataclasses.fields(kind) if field.init}
    return kind(**given)


_PLAIN: dict[Any, Any] = {
    int: 3,
    float: 0.5,
    bool: True,
    bytes: b"\x1b",
    type(None): None,
    datetime: NOW,
    date: NOW.date(),
    timedelta: timedelta(hours=1),
    np.ndarray: np.zeros(2),
    Weights: Weights(0.2, 0.2, 0.2, 0.2, 0.2),
}
