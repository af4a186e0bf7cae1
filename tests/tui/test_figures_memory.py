"""What the memory's pictures must say, at any size and without colour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amgs.lifecycle.revision import PieceRevision, Revision, RevisionPlan
from amgs.types import JournalEntry
from amgs_app.calibration import figure as calibration
from amgs_app.calls.hints import hint_by_keys
from amgs_app.decay import figure as decay
from amgs_app.frames import figure as frame
from amgs_app.graph import figure as graph
from amgs_app.graph.figure_layout import PlacedNode, place
from amgs_app.lifecycle.rows import list_draft
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import list_of
from amgs_app.workplace import figure as overview
from tests.tui import figure_samples as samples

SIZES = [Canvas(80, 24), Canvas(120, 40), Canvas(200, 60), Canvas(60, 15)]
FRAME = samples.frame()


def _line(plain: str, words: str) -> str:
    return next(line for line in plain.split("\n") if words in line)


@pytest.mark.parametrize("canvas", SIZES, ids=lambda canvas: f"{canvas.width}x{canvas.height}")
def test_key_facts_stay_at_every_size(canvas: Canvas) -> None:
    drawn = {
        "886/1,024 tok": frame.frame(FRAME, canvas).render(),
        "8 in, 6 out": frame.frame(FRAME, canvas).render(),
        "Dome motor log": graph.neighbourhood(samples.neighbourhood(), canvas),
        "23 neighbours": graph.neighbourhood(samples.neighbourhood(), canvas),
        "drops below 0.05 in 11 d": decay.decay(canvas, now=samples.NOW, curve=samples.curve()).render(),
        "12 blocks drop below 0.05": decay.decay(canvas, now=samples.NOW, forecast=samples.forecast()).render(),
        "Brier .113": calibration.calibration(samples.reliability(), canvas).render(),
        "160 of 412": calibration.calibration(samples.reliability(), canvas).render(),
        "37 raw": overview.overview(samples.status(), canvas).render(),
        "412 blocks": overview.overview(samples.status(), canvas).render(),
    }
    for words, text in drawn.items():
        assert words in text.plain, words


# --- inbox ------------------------------------------------------------------------------------------------


def test_a_draft_shows_what_was_corrected_beside_what_was_proposed() -> None:
    chosen = samples.raw_blocks(9)[4].id
    listed = list_draft(samples.draft(), samples.NOW, samples.TITLES)
    plain = listed.draw(Canvas(140, 40), listed.place_of(chosen), marked="2").render().plain
    assert "8 blocks" in _line(plain, "Draft:") and "3 corrected" in _line(plain, "Draft:")
    assert "in the inbox" in _line(plain, "Night of 14 May") and "left out" in _line(plain, "Night of 14 May")
    assert "Closing the dome in wind" in _line(plain, "▸") and "was procedure, was 0.60" in _line(plain, "▸")
    assert _line(plain, "✗ dropped").startswith(" 1 ") and "0.77 × 0.95" in plain and "by hand" in plain
    assert "turn the slit away" in plain  # the text to judge the category by
    assert "mine" in _line(plain, "Motor log (copy)") and "was observation" in _line(plain, "Motor log (copy)")


def test_a_revision_shows_what_changed_in_the_chosen_text_and_what_waits_in_the_inbox() -> None:
    piece = PieceRevision(
        "superseded", "a" * 64, "The motor", "motor.md", "says it anew", "b" * 64,
        "The motor runs.\nIts gears are old.", "The motor runs.\nIts gears are new.",
    )  # fmt: skip
    found = RevisionPlan("notes", (piece,), 3, 1, samples.NOW, 7)
    listed = list_of(found)
    assert listed is not None
    lines = [line.split() for line in listed.draw(Canvas(80, 24), 0).render().plain.split("\n")]
    assert ["−", "Its", "gears", "are", "old."] in lines and ["+", "Its", "gears", "are", "new."] in lines
    assert not any("runs." in line for line in lines)
    done = Revision(found, JournalEntry(9, "revise", samples.NOW, "1 superseded", 1, 0))
    assert hint_by_keys(done, {}).startswith("1 block waits in the inbox: key 1, then c,")
    assert not hint_by_keys(Revision(found, None), {})


# --- graph ------------------------------------------------------------------------------------------------


def _nodes(number: int, second: int) -> list[PlacedNode]:
    ids = [item.id for item in samples.BLOCKS]
    first = [PlacedNode(ids[1 + at], 1, ids[0], 14) for at in range(number)]
    return first + [PlacedNode(ids[1 + number + at], 2, ids[1 + at % max(number, 1)], 12) for at in range(second)]


@pytest.mark.parametrize(("width", "height"), [(60, 10), (80, 20), (118, 50)])
def test_labels_never_overlap_and_stay_inside(width: int, height: int) -> None:
    spots, _ = place(_nodes(12, 20), width, height, 16)
    cells: set[tuple[int, int]] = set()
    for spot in spots.values():
        here = {(x, spot.y) for x in range(spot.start, spot.end)}
        assert not here & cells
        cells |= here
        assert spot.start >= 0 and spot.end <= width and 0 <= spot.y < height
        assert spot.start <= spot.x < spot.end
    assert len(spots) >= min(32, height)


def test_blocks_without_room_are_counted_not_dropped_silently() -> None:
    near = samples.neighbourhood(20, 15)
    plain = graph.neighbourhood(near, Canvas(80, 18)).plain
    assert "in the table" in plain
    drawn = sum(plain.count(sign) for sign in "●○◆")
    hidden = int(_line(plain, "in the table").split("+")[1].split()[0])
    assert drawn + hidden == 35


# --- decay and calibration --------------------------------------------------------------------------------


def test_a_recalibration_says_whether_its_curve_helps_and_what_each_edge_becomes() -> None:
    for used in (True, False):
        listed = list_of(samples.recalibration(used=used))
        assert listed is not None
        plain = listed.draw(Canvas(110, 40), 0).render().plain
        assert "would change" in plain and "Brier" in plain and "▼ down" in plain
        assert ("not used" in plain) != used


# --- overview ---------------------------------------------------------------------------------------------


def test_the_overview_names_the_next_step_through_the_whole_loop() -> None:
    canvas = Canvas(100, 24)
    nothing = replace(samples.status(0), blocks={}, outcomes=0)
    raw = replace(samples.status(), blocks={"raw": 12}, outcomes=0)
    view = samples.focus_view(6000)
    done = replace(view, finished=True)
    status = replace(samples.status(0), outcomes=0)
    assert "ingest" in overview.overview(nothing, canvas).render().plain
    assert "next  consolidate" in overview.overview(raw, canvas).render().plain
    assert "until then raw blocks are found by words only" in overview.overview(raw, Canvas(140, 40)).render().plain
    assert "next  frame assemble" in overview.overview(samples.status(), canvas).render().plain
    assert "next  frame open" in overview.overview(samples.status(), canvas, frame=FRAME).render().plain
    assert "next  focus step" in overview.overview(samples.status(), canvas, frame=FRAME, focus=view).render().plain
    assert "next  feedback" in overview.overview(status, canvas, frame=FRAME, focus=done).render().plain


@pytest.mark.parametrize("size", [(118, 24), (78, 17), (56, 18)])
def test_what_is_to_be_seen_to_stays_in_the_overview_at_every_size(size: tuple[int, int]) -> None:
    plain = (
        overview.overview(samples.status(), Canvas(*size), journal=samples.journal(), health=samples.health(), cursor=0)
        .render()
        .plain
    )
    for words in ("✗ inbox", "◆ consolidation", "◆ decay", "journal", "▸"):
        assert words in plain, words
