"""A call: an operation with all its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from amgs import extras
from amgs_app.operations.line import quote
from amgs_app.operations.parameter import arguments_as_words
from amgs_app.operations.paths import check_place

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.operations.operation import Operation
    from amgs_app.session import Session

R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Call(Generic[R_co]):
    """What a line, a key, a form or a client asks for. R_co: what carrying it out gives."""

    operation: Operation[..., R_co]
    arguments: Mapping[str, Any] = field(hash=False)

    def line(self) -> str:
        """The canonical script text, which parses back to an equal call. Values that are the default are left out."""
        words = arguments_as_words(self.operation.parameters, self.arguments)
        return " ".join([self.operation.name, *map(quote, words)])

    def having(self, **arguments: Any) -> Call[R_co]:
        """The same call with some other arguments."""
        return Call(self.operation, {**self.arguments, **arguments})

    def run(self, session: Session, progress: Progress | None = None) -> R_co:
        """Carry the call out; raises what the engines raise, and UsageError for a place where nothing is written."""
        arguments = dict(self.arguments)
        for parameter in self.operation.parameters:
            if parameter.made and arguments.get(parameter.name) is not None:
                example = "memory.json" if parameter.takes == "file" else "life"
                check_place(Path(arguments[parameter.name]), example=example)
        if self.operation.wants_progress:
            arguments["progress"] = progress
        with extras.explained():
            return self.operation.function(session, **arguments)
