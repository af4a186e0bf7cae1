"""Marks that stand in an operation's annotations, `Annotated[int, Option("--limit", metavar="N", min=1, help="…")]`,
and what the annotations say of one parameter.

Marks say what a form, the command line, completion and the JSON schema need to know of a parameter. They know no
parser: `parsing` hands them to Typer.
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
"""What kind of thing a parameter names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arg:
    """A positional argument. min, max: bounds of a number, both included; of each number of a list."""

    help: str
    metavar: str | None = None
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Arg):
    """A field of what the command sets, written `name=value`. name: where it is not the parameter's."""

    name: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Option:
    """An option. flags: `--limit`; `--screen/--no-screen` for a switch that has two."""

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
    """Kind of thing that the parameter names, for completion and forms.

    made: the command writes it, so a word that is not a path is refused.
    """

    kind: Kind
    made: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """Value of an omitted parameter, where it stands in a TypedDict, whose keys have no default."""

    value: object


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option of an operation, as a form or a completer needs it.

    flags: ("--limit",) of an option, ("budget=",) of a key, empty for a positional argument. takes: what kind of
    thing it names. many: it may be repeated. choices: the closed list of its values, where there is one. made: the
    operation writes it.
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
        """Name before the `=`, where it is written so; a positional argument may be, too."""
        return self.flags[0][:-1] if self.is_key else self.name

    def words(self, value: Any) -> list[str]:
        """Return the words that give the parameter this value on a line."""
        if not self.is_option:
            return [_text(item) for item in (value if self.many else [value])]
        if self.is_switch:
            return [self.flags[0] if value else self.flags[-1]]
        if self.is_key:
            return [f"{self.key}={_text(item)}" for item in (value if self.many else [value])]
        return [word for item in (value if self.many else [value]) for word in (self.flags[0], _text(item))]


_LABELS: Final = {int: "N", float: "X", str: "TEXT", Path: "FILE", list[str]: "TEXT", list[float]: "X"}
"""What stands for a value of a key, by its type."""
PAIR: Final = re.compile(r"([a-z][a-z_-]*)(?:\.([a-z]+))?=(.*)", re.DOTALL)
"""`key=value`; of a value that has parts, `key.part=value`."""


def describe_parameter(declared: Declared) -> Parameter:
    """Return the parameter that a resolved annotation and its marks declare.

    Raises TypeError where neither Arg nor Option stands in the annotation.
    """
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
    """Return the type of an annotation without None, and the marks beside it."""
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
    """Return the values of a closed type, as they are written; nothing for an open one."""
    if get_origin(kind) is Literal:
        return tuple(str(value) for value in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def arguments_as_words(parameters: tuple[Parameter, ...], arguments: Mapping[str, Any]) -> list[str]:
    """Return the shortest words that read back as these arguments: values that are the default are left out."""
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
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
