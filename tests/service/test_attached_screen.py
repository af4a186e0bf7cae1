"""The workstation on a served memory: what others do is seen as it happens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import OptionList

from amgs.errors import UnreachableError
from amgs_app.attached.event_listener import EventListener, Reach
from amgs_app.attached.remote_engine import RemoteEngine
from amgs_app.engine import Options
from amgs_app.results.service_event import ServiceEvent
from amgs_app.session import Operator
from amgs_tui.app import Workstation
from amgs_tui.dialogs.newest_first import Traffic
from tests.service.serving import NOW, client, served


@asynccontextmanager
async def attached(address: str) -> AsyncIterator[tuple[Workstation, Pilot[None]]]:
    """A workstation on the served memory, ready and listening."""
    app = Workstation(lambda: Operator(RemoteEngine(Options(connect=address))), store_name="served")
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.state.overview is not None and not app.dispatcher.unanswered)
            await until(pilot, lambda: app.watch_service.hears)
            yield app, pilot
    finally:
        await asyncio.to_thread(app.engine.close)
        await asyncio.to_thread(app.watch_service.join)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not holds():
            await pilot.pause(0.02)


def text_of(app: Workstation) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_what_an_agent_takes_in_and_asks_appears_and_nothing_is_taken_away(tmp_path: Path) -> None:
    with served(tmp_path / "notes.duckdb") as address, client(address) as agent:
        async with attached(address) as (app, pilot):
            assert not app.state.overview or not app.state.overview.store.blocks  # nothing is taken in unasked
            focused = app.main.focused_pane
            given = {"content": "# Heron\nThe mast of the Heron was replaced in May."}
            (block,) = (await asyncio.to_thread(agent.post, "/v1/memory/ingest", json=given)).json()["added"]
            await until(pilot, lambda: "Heron" in text_of(app))
            assert app.main.focused_pane is focused
            assert app.state.selected != block

            await pilot.press("T")
            await until(pilot, lambda: isinstance(app.screen, Traffic))
            asked = {"query": "who replaced the mast?", "top_k": 3}
            await asyncio.to_thread(agent.post, "/v1/memory/search", json=asked)
            await until(pilot, lambda: "who replaced the mast?" in text_of(app))
            assert "1 hit " in text_of(app)
            listed = app.screen.query_one(OptionList)
            assert listed.highlighted == 0
            await pilot.press("enter")
            await until(pilot, lambda: app.state.selected == block)


async def test_a_service_that_ends_is_said_and_found_again(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    with served(store) as address:
        async with attached(address) as (app, pilot):
            app.watch_service.hear(Reach("lost", "The connection ended."))
            await until(pilot, lambda: "service is lost" in text_of(app))
            app.watch_service.hear(Reach("heard"))
            await until(pilot, lambda: "service is back" in text_of(app))


def test_a_listener_begins_again_with_what_it_missed() -> None:
    heard: list[object] = []
    asked: list[str] = []
    done = threading.Event()

    def source(after: str) -> Iterator[ServiceEvent | None]:
        asked.append(after)
        if len(asked) == 2:
            raise UnreachableError("Nobody answers there.")
        yield None
        yield ServiceEvent("changed", 7, NOW)
        if len(asked) == 3:
            done.set()

    listener = EventListener(source, heard.append)
    listener.start()
    assert done.wait(120)
    listener.close()
    listener.join(120)
    assert asked[:3] == ["", "7", "7"]
    assert [each.words for each in heard if isinstance(each, Reach) and each.state == "lost"][:2] == [
        "The connection ended.",
        "Nobody answers there.",
    ]
