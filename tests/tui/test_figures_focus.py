"""The level-of-detail map: what was expanded must be seen, at every width, on every axis."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.render.figures import focus
from amgs_app.render.figures.canvas import Canvas
from amgs_app.render.figures.focus_columns import (
    LEAST_SHOWN,
    NOTHING,
    ZOOM_FACTOR,
    Axis,
    columns,
    offset_for,
    past_levels,
    window,
    zooms,
)
from amgs_app.render.figures.focus_map import GUTTER, plan_rows
from amgs_app.terminal.themes import Palette
from amgs_focus.records import Band, Reason, TokenSpan
from amgs_focus.views import REASON_LETTERS, EntryView, FocusView
from tests.tui import figure_samples as samples

VIEW = samples.focus_view(24_000)
AXES: tuple[Axis, ...] = get_args(Axis)
K = samples.K


def _entry(place: int, start: int, end: int, level: int, score: float = 0.0) -> EntryView:
    return replace(
        VIEW.entries[1],
        position=place,
        level=level,
        index=place,
        start=start,
        end=end,
        score=score,
        last_action="",
        reason="below_threshold",
        delta_nll=None,
    )


@st.composite
def views(draw: st.DrawFn) -> FocusView:
    sizes = draw(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 4)), min_size=1, max_size=60))
    entries, at = [], 0
    for place, (blocks, level) in enumerate(sizes):
        score = draw(st.floats(-1, 1))
        entries.append(_entry(place, at, at + blocks * K, level, score))
        at += blocks * K
    bands = tuple(Band(entry.start, entry.end, entry.level) for entry in entries)
    return replace(
        VIEW, entries=tuple(entries), lifetime=at, levels=4, history=(bands,), sources=(), decisions=()
    )


@given(views(), st.integers(1, 150), st.sampled_from(AXES), st.floats(1, 16), st.integers(0, 50_000))
def test_columns_tile_what_is_shown_and_the_finest_level_wins(
    view: FocusView, width: int, axis: Axis, zoom: float, offset: int
) -> None:
    cut = columns(view, width, axis, zoom, offset)
    assert cut.width == width
    assert np.all(cut.ends >= cut.starts)
    assert np.array_equal(cut.starts[1:], cut.ends[:-1])
    assert cut.starts[0] >= 0 and cut.ends[-1] <= view.lifetime + 1e-6
    for place in range(width):
        here = view.entries[int(cut.first[place]) : int(cut.last[place])]
        assert here
        assert cut.level[place] == min(entry.level for entry in here)
        assert abs(cut.score[place]) == pytest.approx(max(abs(entry.score) for entry in here))
        touched = [
            e for e in view.entries if e.start < cut.ends[place] - 1e-6 and e.end > cut.starts[place] + 1e-6
        ]
        assert cut.level[place] <= min((entry.level for entry in touched), default=9)


@given(views(), st.integers(1, 150), st.sampled_from(AXES))
def test_unzoomed_everything_is_on_the_map_and_the_past_of_now_is_now(
    view: FocusView, width: int, axis: Axis
) -> None:
    cut = columns(view, width, axis, 1.0, 0)
    seen = {index for a, b in zip(cut.first, cut.last, strict=True) for index in range(int(a), int(b))}
    assert seen == set(range(len(view.entries)))
    assert np.array_equal(past_levels(view.history[0], cut), cut.level)


def test_one_expanded_block_in_a_long_lifetime_is_never_averaged_away() -> None:
    entries = [_entry(place, place * 32_768, (place + 1) * 32_768, 3) for place in range(1000)]
    entries[500:501] = [
        _entry(500, 500 * 32_768, 500 * 32_768 + K, 0, 0.9),
        _entry(501, 500 * 32_768 + K, 501 * 32_768, 1, -0.1),
    ]
    view = replace(VIEW, entries=tuple(entries), lifetime=1000 * 32_768, levels=3, history=())
    for width in (40, 80, 200):
        cut = columns(view, width, "lifetime", 1.0, 0)
        assert np.count_nonzero(cut.level == 0) == 1
        assert np.max(cut.score) == 0.9


def test_a_past_shorter_than_the_present_leaves_its_columns_empty() -> None:
    cut = columns(VIEW, 50, "lifetime", 1.0, 0)
    half = tuple(band for band in VIEW.bands if band.end <= VIEW.lifetime // 2)
    levels = past_levels(half, cut)
    assert levels[-1] == NOTHING and levels[0] != NOTHING
    assert np.all(past_levels((), cut) == NOTHING)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("zoom", [1.0, 2.0, 7.5, 64.0])
def test_a_click_finds_the_entry_and_the_offset_centres_it(axis: Axis, zoom: float) -> None:
    canvas = Canvas(120, 30)
    for selected in (0, 17, 40, len(VIEW.entries) - 1):
        offset = focus.offset_for(VIEW, selected, axis, zoom)
        cut = columns(VIEW, canvas.width - GUTTER, axis, zoom, offset)
        entry = VIEW.entries[selected]
        assert cut.starts[0] < entry.end and cut.ends[-1] > entry.start
        for x in (GUTTER, 60, 119):
            found = focus.entry_at(VIEW, canvas, x, axis=axis, zoom=zoom, offset=offset)
            assert found is not None
            place = x - GUTTER
            assert VIEW.entries[found].level == cut.level[place]
    assert focus.entry_at(VIEW, canvas, 2) is None


def test_actions_and_each_refusal_have_their_own_sign_and_the_legend_explains_them() -> None:
    reasons: tuple[Reason, ...] = ("cooldown", "budget", "n_diff", "mixed_siblings", "stale_gist")
    entries = [
        replace(
            VIEW.entries[1],
            start=at * 64,
            end=(at + 1) * 64,
            reason=reason,
            last_action="expand",
            pinned=False,
        )
        for at, reason in enumerate(("applied", *reasons))
    ]
    entries[0] = replace(entries[0], last_action="collapse")
    entries.append(replace(entries[0], start=384, end=448, last_action="expand"))
    entries.append(replace(entries[0], start=448, end=512, reason="", polished=True))
    view = replace(VIEW, entries=tuple(entries), lifetime=512, sources=())
    plain = focus.focus(view, Canvas(140, 40)).plain
    act = next(line for line in plain.split("\n") if line.startswith("act"))
    assert act[GUTTER:].split() == ["▽", *(REASON_LETTERS[reason] for reason in reasons), "▲", "+"]
    legend = next(line for line in plain.split("\n") if "fine to coarse" in line)
    for words in ("▲ expanded", "▽ collapsed", "c cooldown", "b budget", "m mixed", "g stale", "+ polished"):
        assert words in legend


def test_up_and_down_pulls_differ_in_shape() -> None:
    entries = (_entry(0, 0, 64, 1, 0.9), _entry(1, 64, 128, 1, -0.9))
    view = replace(VIEW, entries=entries, lifetime=128, history=(), sources=())
    lines = focus.focus(view, Canvas(45, 9)).plain.split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("heat"))
    up, down = lines[at][GUTTER:], lines[at + 1][GUTTER:]
    assert up.strip() == "█" * 20 and up.startswith("█")
    assert down.strip() == "█" * 20 and down.startswith(" ")


@pytest.mark.parametrize("symbols", ["braille", "ascii"])
def test_levels_are_readable_without_colour(symbols: str) -> None:
    entries = tuple(_entry(at, at * 320, (at + 1) * 320, level) for at, level in enumerate((0, 1, 2, 3)))
    view = replace(VIEW, entries=entries, lifetime=1280, levels=3, history=(), sources=())
    plain = Palette(monochrome=True)
    drawn = focus.focus(view, Canvas(45, 6, plain, symbols)).plain  # type: ignore[arg-type]
    row = next(line for line in drawn.split("\n") if line.startswith("LOD"))[GUTTER:]
    assert [row[0], row[10], row[20], row[30]] == ["0", "1", "2", "3"]
    assert len({row[1], row[11], row[21], row[31]}) == 4


def test_the_skyline_is_highest_where_detail_is_finest() -> None:
    lines = focus.focus(VIEW, Canvas(120, 40)).plain.split("\n")
    first = next(place for place, line in enumerate(lines) if line.startswith("L0"))
    heights = [sum(lines[first + row][x] != " " for row in range(3)) for x in range(GUTTER, 120)]
    cut = columns(VIEW, 115, "lifetime", 1.0, 0)
    assert heights == [3 - int(level) for level in cut.level]


def test_rows_are_dropped_from_the_least_important_up() -> None:
    for height in range(40, 2, -1):
        rows = plan_rows(VIEW, height)
        assert rows.total <= height
        assert (rows.lod, rows.heat, rows.act) >= (1, 1, 1)
        assert rows.legend or not (rows.past or rows.axis or rows.source or rows.gain)


def test_what_the_signs_mean_is_on_every_map_however_narrow() -> None:
    for canvas in (Canvas(120, 40), Canvas(80, 24), Canvas(60, 15)):
        plain = focus.focus(VIEW, canvas).plain
        assert "▲ expanded" in plain and "▽ collapsed" in plain


def test_a_sentence_above_the_map_says_what_the_model_reads() -> None:
    tiles = [(0, 1024, 2), *((1024 + at * 32, 1056 + at * 32, 1) for at in range(17)), (1568, 2063, 0)]
    entries = tuple(_entry(place, *tile) for place, tile in enumerate(tiles))
    view = replace(VIEW, entries=entries, used=486, lifetime=2063)
    told = (
        "The model reads 486 positions: the last 495 tokens word for word, 544 before them as 17 gists, "
        "1,024 before them as 1 gist."
    )
    assert focus.focus(view, Canvas(140, 40)).plain.split("\n")[1].strip() == told
    short = focus.focus(view, Canvas(80, 24)).plain.split("\n")[1].strip()
    assert short == "Reads 486: 495 of 2,063 tokens word for word, 1,568 as 18 gists."
    opened = replace(view, entries=tuple(replace(one, level=place % 2) for place, one in enumerate(entries)))
    assert "of 2,063 tokens word for word" in focus.focus(opened, Canvas(140, 40)).plain


def test_the_parts_of_a_score_are_said_in_words_and_none_has_a_bar_for_nothing() -> None:
    parts = (("question_words", 0.4), ("far_prose", -0.1), ("open", -0.001), ("asked", 0.002))
    told = replace(samples.explanation(VIEW, 17), parts=parts)
    lines = focus.why(told, Canvas(80, 30)).plain.split("\n")
    row = {
        words: next(line for line in lines if words in line)
        for words in (
            "words of the question",
            "far back, in prose",
            "it is tokens now",
            "a question is asked",
        )
    }
    assert "█" in row["words of the question"].split("│")[1]
    assert "█" in row["far back, in prose"].split("│")[0]
    for nothing in ("it is tokens now", "a question is asked"):
        left, right = row[nothing].split("│")
        assert "█" not in left and not right.strip()


def test_the_header_says_whether_this_is_the_present() -> None:
    canvas = Canvas(100, 20)
    assert "● live" in focus.focus(VIEW, canvas).plain
    assert "◂ step 1,180 of 1,184" in focus.focus(replace(VIEW, position=1180), canvas).plain
    assert "■ finished" in focus.focus(replace(VIEW, finished=True), canvas).plain


def test_predicted_time_of_a_fixed_clock_is_not_told() -> None:
    assert "≈" not in focus.focus(replace(VIEW, predicted_ms=0.0), Canvas(160, 20)).plain


def test_the_inspector_answers_why_down_to_the_measurement() -> None:
    plain = focus.why(samples.explanation(VIEW, 17), Canvas(80, 14), titles=samples.TITLES).plain
    for words in (
        "L0 tokens",
        "7,488–7,519",
        "score +.51",
        "like the latest text",
        "it was carried out, rank 1 of 9",
    ):
        assert words in plain
    for words in (
        "▲ +31 tok ≈ 46 ms",
        "▽ −5 tok",
        "cooldown 2",
        "measured ΔNLL +.21 ±.03",
        "collapses again",
    ):
        assert words in plain


def test_a_narrow_inspector_gives_up_the_quotation_before_the_numbers() -> None:
    plain = focus.why(samples.explanation(VIEW, 17), Canvas(60, 7)).plain
    assert "measured ΔNLL" in plain
    assert "score +.51" in plain


def test_decoded_text_shows_its_end() -> None:
    long = replace(VIEW, text="word " * 500 + "the very end")
    assert "the very end▌" in focus.decoded(long, Canvas(50, 8)).plain


def test_the_last_refocus_is_listed_with_reasons() -> None:
    plain = focus.focus(VIEW, Canvas(200, 60)).plain
    assert "last refocus" in plain
    assert "no expand: " in plain


def test_blocks_of_memory_are_named_over_their_columns() -> None:
    view = samples.focus_view(6000)
    row = next(
        line for line in focus.focus(view, Canvas(200, 40)).plain.split("\n") if line.startswith("from")
    )
    assert "question" in row and "answer" in row
    assert "Dome mot…" in row


def test_thousands_of_entries_are_painted_fast_enough_to_scroll() -> None:
    entries = tuple(_entry(at, at * K, (at + 1) * K, at % 3, (at % 7 - 3) / 4) for at in range(6000))
    bands = tuple(Band(entry.start, entry.end, entry.level) for entry in entries)
    view = replace(VIEW, entries=entries, lifetime=6000 * K, history=(bands,) * 24, sources=())
    focus.focus(view, Canvas(200, 60))
    best = 9.0
    for _ in range(5):
        began = time.perf_counter()
        focus.focus(view, Canvas(200, 60))
        best = min(best, time.perf_counter() - began)
    assert best < 0.2, "a few ms on a free machine; the limit leaves room for a busy one"


def test_the_narrowest_header_keeps_window_lifetime_and_whether_it_is_live() -> None:
    line = focus.focus(VIEW, Canvas(60, 15)).plain.split("\n")[0]
    assert "413/512" in line
    assert "● live" in line


# --- the zoom -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lifetime", [96, 24_000, 1_000_000])
def test_each_zoom_shows_32_times_fewer_tokens_and_the_last_32_of_them(lifetime: int) -> None:
    view = samples.focus_view(lifetime)
    found = zooms(view, "lifetime")
    assert found[0] == 1.0 and all(b / a <= ZOOM_FACTOR for a, b in pairwise(found))
    assert all(b / a == ZOOM_FACTOR for a, b in pairwise(found[:-1]))
    start, end = window(
        view, "lifetime", found[-1], offset_for(view, len(view.entries) // 2, "lifetime", found[-1])
    )
    assert LEAST_SHOWN <= end - start <= LEAST_SHOWN + 1


@given(views(), st.integers(0, 59), st.sampled_from(AXES), st.integers(0, 3))
def test_what_is_in_sight_is_what_the_columns_show(
    view: FocusView, place: int, axis: Axis, deep: int
) -> None:
    steps = zooms(view, axis)
    zoom = steps[min(deep, len(steps) - 1)]
    offset = offset_for(view, min(place, len(view.entries) - 1), axis, zoom)
    start, end = window(view, axis, zoom, offset)
    cut = columns(view, 60, axis, zoom, offset)
    assert start == int(cut.starts[0]) and end == int(np.ceil(cut.ends[-1]))


def test_tokens_in_sight_are_read_entry_by_entry_the_held_ones_apart_from_the_gists() -> None:
    entries = (_entry(0, 0, 32, 0), _entry(1, 32, 64, 1))
    view = replace(VIEW, entries=entries, lifetime=64, sources=(), history=())
    texts = tuple(" dome" if n % 2 else "\n" for n in range(32))
    plain = focus.focus(
        view, Canvas(90, 30), zoom=2, offset=16, selected=1, tokens=TokenSpan(16, texts, ())
    ).plain
    held = next(line for line in plain.split("\n") if line.startswith("text"))
    gist = next(line for line in plain.split("\n") if "(gist)" in line)
    assert " L0 16 \\n│ dome│" in held and "▸L1 32 (gist) \\n│ dome│" in gist
    assert plain.count("dome│") == 16
