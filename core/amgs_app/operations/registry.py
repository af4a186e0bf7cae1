"""The one registry of verbs: the palette, the keys, the shell, scripts and the command line all call it.

A verb is a function `f(session, …, [progress]) -> frozen result` marked with `@verb`. Its arguments are read
from its annotations by Typer, which is the only parser: a `Call` that a line gives is the same as the one the
command line gives.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, get_args, get_origin

import typer
import typer.core
import typer.main

from amgs_app.operations.line import LineError, Word, quote, split
from amgs_app.operations.parsing import read_arguments
from amgs_app.operations.paths import check_place

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.session import Session

Pane = Literal["inbox", "frame", "graph", "decay", "calibration", "focus", "overview"]
PANES: tuple[Pane, ...] = ("inbox", "frame", "graph", "decay", "calibration", "focus", "overview")

Kind = Literal[
    "block", "frame", "operation", "pane", "theme", "verb", "file", "folder", "text", "number", "choice"
]

_INJECTED = ("session", "progress")

LIKE, NEARLY = 0.72, 0.1
"""How alike two words must be for one to be suggested for the other, and how much less so than the best one."""

_OF_THE_MODEL = frozenset({"focus", "show", "snapshot", "expect"})
"""First words of commands that read the working context, which one thread alone may do."""
_IN_TURN = frozenset({"consolidate edit", "bookmark", "layout set", "layout save"})
"""Commands that change what a later one goes on from, or write a line of their own."""
_SHORT_WRITES = frozenset({"frame assemble"})
"""Commands that log a line or two of what they did; they may do so between the transactions of a long one."""


@dataclass(frozen=True, slots=True)
class Takes:
    """Put beside typer's own marks in an annotation: what kind of thing the argument names, for completion
    and forms. made: the command writes it, so a word that is no path is refused.
    """

    kind: Kind
    made: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option of a verb, as a form or a completer needs it.

    flags: ("--top-k",) of an option, empty for a positional argument. choices: the closed list, when there is
    one.
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


@dataclass(frozen=True)
class Operation:
    """An operator action.

    long: it reports progress and can be cancelled. writes: it changes the store or the working context. pane:
    which pane shows its result; None for results that are only said. creates: on the
    command line, it may create the store that it works on; every other command needs one that is there. asks: whoever
    sits at a terminal is shown its `dry_run` and asked first, unless they said `yes`.
    """

    name: str
    function: Callable[..., Any]
    summary: str
    pane: Pane | None = None
    long: bool = False
    writes: bool = False
    keys: tuple[str, ...] = ()
    creates: bool = False
    asks: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.name.split())

    @property
    def identifier(self) -> str:
        """The name as an action id: `frame_assemble`."""
        return "_".join(self.words)

    @property
    def beside(self) -> bool:
        """Whether it may run in another thread while something long works: it soon ends, only reads the memory, and
        leaves the working context and its model alone.
        """
        reads = not self.writes or self.name in _SHORT_WRITES
        return reads and not self.long and self.words[0] not in _OF_THE_MODEL and self.name not in _IN_TURN

    @property
    def help(self) -> str:
        """The full help text: the function's docstring."""
        return inspect.getdoc(self.function) or self.summary

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters that an operator gives, with their annotations resolved."""
        given = inspect.signature(self.function).parameters
        space = sys.modules[self.function.__module__].__dict__
        kept = [
            parameter.replace(annotation=_resolve(parameter.annotation, space), kind=parameter.KEYWORD_ONLY)
            for name, parameter in given.items()
            if name not in _INJECTED
        ]
        return inspect.Signature(kept)

    @property
    def wants_progress(self) -> bool:
        return "progress" in inspect.signature(self.function).parameters

    @cached_property
    def command(self) -> typer.core.TyperCommand:
        """The parser of this verb's words."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.words[-1], help=self.help, add_help_option=False)(
            callback_of(self, lambda **given: given)
        )
        command = typer.main.get_command(app)
        if not isinstance(command, typer.core.TyperCommand):
            raise TypeError(f"{self.name} does not give a command")
        return command

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments in order, then the options."""
        made = [
            _parameter(parameter, self.signature.parameters[parameter.name])
            for parameter in self.command.params
        ]
        return tuple(sorted(made, key=lambda parameter: parameter.is_option))

    def usage(self) -> str:
        """`frame assemble NAME [--query TEXT] …`"""
        words = [self.name]
        for parameter in self.parameters:
            if not parameter.is_option:
                word = parameter.label + ("…" if parameter.many else "")
            else:
                word = parameter.flags[0] + ("" if parameter.is_switch else f" {parameter.label}")
            words.append(word if parameter.required else f"[{word}]")
        return " ".join(words)


@dataclass(frozen=True)
class Call:
    """A verb with all its arguments: what a line, a key or a form has asked for."""

    verb: Operation
    arguments: Mapping[str, Any] = field(hash=False)

    def line(self) -> str:
        """The canonical script text, which parses back to an equal call.

        Values that are the default are left out.
        """
        positional: list[str] = []
        options: list[str] = []
        as_default = 0
        for parameter in self.verb.parameters:
            value = self.arguments.get(parameter.name, parameter.default)
            if parameter.is_option:
                if value != parameter.default:
                    options += _option_words(parameter, value)
            elif value is not None:
                written = [_text(one) for one in (value if parameter.many else [value])]
                # A default may be left out only where nothing follows it.
                as_default = as_default + len(written) if value == parameter.default else 0
                positional += written
        positional = positional[: len(positional) - as_default]
        if any(word.startswith("-") for word in positional):
            words = [*options, "--", *positional]
        else:
            words = [*positional, *options]
        return " ".join([self.verb.name, *map(quote, words)])

    def explicit(self, session: Session) -> Call:
        """The same call with the blocks that it means here and now by their ids: the selected one, `@2`.

        A recording of it does the same wherever it is replayed.
        """
        given = dict(self.arguments)
        for parameter in self.verb.parameters:
            value = given.get(parameter.name, parameter.default)
            if parameter.takes != "block":
                continue
            if isinstance(value, str) and value.startswith("@"):
                number = int(value[1:]) if value[1:].isdecimal() else 0
                if 1 <= number <= len(session.listed):
                    given[parameter.name] = session.listed[number - 1]
            elif value is None and not parameter.is_option and session.selection is not None:
                given[parameter.name] = session.selection
        return Call(self.verb, given)


def verb(
    name: str,
    *,
    summary: str,
    pane: Pane | None = None,
    long: bool = False,
    writes: bool = False,
    keys: Sequence[str] = (),
    creates: bool = False,
    asks: bool = False,
) -> Callable[[Callable[..., Any]], Operation]:
    """Make a function `f(session, …, [progress])` a verb; a Registry collects it from its module."""

    def mark(function: Callable[..., Any]) -> Operation:
        return Operation(name, function, summary, pane, long, writes, tuple(keys), creates, asks)

    return mark


class Registry:
    """The verbs by name."""

    def __init__(self, verbs: Iterable[Operation]) -> None:
        self._verbs: dict[str, Operation] = {}
        for one in verbs:
            if self._verbs.setdefault(one.name, one) is not one:
                raise ValueError(f"Two verbs are called {one.name!r}.")

    @classmethod
    def of_modules(cls, modules: Iterable[ModuleType]) -> Registry:
        return cls(
            value for module in modules for value in vars(module).values() if isinstance(value, Operation)
        )

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._verbs.values())

    def __len__(self) -> int:
        return len(self._verbs)

    def __contains__(self, name: object) -> bool:
        return name in self._verbs

    def __getitem__(self, name: str) -> Operation:
        """The verb of this name; raises LineError (a UsageError) when there is none."""
        if name not in self._verbs:
            self._refuse(split(name), name)
        return self._verbs[name]

    def nouns(self) -> dict[str, list[Operation]]:
        """Verbs by their first word, in the order of registration."""
        grouped: dict[str, list[Operation]] = {}
        for one in self:
            grouped.setdefault(one.words[0], []).append(one)
        return grouped

    def call(self, name: str, /, **arguments: Any) -> Call:
        """A call from values instead of words.

        What is not given takes its default, names are checked, types are not.
        """
        chosen = self[name]
        defaults = {parameter.name: parameter.default for parameter in chosen.parameters}
        unknown = sorted(set(arguments) - set(defaults))
        if unknown:
            raise LineError(
                f"{name} has no argument {unknown[0]!r}.",
                line=name,
                column=1,
                way_out=f"Use: {chosen.usage()}",
            )
        return Call(chosen, {**defaults, **arguments})

    def parse(self, line: str) -> Call | None:
        """The call that a line asks for, None for a blank or a comment; raises LineError with the column."""
        words = split(line)
        if not words:
            return None
        if words[0] != "help" and "--help" in words:
            words = [Word("help", words[0].column), *words[: max(1, self.find(words)[1])]]
        chosen, rest = self._choose(words, line)
        return Call(chosen, read_arguments(chosen, rest, line))

    def run(self, session: Session, call: Call, progress: Progress | None = None) -> Any:
        """Carry out the call and note it in the session; raises what the engines raise."""
        explicit = call.explicit(session)
        arguments = dict(call.arguments)
        for parameter in call.verb.parameters:
            if parameter.made and arguments.get(parameter.name) is not None:
                example = "memory.json" if parameter.takes == "file" else "life"
                check_place(Path(arguments[parameter.name]), example=example)
        if call.verb.wants_progress:
            arguments["progress"] = progress
        result = call.verb.function(session, **arguments)
        session.note(call, result, explicit)
        return result

    def find(self, words: Sequence[str]) -> tuple[Operation | None, int]:
        """The verb with the longest name that opens the words, and how many words it took."""
        for count in range(min(3, len(words)), 0, -1):
            chosen = self._verbs.get(" ".join(words[:count]))
            if chosen is not None:
                return chosen, count
        return None, 0

    def suggest(self, typed: str) -> tuple[str, ...]:
        """Commands that the word may have been meant for, the best match first."""
        return near(typed, {**self.nouns(), **self._verbs})

    def _choose(self, words: list[Word], line: str) -> tuple[Operation, list[Word]]:
        chosen, count = self.find(words)
        if chosen is None:
            self._refuse(words, line)
        return chosen, words[count:]

    def _refuse(self, words: Sequence[Word], line: str) -> NoReturn:
        noun = self.nouns().get(words[0]) if words else None
        if noun and noun[0].name != words[0]:
            known = ", ".join(" ".join(one.words[1:]) for one in noun)
            column = words[1].column if len(words) > 1 else words[0].column
            said = (
                f"`{words[0]}` has no `{words[1]}`" if len(words) > 1 else f"`{words[0]}` needs another word"
            )
            raise LineError(f"{said}.", line=line, column=column, way_out=f"One of: {known}.")
        first = str(words[0]) if words else ""
        near = self.suggest(first)
        way_out = f"Did you mean {' or '.join(near)}?" if near else "`help` lists all commands."
        raise LineError(
            f"There is no command `{first}`.",
            line=line,
            column=words[0].column if words else 1,
            way_out=way_out,
        )


def near(typed: str, names: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the names that hold a word like the one typed, the best first; nothing far-fetched."""
    alike = {name: max(SequenceMatcher(None, typed, word).ratio() for word in name.split()) for name in names}
    least = max(LIKE, max(alike.values(), default=0.0) - NEARLY)
    ranked = sorted(alike, key=lambda name: (-alike[name], len(name.split()), name))
    return tuple(name for name in ranked if alike[name] >= least)[:3]


