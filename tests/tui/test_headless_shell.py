"""The shell: the same verbs at a prompt or from a pipe."""

from __future__ import annotations

import io
import json

import pytest

from amgs_app.shell.output import Format
from amgs_app.shell.script import Pipe
from amgs_app.shell.script import split_pipe as piped_line
from tests.tui.headless_world import Amgs


def split_pipe(amgs: Amgs, monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return amgs("shell")


def test_lines_from_a_pipe_are_carried_out_in_one_session(amgs: Amgs, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["# a comment", "", "select motor.md | json", "block show | json", "quit", "nonsense", ""]
    assert split_pipe(amgs, monkeypatch, "\n".join(lines)) == 0
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(amgs.out)
    second, _ = decoder.raw_decode(amgs.out[end:].lstrip())
    assert first["block"]["id"] == second["block"]["id"]


def test_the_first_error_in_a_pipe_ends_it_with_its_place(amgs: Amgs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert split_pipe(amgs, monkeypatch, "graph stats\nblock show ffffffff\nstatus\n") == 2
    assert "<stdin>:2:1" in amgs.err
    assert "schema" not in amgs.out


@pytest.mark.parametrize(
    ("line", "rest", "form", "paged"),
    [
        ("search dome", "search dome", None, False),
        ("search dome | json", "search dome ", "json", False),
        ("search dome |  csv", "search dome ", "csv", False),
        ("search dome | less", "search dome ", None, True),
        ("search '| json'", "search '| json'", None, False),
        ("search '|' json", "search '|' json", None, False),
    ],
)
def test_a_pipe_at_the_end_says_how_a_result_is_seen(line: str, rest: str, form: Format | None, paged: bool) -> None:
    assert piped_line(line) == (rest, Pipe(form, paged))
