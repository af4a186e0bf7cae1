"""The Packs pane: kept from the frame, read and judged, opened down to a member, retired, undone."""

from __future__ import annotations

from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.types import BlockFilter
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.packs.pane import PacksPane
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import NOW, World


def pane_of(driven: Drive) -> PacksPane:
    pane = driven.app.main.pane("packs")
    assert isinstance(pane, PacksPane)
    return pane


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
            memory.packs.keep(name, blocks=ids[3:7] if name == "motor" else ids[3:6])
    return world


async def test_a_frame_is_kept_read_judged_and_retired_and_that_is_undone() -> None:
    async with drive(World(raw=0, consolidated=8), (80, 24)) as driven:
        await driven.press("9")
        assert "No pack yet" in driven.text and "keep the present frame" in driven.text
        await driven.press("2", "e")
        await driven.type("the dome motor", "enter")
        await driven.press("9", "K")
        await driven.type("dome", "enter")
        pane = pane_of(driven)
        assert [one.pack.name for one in pane.packs] == ["dome"] and "dome@1" in driven.text
        assert pane.content is not None and pane.content.usage.pack.title == "the dome motor"
        await driven.press("r")
        assert isinstance(driven.app.screen, TextReader) and "dome@1" in driven.text
        await driven.press("escape", "u")
        assert pane.content is not None and [one.outcome for one in pane.content.readings] == [1.0]
        assert pane.packs[0].success == 1.0 and "1 reading" in driven.text
        await driven.press("colon")
        await driven.type("pack list --keep 1", "enter")
        assert [one.forget for one in pane_of(driven).packs] == [True] and "would go" in driven.text
        await driven.press("9", "D", "enter")
        assert pane_of(driven).empty and "No pack yet" in driven.text
        await driven.press("colon")
        await driven.type("undo", "enter")
        await driven.press("enter")
        assert [one.forget for one in pane_of(driven).packs] == [False]


async def test_a_pack_is_opened_down_to_a_member_and_says_what_links_it() -> None:
    async with drive(kept(), (120, 40)) as driven:
        await driven.press("9")
        pane = pane_of(driven)
        assert pane.rows == 2 and "links" in driven.text and "semantic to" in driven.text
        for _ in range(2):
            if pane.name_at_cursor != "dome":
                await driven.press("down")
        assert "◆ learning of 2" in driven.text
        await driven.press("enter")
        member = pane.member
        assert pane.inside and member is not None and member.role == "learning"
        assert driven.app.selected == member.block.id and "In cold nights" in driven.text
        await driven.press("enter")
        assert isinstance(driven.app.screen, TextReader)
        await driven.press("escape", "9", "left")
        assert not pane_of(driven).inside and pane_of(driven).rows == 2
        driven.app.dispatcher.look()
        await driven.settle()
        assert pane_of(driven).content is not None and "dome@1 ─" in driven.text
        await driven.press("colon")
        await driven.type("pack show school", "enter")
        await driven.press("escape")
        assert pane_of(driven).inside and "school@1 ─" in driven.text


async def test_what_is_proposed_is_rejected_reopened_and_accepted() -> None:
    async with drive(kept("engine", "motor"), (80, 24)) as driven:
        await driven.press("9", "P")
        pane = pane_of(driven)
        assert [(one.action, one.packs) for one in pane.proposals] == [("MERGE", ("motor@1", "engine@1"))]
        assert "sure" in driven.text and "the second is retired" in driven.text
        await driven.press("x")
        assert not pane_of(driven).proposals and "nothing to merge" in driven.text
        await driven.press("colon")
        await driven.type("undo", "enter")
        await driven.press("enter", "9")
        assert len(pane_of(driven).proposals) == 1
        await driven.press("u")
        assert not pane_of(driven).proposals
        await driven.press("left")
        assert set(pane.names) == {"motor", "dome", "school"}
