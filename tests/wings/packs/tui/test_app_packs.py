"""The Packs pane: kept from the frame, read and judged, opened down to a member, retired, undone."""

from __future__ import annotations

from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import BlockFilter
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.packs.pane import PacksPane
from tests.tui.app_drive import drive
from tests.tui.app_world import NOW, World


def kept(*more: str) -> World:
    """A memory that holds two packs, one of them with a learning, and more that say nearly the same."""
    world = World(raw=0, consolidated=8)
    with world.open() as session:
        memory = session.engine.memory
        ids = [block.id for block in memory.blocks(BlockFilter(statuses=("consolidated",)))]
        meta = {"title": "Cold nights", "derived_from": ids[:2]}
        learning = RawBlock("In cold nights the encoder slips.", NOW, meta)
        memory.ingest_many([learning])
        memory.packs.keep("dome", blocks=[ids[2], block_id(learning.content)])
        memory.packs.keep("school", query="the valley school")
        for name in more:
            memory.packs.keep(name, blocks=ids[3:7], title=name)
    return world


async def test_a_frame_is_kept_read_judged_and_retired_and_that_is_undone() -> None:
    async with drive(World(raw=0, consolidated=8), (80, 24)) as driven:
        await driven.press("9")
        assert "No pack yet" in driven.text and "keep the present frame" in driven.text
        await driven.press("2", "e")
        await driven.type("the dome motor", "enter")
        await driven.press("9", "K")
        await driven.type("dome", "enter")
        pane = driven.pane(PacksPane)
        assert [one.pack.name for one in pane.items] == ["dome"] and "dome@1" in driven.text
        assert pane.content is not None and pane.content.usage.pack.title == "the dome motor"
        await driven.press("r")
        assert pane.view == "question" and "; reading" in driven.text
        await driven.press("u", "left")
        assert pane.content is not None and [one.outcome for one in pane.content.readings] == [1.0]
        assert pane.results["packs"].packs[0].success == 1.0 and "✓ reading 1" in driven.text
        await driven.press("colon")
        await driven.type("pack list --keep 1", "enter")
        assert [one.forget for one in pane.results["packs"].packs] == [True]
        await driven.press("9", "D", "enter")
        assert driven.pane(PacksPane).empty and "No pack yet" in driven.text
        await driven.press("colon")
        await driven.type("undo", "enter")
        await driven.press("enter")
        assert [one.pack.name for one in driven.pane(PacksPane).items] == ["dome"]


async def test_a_pack_is_opened_down_to_a_member_and_says_what_links_it() -> None:
    async with drive(kept(), (120, 40)) as driven:
        await driven.press("9")
        pane = driven.pane(PacksPane)
        assert [one.pack.name for one in pane.items] == ["dome", "school"] and "semantic" in driven.text
        await driven.press("enter")
        assert pane.view == "members" and "learning" in driven.text
        await driven.press("down")
        assert driven.app.selected == pane.block_at_cursor() and "In cold nights" in driven.text
        await driven.press("enter")
        assert isinstance(driven.app.screen, TextReader)
        await driven.press("escape", "9", "left")
        assert driven.pane(PacksPane).view == "packs" and driven.pane(PacksPane).rows == 2
        await driven.press("colon")
        await driven.type("pack list school", "enter")
        await driven.press("escape")
        assert driven.pane(PacksPane).view == "members" and "school@1" in driven.text


async def test_a_question_is_asked_and_what_is_proposed_is_rejected_reopened_and_accepted() -> None:
    async with drive(kept("engine", "motor"), (80, 24)) as driven:
        await driven.press("9", "e")
        await driven.type("the valley school", "enter")
        pane = driven.pane(PacksPane)
        assert pane.view == "question" and "in" in driven.text and pane.results["question"].uses
        await driven.press("P")
        assert [one.action for one in pane.results["proposals"].proposals] == ["MERGE"] and "sure" in driven.text
        await driven.press("x")
        assert not pane.rows and "nothing to add" in driven.text
        await driven.press("colon")
        await driven.type("undo", "enter")
        await driven.press("enter", "9")
        assert driven.pane(PacksPane).rows == 1
        await driven.press("u")
        assert not driven.pane(PacksPane).rows
        await driven.press("left")
        assert len(pane.items) == 3
