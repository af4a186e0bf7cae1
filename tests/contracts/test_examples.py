"""Every command shows a line that calls it, and the line can be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer
import typer.core
import typer.main

from amgs_app.calls.registry import EXAMPLES, standard
from amgs_app.cli import build
from amgs_app.terminal.line import split

OPERATIONS = tuple(standard())


def _commands(group: typer.core.TyperGroup, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The words and the last lines of the help of every command that is no group."""
    for name, command in group.commands.items():
        here = (*words, name)
        if isinstance(command, typer.core.TyperGroup):
            yield from _commands(command, here)
        else:
            yield " ".join(here), command.epilog or ""


def test_the_command_line_shows_an_example_below_each_commands_help() -> None:
    app = typer.main.get_command(build(standard()))
    assert isinstance(app, typer.core.TyperGroup)
    shown = dict(_commands(app))
    assert set(EXAMPLES) | {each.name for each in OPERATIONS} <= set(shown) | set(app.commands)
    for words, epilog in shown.items():
        assert epilog.startswith(f"Example: amgs {words}"), f"{words}: {epilog!r}"


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_example_of_a_front_end_is_read_by_it(words: str) -> None:
    command = typer.main.get_command(build(standard()))
    line = split(EXAMPLES[words])
    for word in words.split():
        assert isinstance(command, typer.core.TyperGroup) and line.pop(0) == word
        command = command.commands[word]
    command.make_context(words, [str(word) for word in line], resilient_parsing=False)
