"""The pictures of packs: at every size, in every theme, and what a row tells."""

from __future__ import annotations

import pytest

from amgs_app.render.canvas import Canvas
from amgs_app.views.packs.figures import packs, proposals, route
from tests.tui import figure_samples as samples
from tests.tui.picture_checks import Draw, check_picture
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


@pytest.mark.parametrize(
    "draw", [*PICTURES.values(), *EMPTY.values()], ids=[*PICTURES, *(f"no {name}" for name in EMPTY)]
)
def test_a_picture_of_packs_is_whole_at_every_size_and_hides_no_text(draw: Draw) -> None:
    check_picture(draw)


@pytest.mark.parametrize("name", [*EMPTY])
def test_an_empty_picture_of_packs_names_the_verb_that_fills_it(name: str) -> None:
    plain = EMPTY[name](Canvas(80, 20)).plain
    assert any(verb in plain for verb in ("pack keep", "pack use", "amgs"))
