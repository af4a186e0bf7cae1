"""Every theme on every pane; and nothing that is told is told by colour alone."""

from __future__ import annotations

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.terminal.themes import READABLE, contrast, find_shipped_folder, load_all
from amgs_tui.wing_panes import wing_panes
from tests.tui.app_drive import Drive, drive
from tests.tui.app_world import World
from tests.tui.test_app_calibration import judged
from tests.tui.test_app_panes import opened

THEMES = tuple(load_all((find_shipped_folder(),))[0])


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
