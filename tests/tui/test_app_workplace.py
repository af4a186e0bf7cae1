"""What the operator arranges: recordings, layouts; and that another session finds them again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs_app.engine import Engine, Options
from amgs_app.panes.layout import Layout
from amgs_app.session import Operator
from tests.tui.app_drive import drive
from tests.tui.app_world import World
from tests.tui.real_world import say

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def session(tmp_path: Path) -> Operator:
    return Operator(Engine(Options(store=str(tmp_path / "s.duckdb"), model="tiny", now=NOW)))


# --- recording --------------------------------------------------------------------------------------------


def test_a_recording_holds_what_was_done_since_and_only_that(tmp_path: Path) -> None:
    with session(tmp_path) as one:
        say(one, "ingest 'The dome motor stalled.'")
        say(one, "save")
        say(one, "consolidate")
        say(one, "search dome")
        say(one, f"save {tmp_path / 'r.amgs'}")
        assert (tmp_path / "r.amgs").read_text() == "consolidate\nsearch dome\n"
        say(one, f"save {tmp_path / 'all.amgs'}")
        assert (tmp_path / "all.amgs").read_text().splitlines()[0].startswith("ingest ")


async def test_r_begins_a_recording_says_so_and_ends_it_with_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        await driven.press("R")
        assert "rec" in driven.lines[0]
        await driven.press("R", "enter")
        assert world.calls[-1].command == "save" and world.calls[-1].arguments["file"] == Path("recording.amgs")
        assert "rec" not in driven.lines[0]


# --- layouts ----------------------------------------------------------------------------------------------


async def test_the_screen_takes_the_layout_it_was_left_with_and_remembers_the_next() -> None:
    world = World(consolidated=6)
    with world.open() as earlier:
        say(earlier, "layout focus --beside decay,inbox")
    async with drive(world, (120, 40)) as driven:
        assert driven.app.main.body.shown == ("focus", "decay", "inbox")
        await driven.press("4", "z")
        assert world.session.layout == Layout("decay", ("inbox",), large=True)
