"""`help`: a short overview, one command, or the commands that a word means."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import typer.main

from amgs_app.calls.registry import Registry, standard
from amgs_app.cli import build, run
from amgs_app.results.session import CommandGroups, HelpList


@pytest.fixture(scope="module")
def registry() -> Registry:
    return standard()


def told(registry: Registry, line: str) -> HelpList | CommandGroups:
    call = registry.parse(line)
    assert call is not None
    result: HelpList | CommandGroups = call.operation.function(None, **call.arguments)
    return result


def names(registry: Registry, line: str) -> list[str]:
    result = told(registry, line)
    assert isinstance(result, HelpList)
    return [each.name for each in (*result.verbs, *result.also)]


@pytest.mark.parametrize(
    ("word", "first", "further"),
    [
        ("erase", "block delete", "conversation clear"),
        ("forget", "block delete", "focus forget"),
        ("forget", "prune", "focus forget"),
        ("delete", "block delete", "frame delete"),
        ("export", "export", ""),
        ("remember", "ingest", ""),
        ("ask", "search", "test"),
        ("duplicates", "enhance", "review"),
    ],
)
def test_help_finds_commands_by_name_summary_and_synonym(
    registry: Registry, word: str, first: str, further: str
) -> None:
    found = names(registry, f"help {word}")
    assert first in found[:3] and (not further or further in found), found
    assert further not in found[: found.index(first)], found


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    """Every command of the command line, by its words."""

    def below(command: Any, words: str) -> Iterator[tuple[str, Any]]:
        yield words, command
        for name, deeper in getattr(command, "commands", {}).items():
            yield from below(deeper, f"{words} {name}")

    return dict(below(typer.main.get_command(build()), "amgs"))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_help_of_every_command_is_broken_once_at_any_width(
    commands: dict[str, Any], width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ragged = []
    for name, command in commands.items():
        command.main(["--help"], prog_name=name, standalone_mode=False)
        prose = capsys.readouterr().out.split("╭")[0].split("Usage:")[-1].splitlines()[1:]
        ragged += [
            (name, line, following)
            for line, following in pairwise(map(str.strip, prose))
            if line and following and not following.startswith("- ")
            if len(line) + 1 + len(following.split()[0]) <= width - 2
        ]
    assert len(commands) > 100 and ragged == []


def test_the_help_of_the_program_lists_every_command_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It is made without reading the parameters of any."""
    whole: Any = typer.main.get_command(build())
    lines = {name: command.get_short_help_str(300) for name, command in whole.commands.items()}
    assert run(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert [name for name, line in lines.items() if f" {name} {line.split('.')[0]}" not in shown] == []
