"""At a terminal the command line says what an undo will undo, and asks for what a new frame lacks; a script is never
asked.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.render.catalogue import table_of
from amgs_app.session import Operator
from amgs_app.shell.output import ask_first


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def session() -> Iterator[Operator]:
    with Operator(Engine(Options(store=":memory:", model="tiny", now=datetime(2026, 3, 1, 9, tzinfo=UTC)))) as made:
        made.engine.memory.ingest_text("The dome stood still.")
        yield made


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("yes\n", True), ("\n", False), ("", False)])
def test_at_a_terminal_it_says_what_and_asks(
    session: Operator, monkeypatch: pytest.MonkeyPatch, answer: str, goes_on: bool
) -> None:
    said = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", said)
    call = standard().parse("undo")
    assert call is not None
    assert (ask_first(session, call) is call) is goes_on
    assert "Undo #1: ingest 1 block" in said.getvalue()
    assert ("Nothing was changed." in said.getvalue()) is not goes_on


def test_a_new_frame_of_which_only_the_name_is_given_is_asked_for(
    session: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Terminal()
    monkeypatch.setattr("sys.stderr", said)
    call = standard().parse("frame define RESEARCH")
    assert call is not None
    assert ask_first(session, call) is call  # a script
    monkeypatch.setattr("sys.stdin", Terminal("WORLD\nWhat is known\nfact note\nmany\n300\n\n"))
    filled = ask_first(session, call)
    assert filled is not None
    frame = session.run(filled)
    assert (frame.name, frame.purpose, frame.budget) == ("RESEARCH", "What is known", 300)
    assert frame.rule.filter.categories == ("fact", "note")
    assert frame.rule.selection == "entropy"
    assert said.getvalue().count("Token budget (N)") == 2  # `many` is no number
    whole = standard().parse("frame define RESEARCH budget=400")
    assert whole is not None
    assert ask_first(session, whole) is whole
    monkeypatch.setattr("sys.stdin", Terminal("WORLD\n"))
    assert ask_first(session, call) is None


def test_a_dry_run_says_what_would_be_undone_and_the_sentences_name_the_operation(session: Operator) -> None:
    registry = standard()

    def title(line: str) -> str:
        call = registry.parse(line)
        assert call is not None
        return table_of(session.run(call)).title

    assert title("undo --dry-run").startswith("Would undo #1: ingest 1 block")
    assert session.engine.memory.status().blocks == {"raw": 1}
    assert title("undo").startswith("Undid #1: ingest 1 block")
