"""What the status line says of a result is the result, never the heading of a table."""

from __future__ import annotations

import pytest

from amgs.types import JournalEntry, UndoPlan
from amgs_app.engine import Engine, Options
from amgs_app.render.catalogue import sentence_of
from amgs_app.render.format import describe_undo
from amgs_app.session import Operator
from tests.engine.memory_world import NOW, write_notes
from tests.tui.real_world import say


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    notes = write_notes(tmp_path_factory.mktemp("notes"))
    made = Operator(Engine(Options(corpus=notes, store=":memory:", model="tiny", now=NOW, seed=7)))
    said_of(made, "ingest")
    said_of(made, "consolidate")
    said_of(made, "frame assemble SESSION --query dome")
    return made


def said_of(session: Operator, line: str) -> str:
    return sentence_of(say(session, line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("search dome", "hits"),
        ("select places/dome.md", "“Dome” is selected"),
        ("block set places/dome.md --profile core", "“Dome” is now place, confidence"),
        ("block set places/dome.md --pin", "pinned"),
        ("operations", "operations, the latest #"),
        ("frame list", "frames"),
        ("inbox list --due", "due"),
        ("why dome places/dome.md", "“Dome”: in, rank 1 of"),
        ("undo", "Undid #"),
    ],
)
def test_a_result_is_said(session: Operator, line: str, words: str) -> None:
    assert words in said_of(session, line)


def test_the_question_before_an_undo_counts_no_blocks_where_none_change() -> None:
    entry = JournalEntry(19, "review", NOW, "found: 4 contradicting, 61 to merge", 0, 0)
    said = describe_undo(UndoPlan(entry, 0, ()), NOW)
    assert "0 block" not in said and "removed from the queue" in said
