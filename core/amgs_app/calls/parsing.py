"""Parse the words after a command's name with Typer.

Lines, scripts and forms go through the same parser as the command line, so that they mean the same. Only this module
and `cli` use Typer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
import typer.core
import typer.main

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.pairs import PairError, read_pairs
from amgs_app.calls.plain_values import PlainCommand
from amgs_app.terminal.line import LineError, Word
from amgs_app.terminal.plain_refusals import say_usage

if TYPE_CHECKING:
    from amgs_app.calls.marks import Parameter
    from amgs_app.calls.operation import Operation


def callback_of(
    chosen: Operation[..., Any],
    receive: Callable[..., Any],
    extra: Sequence[inspect.Parameter] = (),
    *,
    required: bool = True,
) -> Callable[..., Any]:
    """Return a function for Typer with the operation's signature, plus `extra` parameters, that passes the parsed
    values to `receive`.

    required: False for a group whose subcommand may follow: parameters that are missing are None then.
    """

    def callback(**arguments: Any) -> Any:
        return receive(**_with_pairs(chosen, arguments))

    declared = chosen.signature.parameters
    own = {
        name: parameter.replace(annotation=for_typer(parameter.annotation))
        for name, parameter in declared.items()
        if name not in _written_as_pairs(chosen)
    }
    if chosen.pairs:
        own[_PAIRS] = _pairs_for_typer(chosen)
    if not required:
        own = {
            n: parameter.replace(default=None) if parameter.default is parameter.empty else parameter
            for n, parameter in own.items()
        }
    parameters = [*own.values(), *(parameter for parameter in extra if parameter.name not in declared)]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    callback.__doc__ = chosen.help
    return callback


@lru_cache(maxsize=256)
def command_of(chosen: Operation[..., Any]) -> typer.core.TyperCommand:
    """Return the Typer command that parses the words after an operation's name."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(chosen.words[-1], cls=PlainCommand, add_help_option=False, context_settings=settings_for(chosen))(
        callback_of(chosen, lambda **arguments: arguments)
    )
    command = typer.main.get_command(app)
    if not isinstance(command, typer.core.TyperCommand):
        raise TypeError(f"{chosen.name} does not give a command")
    return command


def read_arguments(chosen: Operation[..., Any], words: list[Word], line: str) -> dict[str, Any]:
    """Parse the words after a command's name into values by parameter; raises LineError with the column of the wrong
    word.
    """
    command = command_of(chosen)
    try:
        with command.make_context(chosen.name, list(words)) as context:
            arguments = _with_pairs(chosen, context.params)
    except PairError as error:
        wrong = error.word
        column = _column_of_first(words, lambda word: word == wrong, line)
        raise LineError(error.message, line=line, column=column, way_out=error.way_out) from error
    except typer.TyperException as error:
        raise LineError(
            say_usage(error.format_message()),
            line=line,
            column=_column(error, chosen, words, line),
            way_out=f"Use: {chosen.usage()}",
        ) from error
    many = {parameter.name: parameter for parameter in chosen.parameters if parameter.many}
    return {name: _list_values(value, many.get(name)) for name, value in arguments.items()}


_PAIRS = "pairs"


def settings_for(chosen: Operation[..., Any]) -> dict[str, Any]:
    """Return the Typer context settings: unknown options of a command with keys are passed on, since `pairs` answers
    them.
    """
    return {"ignore_unknown_options": bool(chosen.pairs)}


def _written_as_pairs(chosen: Operation[..., Any]) -> set[str]:
    """Return the names of the parameters that are read by `pairs`, not by Typer."""
    return {parameter.name for parameter in chosen.pairs.values()}


def _pairs_for_typer(chosen: Operation[..., Any]) -> inspect.Parameter:
    """Return one repeatable Typer argument that collects the positional words and `key=value` words of a line."""
    labels = [parameter.label for parameter in chosen.pairs.values() if not parameter.is_key]

    def complete(incomplete: str) -> list[str]:
        from amgs_app.calls.completion import keys_and_values

        words = [choice for p in chosen.pairs.values() if not p.is_key for choice in p.choices]
        begins = [word for word in words if word.startswith(incomplete)]
        return [*begins, *(text for text, *_ in keys_and_values(chosen, incomplete))]

    argument = typer.Argument(metavar=" ".join((*labels, "[KEY=VALUE …]")), autocompletion=complete)
    kind = Annotated[list[str] | None, argument]
    return inspect.Parameter(_PAIRS, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _with_pairs(chosen: Operation[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the collected words replaced by the values they set."""
    rest = {name: value for name, value in arguments.items() if name != _PAIRS}
    return rest | read_pairs(chosen, arguments[_PAIRS] or ()) if _PAIRS in arguments else rest


def _complete_setting(incomplete: str) -> list[str]:
    from amgs_app.calls.completion import settings_beginning

    return [text for text, *_ in settings_beginning(incomplete)]


def for_typer(annotation: Any) -> Any:
    """Return the annotation with our mark replaced by Typer's."""
    kind, *marks = get_args(annotation) or (annotation,)
    mark = next((candidate for candidate in marks if isinstance(candidate, Arg | Option)), None)
    if mark is None:
        return annotation
    settings: dict[str, Any] = {"help": mark.help, "metavar": mark.metavar, "min": mark.min, "max": mark.max}
    if Takes("setting") in marks:
        settings["autocompletion"] = _complete_setting
    if isinstance(mark, Arg):
        return Annotated[kind, typer.Argument(**settings)]
    return Annotated[kind, typer.Option(*mark.flags, **settings)]


def _list_values(value: Any, many: Parameter | None) -> Any:
    """Return a repeatable value as a list, or the default if none was given."""
    if many is None:
        return value
    return list(value) if value else many.default


def _column(error: typer.TyperException, chosen: Operation[..., Any], words: Sequence[Word], line: str) -> int:
    """Return the column of the word that a Typer error is about; the end of the line if something is missing."""
    option = getattr(error, "option_name", None)
    if option is not None:
        return _column_of_first(words, lambda word: word == option or word.startswith(f"{option}="), line)
    values, rest = _distribute_words(chosen, words)
    named = getattr(error, "param", None)
    if named is None:
        return _column_of_first(rest, lambda _: True, line)
    value = values.get(named.name)
    value = value[0] if isinstance(value, (list, tuple)) and value else value
    if isinstance(value, Word):
        return value.column
    return _column_of_first(words, lambda word: any(word.startswith(f"{flag}=") for flag in named.opts), line)


def _distribute_words(chosen: Operation[..., Any], words: Sequence[Word]) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """Return the words as the parser assigns them, unconverted: by parameter, and those left over."""
    command = command_of(chosen)
    context = command.make_context(chosen.name, list(words), resilient_parsing=True)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    return values, rest


def _column_of_first(words: Iterable[Any], wanted: Callable[[str], bool], line: str) -> int:
    """Return the column of the first word that is wanted; the end of the line if there is none."""
    return next((w.column for w in words if isinstance(w, Word) and wanted(w)), len(line.rstrip()) + 1)
