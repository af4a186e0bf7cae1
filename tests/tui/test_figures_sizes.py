"""Every picture at every size of terminal: whole lines, ASCII where asked, the same every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.text import Text

from amgs.lifecycle.plan_editing import PlanDraft
from amgs_app.render.figures import (
    block,
    calibration,
    conversation,
    conversation_comparison,
    decay,
    diagnosis,
    focus,
    frame,
    graph,
    header,
    inbox,
    overview,
    pack_proposals,
    pack_route,
    packs,
    plan,
    recalibration,
)
from amgs_app.render.figures.canvas import Canvas
from amgs_app.terminal.screen import Symbols
from amgs_app.terminal.themes import Palette
from tests.tui import figure_samples as samples
from tests.tui import pack_samples

VIEW = samples.focus_view(24_000)
CHOSEN = VIEW.entries[17]
FRAME = samples.frame()
RAW = samples.raw_blocks(20)
NEAR = samples.neighbourhood()
TALK = samples.conversation()
COMPARED = samples.comparison()
ODD = samples.block(
    1, content="漢字 \x1b[31mred\x1b[0m\tnote 👩‍👩‍👧 with\na very\r\nlong" + "g" * 300 + " word\x00"
)
KEPT = pack_samples.content()

Draw = Callable[[Canvas], Text]
PICTURES: dict[str, Draw] = {
    "inbox": lambda c: inbox.inbox(RAW, c, now=samples.NOW, selected=RAW[15].id, tokens=len, total=37),
    "inbox odd": lambda c: inbox.inbox((ODD, *RAW[:2]), c, now=samples.NOW, selected=ODD.id),
    "plan": lambda c: plan.plan(PlanDraft(samples.plan()), c, selected=RAW[4].id, titles=samples.TITLES),
    "draft": lambda c: plan.plan(samples.draft(), c, selected=RAW[4].id, edge=1, titles=samples.TITLES),
    "block": lambda c: block.block(
        NEAR.center, c, now=samples.NOW, edges=[live.edge for live in NEAR.edges], titles=samples.TITLES
    ),
    "block odd": lambda c: block.block(ODD, c, now=samples.NOW),
    "frame": lambda c: frame.frame(FRAME, c, selected=FRAME.candidates[3].block.id),
    "frame text": lambda c: frame.frame(FRAME, c, show="text", text_offset=3),
    "search": lambda c: frame.search(samples.search(), c, selected=samples.search().hits[20].block.id),
    "diagnosis": lambda c: diagnosis.diagnosis(samples.diagnosis(), c),
    "candidate": lambda c: frame.candidate(FRAME.candidates[0], FRAME.weights, c),
    "graph": lambda c: graph.neighbourhood(NEAR, c, now=samples.NOW, selected=NEAR.blocks[5].id),
    "graph crowded": lambda c: graph.neighbourhood(samples.neighbourhood(25, 14), c),
    "stats": lambda c: graph.stats(samples.STATS, c),
    "decay": lambda c: decay.decay(
        c,
        now=samples.NOW,
        curve=samples.curve(),
        forecast=samples.forecast(),
        categories=samples.category_curves(),
    ),
    "decay supposed": lambda c: decay.decay(
        c,
        now=samples.NOW,
        curve=samples.curve(),
        forecast=samples.supposed(),
        supposed=samples.curve(),
        shown=(3, 1),
        at_days=12.0,
    ),
    "decay categories": lambda c: decay.decay(
        c, now=samples.NOW, forecast=samples.forecast(), categories=samples.category_curves()
    ),
    "forecast": lambda c: decay.forecast(samples.forecast(), c),
    "calibration": lambda c: calibration.calibration(
        samples.reliability(), c, now=samples.NOW, cases=samples.cases(), cursor=2
    ),
    "calibration bin": lambda c: calibration.calibration(
        samples.reliability(),
        c,
        now=samples.NOW,
        cases=samples.cases(),
        chosen=6,
        of="frame SESSION",
        every=30,
    ),
    "forecasts": lambda c: calibration.calibration(
        samples.reliability(), c, now=samples.NOW, cases=samples.cases(), cursor=7, queue=True
    ),
    "recalibration": lambda c: recalibration.plan(samples.recalibration(), c, cursor=20),
    "recalibration of nothing": lambda c: recalibration.plan(samples.recalibration(0), c),
    "focus": lambda c: focus.focus(
        VIEW, c, selected=17, why=samples.explanation(VIEW, 17), titles=samples.TITLES
    ),
    "focus log": lambda c: focus.focus(VIEW, c, axis="log", zoom=2, offset=5000),
    "focus context": lambda c: focus.focus(VIEW, c, axis="context", zoom=3, offset=7000, selected=40),
    "lod map": lambda c: focus.lod_map(VIEW, c, zoom=8, offset=7000),
    "why": lambda c: focus.why(samples.explanation(VIEW, 17), c),
    "decoded": lambda c: focus.decoded(VIEW, c),
    "overview": lambda c: overview.overview(
        samples.status(), c, operations=samples.operations(), frame=FRAME, focus=VIEW
    ),
    "overview health": lambda c: overview.overview(
        samples.status(), c, operations=samples.operations(), health=samples.health(), cursor=2, frame=FRAME
    ),
    "conversation": lambda c: conversation.figure(
        TALK, c, cursor=9, total=300, said="It was built in 1900.", about="request 3"
    ).render(),
    "conversation compared": lambda c: conversation_comparison.figure(COMPARED, c, cursor=2).render(),
    "packs": lambda c: packs.packs_figure(
        pack_samples.listed(),
        c,
        cursor=4,
        now=samples.NOW,
        beside=lambda region: packs.draw_content(region, KEPT, samples.NOW),
    ).render(),
    "pack": lambda c: packs.members_figure(KEPT, packs.members_of(KEPT), c, cursor=1).render(),
    "pack route": lambda c: pack_route.route(pack_samples.route(), c),
    "pack proposals": lambda c: pack_proposals.proposals_figure(
        pack_samples.proposals(), c, cursor=3, titles=samples.TITLES
    ).render(),
    "overview early": lambda c: overview.overview(samples.status(0), c),
}
EMPTY: dict[str, Draw] = {
    "inbox": lambda c: inbox.inbox((), c, now=samples.NOW),
    "plan": lambda c: plan.plan(None, c),
    "block": lambda c: block.block(None, c, now=samples.NOW),
    "frame": lambda c: frame.frame(None, c),
    "search": lambda c: frame.search(None, c),
    "graph": lambda c: graph.neighbourhood(None, c),
    "graph alone": lambda c: graph.neighbourhood(samples.neighbourhood(0, 0), c),
    "decay": lambda c: decay.decay(c, now=samples.NOW),
    "forecast": lambda c: decay.forecast(None, c),
    "calibration": lambda c: calibration.calibration(samples.EMPTY_RELIABILITY, c, now=samples.NOW),
    "focus": lambda c: focus.focus(None, c),
    "overview": lambda c: overview.overview(None, c),
    "packs": lambda c: packs.packs(pack_samples.listed(0), c),
    "pack proposals": lambda c: pack_proposals.proposals((), c),
}
SIZES = [(80, 24), (120, 40), (200, 60), (60, 15)]
SMALL = [(60, 5), (40, 12), (24, 6), (3, 2)]


def _whole(text: Text, width: int, height: int) -> None:
    lines = text.plain.split("\n")
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}


@pytest.mark.parametrize("size", [*SIZES, *SMALL], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", [*PICTURES, *(f"empty {name}" for name in EMPTY)])
def test_every_picture_fills_its_canvas_exactly(name: str, size: tuple[int, int]) -> None:
    draw = PICTURES[name] if name in PICTURES else EMPTY[name.removeprefix("empty ")]
    _whole(draw(Canvas(*size)), *size)


@pytest.mark.parametrize("symbols", ["block", "ascii"])
@pytest.mark.parametrize("name", [*PICTURES])
def test_every_picture_keeps_to_the_signs_it_may_use(name: str, symbols: Symbols) -> None:
    text = PICTURES[name](Canvas(100, 30, symbols=symbols))
    _whole(text, 100, 30)
    if symbols == "ascii":
        assert text.plain.isascii()
    else:
        assert not any("\u2800" < sign <= "\u28ff" for sign in text.plain)


@pytest.mark.parametrize("name", [*PICTURES])
def test_the_same_result_gives_the_same_picture(name: str) -> None:
    canvas = Canvas(90, 28)
    first, second = PICTURES[name](canvas), PICTURES[name](canvas)
    assert first.plain == second.plain
    assert first.spans == second.spans


@pytest.mark.parametrize("name", [*PICTURES])
def test_no_text_is_hidden_in_its_own_background(name: str) -> None:
    """Only the level signs may be solid, and not where hue carries nothing."""
    palette = replace(Palette(), monochrome=True)
    text = PICTURES[name](Canvas(120, 40, palette))
    for span in text.spans:
        style = span.style
        assert not isinstance(style, str)
        if style.color is not None and style.color == style.bgcolor:
            assert not text.plain[span.start : span.end].strip()


@pytest.mark.parametrize("name", [*EMPTY])
def test_an_empty_pane_names_the_verb_that_fills_it(name: str) -> None:
    plain = EMPTY[name](Canvas(80, 20)).plain
    verbs = (
        "ingest",
        "consolidate",
        "frame",
        "search",
        "graph",
        "block",
        "decay",
        "amgs",
        "pack keep",
        "pack use",
    )
    assert any(verb in plain for verb in verbs)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_header_is_one_line_and_keeps_the_state(width: int) -> None:
    text = header.header(Canvas(width, 30), status=samples.status(), model="SmolLM2-135M", threshold=0.05)
    _whole(text, width, 1)
    assert "amgs" in text.plain
    assert "● live" in text.plain
    assert "449 blocks" in text.plain
    busy = header.header(Canvas(width, 1), status=samples.status(), doing="consolidate 12/37").plain
    assert "consolidate 12/37" in busy
    assert "live" not in busy
