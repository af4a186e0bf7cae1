"""Requests that are derived: what one is called, takes, returns and says is what a method of `Memory` has, or of a part
of it. Told by hand is only which operation answers it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, cast

from amgs.client.ask import Ask, Read, operation, part, whole
from amgs.client.signatures import TAKES, WRITES

Request = Callable[..., Ask[Any]]
"""What makes a request from the arguments of a method."""
Arguments = dict[str, Any]

ELSEWHERE: Final = "progress"
"""What methods of `Memory` take to be watched and stopped; the service has events for it."""
_LOOKS: Final = ("dry_run", "look", "explain")
"""Arguments with which an operation that writes otherwise changes nothing."""


for _method, _taken in TAKES.items():
    _taken.__qualname__ = _method  # a TypeError names it


@dataclass(frozen=True, slots=True)
class DerivedRequest:
    """A request whose arguments are those of a method.

    answered: the identifier of the operation. read: the field of the answer that is given, or what reads it; "" for the
    whole answer. also: arguments of the operation that are the same each time. names: the operation's name of an
    argument, where it is another; `block_id` is `block` there without being told. change: what makes the arguments such
    as the operation takes; it may refuse them. without: arguments of the method that the service does not take.
    note: what is true of the service besides the method's docstring. method: where it is, `module:Class.name`.
    """

    answered: str
    read: str | Read[Any]
    also: Mapping[str, Any]
    names: Mapping[str, str]
    change: Callable[[Arguments], Arguments] | None
    without: tuple[str, ...]
    note: str
    method: str

    def __call__(self, /, *args: Any, **kwargs: Any) -> Ask[Any]:
        """The request with these arguments; raises TypeError for those that the method does not take."""
        taken = self.__signature__.parameters
        given = TAKES[self.key](*args, **kwargs)
        for name in [name for name in given if taken[name].kind is inspect.Parameter.VAR_KEYWORD]:
            given |= given.pop(name)
        defaults = {name: each.default for name, each in taken.items()}
        given = {name: value for name, value in given.items() if not _is_left_out(value, defaults.get(name))}
        if self.change is not None:
            given = self.change(given)
        sent = {self.name_there(name): value for name, value in given.items()} | dict(self.also)
        writes = self.answered in WRITES and not any(sent.get(name) for name in _LOOKS)
        read = self.read or whole
        return operation(self.answered, part(read) if isinstance(read, str) else read, writes=writes, **sent)

    @property
    def key(self) -> str:
        """The name of the method with its class."""
        return self.method.partition(":")[2]

    @property
    def __signature__(self) -> inspect.Signature:
        """What it takes, without types, which the stubs have."""
        return inspect.signature(TAKES[self.key])

    def name_there(self, argument: str) -> str:
        """What the operation calls an argument."""
        return self.names.get(argument, argument.removesuffix("_id"))

    def function(self) -> Callable[..., Any]:
        """The method that it is derived from. Imports the engine."""
        module, _, path = self.method.partition(":")
        kind, name = path.split(".")
        return cast("Callable[..., Any]", getattr(getattr(import_module(module), kind), name))

    def doc(self) -> str:
        """The method's docstring without what the service does not take, and the note. Imports the engine."""
        told = inspect.getdoc(self.function()) or ""
        for name in (*self.without, ELSEWHERE):
            told = re.sub(rf"\s*\b{name}:\s.*?\.(?=\s|\Z)", "", told, flags=re.DOTALL)
        return f"{told} {self.note}".rstrip()


def _is_left_out(value: Any, default: Any) -> bool:
    """Whether an argument says nothing: it is None, or as empty as its default."""
    return value is None or (not value and default is not None and not default)


def derive(
    answered: str,
    read: str | Read[Any] = "",
    /,
    *,
    also: Mapping[str, Any] | None = None,
    change: Callable[[Arguments], Arguments] | None = None,
    without: tuple[str, ...] = (),
    note: str = "",
    of: str = "",
    **names: str,
) -> DerivedRequest:
    """A row of the table; see `DerivedRequest`. of: the method's own name, where the client has another one for it."""
    return DerivedRequest(answered, read, also or {}, names, change, without, note, of)


def placed(home: str, /, **requests: Request) -> dict[str, Request]:
    """Requests by the names that the client has. home: the class of the methods that they are derived from, as
    `module:Class`.
    """
    return {
        name: replace(each, method=f"{home}.{each.method or name}")
        if isinstance(each, DerivedRequest) and ":" not in each.method
        else each
        for name, each in requests.items()
    }


def doc_of(described: Request) -> str:
    """What a request says of itself."""
    return described.doc() if isinstance(described, DerivedRequest) else inspect.getdoc(described) or ""
