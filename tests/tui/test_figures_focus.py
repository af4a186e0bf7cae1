"""The level-of-detail map: what was expanded must be seen, at every width, on every axis."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.focus import figure as focus
from amgs_app.render.canvas import Canvas
from amgs_app.render.level_columns import Axis, columns, past_levels
from amgs_app.render.level_map import GUTTER
from amgs_app.terminal.themes import Palette
from amgs_focus.records import Band, TokenSpan
from amgs_focus.views import EntryView, FocusView
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
    return replace(VIEW, entries=tuple(entries), lifetime=at, levels=4, history=(bands,), sources=(), decisions=())


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
        touched = [e for e in view.entries if e.start < cut.ends[place] - 1e-6 and e.end > cut.starts[place] + 1e-6]
        assert cut.level[place] <= min((entry.level for entry in touched), default=9)


@given(views(), st.integers(1, 150), st.sampled_from(AXES))
def test_unzoomed_everything_is_on_the_map_and_the_past_of_now_is_now(view: FocusView, width: int, axis: Axis) -> None:
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


@pytest.mark.parametrize("symbols", ["braille", "ascii"])
def test_levels_are_readable_without_colour(symbols: str) -> None:
    entries = tuple(_entry(at, at * 320, (at + 1) * 320, level) for at, level in enumerate((0, 1, 2, 3)))
    view = replace(VIEW, entries=entries, lifetime=1280, levels=3, history=(), sources=())
    plain = Palette(monochrome=True)
    drawn = focus.focus(view, Canvas(45, 6, plain, symbols)).plain  # type: ignore[arg-type]
    row = next(line for line in drawn.split("\n") if line.startswith("LOD"))[GUTTER:]
    assert [row[0], row[10], row[20], row[30]] == ["0", "1", "2", "3"]
    assert len({row[1], row[11], row[21], row[31]}) == 4


# --- the zoom -----------------------------------------------------------------------------------------------


def test_tokens_in_sight_are_read_entry_by_entry_the_held_ones_apart_from_the_gists() -> None:
    entries = (_entry(0, 0, 32, 0), _entry(1, 32, 64, 1))
    view = replace(VIEW, entries=entries, lifetime=64, sources=(), history=())
    texts = tuple(" dome" if n % 2 else "\n" for n in range(32))
    plain = focus.focus(view, Canvas(90, 30), zoom=2, offset=16, selected=1, tokens=TokenSpan(16, texts, ())).plain
    held = next(line for line in plain.split("\n") if line.startswith("text"))
    gist = next(line for line in plain.split("\n") if "(gist)" in line)
    assert " L0 16 \\n│ dome│" in held and "▸L1 32 (gist) \\n│ dome│" in gist
    assert plain.count("dome│") == 16
