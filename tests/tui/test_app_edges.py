"""Edges corrected in the graph pane: drafted by keys, seen before they are written, applied as one, undone as one."""

from __future__ import annotations

from amgs_tui.dialogs.chooser import Chooser
from amgs_tui.dialogs.dialog import Confirm
from amgs_tui.panes.graph import GraphPane
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World


async def on_graph(driven: Drive) -> GraphPane:
    """The graph pane around the note on the dome."""
    await driven.press("slash")
    await driven.type("dome", "enter")
    await driven.press("3")
    pane = driven.app.main.pane("graph")
    assert isinstance(pane, GraphPane) and pane.edges.edge_at_cursor is not None
    return pane


async def test_edges_are_cut_confirmed_weighed_and_added_as_one_draft() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await on_graph(driven)
        before = {edge.key: edge for edge in world.session.engine.memory.edges()}
        cut = pane.edges.edge_at_cursor
        await driven.press("x")
        assert cut is not None and pane.edges.draft is not None and pane.edges.draft.edits[0].after is None
        assert "draft: nothing has changed yet" in driven.text and "✗" in driven.text
        await driven.press("right")
        weighed = pane.edges.edge_at_cursor
        assert weighed is not None and weighed.key != cut.key
        await driven.press("minus", "minus")
        assert (
            "1 removed, 1 weighed" in driven.text and f"weight {weighed.weight:.2f}".replace("0.", ".") in driven.text
        )
        await driven.press("i")
        await driven.type("mirror", "enter")
        assert isinstance(driven.app.screen, Chooser)
        await driven.press("down", "enter")
        assert "1 added, 1 removed, 1 weighed" in driven.text
        assert {edge.key: edge for edge in world.session.engine.memory.edges()} == before
        await driven.press("c")
        after = {edge.key: edge for edge in world.session.engine.memory.edges()}
        assert cut.key not in after and after[weighed.key].weight < weighed.weight
        (added,) = after.keys() - before.keys()
        assert added[2] == "depends_on" and "draft:" not in driven.text
        assert world.operations[0].kind == "edge" and world.operations[0].edges == 3
        await driven.press("U")
        assert isinstance(driven.app.screen, Confirm)
        await driven.press("y")
        assert {edge.key: edge for edge in world.session.engine.memory.edges()} == before
