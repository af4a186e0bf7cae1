"""Marks that stand in an operation's annotations: `Annotated[int, Option("--limit", metavar="N", min=1, help="…")]`.

They say what a form, the command line, completion and the JSON schema need to know of a parameter. They know no
parser: `parsing` hands them to Typer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "block",
    "entity",
    "frame",
    "operation",
    "pane",
    "theme",
    "command",
    "file",
    "folder",
    "text",
    "number",
    "choice",
    "weights",
]
"""What kind of thing a parameter names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arg:
    """A positional argument. min, max: bounds of a number, both included; of each number of a list."""

    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, init=False)
class Option:
    """An option. flags: `--limit`; `--screen/--no-screen` for a switch that has two."""

    flags: tuple[str, ...]
    help: str
    metavar: str | None
    min: float | None
    max: float | None

    def __init__(
        self,
        *flags: str,
        help: str,
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        for name, value in (
            ("flags", flags),
            ("help", help),
            ("metavar", metavar),
            ("min", min),
            ("max", max),
        ):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Takes:
    """What kind of thing the parameter names, for completion and forms.

    made: the command writes it, so a word that is not a path is refused.
    """

    kind: Kind
    made: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """What a parameter is that is not given, where it stands in a TypedDict, whose keys have no default."""

    value: object
