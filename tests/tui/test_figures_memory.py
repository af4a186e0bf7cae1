"""What the memory's pictures must say, at any size and without colour."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from amgs.lifecycle.plan_editing import PlanDraft
from amgs.lifecycle.revision import PieceRevision, Revision, RevisionPlan
from amgs.types import COMPONENTS, ForecastRow, Frame, FramePart, JournalEntry, LayerReport
from amgs.types.calibration import FrameCoverage
from amgs_app.operations.hints import hint_by_keys
from amgs_app.panes.row_fields import listed
from amgs_app.render.figures import (
    block,
    calibration,
    decay,
    frame,
    graph,
    inbox,
    overview,
    plan,
    recalibration,
    revision,
)
from amgs_app.render.figures.candidates import PART_SIGNS
from amgs_app.render.figures.canvas import Canvas, ink
from amgs_app.render.figures.format import share
from amgs_app.render.figures.glyphs import gauge_pieces
from amgs_app.render.figures.graph import relation_letters
from amgs_app.render.figures.graph_layout import PlacedNode, place
from amgs_app.terminal.screen import Symbols
from tests.tui import figure_samples as samples

SIZES = [Canvas(80, 24), Canvas(120, 40), Canvas(200, 60), Canvas(60, 15)]
FRAME = samples.frame()


def _line(plain: str, words: str) -> str:
    return next(line for line in plain.split("\n") if words in line)


@pytest.mark.parametrize("canvas", SIZES, ids=lambda canvas: f"{canvas.width}x{canvas.height}")
def test_key_facts_stay_at_every_size(canvas: Canvas) -> None:
    drawn = {
        "37 raw blocks": inbox.inbox(samples.raw_blocks(12), canvas, now=samples.NOW, total=37),
        "+ 9 blocks": plan.plan(PlanDraft(samples.plan()), canvas),
        "886/1,024 tok": frame.frame(FRAME, canvas),
        "8 in, 6 out": frame.frame(FRAME, canvas),
        "Dome motor log": graph.neighbourhood(samples.neighbourhood(), canvas),
        "23 neighbours": graph.neighbourhood(samples.neighbourhood(), canvas),
        "drops below 0.05 in 11 d": decay.decay(canvas, now=samples.NOW, curve=samples.curve()),
        "12 blocks drop below 0.05": decay.decay(canvas, now=samples.NOW, forecast=samples.forecast()),
        "Brier .113": calibration.calibration(samples.reliability(), canvas, now=samples.NOW),
        "160 of 412": calibration.calibration(samples.reliability(), canvas, now=samples.NOW),
        "37 raw": overview.overview(samples.status(), canvas),
        "412 blocks": overview.overview(samples.status(), canvas),
    }
    for words, text in drawn.items():
        assert words in text.plain, words


# --- frame ------------------------------------------------------------------------------------------------


def test_the_stacked_bar_is_as_long_as_the_score_and_made_of_its_parts() -> None:
    plain = frame.frame(FRAME, Canvas(120, 40)).plain
    signs = set(PART_SIGNS.values())
    first = listed(FRAME)[0]
    row = next(line for line in plain.split("\n") if line.split()[:1] == ["1"])
    bar = [sign for sign in row if sign in signs]
    top = first.parts.weighted(FRAME.weights)
    for name in COMPONENTS:
        share = getattr(top, name) / top.total() * len(bar)
        assert abs(bar.count(PART_SIGNS[name]) - share) <= 1, name


def test_a_promise_of_coverage_stands_at_the_foot_of_a_frame() -> None:
    told = replace(FRAME, coverage=FrameCoverage(64, 0.87, ((0.8, 410), (0.9, 640), (0.95, 1_900))))
    for canvas in SIZES:
        without, lines = (frame.frame(one, canvas).plain.split("\n") for one in (FRAME, told))
        if canvas.height >= 24:
            assert lines[canvas.height - 1].startswith(" holds what the question needs with ≥ 87 %")
        assert lines[0] == without[0] and len(lines) <= canvas.height


def test_each_part_of_a_composite_stands_under_its_heading_and_what_is_in_before_what_is_out() -> None:
    asked = (FramePart("SELF", FRAME.weights, "identity"), FramePart("ATTENTION", FRAME.weights, "query"))
    result = replace(FRAME, parts=asked)
    order = [(one.child, one.fate == "selected") for one in listed(result)]
    assert order[0][0] == "ATTENTION" and order[-1][0] == "SELF"
    for child in {name for name, _ in order}:
        fates = [taken for name, taken in order if name == child]
        assert fates == sorted(fates, reverse=True)
    lines = frame.frame(result, Canvas(120, 60)).plain.split("\n")
    heads = [line.split()[0] for line in lines if " ▾ " in line]
    assert heads == list(dict.fromkeys(name for name, _ in order))
    turned = frame.frame(result, Canvas(120, 60), shown=[3, 1, 0]).plain
    assert " ▾ " not in turned and "in · ATTENTION" in turned, "in another order each row names its part"


def test_the_five_parts_have_five_signs_with_or_without_unicode() -> None:
    for canvas in (Canvas(120, 30), Canvas(120, 30, symbols="ascii")):
        legend = _line(frame.frame(FRAME, canvas).plain, "8 in, 6 out")
        signs = [
            legend[: legend.index(word)].rstrip()[-1]
            for word in ("recency", "centrality", "confidence", "similarity", "use ")
        ]
        assert len(set(signs)) == 5
        assert " " not in signs


def test_letters_for_the_parts_stand_apart_from_their_words() -> None:
    plain = frame.frame(FRAME, Canvas(120, 40, symbols="ascii")).plain
    assert "R recency  C centrality  F confidence  S similarity  N use" in plain


def test_every_candidate_has_its_fate_and_the_reason() -> None:
    plain = frame.frame(FRAME, Canvas(200, 60)).plain
    assert "ATTENTION ▾ 4 of 5 in" in plain
    assert f"out · duplicate of {samples.BLOCKS[0].id[:8]}" in plain
    assert "out · over budget (needs 61, 12 left)" in plain


def test_the_waterfall_tells_each_layer_and_a_fixed_clock_shows_as_a_dot() -> None:
    still = tuple(replace(layer, milliseconds=0.0) for layer in FRAME.layers)
    plain = frame.frame(replace(FRAME, layers=still, milliseconds=0.0), Canvas(120, 40)).plain
    assert "412→388" in plain and "388→41" in plain and "87→22" in plain
    assert "pre-filter ·" in plain
    assert " ms" not in plain


def test_a_skipped_layer_says_so() -> None:
    layers = (
        *FRAME.layers[:3],
        LayerReport("vector", 388, 0, 0, 0.0, skipped="no vectors"),
        *FRAME.layers[4:],
    )
    assert "skipped" in frame.frame(replace(FRAME, layers=layers), Canvas(120, 40)).plain


def test_the_gutter_numbers_the_block_of_each_span() -> None:
    plain = frame.frame(FRAME, Canvas(120, 40), show="text").plain
    numbers = {hit.block.id: at for at, hit in enumerate(listed(FRAME), start=1)}
    second = FRAME.selected[1]
    assert f"{numbers[second.block.id]}▌ {second.block.content[:20]}" in plain


def test_the_selected_candidate_is_scrolled_into_view() -> None:
    result = samples.search()
    last = result.hits[-1].block
    plain = frame.search(result, Canvas(80, 18), selected=last.id).plain
    assert last.title in plain
    assert "▸" in _line(plain, last.title)


@pytest.mark.parametrize("width", [56, 58, 78, 98])
def test_the_layers_and_the_ledger_of_a_small_frame_are_whole(width: int) -> None:
    large = replace(FRAME.ledger[0], used=1458, budget=1725)
    told = replace(FRAME, ledger=(replace(large, used=0, budget=0), large, *FRAME.ledger[2:]))
    lines = frame.frame(told, Canvas(width, 12)).plain.split("\n")
    layers, ledger = lines[1], lines[2]
    assert [layers.count(name) for name in ("pre", "key", "fuz", "vec", "gra", "sco")] == [1] * 6
    assert "…" not in layers and layers.rstrip().endswith("97")
    assert "…" not in ledger and "1,458/1,725" in ledger and "128" in ledger


@pytest.mark.parametrize("width", [50, 58, 120, 200])
def test_an_age_of_many_minutes_is_whole_in_the_inbox(width: int) -> None:
    blocks = [replace(each, created_at=samples.NOW - timedelta(minutes=59)) for each in samples.raw_blocks(3)]
    drawn = inbox.inbox(blocks, Canvas(width, 20), now=samples.NOW).plain.split("\n")
    assert sum("59 min " in line for line in drawn[2:5]) == 3


def test_a_block_without_edges_says_how_it_gets_some_in_full() -> None:
    alone = replace(samples.neighbourhood(), edges=(), blocks=samples.neighbourhood().blocks[:1])
    drawn = graph.neighbourhood(alone, Canvas(50, 16)).plain
    assert "resembles and follows." in " ".join(drawn.split())


def test_a_frame_of_one_selection_rule_has_no_ledger_and_none_selected_no_text() -> None:
    bare = Frame("f", "INBOX", "", samples.NOW, 256, 0, "", (), (), (), (), samples.WEIGHTS, 0.0)
    plain = frame.frame(bare, Canvas(80, 24)).plain
    assert "0 candidates" in plain
    assert "no query" in plain


# --- inbox ------------------------------------------------------------------------------------------------


def test_a_plan_shows_category_confidence_reason_entities_and_edges() -> None:
    plain = plan.plan(PlanDraft(samples.plan()), Canvas(120, 40), titles=samples.TITLES).plain
    line = _line(plain, "Encoder supplier  ")
    assert "→ people" in line and ".70" in line and "3 of 5 neighbours" in line
    assert "RGH24-X-05" in plain
    assert "next ▸ Weather station drift" in plain
    assert ".90 × .80" in plain
    assert "◆ self" in _line(plain, "Why we keep paper logs  ")


def test_a_draft_shows_what_was_corrected_beside_what_was_proposed() -> None:
    raw = samples.raw_blocks(9)
    canvas = Canvas(140, 40)
    plain = plan.plan(samples.draft(), canvas, selected=raw[4].id, edge=1, titles=samples.TITLES).plain
    head = plain.split("\n")[0]
    assert "+ 8 blocks" in head and "3 corrected" in head and "1 left out" in head
    out = next(line for line in plain.split("\n") if line.startswith("✗"))
    assert "Night of 14 May" in out and "stays in the inbox" in out
    chosen = next(line for line in plain.split("\n") if line.startswith("▸"))
    assert "Closing the dome in wind" in chosen
    assert "→ decision" in chosen and "by hand" in chosen and "was procedure .75" in chosen
    assert "belief .35 was .60" in chosen
    assert "1 ✗ " in plain and ".77 × .95" in plain
    assert "turn the slit away" in plain  # the text to judge the category by
    mine = next(line for line in plain.split("\n") if line.startswith("~"))
    assert "Motor log (copy)" in mine and "→ mine" in mine and "was observation" in mine


def test_a_revision_shows_what_changed_in_the_chosen_text_and_what_waits_in_the_inbox() -> None:
    piece = PieceRevision(
        "superseded", "a" * 64, "The motor", "motor.md", "says it anew", "b" * 64,
        "The motor runs.\nIts gears are old.", "The motor runs.\nIts gears are new.",
    )  # fmt: skip
    found = RevisionPlan("notes", (piece,), 3, 1, samples.NOW, 7)
    plain = revision.revision(found, Canvas(80, 24)).plain
    assert "− Its gears are old." in plain and "+ Its gears are new." in plain
    assert "runs" not in plain
    done = Revision(found, JournalEntry(9, "revise", samples.NOW, "1 superseded", 1, 0))
    assert hint_by_keys(done, {}).startswith("1 block waits in the inbox: key 1, then c,")
    assert not hint_by_keys(Revision(found, None), {})


def test_the_selected_block_is_shown_whole_under_the_list() -> None:
    raw = samples.raw_blocks(20)
    plain = inbox.inbox(raw, Canvas(100, 24), now=samples.NOW, selected=raw[3].id).plain
    assert "six weeks of delivery." in plain
    assert raw[3].id[:8] in plain


def test_a_block_that_nothing_used_is_said_to_be_so() -> None:
    item = replace(samples.block(3), created_at=samples.NOW, last_reinforced_at=samples.NOW)
    assert "used never" in block.block(item, Canvas(80, 24), now=samples.NOW).plain
    later = samples.NOW + timedelta(hours=2)
    assert (
        "used 2 h"
        in block.block(
            replace(item, last_reinforced_at=later), Canvas(80, 24), now=later + timedelta(hours=2)
        ).plain
    )


def test_a_block_card_tells_how_it_fades_and_what_it_is_tied_to() -> None:
    item = samples.BLOCKS[0]
    edges = [live.edge for live in samples.neighbourhood().edges]
    plain = block.block(item, Canvas(100, 30), now=samples.NOW, edges=edges, titles=samples.TITLES).plain
    assert "standard ½ 2.9 d" in plain
    assert "below .05" in plain
    assert "links_to" in plain and "Night of 14 May" in plain


# --- graph ------------------------------------------------------------------------------------------------


def _nodes(number: int, second: int) -> list[PlacedNode]:
    ids = [item.id for item in samples.BLOCKS]
    first = [PlacedNode(ids[1 + at], 1, ids[0], 14) for at in range(number)]
    return first + [
        PlacedNode(ids[1 + number + at], 2, ids[1 + at % max(number, 1)], 12) for at in range(second)
    ]


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


def test_a_block_keeps_its_place_when_the_result_is_listed_in_another_order() -> None:
    near = samples.neighbourhood()
    turned = replace(near, blocks=tuple(reversed(near.blocks)), edges=tuple(reversed(near.edges)))
    canvas = Canvas(120, 40)
    assert graph.neighbourhood(near, canvas).plain == graph.neighbourhood(turned, canvas).plain


def test_each_relation_has_its_own_letter() -> None:
    letters = relation_letters(samples.neighbourhood().edges)
    assert len(set(letters.values())) == len(letters) == 5
    assert letters["links_to"] == "l"


def test_blocks_without_room_are_counted_not_dropped_silently() -> None:
    near = samples.neighbourhood(20, 15)
    plain = graph.neighbourhood(near, Canvas(80, 18)).plain
    assert "in the table" in plain
    drawn = sum(plain.count(sign) for sign in "●○◆")
    hidden = int(_line(plain, "in the table").split("+")[1].split()[0])
    assert drawn + hidden == 35


def test_where_it_is_narrow_many_neighbours_are_listed_and_not_drawn() -> None:
    many = samples.neighbourhood(9, 0)
    narrow = graph.neighbourhood(many, Canvas(56, 24)).plain
    assert "●" not in narrow and narrow.count("▸ ") >= 9
    assert "●" in graph.neighbourhood(many, Canvas(64, 24)).plain
    assert "●" in graph.neighbourhood(samples.neighbourhood(7, 0), Canvas(56, 24)).plain


def test_a_sentence_above_the_graph_names_the_strongest_edge() -> None:
    result = samples.neighbourhood()
    own = [live for live in result.edges if result.center.id in live.edge.key[:2]]
    best = max(own, key=lambda live: live.strength)
    (told,) = [
        line for line in graph.neighbourhood(result, Canvas(120, 40)).plain.split("\n") if "strongest" in line
    ]
    assert told.strip().startswith(
        f"{len(own)} edges touch this block; the strongest, {best.edge.relation_type} "
    )


def test_faded_edges_are_drawn_with_fewer_dots() -> None:
    near = samples.neighbourhood(1, 0)
    dots = []
    for strength in (0.8, 0.2, 0.02):
        edges = tuple(replace(live, strength=strength) for live in near.edges)
        plain = graph.neighbourhood(replace(near, edges=edges), Canvas(80, 30)).plain
        dots.append(sum((ord(sign) - 0x2800).bit_count() for sign in plain if "\u2800" < sign <= "\u28ff"))
    assert dots[0] > dots[1] > dots[2] > 0


# --- decay and calibration --------------------------------------------------------------------------------


def test_the_curve_has_its_reinforcements_threshold_and_present() -> None:
    plain = decay.decay(Canvas(100, 24), now=samples.NOW, curve=samples.curve()).plain
    axis = next(line for line in plain.split("\n") if "▲" in line and "┬" in line)
    assert axis.count("▲") == 3
    assert "now" in plain.split("\n")[-1]
    assert "threshold 0.05" in plain


def test_the_forecast_lists_the_soonest_first_and_both_histograms() -> None:
    plain = decay.forecast(samples.forecast(), Canvas(100, 30)).plain
    rows = [line for line in plain.split("\n") if "2026-03-" in line and "→" in line]
    assert [row.split()[0] for row in rows] == sorted(row.split()[0] for row in rows)
    assert "41 already below" in plain and "nothing is removed before prune" in plain
    assert "now" in plain and "in 30 days" in plain


def test_blocks_that_were_never_used_stand_below_a_line_in_the_forecast() -> None:
    rows = samples.forecast().rows
    split = [replace(row, uses=3 if place < 4 else 0) for place, row in enumerate(rows)]

    def lines(given: list[ForecastRow], selected: str | None = None) -> list[str]:
        told = replace(samples.forecast(), rows=tuple(given))
        return decay.decay(Canvas(80, 24), now=samples.NOW, forecast=told, selected=selected).plain.split(
            "\n"
        )

    drawn = lines(split)
    place = next(n for n, line in enumerate(drawn) if "never used" in line)
    assert split[3].block.title[:12] in drawn[place - 1] and split[4].block.title[:12] in drawn[place + 1]
    assert any(split[-1].block.title[:12] in line for line in lines(split, split[-1].block.id))
    for uses in (0, 3):
        assert not any("never used" in line for line in lines([replace(row, uses=uses) for row in rows]))


def test_the_outlook_names_what_each_category_keeps_and_loses() -> None:
    plain = decay.forecast(samples.forecast(), Canvas(100, 30)).plain
    line = " ".join(_line(plain, " observation 180").split())
    assert line.startswith("observation 180 → 140 −40") and line.endswith("mean .51 → .32")
    assert "−" not in _line(plain, " people      120")
    assert "326 stay above" in plain.split("\n")[0]


def test_a_supposition_says_of_whom_what_and_what_it_changes() -> None:
    plain = decay.forecast(samples.supposed(), Canvas(120, 30)).plain
    assert "task were durable ½ 28.9 d: 9 drop, not 12" in plain


@pytest.mark.parametrize("symbols", ["braille", "block", "ascii"])
@pytest.mark.parametrize("size", [(200, 40), (100, 30), (78, 21), (56, 12)])
@pytest.mark.parametrize("alone", [True, False])
def test_every_curve_has_its_letter_in_the_plot_and_in_the_legend(
    size: tuple[int, int], symbols: Symbols, alone: bool
) -> None:
    hours = tuple(float(hour) for hour in range(-720, 721, 12))
    kinds = {f"category {n}": (hours, tuple(0.95 - n * 0.1 for _ in hours)) for n in range(8)}
    curve = None if alone else samples.curve()
    plain = decay.decay(Canvas(*size, symbols=symbols), now=samples.NOW, curve=curve, categories=kinds).plain
    named = [n for n in range(8) if f"category {n}" in plain]
    assert (len(named) == 8) if size[1] >= 30 else named or not alone
    plot = "".join(line[5:] for line in plain.split("\n") if line[4:5] in ("┤", "│", "+", "|"))
    for n in range(8):
        letter = "abcdefgh"[n]
        assert (letter in plot) == (n in named), f"{letter}: {n in named}"
        assert (f" {letter} category {n}" in plain) == (n in named)


def test_a_curve_ends_where_the_plot_ends() -> None:
    far = tuple(float(hour) for hour in range(-5000, 5001, 10))
    curve = replace(samples.curve(), hours=(-240.0, 0.0, 240.0), relevance=(1.4, 0.6, -0.3))
    canvas = Canvas(80, 24)
    drawn = decay.decay(
        canvas, now=samples.NOW, curve=curve, categories={"a": (far, (2.0,) * len(far))}
    ).plain
    rows = drawn.split("\n")
    axis = next(at for at, row in enumerate(rows) if "└" in row)
    dots = [at for at, row in enumerate(rows) if any("\u2801" <= sign <= "\u28ff" for sign in row)]
    assert (
        dots and max(dots) < axis and min(dots) >= next(at for at, row in enumerate(rows) if "1.00┤" in row)
    )


def test_a_full_bar_is_told_from_one_that_is_nearly_full() -> None:
    full, nearly = (
        gauge_pieces(share, 10, "braille", ink("#ffffff"), ink("#444444")) for share in (1.0, 0.93)
    )
    assert not any(text and style and style.bgcolor for text, style in full)
    assert any(text == "▎" and style and style.bgcolor for text, style in nearly)


def test_many_blocks_near_zero_do_not_hide_the_others() -> None:
    spike = replace(samples.forecast(), histogram_now=(658, *([2] * 9)), histogram_then=(680, *([1] * 9)))
    plain = decay.forecast(spike, Canvas(100, 30)).plain
    tall = [line for line in plain.split("\n") if line.count("█") > 6]
    assert len(tall) > 0 and "log scale" in plain


def test_the_scrubbers_day_is_marked_in_the_plot() -> None:
    curve, now = samples.curve(), samples.NOW
    for days, told in ((12.0, "+12 d"), (0.0, "now")):
        plain = decay.decay(Canvas(100, 24), now=now, curve=curve, at_days=days).plain
        assert told in plain.split("\n")[2]


def test_the_relevance_now_is_that_after_a_use_at_this_very_hour() -> None:
    used = replace(samples.curve(), hours=(-48.0, 0.0, 0.0, 48.0), relevance=(1.0, 0.2, 1.0, 0.2))
    assert "now 1.00" in decay.decay(Canvas(100, 24), now=samples.NOW, curve=used).plain


def test_the_reliability_diagram_tells_over_from_under_confidence_by_shape() -> None:
    sure = samples.reliability()
    bins = list(sure.bins)
    bins[7] = replace(bins[7], rate=0.2, rate_low=0.1, rate_high=0.3)
    bins[2] = replace(bins[2], rate=0.9, rate_low=0.7, rate_high=1.0)
    plain = calibration.calibration(replace(sure, bins=tuple(bins)), Canvas(100, 30), now=samples.NOW).plain
    assert plain.count("▼") == 1
    assert plain.count("▲") == 1
    assert "●" in plain


def test_the_parts_of_the_brier_score_and_the_latest_outcomes_are_told() -> None:
    plain = calibration.calibration(
        samples.reliability(),
        Canvas(120, 40),
        now=samples.NOW,
        cases=samples.cases(),
    ).plain
    for words in ("reliability", ".008", "resolution", ".062", "uncertainty", ".170", "−.003", "1 open"):
        assert words in plain
    assert "→ ✓" in plain and "→ ✗" in plain and "→ ·" in plain
    assert "40" in plain.split("\n")[-2]


@pytest.mark.parametrize(("width", "word"), [(80, False), (120, True)])
def test_the_list_of_forecasts_names_its_columns(width: int, word: bool) -> None:
    plain = calibration.calibration(
        replace(samples.reliability(), outcomes=0), Canvas(width, 24), now=samples.NOW, cases=samples.cases()
    ).plain
    heads, first = next(
        pair for pair in pairwise(plain.split("\n")) if "block" in pair[0] and "Brier" in pair[0]
    )
    case = samples.cases()[0]
    assert heads.index("block") == first.index(case.title[:8])
    assert heads.index("frame") == first.index(case.outcome.frame)
    assert ("came" in heads) == word and first.index(share(case.outcome.predicted)) == heads.index("said")


def test_a_sentence_says_whether_forecasts_were_too_sure() -> None:
    bins = samples.reliability().bins
    sure = [replace(one, rate=max(0.0, one.mean_predicted - 0.2)) for one in bins]
    assert calibration.what_came_true(sure).endswith("too sure.")
    assert calibration.what_came_true([replace(one, rate=one.mean_predicted) for one in bins]).endswith(
        "right on average."
    )
    assert (
        "on average, and"
        in calibration.calibration(samples.reliability(), Canvas(120, 40), now=samples.NOW).plain
    )


def test_each_part_of_the_brier_score_has_its_way_through_time() -> None:
    plain = calibration.calibration(samples.reliability(), Canvas(140, 40), now=samples.NOW).plain
    assert "its parts over time" in plain
    for name, low, high in (("reliability", ".008", ".020"), ("resolution", ".040", ".064")):
        line = _line(plain, name)
        assert f"{low}–{high}" in line and any(sign in line for sign in "▁▂▃▄▅▆▇█")


def test_a_chosen_bin_is_marked_and_its_forecasts_are_listed_with_who_and_what() -> None:
    canvas = Canvas(200, 40)
    plain = calibration.calibration(
        samples.reliability(), canvas, now=samples.NOW, cases=samples.cases(), chosen=6, cursor=1
    ).plain
    assert "▸31" in plain and "forecast .60 to .70: .62 came true" in plain
    row = _line(plain, "▸   3 h")
    assert samples.cases()[1].title[:12] in row and "SESSION" in row and "→ ✗" in row


def test_a_recalibration_says_whether_its_curve_helps_and_what_each_edge_becomes() -> None:
    plain = recalibration.plan(samples.recalibration(), Canvas(110, 40)).plain
    assert "preview: nothing has changed yet" in plain
    assert ".210 → .140  used" in _line(plain, "✓ .210")
    assert "not used" in recalibration.plan(samples.recalibration(used=False), Canvas(110, 40)).plain
    assert ".70 → .52 ▼" in plain and "1 of 3 verdicts useful" in plain
    done = recalibration.plan(samples.recalibration(), Canvas(110, 40), operation=12).plain
    assert "applied as operation 12" in done


# --- overview ---------------------------------------------------------------------------------------------


def test_the_overview_names_the_next_step_through_the_whole_loop() -> None:
    canvas = Canvas(100, 24)
    nothing = replace(samples.status(0), blocks={}, outcomes=0)
    raw = replace(samples.status(), blocks={"raw": 12}, outcomes=0)
    view = samples.focus_view(6000)
    done = replace(view, finished=True)
    status = replace(samples.status(0), outcomes=0)
    assert "ingest" in overview.overview(nothing, canvas).plain
    assert "next  consolidate" in overview.overview(raw, canvas).plain
    assert "until then raw blocks are found by words only" in overview.overview(raw, Canvas(140, 40)).plain
    assert "next  frame assemble" in overview.overview(samples.status(), canvas).plain
    assert "next  frame open" in overview.overview(samples.status(), canvas, frame=FRAME).plain
    assert "next  focus step" in overview.overview(samples.status(), canvas, frame=FRAME, focus=view).plain
    assert "next  feedback" in overview.overview(status, canvas, frame=FRAME, focus=done).plain


@pytest.mark.parametrize("size", [(118, 24), (78, 17), (56, 18)])
def test_what_is_to_be_seen_to_stays_in_the_overview_at_every_size(size: tuple[int, int]) -> None:
    plain = overview.overview(
        samples.status(), Canvas(*size), operations=samples.operations(), health=samples.health(), cursor=0
    ).plain
    for words in ("✗ inbox", "◆ consolidation", "◆ decay", "journal", "▸  91"):
        assert words in plain, words


def test_the_journal_keeps_the_chosen_change_in_view_and_shows_what_is_undone() -> None:
    made = samples.operations(60)
    plain = overview.overview(samples.status(), Canvas(118, 24), operations=made, cursor=50).plain
    assert f"▸  {made[50].id}" in plain and f" {made[0].id} " not in plain
    few = overview.overview(samples.status(), Canvas(118, 24), operations=made, shown=(3,)).plain
    assert "undone undo 34 blocks" in few and "consolidate 37" not in few
