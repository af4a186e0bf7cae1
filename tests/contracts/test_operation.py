"""One operation, defined in this file alone, reaches every front end: nothing else has to know of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
import typer.main

from amgs_app.calls.completion import complete
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import call_from_json, operation
from amgs_app.calls.registry import Registry, standard
from amgs_app.cli import build
from amgs_app.engine import Engine, Options
from amgs_app.render.encode import to_json
from amgs_app.session import Operator
from amgs_app.shell.script import parse_script, run_steps
from amgs_app.terminal.line import LineError

if TYPE_CHECKING:
    from amgs.types import Progress


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a word stands in one block."""

    word: str
    count: int
    unit: str


@operation("tally", summary="Count a word in a block.", lists=lambda tally: [tally.word])
def tally(
    engine: Engine,
    word: Annotated[str, Arg(metavar="WORD", help="The word to count.")],
    block: Annotated[str | None, Arg(metavar="ID", help="The block."), Takes("block")] = None,
    *,
    least: Annotated[int, Option("--least", metavar="N", min=1, max=9, help="At least N.")] = 1,
    unit: Annotated[Literal["times", "lines"], Option("--unit", help="What is counted.")] = "times",
    progress: Progress | None = None,
) -> Tally:
    """Count how often WORD stands in a block; fewer than --least count as none."""
    if progress is not None:
        progress(1, 1, "counting")
    found = engine.block(block).content.lower().count(word)
    return Tally(word, found if found >= least else 0, unit)


@pytest.fixture
def registry() -> Registry:
    return Registry([*standard(), tally])


@pytest.fixture
def operator() -> Iterator[Operator]:
    with Operator(Engine(Options(store=":memory:", model="tiny"))) as made:
        memory = made.engine.memory
        memory.ingest_text("The dome stood still. The dome was cold.")
        made.run(standard().call("inbox list"))
        made.run(standard().call("select", block="@1"))
        yield made


def test_an_operator_resolves_the_block_before_it_is_called_and_records_a_complete_line(operator: Operator) -> None:
    (block,) = operator.listed
    for call in (tally("dome"), tally("dome", "@1")):
        assert operator.run(call) == Tally("dome", 2, "times")
        assert operator.history[-1].line() == f"tally dome {block}"
        assert operator.listed == ("dome",), "what it lists is kept"
        operator.listed = (block,)


def test_the_command_line_reads_and_runs_it(
    registry: Registry, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = typer.main.get_command(build(registry))
    place = ["--store", str(tmp_path / "s.duckdb"), "--model", "tiny"]
    with pytest.raises(SystemExit, match="0"):
        command.main(["tally", "--help"], prog_name="amgs")
    told = capsys.readouterr().out
    assert "Count how often WORD stands in a block" in told and "--least" in told
    command.main([*place, "ingest", "The dome stood still."], standalone_mode=False)
    command.main([*place, "inbox", "list"], standalone_mode=False)
    capsys.readouterr()
    command.main([*place, "--format", "json", "tally", "dome", "@1"], standalone_mode=False)
    assert capsys.readouterr().out == to_json(Tally("dome", 1, "times"))


def test_scripts_and_the_shell_read_and_run_its_line(registry: Registry, operator: Operator) -> None:
    steps = parse_script(registry, "# a comment\ntally dome @1 --unit lines\n", "tally.amgs")
    results: list[Any] = []
    run_steps(operator, steps, "tally.amgs", after=lambda _, result: results.append(result))
    assert results == [Tally("dome", 2, "lines")]
    call = registry.parse("tally dome --least 3")
    assert call == tally("dome", least=3) and call.line() == "tally dome --least 3"
    for wrong in ("tally", "tally dome --least 10", "tally dome --unit years", "tally dome --most 1"):
        with pytest.raises(LineError):
            registry.parse(wrong)


def test_completion_offers_its_name_its_options_its_choices_and_its_blocks(
    registry: Registry, operator: Operator
) -> None:
    def offered(line: str) -> list[str]:
        return [each.text for each in complete(registry, line, operator.engine.memory, operator.listed)]

    assert offered("tal") == ["tally"]
    assert offered("tally dome --") == ["--least", "--unit"]
    assert offered("tally dome --unit ") == ["times", "lines"]
    assert offered("tally dome ") == ["@1"]


def test_its_json_schema_tells_types_bounds_choices_and_help() -> None:
    schema = tally.schema()
    given = schema["properties"]
    assert schema["title"] == "tally" and schema["required"] == ["word"]
    assert schema["description"].startswith("Count how often")
    assert list(given) == ["word", "block", "least", "unit"], "neither the engine nor the progress"
    assert given["word"] == {"description": "The word to count.", "title": "Word", "type": "string"}
    assert (given["least"]["minimum"], given["least"]["maximum"], given["least"]["default"]) == (1, 9, 1)
    assert given["unit"]["enum"] == ["times", "lines"]
    assert call_from_json(tally, {"word": "dome", "least": 2}) == tally("dome", least=2)
    for wrong in ({}, {"word": "dome", "least": 10}, {"word": "dome", "most": 1}):
        with pytest.raises(ValueError, match="tally"):
            call_from_json(tally, wrong)


def test_every_operation_takes_an_engine_or_an_operator_and_has_a_schema() -> None:
    for each in standard():
        first = next(iter(inspect.signature(each.function).parameters))
        assert first == ("operator" if each.of_operator else "engine"), each.name
        assert set(each.schema()["properties"]) == set(each.signature.parameters), each.name
