"""The screen around the panes: it starts, follows the terminal, can be walked, explains itself, and can be
left.
"""

from __future__ import annotations

import threading

import pytest
from textual import events
from textual.widgets import Input

from amgs.errors import StoreCorruptError, StoreError, StoreLockedError, StoreTooNewError
from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_tui.dialogs.chooser import Finder
from amgs_tui.dialogs.reader import Confirm, Fatal, TextReader
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World

EMPTY = {"calibration"}
"""What a memory without forecasts has nothing to show in: it leaves the room to its row."""


def key_of(sign: str) -> str:
    """What Textual calls the key of a pane."""
    return "grave_accent" if sign == "`" else sign


async def test_nothing_is_carried_out_in_the_screens_thread() -> None:
    world = World(consolidated=4)
    async with drive(world, (200, 60)) as driven:
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        assert threading.get_ident() not in world.threads and 1 <= len(world.threads) <= 2


async def test_the_layout_follows_the_terminal_live() -> None:
    async with drive(World(consolidated=6), (200, 60)) as driven:
        assert set(driven.app.main.body.shown) == set(PANES) - EMPTY
        await driven.pilot.resize_terminal(120, 40)
        await driven.settle()
        assert len(driven.app.main.body.shown) == 3
        await driven.pilot.resize_terminal(80, 24)
        await driven.settle()
        assert list(driven.app.main.body.shown) == ["inbox"]
        assert "2 Frame" in driven.lines[1]
        await driven.pilot.resize_terminal(30, 8)
        await driven.settle()
        assert "30×8" in driven.text
        await driven.pilot.resize_terminal(200, 60)
        await driven.settle()
        assert set(driven.app.main.body.shown) == set(PANES) - EMPTY


@pytest.mark.parametrize("breaks", ["\n", "\r\n", "\n\n  "])
async def test_a_text_of_several_lines_is_pasted_whole(breaks: str) -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        await driven.press("colon")
        await driven.type(f"who renews{breaks}the lease{breaks}of the boat house?{breaks.rstrip(' ')}")
        assert "who renews the lease of the boat house?" in driven.text


async def test_every_binding_has_an_id_and_says_what_it_does() -> None:
    async with drive(World(consolidated=6), (200, 60)) as driven:
        for name in PANES:
            await driven.press(key_of(PANE_KEYS[PANES.index(name)]))
            own = [active.binding for active in driven.app.screen.active_bindings.values()]
            ours = [binding for binding in own if not binding.action.startswith("screen.")]
            assert not [binding for binding in ours if not (binding.id and binding.tooltip)]
            assert not {binding.key for binding in ours} & {"ctrl+b", "ctrl+s", "ctrl+z", "ctrl+a", "ctrl+q"}


# --- the command line -------------------------------------------------------------------------------------


async def test_nothing_typed_ahead_is_lost_or_taken_for_a_key() -> None:
    world = World(consolidated=6)
    async with drive(world, (120, 40)) as driven:
        for key in ("2", "e", *"quit c", "enter"):
            name = {" ": "space"}.get(key, key)
            driven.app.post_message(events.Key(name, key if len(key) == 1 else None))
        await driven.settle()
        asked = next(request for request in world.calls if request.command == "frame assemble")
        assert asked.arguments["query"] == "quit c" and len(world.raw) == 8


async def test_a_block_is_found_by_letters_that_come_in_one_burst_with_the_key_of_the_finder() -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        for key in ("slash", *"mirror"):
            driven.app.post_message(events.Key(key, "/" if key == "slash" else key))
        await driven.settle()
        finder = driven.app.screen
        assert isinstance(finder, Finder) and finder.query_one(Input).value == "mirror"
        assert "Mirror cleaning procedure" in driven.text


@pytest.mark.parametrize(
    ("line", "leave"),
    [
        ("frame assemble SESSION --query dome", "escape"),
        ("block find dome", "escape"),
        ("block find dome", "enter"),
        ("show graph", "escape"),
    ],
)
async def test_a_result_takes_no_key_from_a_line_that_is_being_typed(line: str, leave: str) -> None:
    world = World(consolidated=6)
    world.held = {line.partition(" SESSION")[0].removesuffix(" dome").removesuffix(" graph")}
    async with drive(world, (120, 40)) as driven:
        await driven.pilot.press("colon")
        driven.app.query_one("#prompt-input", Input).value = line
        await driven.pilot.press("enter")
        await driven.until(lambda: any(request.line == line for request in world.calls))
        await driven.pilot.press("colon", *"the")
        world.release()
        await driven.settle()
        await driven.pilot.press(*"me")
        typed = driven.app.query_one("#prompt-input", Input)
        assert typed.value == "theme" and driven.app.screen is driven.app.main
        assert not driven.app.dispatcher.unanswered
        await driven.press(leave)
        if line.startswith("block"):
            assert isinstance(driven.app.screen, TextReader) and "Dome motor log" in driven.text
        else:
            assert driven.app.main.focused_pane is not None


