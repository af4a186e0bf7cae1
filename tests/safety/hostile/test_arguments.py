"""Hostile arguments to every command: a result or an error with a way out, never a traceback, no file that nobody
named, and the store as whole as before.

`make explore` draws thousands anew; what they find becomes an example in `FOUND`.
"""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from amgs_app.calls.marks import Parameter
from amgs_app.calls.operation import Operation
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.render.encode import to_json
from amgs_app.session import Operator
from amgs_app.shell.output import as_text, complain, is_intended
from amgs_app.shell.script import parse_step, run_step
from amgs_app.terminal.line import quote
from amgs_app.terminal.output import UNSAFE
from amgs_tui.__main__ import run
from tests.safety.hostile.draws import WORDS, Draws, patience
from tests.tui.headless_world import write_corpus

PLAIN = ("dome", "@1", "@2", "0", "1", "2", "3", "0.5", "all", "SESSION", "SELF", "L1#0", "motor.md", "x.json")
TAKES_LONG = ("tune", "simulate")
"""Commands that compute for minutes when their arguments are right: only what they cannot take is given to them."""
PLACES = ("out", "data", "work", "text", "labels", "run")
LEADS_OUTSIDE = ("/", "~", "C:")
BEGIN = ("inbox list", "frame assemble SESSION --query dome", "search dome", "focus open --question dome", "status")


