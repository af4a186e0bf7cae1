"""The Sessions pane: what lies here is listed, one is opened, seen in its views, searched, and followed as it grows."""

from __future__ import annotations

import os
import re
import time
from functools import partial
from pathlib import Path

import pytest

from amgs_app.engine import Engine, Options
from amgs_app.places.folders import data_folder
from amgs_app.session import Operator
from amgs_app.settings import load_settings
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.sessions.pane import SessionsPane
from amgs_tui.wing_panes import front_pane
from tests.tui.app_drive import drive
from tests.tui.app_world import World
from tests.wings.sessions.claude_world import LISTING, ClaudeFile

STORE = "/home/ilse/orchard/store.py"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one session, in which a file is opened again after a compaction."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    file = orchard(tmp_path)
    file.save()
    return tmp_path


def orchard(home: Path) -> ClaudeFile:
    file = ClaudeFile(home / ".claude/projects/orchard/orchard-1.jsonl")
    file.say("Mend the store. You must never drop the harvest table of 4711 rows.")
    file.read(STORE)
    file.edit(STORE)
    file.run("make check", "store.py:3: TypeError: harvest is not a table", failed=True)
    file.compact("The work on the store went on.")
    file.read(STORE, LISTING)
    file.answer("The store is mended.")
    return file


async def test_a_session_is_listed_opened_and_seen_in_each_of_its_views(home: Path) -> None:
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press("grave_accent")
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        assert "1 session of agents" in driven.text and "Mend the store. You must" in driven.text
        await driven.press("enter")
        await driven.until(lambda: pane.review is not None)
        await driven.press("z")
        assert "1 compaction" in driven.text and "tokens were needed again" in driven.text
        assert "reopened" in driven.text and "constraints" in driven.text
        seen = []
        for view in pane.VIEWS[1:]:
            await driven.press("v")
            if view in ("turns", "window"):
                await driven.until(partial(pane.results.__contains__, view))
            seen.append(driven.text.partition("overview  turns")[2])  # below the title
        assert pane.view == "outlook"
        turns, window, lost, regret, cache, rules, outlook = seen
        assert "The store is mended." in turns
        assert "summary" in window and "4711" not in window
        assert "4711" in lost
        assert "reopened" in regret and "again" in regret and "tokens for 1,000 dropped" in regret
        assert "No prefix was read again" in cache
        assert "No command did what the user had forbidden" in rules
        assert "would drop" in outlook and STORE in outlook
        places = [line.find(" turns  window ") for line in driven.lines]
        row = next(n for n, place in enumerate(places) if place >= 0)
        await driven.pilot.click(offset=(places[row] + 9, row))
        await driven.settle()
        assert pane.view == "window"


async def test_an_earlier_session_of_a_file_stays_open_through_its_views(home: Path) -> None:
    words = "".join(f"# aider chat started at 2026-09-1{n} 10:00:00\n\n#### Mow {n}.  \n\nMown.\n\n" for n in (0, 1))
    (home / ".aider.chat.history.md").write_text(words)
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press("grave_accent")
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        pane.place_on(row[0].id.startswith("2026-09-10") for row in pane.items)
        await driven.press("enter")
        await driven.until(lambda: pane.review is not None)
        await driven.press("v")
        await driven.until(lambda: "turns" in pane.results)
        assert "Mow 0." in driven.text and "Mow 1." not in driven.text and pane.stamp()


async def test_the_first_page_without_a_compaction_tells_what_filled_the_window_and_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = ClaudeFile(tmp_path / ".claude/projects/orchard/orchard-1.jsonl")
    file.say("Mend the store. Never use npm.")
    file.edit(STORE, "return 1")
    file.run("npm run mend", "mended")
    file.save()
    async with drive(World(raw=0, consolidated=4), (80, 24)) as driven:
        await driven.press("grave_accent")
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        assert "orchard-1" in driven.text and "turns" in driven.text
        await driven.press("z", "enter")
        await driven.until(lambda: pane.review is not None)
        assert "✗ rule of turn 1, broken at 4: `npm run mend`" in driven.text
        assert "filled the window" in driven.text and "overview  turns  window  lost" in driven.text
        await driven.press("v")
        await driven.until(lambda: "turns" in pane.results)
        await driven.press("home", "down", "enter")
        await driven.until(lambda: isinstance(driven.app.screen, TextReader))
        assert "+return 1" in driven.text and "old_string" not in driven.text


