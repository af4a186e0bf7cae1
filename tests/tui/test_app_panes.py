"""What each pane does: its keys ask verbs, its picture shows their results, and one selection runs through
all.
"""

from __future__ import annotations

import pytest

from amgs_app.calls.registry import standard
from amgs_app.results.memory import ReviewList
from amgs_focus.views import FocusView
from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.panes.frame import FramePane
from amgs_tui.panes.graph import GraphPane
from amgs_tui.panes.inbox import InboxPane
from tests.engine.review_notes import BICYCLES
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World


async def assemble(driven: Drive, query: str = "why did the dome stall") -> FramePane:
    """Go to the frame pane and ask."""
    await driven.press("2", "e")
    await driven.type(query, "enter")
    return driven.pane(FramePane)


async def opened(driven: Drive) -> FocusPane:
    """A frame, opened as lifetime context."""
    await assemble(driven)
    await driven.press("o")
    return driven.pane(FocusPane)


def seen(pane: FocusPane) -> FocusView:
    """What the pane shows of the working context that is open."""
    assert pane.view is not None
    return pane.view


# --- inbox ------------------------------------------------------------------------------------------------


async def test_a_long_inbox_is_fetched_where_the_cursor_goes() -> None:
    world = World(raw=5000)
    async with drive(world, (120, 40)) as driven:
        await driven.press("end")
        assert driven.app.selected == world.raw[-1].id
        assert "5000 of 5000" in driven.text.replace("–", " ")
        await driven.press("home")
        assert driven.app.selected == world.raw[0].id
        fetched = [call.arguments for call in world.calls if call.command == "inbox list"]
        assert all(given["limit"] <= 400 for given in fetched) and len(fetched) <= 4
        for _ in range(12):
            await driven.press("pagedown")
        place = world.raw.index(next(each for each in world.raw if each.id == driven.app.selected))
        assert place > 120


async def test_the_cursor_in_the_inbox_selects_the_block_everywhere() -> None:
    world = World()
    async with drive(world, (200, 60)) as driven:
        await driven.press("down")
        assert driven.app.selected == world.raw[1].id
        graph, decay = driven.app.main.pane("graph"), driven.app.main.pane("decay")
        assert isinstance(graph, GraphPane) and graph.found is not None
        assert graph.found.center.id == world.raw[1].id
        assert isinstance(decay, DecayPane) and decay.curve is not None
        assert decay.curve.block.id == world.raw[1].id
        assert "select" in world.commands()


# --- the draft of a consolidation -------------------------------------------------------------------------


async def test_a_draft_is_corrected_by_keys_and_applied() -> None:
    world = World()
    async with drive(world, (120, 40)) as driven:
        await driven.press("d")
        pane = driven.pane(InboxPane)
        assert pane.draft is not None
        assert "nothing has been changed yet" in driven.text and "c applies it" in driven.text
        first, second = (row.item.block.id for row in pane.items[:2])
        dropped, surer = pane.items[0].proposed.edges[:2]
        await driven.press("right", "x", "right", "plus")  # the first edge is dropped, the second one surer
        await driven.press("down", "x")  # the second block stays raw
        edit = pane.draft.edit_of(first)
        assert edit.dropped == {dropped.key}
        assert [value for _, value in edit.sure] == [pytest.approx(surer.confidence + 0.05, abs=0.03)]
        assert pane.draft.left_out == {second}
        assert "in the inbox" in driven.text and "2 corrected" in driven.text
        await driven.press("c")
        assert "nothing has been changed yet" not in driven.text and [each.id for each in world.raw] == [second]
        assert "1 raw" in driven.lines[0]


async def test_the_inbox_is_filtered_and_sorted_where_it_lies_and_the_draft_on_the_screen() -> None:
    world = World()
    async with drive(world, (120, 40)) as driven:
        await driven.press("F")
        await driven.type("supplier", "enter")
        pane = driven.pane(InboxPane)
        assert 0 < pane.rows < 8
        assert f"{pane.rows} of 8 raw" in driven.text and "only supplier" in driven.text
        asked = [call.arguments for call in world.calls if call.command == "inbox list"][-1]
        assert asked["only"] == ["supplier"]
        await driven.press("d")
        assert pane.draft is not None and len(pane.draft.proposed.items) == 8
        assert all("supplier" in row.item.block.content.lower() for row in pane.items) and pane.rows < 8
        await driven.press("x")
        assert pane.draft.left_out == {pane.items[0].item.block.id}
        await driven.press("F")
        await driven.type(" ", "enter")
        await driven.press("d")


