"""The pictures of packs: at every size, in every theme."""

from __future__ import annotations

import pytest

from amgs_app.render.catalogue import list_of
from amgs_app.views.packs.rows import list_routed
from tests.tui.picture_checks import check_picture
from tests.wings.packs.tui import pack_samples

LISTS = (
    *map(list_of, (pack_samples.listed(), pack_samples.content(), pack_samples.proposals())),
    list_routed(pack_samples.assembly()),
)


@pytest.mark.parametrize("place", range(4))
def test_a_picture_of_packs_is_whole_at_every_size_and_hides_no_text(place: int) -> None:
    listed = LISTS[place]
    assert listed is not None
    check_picture(lambda canvas: listed.draw(canvas, 3).render())