async def test_a_lost_thing_is_explained_and_a_turn_is_read_and_copied(home: Path) -> None:
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press("grave_accent")
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        await driven.press("enter")
        await driven.until(lambda: pane.review is not None)
        await driven.press("v", "v", "v")
        lost = [finding.text for _, finding in pane.items]
        await driven.press(*(["down"] * lost.index("4711")))
        await driven.press("w")
        await driven.until(lambda: isinstance(driven.app.screen, TextReader))
        assert "It does not stand in the new window." in driven.text
        await driven.press("escape", "enter")
        await driven.until(lambda: isinstance(driven.app.screen, TextReader))
        assert "harvest table of 4711 rows" in driven.text
        await driven.press("escape", "r")
        await driven.until(lambda: "4711 rows" in driven.app.clipboard)


async def test_a_session_that_grows_is_followed(home: Path) -> None:
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press("grave_accent")
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        await driven.press("enter")
        await driven.until(lambda: pane.review is not None)
        assert pane.review is not None
        before = pane.review.facts.records
        file = orchard(home)
        file.say("And now the trees.")
        file.save()
        await driven.until(lambda: pane.review is not None and pane.review.facts.records == before + 1)


class NoMemory(World):
    """A machine on which nobody has a memory yet."""

    def open(self) -> Operator:
        self.session = Operator(Engine(Options(own=True, model="tiny")))
        self.session.engine.require_existing_memory()
        return self.session


async def test_without_a_memory_only_the_sessions_are_on_the_screen_by_the_machines_clock(home: Path) -> None:
    hour_ago = time.time() - 3_660
    os.utime(home / ".claude/projects/orchard/orchard-1.jsonl", (hour_ago, hour_ago))
    world = NoMemory()
    before = {*home.rglob("*")}
    async with drive(world, (120, 40), front="sessions", now=None, store_name="") as driven:
        pane = driven.pane(SessionsPane)
        await driven.until(lambda: "sessions" in pane.results)
        assert driven.app.main.body.shown == ("sessions",) and "sessions on this machine" in driven.text
        assert re.search("1 h +orchard-1", driven.text) and "Inbox" not in driven.text
        await driven.press("1")
        assert driven.app.main.body.shown == ("sessions",) and "There is no memory yet" in driven.text
        await driven.press("O", "t", "enter")
        await driven.until(lambda: pane.review is not None)
        assert "tokens were needed again" in driven.text
        assert not world.session.engine.memory_is_open and not world.session.engine.loads_ahead
    assert {*home.rglob("*")} == before


async def test_a_command_that_begins_a_memory_brings_the_other_panes(home: Path) -> None:
    world = NoMemory()
    async with drive(world, front="sessions", now=None, store_name="") as driven:
        await driven.press("colon")
        await driven.type("ingest --file nowhere.md", "enter")
        assert not [*home.rglob("*.duckdb")] and driven.app.state.front == "sessions"
        await driven.press("colon")
        await driven.type("search pears", "enter")
        assert "There is no memory" in driven.text
        await driven.press("colon")
        await driven.type("ingest 'The pears are ripe.'", "enter")
        await driven.until(lambda: driven.app.state.front == "" and len(driven.app.main.body.shown) > 1)
        assert [path.name for path in home.rglob("*.duckdb")] == ["memory.duckdb"]


def test_the_front_is_of_those_who_have_sessions_and_no_memory(home: Path) -> None:
    assert front_pane() == "sessions"
    own = data_folder(load_settings(None).paths) / "memory.duckdb"
    own.parent.mkdir(parents=True)
    own.touch()
    assert front_pane() == ""
    own.unlink()
    (home / ".claude/projects/orchard/orchard-1.jsonl").unlink()
    assert front_pane() == ""
