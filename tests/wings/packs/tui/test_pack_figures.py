"""The pictures of packs: at every size, in every theme."""

from __future__ import annotations

import pytest

from amgs_app.views.packs import rows
from tests.tui.picture_checks import Draw, check_picture
from tests.wings.packs.tui import pack_samples

PAGES = {
    "packs": rows.list_page(pack_samples.listed()),
    "members": rows.content_page(pack_samples.content()),
    "question": rows.assembly_page(pack_samples.assembly()),
    "proposals": rows.proposals_page(pack_samples.proposals()),
}


def drawn(page: rows.PackPage) -> Draw:
    return lambda canvas: rows.draw_page(canvas, page, cursor=3).render()


PICTURES: dict[str, Draw] = {
    **{name: drawn(page) for name, page in PAGES.items()},
    "content": lambda c: rows.draw_page(
        c, PAGES["packs"], cursor=4, below=rows.about_pack(pack_samples.content())
    ).render(),
}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_picture_of_packs_is_whole_at_every_size_and_hides_no_text(draw: Draw) -> None:
    check_picture(draw)
