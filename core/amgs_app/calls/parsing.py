"""Parse the words after a command's name: options with Typer, and `key=value` words.

Lines, scripts and forms go through the same parser as the command line, so that they mean the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer.main

from amgs.errors import UsageError
from amgs_app.calls.marks import PAIR, Arg, Option, Takes
from amgs_app.calls.plain_values import PlainCommand
from amgs_app.calls.registry import say_now
from amgs_app.terminal.line import LineError, Word, near
from amgs_app.terminal.output import say_domain, say_usage

if TYPE_CHECKING:
    from amgs_app.calls.marks import Parameter
    from amgs_app.calls.operation import Operation


class PairError(UsageError):
    """A word that cannot be read as an argument. word: as it was typed."""

    title = "Invalid command"

    def __init__(self, message: str, *, word: str = "", way_out: str = "") -> None:
        super().__init__(message, way_out=way_out)
        self.word = word


def read_pairs(chosen: Operation[..., Any], words: Sequence[str]) -> dict[str, Any]:
    """Read the words that give positional parameters and keys; return the values by parameter name.

    `weights.recency=.3` sets a part of a value that has parts. Raises PairError for a word that fits no parameter, is
    repeated, or has an invalid value.
    """
    from pydantic import ValidationError

    from amgs_app.calls.operation import model_of

    free = [parameter for parameter in chosen.pairs.values() if not parameter.is_key]
    values: dict[str, Any] = {}
    typed: dict[str, str] = {}
    for place, word in enumerate(words):
        pair = PAIR.fullmatch(word)
        if pair is not None:
            parameter, text = _parameter_of_key(chosen, word, pair[1], pair[2]), pair[3]
        elif word.startswith("--"):
            raise _refuse_option(chosen, word, words[place + 1 :])
        elif free:
            parameter, text = free[0], word
        else:
            raise PairError(f"Too many words: {word}.", word=word, way_out=f"Use: {chosen.usage()}")
        free = [open_parameter for open_parameter in free if open_parameter is not parameter]
        before = values.get(parameter.name)
        if before is not None and not parameter.many and not (pair and pair[2] and "=" in before):
            raise PairError(f"{parameter.key} is given twice.", word=word, way_out="Give it once.")
        if parameter.many:
            values[parameter.name] = [*(before or ()), text]
        elif pair is not None and pair[2]:
            values[parameter.name] = ",".join((*([before] if before else ()), f"{pair[2]}={text}"))
        else:
            values[parameter.name] = text
        typed[parameter.name] = word
    model = model_of(chosen)
    try:
        read = model.model_validate(values)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        parameter = next(candidate for candidate in chosen.parameters if candidate.name == name)
        if name not in typed:
            missing = parameter.flags[0] + parameter.label if parameter.is_key else parameter.label
            raise PairError(f"{missing} is missing.", way_out=f"Use: {chosen.usage()}") from error
        raise PairError(say_domain(parameter.key, model, fault), word=typed[name]) from error
    return {parameter.name: getattr(read, parameter.name) for parameter in chosen.pairs.values()}


def _parameter_of_key(chosen: Operation[..., Any], word: str, typed: str, part: str | None) -> Parameter:
    """Return the parameter of a key; raises PairError if there is none, or it has no such part."""
    key = typed.replace("-", "_")
    parameter = chosen.pairs.get(key)
    if parameter is None:
        raise PairError(say_unknown("key", key, chosen.pairs), word=word, way_out=f"`help {chosen.name}` lists them.")
    if part and part not in parts_of(parameter):
        raise PairError(say_unknown(f"part of {key}", part, parts_of(parameter)), word=word)
    return parameter


def parts_of(parameter: Parameter) -> tuple[str, ...]:
    """Return the names of a value's parts that may be set alone; empty for a value without parts."""
    if parameter.takes != "weights":
        return ()
    from amgs.types import COMPONENTS

    return COMPONENTS


def say_unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Say that there is no such name, and which known names are similar. what: "key", "option" …"""
    meant = near(name, names)
    return f"There is no {what} {name!r}" + (f"; did you mean {' or '.join(meant)}?" if meant else ".")


def _refuse_option(chosen: Operation[..., Any], word: str, after: Sequence[str]) -> PairError:
    """Return the error for an option that a command with keys does not take; it shows the key that
    replaced it, if any.
    """
    flag, sign, value = word.partition("=")
    key = flag[2:].replace("-", "_")
    if key not in chosen.pairs:
        known = [*chosen.pairs, *(flag[2:] for p in chosen.parameters for flag in p.flags if not p.is_key)]
        return PairError(say_unknown("option", flag[2:], known), word=word, way_out=f"Use: {chosen.usage()}")
    value = value if sign else next(iter(after), "VALUE")
    return PairError(say_now(word if sign else f"{flag} {value}", f"{key}={value}"), word=word)


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
        if name not in _find_pair_names(chosen)
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


def _find_pair_names(chosen: Operation[..., Any]) -> set[str]:
    """Return the names of the parameters that are read by `pairs`, not by Typer."""
    return {parameter.name for parameter in chosen.pairs.values()}


def _pairs_for_typer(chosen: Operation[..., Any]) -> inspect.Parameter:
    """Return a repeatable Typer argument that collects the positional words and `key=value` words of a line."""
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
    """Return a repeatable value as a list, or the default if none was passed."""
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
