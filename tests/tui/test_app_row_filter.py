"""Filter and order on the screen: one way in every pane that lists, told in its title, kept with the layout."""

from __future__ import annotations

from amgs_app.panes.row_filter import ListFilter
from amgs_tui.panes.focus import FocusPane
from tests.tui.app_drive import drive
from tests.tui.app_world import World
from tests.tui.test_app_panes import assemble, opened


async def test_f_leaves_the_rows_that_pass_says_so_and_a_blank_line_brings_all_back() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await assemble(driven)
        await driven.press("F")
        every = len(pane.items)
        await driven.type("fate:out tokens>40", "enter")
        shown = len(pane.items)
        assert 0 < shown < every
        assert all(row.item.fate != "selected" and row.item.tokens > 40 for row in pane.items)
        assert "only fate:out tokens>40" in driven.text
        assert f"{shown} shown of {every} candidates" in driven.text
        assert driven.app.selected == pane.items[0].item.block.id
        assert world.ask("layout").sifts == {"frame": ListFilter(("fate:out", "tokens>40"))}
        await driven.press("F", "ctrl+u", "enter")
        assert len(pane.items) == every and "shown of" not in driven.text


async def test_the_arrows_walk_only_the_entries_that_pass_in_their_order() -> None:
    async with drive(World(consolidated=8), (120, 40)) as driven:
        pane = await opened(driven)
        assert isinstance(pane, FocusPane) and pane.view is not None
        await driven.press("F")
        await driven.type("level=1 start>200", "enter")
        await driven.press("home")
        assert pane.entry is not None
        seen = [pane.entry.position]
        for _ in range(12):
            await driven.press("right")
            seen.append(pane.entry.position)
        wanted = [e.position for e in pane.view.entries if e.level == 1 and e.start > 200]
        assert list(dict.fromkeys(seen)) == wanted[:13]
