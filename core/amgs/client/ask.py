"""Requests as values: every call of the service is a function from its arguments to an `Ask`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeVar

from amgs import wire
from amgs.storable import check_storable

R = TypeVar("R")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Read = Callable[[Any], R]
"""Converts the answer's JSON to values."""

_SAFE: Final[frozenset[str]] = frozenset({"GET"})


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """A request.

    arguments: by name, in the query for GET and DELETE, else in the body; None is omitted. repeatable: repeating it has
    no further effect; other requests get an idempotency key. exact: whether the answer is in values that read back
    exactly, else plain JSON. headers: additional headers.
    """

    method: Method
    path: str
    arguments: Mapping[str, Any]
    read: Read[R]
    repeatable: bool
    exact: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)


whole: Final[Read[Any]] = wire.decode
"""Decodes the whole answer."""


def plain(answer: Any) -> Any:
    """Return the answer as plain JSON."""
    return answer


def part(name: str) -> Read[Any]:
    """Return a function that decodes one field of the answer; the answer's class exists only on the server."""
    return lambda answer: wire.decode(answer["fields"][name])


def asking(path: str, read: Read[Any] = whole, /, **arguments: Any) -> Ask[Any]:
    """Return a GET request that changes nothing."""
    return Ask("GET", path, given(arguments), read, repeatable=True)


def operation(identifier: str, read: Read[Any] = whole, /, *, writes: bool = False, **arguments: Any) -> Ask[Any]:
    """Return the request for an operation by its identifier, such as `frame_compare`."""
    path = f"/v1/operations/{identifier}"
    return Ask("POST", path, given(arguments), read, repeatable=not writes)


def sending(
    method: Method, path: str, read: Read[Any] = whole, /, *, repeatable: bool = False, **arguments: Any
) -> Ask[Any]:
    """Return a request to a path of its own."""
    return Ask(method, path, given(arguments), read, repeatable=repeatable or method in _SAFE)


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, as JSON values."""
    check_storable(arguments)
    return {name: _json(value) for name, value in arguments.items() if value is not None}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _json(member) for key, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(_json(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [_json(member) for member in value]
    if is_dataclass(value) and not isinstance(value, type):
        return astuple(value)  # weights, the one record among the arguments
    return value
