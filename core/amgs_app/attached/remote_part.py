"""A part of a served engine, as its clients hold it."""

from __future__ import annotations

from typing import Any

from amgs.errors import UsageError
from amgs.types import Progress
from amgs_app.attached.asks import ASKS, ReportHere
from amgs_app.attached.connection import AttachedConnection

ASK_PATH = "/v1/attach/ask"


class RemotePart:
    """What stands under a path from the engine on: `memory`, `memory.lifecycle`, a method.

    Only what `ASKS` names can be asked; anything else raises UsageError before it is sent.
    """

    def __init__(self, connection: AttachedConnection, path: str) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        known = ASKS.get(path)
        if known is not None and known.value:
            return self._ask(path)
        if known is not None or any(each.startswith(f"{path}.") for each in ASKS):
            return RemotePart(self._connection, path)
        raise UsageError(
            "This works on the files of the machine where the memory lies, and is not served.",
            title="Not while attached",
            way_out="Do it on that machine, without --connect, while nothing is served.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Carry the method out at the server; a Progress among the arguments is told what is told there."""
        return self._ask(self._path, *args, **kwargs)

    def _ask(self, path: str, /, *args: Any, **kwargs: Any) -> Any:
        progress = next((each for each in (*args, *kwargs.values()) if isinstance(each, Progress)), None)
        given = {
            "path": path,
            "args": [_sendable(each) for each in args],
            "kwargs": {name: _sendable(each) for name, each in kwargs.items()},
        }
        return self._connection.ask(ASK_PATH, given, progress)


def _sendable(value: Any) -> Any:
    return ReportHere() if isinstance(value, Progress) else value
