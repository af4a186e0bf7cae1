"""What a screen of 80 columns spends its cells on."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import OptionList

from amgs.api.health import of_graph
from amgs.types.conversation import RelevanceLayer, SpanReason
from amgs_app.render.catalogue import entry_of
from amgs_app.render.figures import inbox
from amgs_app.render.figures.canvas import Canvas
from amgs_app.render.figures.format import short_ids
from amgs_app.render.sheet import to_lines
from amgs_tui.dialogs.dialog import Confirm
from amgs_tui.dialogs.finder import Finder
from tests.tui import figure_samples as samples
from tests.tui.app_drive import drive
from tests.tui.app_world import World


async def test_the_finder_offers_the_latest_blocks_before_anything_is_typed() -> None:
    world = World(consolidated=6)
    async with drive(world, (80, 24)) as driven:
        await driven.press("slash")
        assert isinstance(driven.app.screen, Finder)
        listed = [option.id for option in driven.app.screen.query_one(OptionList).options]
        assert listed == [block.id for block in world.consolidated]
        assert "The latest 6 blocks; type to search all blocks." in driven.text
        await driven.type("mirror")
        assert "Mirror cleaning procedure" in driven.text and "The latest" not in driven.text
        await driven.press(*["backspace"] * len("mirror"))
        assert "The latest 6 blocks" in driven.text
        await driven.press("down", "enter")
        assert driven.app.selected == listed[1]


async def test_a_lone_pane_opens_on_the_overview_where_the_inbox_is_empty() -> None:
    async with drive(World(raw=0, consolidated=3), (60, 15)) as driven:
        assert driven.app.main.body.shown == ("overview",)
        await driven.press("1")
        assert "The inbox is empty" in driven.text
    async with drive(World(raw=1, consolidated=3), (60, 15)) as driven:
        assert driven.app.main.body.shown == ("inbox",)


def test_why_a_message_is_kept_leaves_out_what_counts_for_nothing() -> None:
    layers: tuple[tuple[RelevanceLayer, float], ...] = (
        ("semantic", 3.0),
        ("entity", 0.01),
        ("around", -0.04),
    )
    why = SpanReason("night", "#1", "why?", "extractive", 900, True, (), 600, False, layers=layers)
    told = "\n".join(str(line) for line in to_lines(entry_of(SpanReason).table(why), 80))
    assert "semantic +3.0" in told and "entity" not in told and "around" not in told


async def test_no_notice_lies_over_a_question() -> None:
    async with drive(World(consolidated=3), (80, 24)) as driven:
        await driven.press("colon")
        await driven.type("block show " + "none" * 30, "enter")
        assert "No such block" in driven.text
        await driven.press("R", "q")
        assert isinstance(driven.app.screen, Confirm)
        box = driven.dialog
        asked = "\n".join(line[box.x : box.right] for line in driven.lines[box.y : box.bottom])
        assert "y yes    n no" in asked and "No such block" not in asked and "nonenone" not in asked


async def test_a_block_is_told_by_the_start_of_its_id_in_what_was_run() -> None:
    world = World(consolidated=3)
    async with drive(world, (120, 40)) as driven:
        chosen = world.consolidated[0]
        await driven.press("colon")
        await driven.type(f"block show {chosen.id}", "enter", "escape")
        await driven.press("H")
        assert f"block show {chosen.id[:8]} " in driven.text and chosen.id not in driven.text
        await driven.press("enter")
        assert driven.app.main.prompt.typed == f"block show {chosen.id}"


def test_only_whole_ids_are_shortened() -> None:
    whole = "0123456789abcdef" * 4
    assert short_ids(f"path {whole} {whole}") == "path 01234567 01234567"
    assert short_ids(f"note {whole}0 deadbeefdeadbeef") == f"note {whole}0 deadbeefdeadbeef"


def test_contents_that_repeat_their_titles_leave_the_room_to_them() -> None:
    long = "A title that is all there is to be said of it in this note"
    raw = [replace(block, content=long, meta={"title": long}) for block in samples.raw_blocks(3)]
    told = inbox.inbox(raw, Canvas(78, 19), now=samples.NOW).plain
    assert told.count(long) >= 3 and "content" not in told.split("\n")[1]
    more = [replace(raw[0], content=f"{long}\nAnd what it does not say."), *raw[1:]]
    told = inbox.inbox(more, Canvas(78, 19), now=samples.NOW).plain
    assert "content" in told.split("\n")[1] and "And what it does" in told.split("\n")[2]


def test_one_lone_block_is_one() -> None:
    assert of_graph(40, 90, 1, 0).told.startswith("1 block alone")
    assert of_graph(40, 90, 2, 0).told.startswith("2 blocks alone")
