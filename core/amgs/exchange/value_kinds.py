"""Types of values in an import: texts, ids, counts, times, and JSON by its use."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from amgs.clock import microseconds_of
from amgs.errors import AmgsError
from amgs.ingest import metadata
from amgs.types import Weights

_DEEPEST = 64
_NORM_TOLERANCE = 1e-3
LARGEST = 2**53
"""No counter of a real memory comes near this; larger numbers would overflow somewhere."""


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("it holds half a surrogate pair") from None
    return value


def _json(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError for a forbidden value."""
    try:
        value = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError(f"it is nested more than {_DEEPEST} deep") from None
    except json.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    _check_depth(value, 0)
    _text(json.dumps(value, ensure_ascii=False))
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _check_depth(value: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} deep")
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(below, depth + 1)


def _texts(data: Any, width: int) -> None:
    """Raise ValueError unless the data are lists of `width` texts."""
    for row in data:
        if not isinstance(row, list) or len(row) != width or not all(isinstance(t, str) for t in row):
            raise ValueError("it is another kind of list")


def _numbers(data: Any, count: int) -> None:
    """Raise ValueError unless the data are a list of `count` non-negative integers."""
    if not isinstance(data, list) or len(data) != count or not all(type(n) is int and n >= 0 for n in data):
        raise ValueError("it is no list of numbers")


def _object_text(text: str) -> str:
    if not isinstance(_json(text), dict):
        raise ValueError("it is not a JSON object")
    return text


def _json_text(text: str) -> str:
    _json(text)
    return text


def _unit_vector(values: list[float]) -> list[float]:
    if not values or not np.isfinite(length := float(np.linalg.norm(np.asarray(values, np.float64)))):
        raise ValueError("an embedding holds finite numbers, at least one")
    if abs(length - 1.0) > _NORM_TOLERANCE:
        raise ValueError(f"an embedding has length 1, not {length:.3g}")
    return values


def readable(read: Any, what: str) -> AfterValidator:
    """Return a type that checks a text by the function that will read it."""

    def check(text: str) -> str:
        value = _json(text)
        try:
            read(value)
        except (AmgsError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise ValueError(f"it is no {what}") from error
        return text

    return AfterValidator(check)


Text = Annotated[str, AfterValidator(_text)]
Name = Annotated[Text, Field(min_length=1)]
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Number = Annotated[int, Field(ge=1, le=LARGEST)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Instant = Annotated[
    int,
    Field(ge=microseconds_of(datetime.min.replace(tzinfo=UTC)), le=microseconds_of(datetime.max.replace(tzinfo=UTC))),
]
Json = Annotated[str, AfterValidator(_json_text)]
Object = Annotated[str, AfterValidator(_object_text)]
Embedding = Annotated[list[float], AfterValidator(_unit_vector)]
Calls = Annotated[str, readable(lambda data: _texts(data, 3), "list of calls of tools")]
Span = Annotated[str, readable(lambda data: _numbers(data, 3), "message with its characters")]
Ids = Annotated[str, readable(lambda data: _texts([data], len(data)), "list of ids")]
Members = Annotated[str, readable(lambda data: _texts(data, 2), "list of members of a pack")]
Scores = Annotated[str, readable(lambda data: Weights(**data), "set of weights")]


class _Metadata(BaseModel):
    """Metadata of a block that the engine reads; other keys may be any JSON."""

    model_config = ConfigDict(extra="allow", strict=True)

    source: Text | None = None
    title: Text | None = None
    author: Text | None = None
    kind: Text | None = None
    speaker: Text | None = None
    dialogue: Text | None = None
    document: Text | None = None
    tags: list[Text] | None = None
    sources: list[Text] | None = None
    entities: list[Text] | None = None
    links: list[Text] | None = None
    dates: list[Text] | None = None
    follows: Text | dict[str, Text] | None = None
    superseded_by: Text | None = None
    superseded_at: Text | None = None
    said_at: Text | None = None
    held_before: list[Text] | None = None
    merged_into: Text | None = None
    derived_from: list[Text] | None = None
    cited_spans: list[Annotated[list[int], Field(min_length=4, max_length=4)]] | None = None
    split_into: list[Text] | None = None


def read_metadata(data: Any) -> None:
    if not isinstance(data, dict):
        raise TypeError("metadata is an object")
    _Metadata.model_validate(data)
    metadata.fit(data)


Metadata = Annotated[str, readable(read_metadata, "metadata of a block")]
