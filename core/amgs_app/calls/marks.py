"""Annotations of an operation's parameters, as in `Annotated[int, Option("--limit", min=1, help="…")]`, and
types of arguments that several commands share.

Command line, forms, completion and JSON schema are derived from these; `parsing` translates them for Typer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import Parameter as Declared
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypedDict, Union, get_args, get_origin

from amgs.errors import UsageError, WeightsError

if TYPE_CHECKING:
    from amgs.types import Weights
    from amgs_app.engine import Engine


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

    writes: the command writes this file or folder, so the value must be a usable path.
    """

    kind: Kind
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Default:
    """Default value of a key of a TypedDict, which cannot declare a default itself."""

    value: object


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option of an operation.

    flags: ("--limit",) for an option, ("budget=",) for a key, empty for a positional argument. takes: what it names.
    many: it may be repeated. choices: its allowed values, if the list is closed. writes: the operation writes the file
    or folder.
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
    writes: bool = False

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
        writes=takes is not None and takes.writes,
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
            raise TypeError(f"A parameter has a single type, not {kind}.")
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


Reference = Annotated[
    str | None,
    Arg(
        metavar="ID",
        help="A block: the start of its id, @3 of the last list, or its source path; else the selected block.",
    ),
    Takes("block"),
]
References = Annotated[
    list[str], Arg(metavar="ID", help="Blocks: the start of an id, or @3 of the last list."), Takes("block")
]
WeightsText = Annotated[
    str | None,
    Option(
        "--weights",
        metavar="R,C,K,S,F",
        help="Recency, centrality, confidence, similarity, reinforcement: five numbers with sum 1.",
    ),
    Takes("weights"),
]
ConfigurationName = Literal["default", "high-compression", "high-fidelity"]
Configuration = Annotated[
    ConfigurationName, Option("--configuration", metavar="NAME", help="default, high-compression or high-fidelity.")
]
Limit = Annotated[int, Option("--limit", metavar="N", min=1, help="Show at most N.")]
MostBlocks = Annotated[int | None, Option("--limit", metavar="N", min=1, help="At most N blocks.")]
Offset = Annotated[int, Option("--offset", metavar="N", min=0, help="Skip the first N.")]

DryRun = Annotated[bool, Option("--dry-run", help="Show the plan and change nothing.")]

FrameQuery = Annotated[str, Option("--query", metavar="TEXT", help="What the frame is for.")]
FrameBudget = Annotated[
    int | None, Option("--budget", metavar="N", min=1, help="Token budget; default: the frame's own.")
]
CategoryName = Annotated[str | None, Option("--category", metavar="NAME", help="What kind of knowledge it is.")]
ProfileName = Literal["ephemeral", "standard", "durable", "core"]
Profile = Annotated[
    ProfileName | None,
    Option("--profile", metavar="NAME", help="A decay profile: ephemeral, standard, durable or core."),
]
LambdaValue = Annotated[float | None, Option("--lambda", metavar="X", min=0, help="A decay constant per hour; 0 pins.")]
Lifetime = Annotated[
    Path | None,
    Option("--lifetime", metavar="DIR", help="Keep the lifetime in this folder, or continue the lifetime in it."),
    Takes("folder", writes=True),
]
Pin = Annotated[bool, Option("--pin", help="Never decay.")]


def read_lambda(engine: Engine, profile: str | None, decay_lambda: float | None, *, pin: bool) -> float | None:
    """Return the decay constant λ per hour that the options ask for: a profile's value, 0 for --pin, None if none is
    passed. Raises UsageError for several.
    """
    if sum((profile is not None, decay_lambda is not None, pin)) > 1:
        raise UsageError("--profile, --lambda and --pin exclude each other.", way_out="Give only one.")
    if profile is not None:
        return engine.settings.memory.decay.profiles.of(profile)
    return 0.0 if pin else decay_lambda


def read_weights(text: str | None, start: Weights | None = None) -> Weights | None:
    """Parse five comma-separated numbers as scoring weights.

    start: weights in effect; single parts may then be set by name, as in `recency=.3`, and the others share what is
    left of 1. Raises WeightsError or UsageError for anything else.
    """
    if text is None:
        return None
    from amgs.types import COMPONENTS, Weights

    names, signs, numbers = zip(*(part.rpartition("=") for part in text.split(",")), strict=True)
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = []
    if start is not None and all(signs) and set(names) <= set(COMPONENTS):
        if not values or not all(0 <= value <= 1 for value in values) or sum(values) > 1 + 1e-9:
            raise UsageError(
                f"{text!r} cannot be weights.",
                way_out="Give each part from 0 to 1, and at most 1 together: recency=.4.",
            )
        return hold_weights(start, dict(zip(names, values, strict=True)))
    if len(values) != len(COMPONENTS) or any(signs):
        raise WeightsError(
            f"{text!r} is not five numbers.",
            way_out=f"Give {', '.join(COMPONENTS)} in this order, such as .2,.2,.2,.2,.2.",
        )
    return Weights(*values)


def hold_weights(weights: Weights, fixed: Mapping[str, float]) -> Weights:
    """Return weights with some parts fixed and the others scaled in proportion, so that the sum stays 1."""
    from amgs.types import COMPONENTS, Weights

    others = {name: getattr(weights, name) for name in COMPONENTS if name not in fixed}
    total, left = sum(others.values()), 1 - sum(fixed.values())
    shares = {
        name: left * (min(value / total, 1.0) if total > 1e-9 else 1 / len(others)) for name, value in others.items()
    }
    return Weights(**{**shares, **fixed})


def read_categories(engine: Engine, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the categories of a filter, None for none; raises UsageError for an unknown category."""
    return engine.memory.lifecycle.find_categories(names) if names else None


def read_pair(text: str) -> tuple[str, str]:
    """Split KEY=VALUE; raises UsageError for anything else."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UsageError(f"{text!r} is not KEY=VALUE.", way_out="For example kind=dialogue.")
    return key, value


Name = Annotated[str, Arg(metavar="NAME", help="The name of a conversation.")]
Handle = Annotated[str, Arg(metavar="HANDLE", help="#12 for a message, #12-15 for several.")]
StrategyName = Literal["mask", "extractive", "hybrid", "topic", "levels", "abstractive"]
Query = Annotated[str, Arg(metavar="QUERY", help="What it is read for; default: the last message of the user.")]
Budget = Annotated[int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 120,000.")]
Previous = Annotated[
    str, Option("--previous", metavar="PLAN", help="The plan of the previous context, reused while it fits.")
]
Until = Annotated[
    int | None, Option("--until", metavar="N", min=1, help="As it stood after message N; default: the last.")
]
Keep = Annotated[
    list[str] | None, Option("--keep", metavar="HANDLE", help="Messages that must stay whole; may be repeated.")
]


Strategy = Annotated[
    StrategyName | None,
    Option(
        "--strategy",
        metavar="NAME",
        help="mask, extractive, hybrid, topic, levels, abstractive; default: the configuration's.",
    ),
]


class ContextAsked(TypedDict):
    """Arguments of every command on conversation contexts, beside the question."""

    budget: Annotated[Budget, Default(None)]
    until: Annotated[Until, Default(None)]
    keep: Annotated[Keep, Default(None)]


class ContextGiven(ContextAsked):
    """Further arguments of commands on a single conversation context."""

    strategy: Annotated[Strategy, Default(None)]
    configuration: Annotated[Configuration, Default("default")]


def read_context(options: ContextAsked) -> dict[str, Any]:
    """Return the arguments as the memory's context methods take them: no messages to keep is an empty tuple."""
    return {**options, "keep": options["keep"] or ()}
