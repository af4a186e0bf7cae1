"""The pictures of packs: at every size, in every theme, and what a row tells."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from amgs_app.render.figures.canvas import Canvas, Region
from amgs_app.terminal.screen import Symbols
from amgs_app.views.packs.figures import packs, proposals, route
from tests.tui import figure_samples as samples
from tests.tui.app_drive import drive
from tests.tui.app_world import World
from tests.tui.picture_checks import (
    SIZES,
    SMALL,
    Draw,
    fills_its_canvas,
    hides_no_text,
    is_drawn_the_same_again,
    keeps_to_its_signs,
)
from tests.tui.test_every_theme import THEMES, unreadable
from tests.wings.packs.tui import pack_samples

KEPT = pack_samples.content()
PICTURES: dict[str, Draw] = {
    "packs": lambda c: packs.packs_figure(
        pack_samples.listed(),
        c,
        cursor=4,
        now=samples.NOW,
        beside=lambda region: packs.draw_content(region, KEPT, samples.NOW),
    ).render(),
    "pack": lambda c: packs.members_figure(KEPT, packs.members_of(KEPT), c, cursor=1).render(),
    "pack route": lambda c: route.route(pack_samples.route(), c),
    "pack proposals": lambda c: proposals.proposals_figure(
        pack_samples.proposals(), c, cursor=3, titles=samples.TITLES
    ).render(),
}
EMPTY: dict[str, Draw] = {
    "packs": lambda c: packs.packs(pack_samples.listed(0), c),
    "pack proposals": lambda c: proposals.proposals((), c),
}


@pytest.mark.parametrize("size", [*SIZES, *SMALL], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", [*PICTURES, *(f"empty {name}" for name in EMPTY)])
def test_a_picture_of_packs_fills_its_canvas_exactly(name: str, size: tuple[int, int]) -> None:
    fills_its_canvas(PICTURES[name] if name in PICTURES else EMPTY[name.removeprefix("empty ")], *size)


@pytest.mark.parametrize("symbols", ["block", "ascii"])
@pytest.mark.parametrize("name", [*PICTURES])
def test_a_picture_of_packs_keeps_to_the_signs_it_may_use(name: str, symbols: Symbols) -> None:
    keeps_to_its_signs(PICTURES[name], symbols)


@pytest.mark.parametrize("name", [*PICTURES])
def test_the_same_packs_give_the_same_picture_and_hide_no_text(name: str) -> None:
    is_drawn_the_same_again(PICTURES[name])
    hides_no_text(PICTURES[name])


@pytest.mark.parametrize("name", [*EMPTY])
def test_an_empty_picture_of_packs_names_the_verb_that_fills_it(name: str) -> None:
    plain = EMPTY[name](Canvas(80, 20)).plain
    assert any(verb in plain for verb in ("pack keep", "pack use", "amgs"))


def test_readings_of_a_pack_tell_their_age_whole() -> None:
    used = replace(pack_samples.uses()[0], at=samples.NOW - timedelta(minutes=27))
    content = replace(pack_samples.content(), readings=(used,))

    def draw(region: Region) -> None:
        packs.draw_content(region, content, samples.NOW)

    drawn = packs.packs_figure(
        pack_samples.listed(), Canvas(80, 24), cursor=2, now=samples.NOW, beside=draw
    ).render()
    assert "27 min ago" in drawn.plain


async def test_packs_can_be_read_in_every_theme() -> None:
    world = World(consolidated=8)
    with world.open() as session:
        for name, question in (("dome", "why did the dome stall?"), ("encoder", "who sends the encoder?")):
            session.engine.memory.packs.keep(name, query=question)
    async with drive(world, (80, 24), theme=THEMES[0]) as driven:
        await driven.press("9", "v", "v")
        assert "dome" in driven.text
        for theme in THEMES:
            driven.app.theme = theme
            await driven.pilot.pause()
            assert not unreadable(driven), theme