@lru_cache(maxsize=1)
def standard() -> Registry:
    """The registry of the workstation."""
    from amgs_app.operations import (
        bench,
        bench_focus,
        bench_lens,
        bench_stability,
        block,
        calibration,
        consolidation_plan,
        decay,
        exchange,
        focus,
        focus_control,
        focus_corpus,
        focus_lifetime,
        focus_trace,
        frame,
        frame_definitions,
        general,
        graph,
        lens,
        lifecycle,
        maintenance,
        montecarlo,
        script,
        search,
        training,
        tuning,
        utility,
        workspace,
    )

    return Registry.of_modules(
        (
            general,
            lifecycle,
            consolidation_plan,
            maintenance,
            montecarlo,
            block,
            search,
            frame,
            frame_definitions,
            graph,
            decay,
            calibration,
            tuning,
            exchange,
            focus,
            focus_control,
            focus_corpus,
            focus_lifetime,
            focus_trace,
            training,
            lens,
            script,
            workspace,
            utility,
            bench,
            bench_focus,
            bench_lens,
            bench_stability,
        )
    )


def callback_of(
    chosen: Operation, receive: Callable[..., Any], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., Any]:
    """A function with the verb's signature (and extra parameters) that hands what was parsed to `receive`."""

    def callback(**given: Any) -> Any:
        return receive(**given)

    own = chosen.signature.parameters
    parameters = [*own.values(), *(one for one in extra if one.name not in own)]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {one.name: one.annotation for one in parameters}
    callback.__doc__ = chosen.help
    return callback


