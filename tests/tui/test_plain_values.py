"""What a command reads without Typer's own reader is what that one would have read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import pytest
import typer
import typer.core
import typer.main

from amgs_app.calls.plain_values import PlainCommand
from amgs_app.terminal.line import Word


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


def made(kind: type[typer.core.TyperCommand]) -> typer.core.TyperCommand:
    """A command of one parameter of each sort, read by this kind of command."""
    app = typer.Typer(add_completion=False)

    @app.command("paint", cls=kind)
    def paint(
        word: str,
        many: Annotated[list[str] | None, typer.Option("--many")] = None,
        colour: Annotated[Colour, typer.Option("--colour")] = Colour.RED,
        colours: Annotated[list[Colour] | None, typer.Option("--colours")] = None,
        count: Annotated[int, typer.Option("--count", min=1, max=9)] = 3,
        share: Annotated[float, typer.Option("--share")] = 0.5,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None: ...

    command = typer.main.get_command(app)
    assert isinstance(command, kind)
    return command


READERS = [made(kind) for kind in (typer.core.TyperCommand, PlainCommand)]


def read(command: typer.core.TyperCommand, words: list[str]) -> Any:
    try:
        with command.make_context("paint", list(words)) as context:
            return {name: (type(value), value) for name, value in context.params.items()}
    except typer.TyperException as error:
        return type(error), error.format_message()


LINES = [
    ["a"],
    [""],
    [Word("a", 3)],
    ["a", "--many", "b", "--many", "c"],
    ["a", "--colour", "green"],
    ["a", "--colour", "blue"],
    ["a", "--colour", "GREEN"],
    ["a", "--colours", "green", "--colours", "red"],
    ["a", "--colours", "green", "--colours", "blue"],
    *[
        ["a", "--count", n]
        for n in ("1", "9", "007", "0", "10", "-1", "+2", " 2", "2.0", "1_0", "٣", "9" * 30, "x", "")
    ],
    ["a", "--share", "1"],
    ["a", "--share", "x"],
    ["a", "--loud"],
    [],
    ["a", "b"],
]


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_plain_values_are_read_as_typer_reads_them(words: list[str]) -> None:
    whole, plain = (read(command, words) for command in READERS)
    assert plain == whole