# --- frame ------------------------------------------------------------------------------------------------


async def test_verdicts_go_to_the_candidate_under_the_cursor() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await assemble(driven)
        await driven.press("down", "u")
        (asked,) = world.asked("feedback")
        assert (asked["verdict"], asked["block"]) == ("useful", pane.items[1].item.block.id)
        assert driven.app.main.focused_pane is pane


# --- graph and decay --------------------------------------------------------------------------------------


async def test_a_pin_is_supposed_and_asked_about_before_it_is_made_so() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        await driven.press("4", "down")
        chosen = driven.app.selected
        await driven.press("w")
        assert "what if pinned" in driven.text and "if pinned" in driven.text
        pane = driven.pane(DecayPane)
        assert pane.preview is not None
        await driven.press("c")
        assert "Apply this decay profile?" in driven.text and chosen is not None
        assert world.session.engine.memory.block(chosen).decay_lambda > 0
        await driven.press("y")
        assert world.session.engine.memory.block(chosen).decay_lambda == 0
        assert pane.supposed == "" and "what if pinned" not in driven.text


# --- working context --------------------------------------------------------------------------------------


async def test_space_plays_until_space() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await opened(driven)
        await driven.pilot.press("space")
        await driven.until(lambda: pane.view is not None and pane.view.step >= 4)
        assert pane.playing or seen(pane).finished
        await driven.press("space")
        await driven.settle()
        stopped = seen(pane).step
        await driven.pilot.pause()
        assert not pane.playing and seen(pane).step == stopped


# --- traffic ----------------------------------------------------------------------------------------------


async def test_a_pane_that_cannot_look_says_why_and_recovers() -> None:
    world = World(consolidated=8)
    world.broken = {"calibration": ValueError("bins")}
    async with drive(world, (80, 24)) as driven:
        await driven.press("5")
        assert "A fault in the program" in driven.text
        world.broken = {}
        await driven.press("r")
        assert "A fault" not in driven.text


# --- review, relations, what if ---------------------------------------------------------------------------


async def test_a_finding_is_shown_with_both_texts_and_judged_by_a_key() -> None:
    world = World(raw=0)
    with world.open() as earlier:
        earlier.engine.memory.ingest_many(BICYCLES.drafts())
        earlier.engine.memory.apply_consolidation(earlier.engine.memory.plan_consolidation())
        found = earlier.run(standard().call("review", scan=True))
    assert isinstance(found, ReviewList)
    async with drive(world, (120, 40)) as driven:
        await driven.press("v")
        assert "supersedes" in driven.text and f"{len(found.items)} findings" in driven.text
        await driven.press("enter")
        assert "older" in driven.text and "newer" in driven.text
        await driven.press("u")
        left = [item.review.id for item in world.ask("review").items]
        assert left == [item.review.id for item in found.items[1:]]


# --- steering a run ---------------------------------------------------------------------------------------


async def test_the_scrubber_goes_back_and_on_and_to_the_live_end() -> None:
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        pane = await opened(driven)
        await driven.press("colon")
        await driven.type("focus step 12", "enter")
        await driven.press("left_square_bracket")
        assert 0 < seen(pane).step < 12 and "◂ past" in driven.lines[0]
        await driven.press("left_square_bracket")
        await driven.press("left_square_bracket")
        assert seen(pane).step == 0
        await driven.press("right_square_bracket")
        assert 0 < seen(pane).step <= 12
        await driven.press("L")
        assert seen(pane).step == 12 and "● live" in driven.lines[0]
        await driven.press("L")
        assert seen(pane).step == 12 and "You are at the live end" in driven.text


# --- drawing ----------------------------------------------------------------------------------------------


async def test_a_key_draws_only_the_lines_that_became_others() -> None:
    async with drive(World(raw=40), (120, 40)) as driven:
        await driven.press("down")
        inbox, drawn = driven.app.main.pane("inbox"), []
        whole = inbox.refresh
        inbox.refresh = lambda *regions, **how: drawn.append(regions) or whole(*regions, **how)  # type: ignore[method-assign, func-returns-value]
        await driven.press("down")
        lines = [sum(region.height for region in regions) for regions in drawn]
        assert lines and all(2 <= height < inbox.content_size.height // 2 for height in lines)
        assert sum("┃▸" in line for line in driven.lines) == 1
