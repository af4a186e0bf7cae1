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

from amgs.client.ask import Ask, Read, operation, part, sending, whole
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

    answered: the identifier of the operation, or the path of a plan that the service keeps. read: the field of the
    answer that is given, or what reads it; "" for the whole answer. also: arguments of the operation that are the same
    each time. names: the operation's name of an argument, where it is another; `block_id` is `block` there without
    being told. change: what makes the arguments such as the operation takes; it may refuse them. without: arguments of
    the method that the service does not take. says: the docstring, with {} where that of the method stands. gives: the
    type of what is given, `module:Name`; "" for that of the method. method: where it is, `module:Class.name`. place:
    where the client has it, `Class.name`.
    """

    answered: str
    read: str | Read[Any]
    also: Mapping[str, Any]
    names: Mapping[str, str]
    change: Callable[[Arguments], Arguments] | None
    without: tuple[str, ...]
    says: str
    gives: str
    method: str
    place: str = ""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Ask[Any]:
        """The request with these arguments; raises TypeError for those that the method does not take."""
        taken = self.__signature__.parameters
        given = TAKES[self.place](*args, **kwargs)
        for name in [name for name in given if taken[name].kind is inspect.Parameter.VAR_KEYWORD]:
            given |= given.pop(name)
        defaults = {name: each.default for name, each in taken.items()}
        given = {name: value for name, value in given.items() if not _is_left_out(value, defaults.get(name))}
        if self.change is not None:
            given = self.change(given)
        sent = {self.rename(name): value for name, value in given.items()} | dict(self.also)
        read = part(self.read) if isinstance(self.read, str) and self.read else self.read or whole
        if self.answered.startswith("/"):
            return sending("POST", self.answered, read, repeatable=True, **sent)
        writes = self.answered in WRITES and not any(sent.get(name) for name in _LOOKS)
        return operation(self.answered, read, writes=writes, **sent)

    @property
    def __signature__(self) -> inspect.Signature:
        """What it takes, without types, which the stubs have."""
        return inspect.signature(TAKES[self.place])

    def rename(self, argument: str) -> str:
        """What the operation calls an argument."""
        return self.names.get(argument, argument.removesuffix("_id"))

    def find_method(self) -> Callable[..., Any]:
        """The method that it is derived from. Imports the engine."""
        module, _, path = self.method.partition(":")
        kind, name = path.split(".")
        return cast("Callable[..., Any]", getattr(getattr(import_module(module), kind), name))

    def read_doc(self) -> str:
        """What it says, without what the service does not take. Imports the engine."""
        told = inspect.getdoc(self.find_method()) or ""
        for name in (*self.without, ELSEWHERE):
            told = re.sub(rf"\s*\b{name}:\s.*?\.(?=\s|\Z)", "", told, flags=re.DOTALL)
        return self.says.replace("{}", told)


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
    says: str = "{}",
    gives: str = "",
    of: str = "",
    **names: str,
) -> DerivedRequest:
    """A row of the table; see `DerivedRequest`. of: the method's own name, where the client has it under another one,
    with its place where that is not the part's.
    """
    return DerivedRequest(answered, read, also or {}, names, change, without, says, gives, of)


def locate(kind: str, home: str, /, **requests: Request) -> dict[str, Request]:
    """Requests by the names that the client has. kind: the class that they stand on. home: the class of the methods
    that they are derived from, `module:Class`.
    """
    for name, each in requests.items():
        if isinstance(each, DerivedRequest) and not each.place:
            method = each.method if ":" in each.method else f"{home}.{each.method or name}"
            requests[name] = replace(each, method=method, place=f"{kind}.{name}")
    return requests


def describe(described: Request) -> str:
    """What a request says of itself."""
    return described.read_doc() if isinstance(described, DerivedRequest) else inspect.getdoc(described) or ""