class World:
    """One session in a folder of its own, and what may lie there."""

    def __init__(self, folder: Path) -> None:
        self.outside = folder
        self.folder = folder / "a" / "b" / "c"
        self.folder.mkdir(parents=True)
        write_corpus(folder / "corpus")
        self.registry = standard()
        self.session = Operator(
            Engine(
                Options(
                    store=str(folder / "world.duckdb"),
                    corpus=folder / "corpus",
                    model="tiny",
                    now=datetime(2026, 3, 1, 9, tzinfo=UTC),
                    seed=7,
                )
            )
        )
        for line in ("ingest", "consolidate", *BEGIN):
            self.run(line)

    def run(self, line: str) -> str:
        """Carry out a line and show what came of it; gives the error's words, or nothing."""
        try:
            step = parse_step(self.registry, line, "<test>", 1)
            if step is None:
                return ""
            result = run_step(self.session, step, "<test>")
            shown, said = as_text(result) + as_text(result, "csv") + to_json(result), ""
        except Exception as error:
            if not is_intended(error):
                raise
            out = io.StringIO()
            complain(error, out)
            shown = said = out.getvalue()
            assert len(said) < 6_000 + 3 * len(line), "an error that nobody reads to its end"
        assert UNSAFE.search(shown) is None, "a control sequence"
        return said

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def clear(self) -> None:
        """Remove what was written by name."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    monkeypatch.chdir(made.folder)
    yield made
    made.session.close()


def is_a_path(word: str) -> bool:
    """Whether somebody who wrote this word meant a file or a folder by it."""
    name = word.rsplit("/", 1)[-1]
    return word.isprintable() and name not in ("", ".", "..") and name[0] not in "-@#"


def drawn(verb: Operation[..., Any], rng: random.Random) -> str:
    """A line with hostile values in it."""
    positional: list[str] = []
    options: list[str] = []
    long = verb.name.startswith(TAKES_LONG)
    for parameter in verb.parameters:
        if parameter.is_option:
            if rng.random() < (0.5 if parameter.required else 2.0 / (2 + len(verb.parameters))):
                options += option(parameter, rng, verb, long)
        elif parameter.required or rng.random() < 0.6 or long:
            count = rng.choice((1, 1, 3)) if parameter.many else 1
            positional += [value(parameter, rng, verb, long) for _ in range(count)]
    if long and not positional and not any("-1" in word for word in options):
        positional = ["-1"]
    words = [*options, *(["--"] if rng.random() < 0.5 else []), *positional]
    return " ".join([verb.name, *map(quote, words)])


def option(parameter: Parameter, rng: random.Random, verb: Operation[..., Any], long: bool) -> list[str]:
    flag = rng.choice(parameter.flags)
    if parameter.is_switch:
        return [flag]
    given = value(parameter, rng, verb, long)
    if parameter.is_key:
        return [f"{flag}{given}"]
    return [f"{flag}={given}"] if rng.random() < 0.3 else [flag, given]


def value(parameter: Parameter, rng: random.Random, verb: Operation[..., Any], long: bool) -> str:
    if parameter.choices and rng.random() < 0.6:
        return rng.choice(parameter.choices)
    word = rng.choice(PLAIN) if rng.random() < 0.35 and not long else rng.choice(WORDS)
    is_place = parameter.takes in ("file", "folder") or parameter.name in PLACES
    if is_place and (word.startswith(LEADS_OUTSIDE) or ".." in word or word in ("", ".", " ")):
        return "-" + word  # what it would read or write is nobody's here
    return word


@pytest.mark.hostile
def test_no_argument_ends_in_a_traceback(world: World, draws: Draws) -> None:
    rng = draws.random
    verbs = list(world.registry)
    refused = 0
    for number in range(draws.count):
        verb = verbs[number % len(verbs)] if number < len(verbs) else rng.choice(verbs)
        line = drawn(verb, rng)
        try:
            with patience():
                refused += bool(world.run(line))
            assert all(is_a_path(name) for name in world.files()), world.files()
            world.clear()
        except BaseException as error:
            raise AssertionError(f"draw {draws.seed}/{number}: {line[:600]!r}") from error
        if number % 40 == 39:
            for again in BEGIN:
                world.run(again)
    assert world.session.engine.memory.verify().ok
    assert all(path.name in ("a", "corpus") or path.name.startswith("world.") for path in world.outside.iterdir())
    print(f"{draws.count} lines with hostile arguments, {refused} refused")  # noqa: T201


LONG_NAME = "漢" * 100
FOUND = (
    f"focus open {LONG_NAME}",
    f"focus branch --diff {LONG_NAME} --diff main",
    f"focus open --lifetime {LONG_NAME} --check",
    f"focus open --lifetime {'x' * 10_000} --check",
    'focus open --lifetime "a\\x00b" --check',
    f"layout --save --name {'x' * 10_000}",
)


@pytest.mark.parametrize("line", FOUND, ids=lambda line: line[:30])
def test_a_line_that_once_ended_in_a_traceback_is_refused(world: World, line: str) -> None:
    assert world.run(line.replace("\\x00", "\0"))
    assert world.files() == set()


def test_a_file_in_the_home_of_nobody_is_a_file_that_is_not_there(world: World) -> None:
    assert "There is no file or folder ~nobody-at-all/x.md." in world.run("ingest ~nobody-at-all/x.md")
    assert world.run("ingest 'the ~nobody-at-all of them'") == ""


@pytest.mark.parametrize("option", ["--store", "--corpus", "--model", "--settings"])
@pytest.mark.parametrize("word", [LONG_NAME, "~nobody-at-all/x", "\x1b[31m"])
def test_an_option_that_no_file_system_takes_is_refused(
    option: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["--store", ":memory:", "--model", "tiny", f"{option}={word}", "status"]) in (2, 3, 4, 5)
    assert UNSAFE.search(capsys.readouterr().err) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", ["--now", "-", "@1", "3-5", "NaN", "1", "abc", "a\nb.json", "\x1b[31m.json", ""])
@pytest.mark.parametrize("verb", ["export", "save"])
def test_a_word_that_is_no_path_makes_no_file(world: World, verb: str, word: str) -> None:
    assert "path" in world.run(f"{verb} -- {quote(word)}").lower()
    assert world.files() == set()


@pytest.mark.parametrize("word", ["-", "--now", "@1", "3-5", "L1#2", "a\nb", ""])
def test_a_word_that_is_no_folder_makes_none(world: World, word: str) -> None:
    assert world.run(f"focus open --lifetime={quote(word)}")
    assert world.files() == set()