# --- errors and leaving -----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [StoreError, StoreLockedError, StoreCorruptError, StoreTooNewError])
async def test_a_store_that_cannot_be_used_is_told_and_only_the_door_is_left(error: type[StoreError]) -> None:
    world = World()
    world.broken = {"status": error("Process 4711 has it.", way_out="Close it there."), "inbox list": error("x")}
    async with drive(world, (80, 24)) as driven:
        assert isinstance(driven.app.screen, Fatal)
        assert len([screen for screen in driven.app.screen_stack if isinstance(screen, Fatal)]) == 1
        await driven.press("q")
        assert driven.app.return_code == 4


async def test_a_store_error_in_the_middle_is_no_end() -> None:
    world = World(consolidated=3)
    async with drive(world, (80, 24)) as driven:
        world.broken = {"frame assemble": StoreError("Another embedder made it.")}
        await driven.press("2", "e")
        await driven.type("dome", "enter")
        assert not isinstance(driven.app.screen, Fatal) and "Another embedder" in driven.text


async def test_q_asks_while_something_runs_and_no_stays() -> None:
    world = World()
    world.held = {"consolidate"}
    async with drive(world) as driven:
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.dispatcher.by_operator is not None)
        await driven.pilot.press("q")
        await driven.pilot.pause()
        assert isinstance(driven.app.screen, Confirm)
        await driven.pilot.press("n")
        await driven.pilot.pause()
        assert [type(screen) for screen in driven.app.screen_stack] != [Confirm]
        assert driven.app.dispatcher.by_operator is not None


async def test_ctrl_c_stops_what_runs_and_never_kills() -> None:
    world = World()
    world.held = {"consolidate"}
    async with drive(world) as driven:
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.dispatcher.by_operator is not None)
        await driven.press("ctrl+c")
        assert "Stopped" in driven.text and len(world.raw) == 8
        await driven.press("ctrl+c")
        assert "Press q" in driven.text


async def mark(driven: Drive, start: tuple[int, int], end: tuple[int, int], pane: str = "#inbox") -> None:
    """Drag the mouse from a pane's cell to another cell; offsets count from its corner, frame included."""
    await driven.pilot.mouse_down(pane, offset=start)
    await driven.pilot.hover(pane, offset=end)
    await driven.pilot.mouse_up(pane, offset=end)
    await driven.pilot.pause()


async def test_what_is_marked_with_the_mouse_is_copied_letter_by_letter_and_no_row_is_clicked() -> None:
    async with drive(World(), (120, 40)) as driven:
        inbox = driven.app.main.pane("inbox")
        top, line = next((y, each) for y, each in enumerate(inbox.copy_text().splitlines()) if "Mirror" in each)
        left = line.index("Mirror")
        before = inbox.copy_text()
        await mark(driven, (1 + left, 1 + top), (1 + left + 5, 1 + top))
        reversed_letters = "".join(
            segment.text for segment in inbox.render_line(top) if segment.style is not None and segment.style.reverse
        )
        assert reversed_letters == "Mirror"
        assert inbox.copy_text() == before, "the release of the mouse clicked a row"
        await driven.press("ctrl+c")
        await driven.until(lambda: driven.app.clipboard == "Mirror")
        assert not driven.app.main.selections, "what was copied is no longer marked"


async def test_a_mark_goes_when_other_words_come_under_it_and_leaves_ctrl_c_to_stop_what_runs() -> None:
    world = World()
    world.held = {"consolidate"}
    async with drive(world, (120, 40)) as driven:
        driven.app.copy_to_clipboard("copied before")
        await mark(driven, (4, 2), (30, 3))
        assert driven.app.main.selections
        await driven.pilot.press("c")
        await driven.until(lambda: driven.app.dispatcher.by_operator is not None)
        await driven.press("ctrl+c")
        assert driven.app.clipboard == "copied before" and "Stopped" in driven.text
