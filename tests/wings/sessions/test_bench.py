"""The bench of sessions: what it holds the readers against finds what they miss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amgs.sessions.opening import open_session
from amgs.sessions.turn import Session
from benchmarks.bench_results import Rig
from benchmarks.sessions.bench import run
from benchmarks.sessions.byte_count import missed_boundaries, missed_requests, missed_rewinds, records_of
from tests.wings.sessions.claude_world import LISTING, ClaudeFile


def orchard(path: Path) -> Session:
    """A compacted session in which a prompt was taken back and a file had to be opened again."""
    file = ClaudeFile(path)
    file.say("Mend the store.")
    file.call("Write", "Written.", file_path="/home/ilse/store.py", content=LISTING)
    file.say("No, leave it.")
    file.answer("Left.")
    before = file.records[2]["uuid"]
    file.say("Go on.")
    file.records[-1]["parentUuid"] = before
    file.answer("I go on.")
    file.compact("The store was begun.")
    file.read("/home/ilse/store.py")
    return file.open()


def test_what_a_reader_misses_is_counted_from_the_bytes(tmp_path: Path) -> None:
    session = orchard(tmp_path / "a.jsonl")
    records = records_of(Path(session.path))
    assert (missed_boundaries(records, session), missed_rewinds(records, session)) == (0, (1, 0))
    assert missed_requests([(records, session)]) == (4, 0)
    blind = replace(session, turns=tuple(replace(turn, boundary=None, abandoned=False) for turn in session.turns))
    assert (missed_boundaries(records, blind), missed_rewinds(records, blind)) == (1, (1, 1))
    assert missed_requests([(records, replace(session, turns=session.turns[:3]))]) == (4, 3)


@pytest.mark.parametrize(
    "name", ["antigravity", "atif", "claude_code", "codex", "copilot_cli", "gemini_cli", "goose", "opencode", "pi"]
)
def test_compactions_of_every_program_are_counted_from_the_bytes(name: str) -> None:
    (path,) = (Path(__file__).parents[2] / "unit/sessions/fixtures").glob(f"{name}.json*")
    session, records = open_session(path), records_of(path)
    assert missed_boundaries(records, session) == 0
    assert missed_boundaries([], session) > 0


def test_the_price_of_a_compaction_stands_beside_other_places_by_program(tmp_path: Path) -> None:
    orchard(tmp_path / "a.jsonl")
    result = run(Rig(), tmp_path, only="price")
    assert result.metrics["reopened_times"] == 1
    assert result.metrics["reopened_after"] == result.metrics["reopened_after_low"] > 0
    (table,) = result.tables
    assert {row[0] for row in table.rows} == {"all", "Claude Code"}
    assert run(Rig(), tmp_path, only="bytes").metrics["sessions_boundaries_missed"] == 0
