"""A retired command answers in one sentence, whoever asks for it."""

from __future__ import annotations

import re

import pytest

from amgs.errors import UsageError
from amgs_app import cli
from amgs_app.calls.retired import RETIRED, retired
from amgs_app.engine import Engine, Options
from amgs_app.operations.standard import standard
from amgs_app.session.operator import Operator
from amgs_app.terminal.exit_codes import ExitCode


@pytest.mark.parametrize("name", sorted(RETIRED))
def test_a_retired_command_is_gone_and_its_sentence_names_none_that_is(name: str) -> None:
    live = standard()
    assert name not in live
    sentence, count = retired([*name.split(), "and", "more"]) or ("", 0)
    assert sentence == f"`{name}` is gone: {RETIRED[name]}."
    assert count == len(name.split())
    assert not sentence.endswith("..")
    for code in re.findall(r"`([^`]+)`", RETIRED[name]):
        if not code.startswith("python"):
            assert live.find(code.split())[0] is not None, code


@pytest.mark.parametrize("name", sorted(RETIRED))
def test_the_command_line_says_what_to_use_instead(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--store", "none.duckdb", *name.split(), "more"]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"amgs: `{name}` is gone: {RETIRED[name]}.\n"


@pytest.mark.parametrize("line", ["bench metrics --questions q.jsonl", "bench", "help bench metrics"])
def test_the_shell_and_help_say_it_too(line: str) -> None:
    with (
        Operator(Engine(Options(store=":memory:", model="tiny"))) as operator,
        pytest.raises(UsageError, match="`bench` is gone: the benchmarks are run from the repository"),
    ):
        call = standard().parse(line)
        assert call is not None
        operator.run(call)


def test_a_command_that_was_never_there_is_not_called_gone() -> None:
    assert retired(["benches"]) is None
    assert retired([]) is None
