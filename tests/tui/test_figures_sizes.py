"""Every picture at every size of terminal: whole lines, ASCII where asked, the same every time."""

from __future__ import annotations

import pytest

from amgs_app.calibration import figure as calibration
from amgs_app.calibration.rows import list_forecasts
from amgs_app.conversation import figure as conversation
from amgs_app.decay import figure as decay
from amgs_app.diagnosis import figure as diagnosis
from amgs_app.focus import figure as focus
from amgs_app.frames import figure as frame
from amgs_app.graph import figure as graph
from amgs_app.memory import rows as block
from amgs_app.render import candidates as hits
from amgs_app.render.canvas import Canvas
from amgs_app.workplace import figure as overview
from tests.tui import figure_samples as samples
from tests.tui.picture_checks import Draw, check_picture

VIEW = samples.focus_view(24_000)
FRAME = samples.frame()
CASES = list_forecasts(samples.cases(), samples.NOW)
NEAR = samples.neighbourhood()
TALK = samples.conversation()
COMPARED = samples.comparison()
ODD = samples.block(1, content="漢字 \x1b[31mred\x1b[0m\tnote 👩‍👩‍👧 with\na very\r\nlong" + "g" * 300 + " word\x00")

PICTURES: dict[str, Draw] = {
    "block": lambda c: block.block(
        NEAR.center, c, now=samples.NOW, edges=[live.edge for live in NEAR.edges], titles=samples.TITLES
    ),
    "block odd": lambda c: block.block(ODD, c, now=samples.NOW),
    "frame": lambda c: frame.frame(FRAME, c, cursor=3).render(),
    "frame text": lambda c: frame.frame(FRAME, c, show="text", text_offset=3).render(),
    "search": lambda c: hits.search(samples.search(), c, cursor=20).render(),
    "diagnosis": lambda c: diagnosis.diagnosis(samples.diagnosis(), c),
    "graph": lambda c: graph.neighbourhood(NEAR, c, now=samples.NOW, selected=NEAR.blocks[5].id),
    "graph crowded": lambda c: graph.neighbourhood(samples.neighbourhood(25, 14), c),
    "stats": lambda c: graph.stats(samples.STATS, c),
    "decay": lambda c: decay.decay(
        c, now=samples.NOW, curve=samples.curve(), forecast=samples.forecast(), categories=samples.category_curves()
    ).render(),
    "decay supposed": lambda c: decay.decay(
        c, now=samples.NOW, curve=samples.curve(), forecast=samples.forecast(), supposed=samples.curve(), at_days=12.0
    ).render(),
    "decay categories": lambda c: decay.decay(
        c, now=samples.NOW, forecast=samples.forecast(), categories=samples.category_curves()
    ).render(),
    "calibration": lambda c: calibration.calibration(samples.reliability(), c, CASES, 2).render(),
    "calibration bin": lambda c: calibration.calibration(
        samples.reliability(), c, CASES, chosen=6, of="frame SESSION", every=30
    ).render(),
    "forecasts": lambda c: calibration.calibration(samples.reliability(), c, CASES, 7, queue=True).render(),
    "focus": lambda c: focus.focus(VIEW, c, selected=17, why=samples.explanation(VIEW, 17)).render(),
    "focus memory": lambda c: focus.focus(VIEW, c, side="memory").render(),
    "focus numbers": lambda c: focus.focus(VIEW, c, zoom=8, offset=7000, numbers=True).render(),
    "overview": lambda c: overview.overview(
        samples.status(), c, journal=samples.journal(), frame=FRAME, focus=VIEW
    ).render(),
    "overview health": lambda c: overview.overview(
        samples.status(), c, journal=samples.journal(), health=samples.health(), cursor=2, frame=FRAME
    ).render(),
    "conversation": lambda c: conversation.figure(
        TALK, c, cursor=9, total=300, answer="It was built in 1900.", about="request 3"
    ).render(),
    "conversation compared": lambda c: conversation.compare(COMPARED, c, COMPARED.changes, cursor=2).render(),
    "overview early": lambda c: overview.overview(samples.status(0), c).render(),
}
EMPTY: dict[str, Draw] = {
    "block": lambda c: block.block(None, c, now=samples.NOW),
    "frame": lambda c: frame.frame(None, c).render(),
    "search": lambda c: hits.search(None, c).render(),
    "graph": lambda c: graph.neighbourhood(None, c),
    "graph alone": lambda c: graph.neighbourhood(samples.neighbourhood(0, 0), c),
    "decay": lambda c: decay.decay(c, now=samples.NOW).render(),
    "calibration": lambda c: calibration.calibration(samples.EMPTY_RELIABILITY, c).render(),
    "focus": lambda c: focus.focus(None, c).render(),
    "overview": lambda c: overview.overview(None, c).render(),
}


@pytest.mark.parametrize("name", [*PICTURES])
def test_a_picture_is_whole_at_every_size_keeps_to_its_signs_and_hides_no_text(name: str) -> None:
    check_picture(PICTURES[name])


@pytest.mark.parametrize("name", [*EMPTY])
def test_an_empty_pane_names_the_verb_that_fills_it(name: str) -> None:
    check_picture(EMPTY[name])
    plain = EMPTY[name](Canvas(80, 20)).plain
    verbs = ("ingest", "consolidate", "frame", "search", "graph", "block", "decay", "amgs")
    assert any(verb in plain for verb in verbs)
