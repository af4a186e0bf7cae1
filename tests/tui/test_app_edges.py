"""Edges corrected in the graph pane by keys: each is written at once and undone by one undo."""

from __future__ import annotations

from amgs_tui.dialogs.chooser import Chooser
from amgs_tui.dialogs.reader import Confirm
from amgs_tui.panes.graph import GraphPane
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World


async def on_graph(driven: Drive) -> GraphPane:
    """The graph pane around the note on the dome."""
    await driven.press("slash")
    await driven.type("dome", "enter")
    await driven.press("3")
    pane = driven.pane(GraphPane)
    assert pane.edges.edge_at_cursor is not None
    return pane


async def test_edges_are_cut_confirmed_weighed_and_added_each_undone_by_one_undo() -> None:
    world = World(consolidated=8)
    async with drive(world, (120, 40)) as driven:
        pane = await on_graph(driven)
        memory = world.session.engine.memory
        before = {edge.key: edge for edge in memory.edges()}
        cut = pane.edges.edge_at_cursor
        await driven.press("x")
        assert cut is not None and {edge.key for edge in memory.edges()} == before.keys() - {cut.key}
        weighed = pane.edges.edge_at_cursor
        assert weighed is not None and weighed.key != cut.key
        await driven.press("minus")
        after = {edge.key: edge for edge in memory.edges()}[weighed.key]
        assert after.weight < weighed.weight and after.confidence == weighed.confidence
        confirmed = pane.edges.edge_at_cursor
        await driven.press("u")
        assert confirmed is not None
        assert {edge.key: edge for edge in memory.edges()}[confirmed.key].confidence == 1.0
        await driven.press("i")
        await driven.type("mirror", "enter")
        assert isinstance(driven.app.screen, Chooser)
        await driven.press("down", "enter")
        (added,) = {edge.key for edge in memory.edges()} - before.keys()
        assert added[2] == "depends_on"
        assert [operation.kind for operation in world.operations[:4]] == ["edge"] * 4
        for _ in range(4):
            await driven.press("U")
            assert isinstance(driven.app.screen, Confirm)
            await driven.press("y")
        assert {edge.key: edge for edge in memory.edges()} == before
