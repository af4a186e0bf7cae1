"""The Recorder pane: recalls come in as they are recorded, one is opened with what else lay there, an answer is
diagnosed, and the views tell what is there, what is of no use, and what the scores are worth.
"""

from __future__ import annotations

import socket
import urllib.request
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amgs.types import JournalEntry
from amgs.wings.recorder.bodies import SpanWriter
from amgs.wings.recorder.foreign_memory import memory_of, restrict_to_store
from amgs.wings.recorder.uses import review_scores
from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.render.catalogue import list_of
from amgs_app.views.recorder import results
from amgs_app.views.recorder.results import RecallScores
from amgs_app.views.recorder.rows import AUDIT, draw_scores
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.recorder.pane import RecorderPane
from tests.tui.app_drive import drive
from tests.tui.app_world import World
from tests.tui.picture_checks import check_picture
from tests.wings.recorder.spans_of import SpanWorld

BEDS, PUMP = "The beds are watered every 9 hours.", "The pump is broken."
KEY = {"`": "grave_accent"}.get(sign := PANE_KEYS[PANES.index("recorder")], sign)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data" / "recorded"


def garden(conversations: int = 12) -> SpanWorld:
    """Two that say the same, one that no search brings, and answers that use the first of what was brought."""
    world = SpanWorld()
    world.store("m1", BEDS)
    world.store("m2", BEDS)
    world.store("m3", PUMP)
    world.store("h1", "Ilse lives in Bergen.", store="house")
    for number in range(conversations):
        found = [("m1", BEDS, 0.8), ("m2", "Roses want shade and old soil.", 0.3)]
        world.search("when are the beds watered?", found, f"c{number}")
        world.answer("when are the beds watered?", "Every 9 hours.", f"c{number}")
    return world


def record(folder: Path, world: SpanWorld) -> None:
    with SpanWriter(folder) as writer:
        writer.add("otlp-json", world.body, datetime.now(UTC))


async def test_nothing_recorded_says_how_and_what_comes_then_is_followed(folder: Path) -> None:
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press(KEY)
        pane = driven.pane(RecorderPane)
        await driven.until(lambda: "Nothing is recorded yet" in driven.text)
        assert "OTEL_EXPORTER_OTLP_ENDPOINT" in driven.text and ":record" in driven.text
        record(folder, garden())
        await driven.until(lambda: pane.rows == 16)
        assert "when are the beds watered?" in driven.text and "beds (15), house (1)" in driven.text
        await driven.press("down")
        assert pane.row is not None
        held = pane.row
        more = SpanWorld(first=500)
        more.now += 10**12
        more.search("what is broken?", [("m3", PUMP, 0.5)], "later")
        record(folder, more)
        await driven.until(lambda: pane.rows == 17)
        assert pane.row == held and "2 newer ones: L" in driven.text
        await driven.press("L")
        assert pane.row.query == "what is broken?"


async def test_what_is_recorded_in_the_screen_itself_is_seen_as_it_comes(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press(KEY)
        driven.app.run_line(f"record --port {port}")
        await driven.until(lambda: f"127.0.0.1:{port}" in driven.text)
        kind = {"Content-Type": "application/json"}
        urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}/v1/traces", garden().body, kind), timeout=20
        ).close()
        await driven.until(lambda: driven.pane(RecorderPane).rows == 16)
        await driven.pilot.press("escape")
        await driven.settle()
        assert "16 of memory" in driven.text, "stopped, it says what came"


async def test_a_recall_is_opened_and_its_answer_diagnosed(folder: Path) -> None:
    record(folder, garden())
    async with drive(World(raw=0, consolidated=4), (120, 40)) as driven:
        await driven.press(KEY)
        pane = driven.pane(RecorderPane)
        await driven.until(lambda: pane.rows == 16)
        await driven.press("down", "enter")
        assert [(row.used, row.id, row.score) for row in pane.items] == [(True, "m1", 0.8), (False, "m2", 0.3)]
        assert "An answer after the recall holds half" in driven.text
        await driven.press("w")
        await driven.type("the pump is broken", "enter")
        await driven.until(lambda: isinstance(driven.app.screen, TextReader))
        assert "not recalled: It was there" in driven.text
        await driven.press("escape", "backspace")
        assert pane.row is not None and pane.cursor == 1
        before = pane.row.number
        await driven.press("enter")
        late = SpanWorld(first=900)
        late.store("m0", "The oldest of all.")
        record(folder, late)
        await driven.until(lambda: pane.recall is not None and pane.recall.number == before + 1)
        assert [row.id for row in pane.items] == ["m1", "m2"]
        newer = SpanWorld(first=950)
        newer.now += 10**12
        newer.search("what is broken?", [("m3", PUMP, 0.5)], "later")
        record(folder, newer)
        await driven.until(lambda: len((pane.lists["traffic"] or AUDIT.of("", ())).items) == 18)
        await driven.press("backspace")
        assert pane.row is not None
        assert (pane.cursor, pane.row.number) == (2, before + 1), "it is back where it was"
        journal = driven.app.state.cache.operations(99)
        assert all(isinstance(one, JournalEntry) for one in journal), "what another program did is not to be undone"


# --- pictures ---------------------------------------------------------------------------------------------


def hostile() -> SpanWorld:
    """Texts that no line was made for."""
    world = garden(20)
    world.store("漢字\x1b[31m", "  two\nlines and a name that is far too long for any list " * 9)
    world.search("", [], "")
    world.search("漢字 " * 80, [("", "漢字 " * 200, -3.5), ("x" * 90, "", 1e9)], "c" * 200)
    return world


MEMORY = memory_of(hostile().spans)
RESULTS: dict[str, Any] = {
    "traffic": results.show_traffic(MEMORY, "", 99, hostile().spans, 0, Path()),
    "recall": results.show_recall(MEMORY, MEMORY.searches()[-1]),
    "records": results.show_records(MEMORY, "", 99, None),
    "audit": results.show_audit(MEMORY, MEMORY.operations[-1].at, 0, 99, None),
    "scores": RecallScores(review_scores(MEMORY)),
    "no scores": RecallScores(review_scores(restrict_to_store(MEMORY, "house"))),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_picture_is_whole_at_every_size_and_hides_no_text(name: str) -> None:
    listed = list_of(RESULTS[name])
    check_picture(partial(draw_scores, None, RESULTS[name]) if listed is None else lambda c: listed.draw(c, 1).render())
