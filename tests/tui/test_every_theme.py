"""Every theme on every pane; and nothing that is told is told by colour alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import pytest

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.render.figures import calibration, decay, focus, frame, graph, inbox, overview, recalibration
from amgs_app.render.figures.canvas import Canvas
from amgs_app.terminal.themes import READABLE, contrast, load_all, shipped_folder
from amgs_tui.wing_panes import wing_panes
from tests.tui import figure_samples as samples
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World
from tests.tui.test_app_calibration import judged
from tests.tui.test_app_panes import opened

THEMES = tuple(load_all((shipped_folder(),))[0])
CANVAS = Canvas(140, 44)


def _queue(cursor: int) -> str:
    return calibration.calibration(
        samples.reliability(), CANVAS, now=samples.NOW, cases=samples.cases(), cursor=cursor, queue=True
    ).plain


FRAME = samples.frame()
NEAR = samples.neighbourhood()
RAW = samples.raw_blocks(20)
VIEW = samples.focus_view(24_000)
FORECAST = samples.forecast()


async def lived_in(driven: Drive) -> None:
    """Something in every pane."""
    await opened(driven)
    await driven.press("full_stop", "home", "right")


def unreadable(driven: Drive) -> set[str]:
    """Words on the screen that stand out too little from what lies under them, with the two colours; of a dialog those
    within it, since what lies behind it is dimmed.
    """
    found = set()
    screen = driven.app.screen
    strips = screen._compositor.render_strips()
    if screen is not driven.app.main:
        dialog = driven.dialog
        strips = [strip.crop(dialog.x, dialog.right) for strip in strips[dialog.y : dialog.bottom]]
    for strip in strips:
        for text, style, _ in strip:
            if style is None or style.color is None or style.bgcolor is None:
                continue
            ink, under = (colour.get_truecolor().hex for colour in (style.color, style.bgcolor))
            if ink != under and any(sign.isalnum() for sign in text) and contrast(ink, under) < READABLE:
                found.add(f"{text.strip()!r}: {ink} on {under}, {contrast(ink, under):.2f}")
    return found


async def test_every_pane_is_drawn_in_every_theme() -> None:
    async with drive(judged(), (200, 60), theme=THEMES[0]) as driven:
        await lived_in(driven)
        shown = driven.app.main.body.shown
        assert set(shown) == set(PANES) - {"conversation", *wing_panes()}
        grounds = set()
        for theme in THEMES:
            driven.app.theme = theme
            await driven.settle()
            assert "✗ A fault" not in driven.text
            assert all(len(driven.app.main.pane(name).copy_text().strip()) > 80 for name in shown)
            grounds.add(driven.app.main.styles.background.rgb)
            assert not unreadable(driven), theme
        assert len(grounds) > len(THEMES) // 2  # the themes were really put on
        for sign, name in zip(PANE_KEYS, PANES, strict=False):
            await driven.press("grave_accent" if sign == "`" else sign, "z")
            assert driven.app.main.body.shown == (name,)
            assert len(driven.app.main.pane(name).copy_text().strip()) > 80
            await driven.press("z")


TALK = [
    {"role": ("user", "assistant")[n % 2], "content": f"{n}: the encoder slipped after a cold night."}
    for n in range(12)
]
DIALOGS: dict[str, tuple[str, ...]] = {
    "the finder": ("slash",),
    "the palette": ("ctrl+p",),
    "the help": ("question_mark",),
    "the glossary": ("question_mark", "question_mark"),
    "a block": ("2", "p"),
    "why of a candidate": ("2", "w"),
    "what was run": ("H",),
    "the question of an undo": ("U",),
}


async def test_dialogs_and_conversation_can_be_read_in_every_theme() -> None:
    world = World(consolidated=8)
    with world.open() as session:
        session.engine.memory.conversation.add("night", TALK)
    weak: dict[tuple[str, str], set[str]] = {}
    async with drive(world, (80, 24), theme=THEMES[0]) as driven:

        async def looked_at(what: str) -> None:
            for theme in THEMES:
                driven.app.theme = theme
                await driven.pilot.pause()
                if found := unreadable(driven):
                    weak[theme, what] = found

        await driven.press("8")
        assert "encoder slipped" in driven.text
        await looked_at("conversation")
        await driven.press("2", "e")
        await driven.type("why did the dome stall?", "enter")
        await looked_at("frame")
        for what, keys in DIALOGS.items():
            await driven.press(*keys)
            assert driven.app.screen is not driven.app.main, what
            await looked_at(what)
            while driven.app.screen is not driven.app.main:
                await driven.press("escape")
        driven.app.notices.error("No such block", "There is none of that name. " * 5)
        await looked_at("a notice")
    assert not weak


async def test_the_pane_with_the_keys_is_told_by_its_frame() -> None:
    async with drive(World(consolidated=8), (200, 60), theme=THEMES[0]) as driven:
        for theme, sign, name in zip(cycle(THEMES), PANE_KEYS, PANES, strict=False):
            driven.app.theme = theme
            await driven.press("grave_accent" if sign == "`" else sign)
            region = driven.app.main.pane(name).region
            assert driven.lines[region.y][region.x] == "┏"
            assert driven.text.count("┏") == 1


async def test_a_terminal_that_knows_ascii_alone_gets_nothing_else() -> None:
    async with drive(World(consolidated=8), (200, 60), symbols="ascii") as driven:
        await lived_in(driven)
        assert driven.text.isascii()
        await driven.press("question_mark")
        assert driven.text.isascii()
        await driven.press("escape", "F")
        assert driven.text.isascii()


async def test_other_signs_take_hold_on_the_whole_screen_at_once() -> None:
    async with drive(World(consolidated=8), (120, 40)) as driven:
        assert not driven.text.isascii()
        driven.app.appearance.use_symbols("ascii")
        await driven.settle()
        assert driven.text.isascii()


Draw = Callable[[], str]
TOLD: dict[str, tuple[Draw, Draw]] = {
    "the row in the inbox": (
        lambda: inbox.inbox(RAW, CANVAS, now=samples.NOW, selected=RAW[1].id).plain,
        lambda: inbox.inbox(RAW, replace(CANVAS, height=12), now=samples.NOW, selected=RAW[2].id).plain,
    ),
    "the candidate": (
        lambda: frame.frame(FRAME, CANVAS, selected=FRAME.candidates[0].block.id, show="candidates").plain,
        lambda: frame.frame(FRAME, CANVAS, selected=FRAME.candidates[2].block.id, show="candidates").plain,
    ),
    "the neighbour": (
        lambda: graph.neighbourhood(replace(NEAR, centrality={}), CANVAS, selected=NEAR.blocks[3].id).plain,
        lambda: graph.neighbourhood(replace(NEAR, centrality={}), CANVAS, selected=NEAR.blocks[4].id).plain,
    ),
    "the forecast row": (
        lambda: (
            decay.decay(CANVAS, now=samples.NOW, forecast=FORECAST, selected=FORECAST.rows[0].block.id).plain
        ),
        lambda: (
            decay.decay(CANVAS, now=samples.NOW, forecast=FORECAST, selected=FORECAST.rows[2].block.id).plain
        ),
    ),
    "the bin": (
        lambda: calibration.calibration(samples.reliability(), CANVAS, now=samples.NOW, chosen=5).plain.split(
            "\n"
        )[-2],
        lambda: calibration.calibration(samples.reliability(), CANVAS, now=samples.NOW, chosen=6).plain.split(
            "\n"
        )[-2],
    ),
    "the forecast": (
        lambda: _queue(1),
        lambda: _queue(2),
    ),
    "the change of a plan": (
        lambda: recalibration.plan(samples.recalibration(), CANVAS, cursor=1).plain,
        lambda: recalibration.plan(samples.recalibration(), CANVAS, cursor=2).plain,
    ),
    "a curve that is left out": (
        lambda: recalibration.plan(samples.recalibration(), CANVAS).plain.split("\n")[2],
        lambda: recalibration.plan(samples.recalibration(used=False), CANVAS).plain.split("\n")[2],
    ),
    "the entry": (
        lambda: focus.focus(VIEW, CANVAS, selected=10).plain,
        lambda: focus.focus(VIEW, CANVAS, selected=40).plain,
    ),
    "what was undone": (
        lambda: overview.overview(samples.status(), CANVAS, operations=samples.operations()[:1]).plain,
        lambda: (
            overview.overview(
                samples.status(), CANVAS, operations=(replace(samples.operations()[0], undone=True),)
            ).plain
        ),
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_it_is_told_without_colour(name: str) -> None:
    one, other = TOLD[name]
    assert one() != other()
