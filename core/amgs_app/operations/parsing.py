"""Typer's reading of a line's words as the arguments of a verb, and where on the line its errors point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from amgs_app.operations.line import LineError, Word

if TYPE_CHECKING:
    from amgs_app.operations.registry import Operation, Parameter


def read_arguments(chosen: Operation, words: list[Word], line: str) -> dict[str, Any]:
    """The value of every parameter by name; raises LineError that points at the word that is wrong."""
    command = chosen.command
    try:
        with command.make_context(chosen.name, list(words)) as context:
            given = dict(context.params)
    except typer.TyperException as error:
        raise LineError(
            _said(error),
            line=line,
            column=_column(error, chosen, words, line),
            way_out=f"Use: {chosen.usage()}",
        ) from error
    many = {parameter.name: parameter for parameter in chosen.parameters if parameter.many}
    return {name: _listed(value, many.get(name)) for name, value in given.items()}


def _listed(value: Any, many: Parameter | None) -> Any:
    """A repeatable value as the function declares it: a list, or its default when nothing was given."""
    if many is None:
        return value
    return list(value) if value else many.default


def _said(error: typer.TyperException) -> str:
    text = " ".join(error.format_message().split()).replace("Value error, ", "")
    return text if text.endswith((".", "?")) else f"{text}."


def _column(error: typer.TyperException, chosen: Operation, words: Sequence[Word], line: str) -> int:
    """Where the word stands that the error speaks of; the end of the line when something is missing."""
    option = getattr(error, "option_name", None)
    if option is not None:
        return _first(words, lambda word: word == option or word.startswith(f"{option}="), line)
    values, rest = _raw(chosen, words)
    named = getattr(error, "param", None)
    if named is None:
        return _first(rest, lambda _: True, line)
    value = values.get(named.name)
    value = value[0] if isinstance(value, (list, tuple)) and value else value
    if isinstance(value, Word):
        return value.column
    return _first(words, lambda word: any(word.startswith(f"{flag}=") for flag in named.opts), line)


def _raw(chosen: Operation, words: Sequence[Word]) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """The words as the parser distributes them, not yet converted: by parameter, and those left over."""
    command = chosen.command
    context = command.make_context(chosen.name, list(words), resilient_parsing=True)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    return values, rest


def _first(words: Iterable[Any], wanted: Callable[[str], bool], line: str) -> int:
    return next((w.column for w in words if isinstance(w, Word) and wanted(w)), len(line.rstrip()) + 1)
