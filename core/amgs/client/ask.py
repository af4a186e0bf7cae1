"""A request as a value, and the two ways to send it: at once, or awaited.

Every call of the service is described once, as a function from its arguments to an `Ask`. Both clients are lists of
these functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, Literal, ParamSpec, Protocol, TypeVar, overload

from amgs import wire

P = ParamSpec("P")
R = TypeVar("R")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Read = Callable[[Any, Collection[str]], R]
"""What makes the answer's values from its JSON. Takes the packages whose values may be made."""

_SAFE: Final[frozenset[str]] = frozenset({"GET"})


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """One request. arguments: by name, in the query of GET and DELETE, else in the body; None is left out.

    repeatable: asking twice does no more than asking once. A request that is not gets an idempotency key.
    packages: whose values may be made of the answer; none for an answer in plain JSON. headers: other headers.
    """

    method: Method
    path: str
    arguments: Mapping[str, Any]
    read: Read[R]
    repeatable: bool
    packages: Collection[str] = wire.ENGINE
    headers: Mapping[str, str] = field(default_factory=dict)


def whole(given: Any, packages: Collection[str]) -> Any:
    """The answer as it is."""
    return wire.decode(given, packages)


def plain(given: Any, packages: Collection[str]) -> Any:
    """The answer as plain JSON."""
    del packages
    return given


def part(name: str) -> Read[Any]:
    """A reader of one field of the answer, whose own class stays on the server."""
    return lambda given, packages: wire.decode(given["fields"][name], packages)


def asking(path: str, read: Read[Any] = whole, /, **arguments: Any) -> Ask[Any]:
    """A request that changes nothing, answered by GET."""
    return Ask("GET", path, given(arguments), read, repeatable=True)


def operation(
    identifier: str, read: Read[Any] = whole, /, *, writes: bool = False, **arguments: Any
) -> Ask[Any]:
    """The request for an operation of the table by its identifier, such as `frame_replay`."""
    path = f"/v1/operations/{identifier}"
    return Ask("POST", path, given(arguments), read, repeatable=not writes)


def sending(
    method: Method, path: str, read: Read[Any] = whole, /, *, repeatable: bool = False, **arguments: Any
) -> Ask[Any]:
    """A request under a name of its own."""
    return Ask(method, path, given(arguments), read, repeatable=repeatable or method in _SAFE)


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say something, as JSON knows them."""
    return {name: _json(value) for name, value in arguments.items() if value is not None}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json(each) for each in value]
    return value


class SendsNow(Protocol):
    """What carries a request out and waits for its answer."""

    def send(self, ask: Ask[R]) -> R:
        """The answer; raises what the engine in the process would raise, or ServiceError."""
        ...


class SendsLater(Protocol):
    """What carries a request out while others run."""

    async def send(self, ask: Ask[R]) -> R:
        """The answer; raises what the engine in the process would raise, or ServiceError."""
        ...


class Blocking(Generic[P, R]):
    """A method of `MemoryClient` from the description of its request."""

    def __init__(self, described: Callable[P, Ask[R]]) -> None:
        self.described = described
        self.__doc__ = described.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Callable[P, Ask[R]]: ...
    @overload
    def __get__(self, owner: SendsNow, kind: type[Any]) -> Callable[P, R]: ...
    def __get__(self, owner: SendsNow | None, kind: type[Any]) -> Callable[P, Ask[R]] | Callable[P, R]:
        if owner is None:
            return self.described
        described = self.described

        @functools.wraps(described)
        def method(*args: P.args, **kwargs: P.kwargs) -> R:
            return owner.send(described(*args, **kwargs))

        return method


class Awaited(Generic[P, R]):
    """A method of `AsyncMemoryClient` from the description of its request."""

    def __init__(self, described: Callable[P, Ask[R]]) -> None:
        self.described = described
        self.__doc__ = described.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Callable[P, Ask[R]]: ...
    @overload
    def __get__(self, owner: SendsLater, kind: type[Any]) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(
        self, owner: SendsLater | None, kind: type[Any]
    ) -> Callable[P, Ask[R]] | Callable[P, Coroutine[Any, Any, R]]:
        if owner is None:
            return self.described
        described = self.described

        @functools.wraps(described)
        async def method(*args: P.args, **kwargs: P.kwargs) -> R:
            return await owner.send(described(*args, **kwargs))

        return method
