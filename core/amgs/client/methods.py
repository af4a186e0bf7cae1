"""Methods of both clients and of their parts, made from the requests behind them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

from amgs.client.ask import Ask
from amgs.client.derived import Request, describe
from amgs.client.parts import ALIASES, MEMORY, PARTS


class ClientPart:
    """Some calls of a client, by subject."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, ask: Ask[Any]) -> Any:
        """The answer to a request, or what is awaited for it."""
        return self._client.send(ask)


class ClientMethod:
    # A method from the description of its request, whose docstring it has: that of a derived one is read from the
    # engine when somebody asks for it. awaited: it gives what is awaited for the answer.

    def __init__(self, name: str, described: Request, *, awaited: bool) -> None:
        self.__name__ = name
        self.described = described
        self.awaited = awaited
        if awaited and sys.version_info >= (3, 12):
            inspect.markcoroutinefunction(self)

    def __get__(self, owner: Any, kind: type[Any]) -> Callable[..., Any]:
        return self if owner is None else MethodType(self, owner)

    def __call__(self, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.awaited:
            return self._later(owner, *args, **kwargs)
        return owner.send(self.described(*args, **kwargs))

    async def _later(self, owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await owner.send(self.described(*args, **kwargs))

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return describe(self.described)

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        taken = inspect.signature(self.described)
        return taken.replace(parameters=[own, *taken.parameters.values()])


def put_names_on(client: type[Any], *, awaited: bool = False) -> dict[str, type[ClientPart]]:
    """Give a client its methods and parts; gives the classes of the parts by name, which begin with `Async` where
    answers are awaited.
    """
    prefix = "Async" if awaited else ""
    for name, described in MEMORY.items():
        setattr(client, name, ClientMethod(name, described, awaited=awaited))
    made: dict[str, type[ClientPart]] = {}
    for name, part in PARTS.items():
        kind = prefix + part.kind
        members = {
            each: ClientMethod(each, described, awaited=awaited) for each, described in part.requests.items()
        }
        more = {"__doc__": part.about, "__module__": client.__module__}
        made[kind] = type(kind, (ClientPart,), {**members, **more})
        setattr(client, name, _opening(made[kind], part.about))
    for name, (other, about) in ALIASES.items():
        setattr(client, name, _opening(made[prefix + PARTS[other].kind], about))
    return made


def _opening(kind: type[ClientPart], about: str) -> property:
    def part(client: Any) -> ClientPart:
        return kind(client)

    part.__annotations__["return"] = kind.__name__
    return property(part, doc=about)
