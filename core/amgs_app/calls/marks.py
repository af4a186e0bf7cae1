"""Annotations of an operation's parameters, as in `Annotated[int, Option("--limit", metavar="N", min=1, help="…")]`,
and the `Parameter` that is read from them.

Command line, forms, completion and the JSON schema are derived from these. This module knows no parser; `parsing`
translates the marks for Typer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from inspect import Parameter as Declared
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

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
    "setting",
]
"""What a parameter names; completion and forms choose by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arg:
    """A positional argument. min, max: inclusive bounds of a number, or of each number of a list."""

    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Arg):
    """A field that is written `name=value`. name: the key, if it differs from the parameter's name."""

    name: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Option:
    """An option. flags: `--limit`, or `--screen/--no-screen` for a switch with two."""

    flags: tuple[str, ...]
    help: str
    metavar: str | None
    min: float | None
    max: float | None

    def __init__(
        self, *flags: str, help: str, metavar: str | None = None, min: float | None = None, max: float | None = None
    ) -> None:
        for name, value in (("flags", flags), ("help", help), ("metavar", metavar), ("min", min), ("max", max)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Takes:
    """What a parameter names, for completion and forms.

    made: the command writes this file or folder, so the value must be a usable path.
    """

    kind: Kind
    made: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """Default value of a key of a TypedDict, which cannot declare one itself."""

    value: object


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option of an operation.

    flags: ("--limit",) for an option, ("budget=",) for a key, empty for a positional argument. takes: what it names.
    many: it may be repeated. choices: its allowed values, if the list is closed. made: the operation writes the file or
    folder.
    """

    name: str
    label: str
    help: str
    flags: tuple[str, ...]
    takes: Kind
    required: bool
    default: Any
    is_switch: bool
    many: bool
    choices: tuple[str, ...] = ()
    made: bool = False

    @property
    def is_option(self) -> bool:
        return bool(self.flags)

    @property
    def is_key(self) -> bool:
        return self.is_option and not self.flags[0].startswith("-")

    @property
    def key(self) -> str:
        """Name before the `=`; a positional argument may be written so too."""
        return self.flags[0][:-1] if self.is_key else self.name

    def words(self, value: Any) -> list[str]:
        """Return the words of a command line that give the parameter this value."""
        if not self.is_option:
            return [_text(item) for item in (value if self.many else [value])]
        if self.is_switch:
            return [self.flags[0] if value else self.flags[-1]]
        if self.is_key:
            return [f"{self.key}={_text(item)}" for item in (value if self.many else [value])]
        return [word for item in (value if self.many else [value]) for word in (self.flags[0], _text(item))]


_LABELS: Final = {int: "N", float: "X", str: "TEXT", Path: "FILE", list[str]: "TEXT", list[float]: "X"}
"""Placeholder for a key's value in the usage, by the value's type."""
PAIR: Final = re.compile(r"([a-z][a-z_-]*)(?:\.([a-z]+))?=(.*)", re.DOTALL)
"""`key=value`, or `key.part=value` for a value that has parts."""


def describe_parameter(declared: Declared) -> Parameter:
    """Read a parameter from its resolved annotation. Raises TypeError if the annotation has neither Arg nor Option."""
    kind, marks = split_annotation(declared.annotation)
    mark = next((candidate for candidate in marks if isinstance(candidate, Arg | Option)), None)
    if mark is None:
        raise TypeError(f"The parameter {declared.name!r} has neither Arg nor Option in its annotation.")
    takes = next((candidate for candidate in marks if isinstance(candidate, Takes)), None)
    many = get_origin(kind) is list
    choices = choices_of(get_args(kind)[0] if many else kind)
    label = mark.metavar or declared.name.upper().replace("_", "-")
    flags: tuple[str, ...] = ()
    if isinstance(mark, Option):
        flags = tuple(flag for pair in mark.flags for flag in pair.split("/"))
    elif isinstance(mark, Key):
        flags = (f"{mark.name or declared.name}=",)
        choices = choices or (("true", "false") if kind is bool else ())
        label = mark.metavar or "|".join(choices) or _LABELS[kind]
    return Parameter(
        name=declared.name,
        label=label,
        help=mark.help,
        flags=flags,
        takes=takes.kind if takes else ("choice" if choices else "text"),
        required=declared.default is declared.empty,
        default=None if declared.default is declared.empty else declared.default,
        is_switch=kind is bool and not isinstance(mark, Key),
        many=many,
        choices=choices,
        made=takes is not None and takes.made,
    )


def split_annotation(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type of an annotation, without None, and its marks."""
    kind, marks = annotation, ()
    if get_origin(annotation) is Annotated:
        kind, *rest = get_args(annotation)
        marks = tuple(rest)
    if get_origin(kind) in (Union, UnionType):
        kinds = [member for member in get_args(kind) if member is not NoneType]
        if len(kinds) != 1:
            raise TypeError(f"A parameter has one type, not {kind}.")
        kind = kinds[0]
    return kind, marks


def choices_of(kind: Any) -> tuple[str, ...]:
    """Return the values of a Literal or an Enum as text; empty for other types."""
    if get_origin(kind) is Literal:
        return tuple(str(value) for value in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def arguments_as_words(parameters: tuple[Parameter, ...], arguments: Mapping[str, Any]) -> list[str]:
    """Return the shortest words that parse back to these arguments; default values are left out."""
    positional: list[str] = []
    options: list[str] = []
    as_default = 0
    keyed = any(parameter.is_key for parameter in parameters)
    for parameter in parameters:
        value = arguments.get(parameter.name, parameter.default)
        if parameter.is_option:
            if value != parameter.default:
                options += parameter.words(value)
        elif value is not None:
            written = parameter.words(value)
            if keyed and PAIR.match(written[0]):
                written[0] = f"{parameter.key}={written[0]}"
            # A default may be left out only where nothing follows it.
            as_default = as_default + len(written) if value == parameter.default else 0
            positional += written
    positional = positional[: len(positional) - as_default]
    if any(word.startswith("-") for word in positional):
        return [*options, "--", *positional]
    return [*positional, *options]


def _text(value: Any) -> str:
    """Return a value as it is typed on a line."""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
