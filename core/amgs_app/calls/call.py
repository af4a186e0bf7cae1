"""A call: an operation with a value for each of its parameters, ready to run, record or send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from amgs import extras
from amgs.clock import as_utc
from amgs.errors import UsageError
from amgs.incoming import check_storable
from amgs.storage.signature import sign_commits
from amgs_app.calls.marks import arguments_as_words
from amgs_app.places.paths import check_place
from amgs_app.terminal.line import quote

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from amgs.settings import IngestSettings
    from amgs.types import Progress
    from amgs_app.calls.operation import Operation, Right
    from amgs_app.engine import Engine

R_co = TypeVar("R_co", covariant=True)
_LARGEST: Final = 2**63 - 1
"""Largest integer that a database column holds."""


class HasEngine(Protocol):
    """The part of an Operator that a call uses: its engine."""

    @property
    def engine(self) -> Engine:
        """Engine that many clients share."""
        ...


@dataclass(frozen=True)
class Call(Generic[R_co]):
    """One request of a line, a key, a form or a client. R_co: the type of its result."""

    operation: Operation[..., R_co]
    arguments: Mapping[str, Any] = field(hash=False)

    def line(self) -> str:
        """Return the call as a script line that parses back to an equal call; default values are left out."""
        words = arguments_as_words(self.operation.parameters, self.arguments)
        return " ".join([self.operation.name, *map(quote, words)])

    @property
    def in_background(self) -> bool:
        """Return whether the call yields to whatever waits for the working context."""
        return bool(self.arguments.get(self.operation.background))

    @property
    def right(self) -> Right:
        """Right that a token needs for this call: more than the operation's where its arguments write or erase for
        good.
        """
        if self.arguments.get("hard"):
            return "operate"
        writes = any(self.arguments.get(name) not in (None, False, "") for name in self.operation.writes_by)
        return "write" if writes and self.operation.right == "read" else self.operation.right

    def having(self, **arguments: Any) -> Call[R_co]:
        """Return a copy of the call with some arguments replaced."""
        return Call(self.operation, {**self.arguments, **arguments})

    def run(self, on: Engine | HasEngine, progress: Progress | None = None) -> R_co:
        """Check the call and run it, without recording it (`Operator.run` records).

        Raises what the engines and `check` raise, and TypeError if an operation on a single person's view gets an
        Engine alone.
        """
        self.check()
        engine = on.engine if _is_operator(on) else on
        if not self.operation.of_operator:
            return engine.carry_out(self, progress)
        if not _is_operator(on):
            raise TypeError(f"`{self.operation.name}` is about what one person looks at: it needs an Operator.")
        return engine.carry_out(self, progress, on)

    def apply(self, on: Engine | HasEngine, progress: Progress | None = None) -> R_co:
        """Run the operation's function in this process, with secrets masked in its texts and in its result."""
        arguments = dict(self.arguments)
        if self.operation.json:
            arguments.pop("as_json", None)
        if self.operation.wants_progress:
            arguments["progress"] = progress
        with extras.explain_missing(), sign_commits(operation=self.operation.name):
            secrets = _ingest_settings(on.engine if _is_operator(on) else on)
            arguments |= {n: secrets.mask(value) for n, value in self._texts.items() if n in arguments}
            return secrets.mask(self.operation.function(on, **arguments))

    def check(self) -> None:
        """Raise UsageError for a path that cannot be written, a time outside UTC's range, or a value that cannot be
        stored.
        """
        self._check_places()
        self._check_instants()
        check_storable(self._texts)
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name, value in self.arguments.items():
            if isinstance(value, int) and abs(value) > _LARGEST:
                raise UsageError(f"{name} is too large a number.", way_out=f"Give at most {_LARGEST:,}.")

    @property
    def _texts(self) -> dict[str, Any]:
        """Arguments other than file and folder names, which may hold any byte."""
        of_files = {parameter.name for parameter in self.operation.parameters if parameter.takes in ("file", "folder")}
        return {name: value for name, value in self.arguments.items() if name not in of_files}

    def _check_places(self) -> None:
        for parameter in self.operation.parameters:
            if parameter.writes and self.arguments.get(parameter.name) is not None:
                example = "memory.json" if parameter.takes == "file" else "life"
                check_place(Path(self.arguments[parameter.name]), example=example)

    def _check_instants(self) -> None:
        for value in self.arguments.values():
            if isinstance(value, datetime):
                try:
                    as_utc(value)
                except OverflowError as error:
                    raise UsageError(
                        f"{value.isoformat()} lies beyond the calendar in UTC.", way_out="Write a time with Z."
                    ) from error


def _ingest_settings(engine: Engine) -> IngestSettings:
    """Return the settings by which secrets are masked: the defaults where those of this run are wrong. `settings`
    mends them, and whatever else needs them says so.
    """
    from amgs.settings import IngestSettings

    try:
        return engine.settings.memory.ingest
    except UsageError:
        return IngestSettings()


def _is_operator(on: Engine | HasEngine) -> TypeIs[HasEngine]:
    """Return whether this is an Operator; told by its attribute, since no engine may be imported here."""
    return hasattr(on, "engine")