def _resolve(annotation: Any, space: dict[str, Any]) -> Any:
    """A string annotation as its value, in the verb's own module."""
    return eval(annotation, space) if isinstance(annotation, str) else annotation


def _parameter(parsed: Any, declared: inspect.Parameter) -> Parameter:
    """What a form needs of a Typer parameter."""
    annotation = declared.annotation
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    taken = next((mark for mark in marks if isinstance(mark, Takes)), None)
    choices = tuple(str(choice) for choice in parsed.type_descriptor.choices or ())
    is_switch = bool(getattr(parsed, "is_flag", False))
    kind: Kind = "choice" if choices else "text"
    return Parameter(
        name=parsed.name,
        label=parsed.metavar or parsed.name.upper().replace("_", "-"),
        help=parsed.help or "",
        flags=tuple(parsed.opts) + tuple(parsed.secondary_opts) if parsed.param_type_name == "option" else (),
        takes=taken.kind if taken else kind,
        required=bool(parsed.required),
        default=None if declared.default is declared.empty else declared.default,
        is_switch=is_switch,
        many=bool(getattr(parsed, "multiple", False)) or parsed.nargs == -1,
        choices=choices,
        made=taken is not None and taken.made,
    )


def _option_words(parameter: Parameter, value: Any) -> list[str]:
    if parameter.is_switch:
        return [parameter.flags[0] if value else parameter.flags[-1]]
    values = value if parameter.many else [value]
    return [word for one in values for word in (parameter.flags[0], _text(one))]


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
