"""The window as text and its map: what was opened must be seen, at every width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.focus.figure import focus, start_of
from amgs_app.focus.figure_window import list_memory
from amgs_app.render.canvas import Canvas
from amgs_app.render.level_columns import map_columns, offset_for, past_levels
from amgs_app.render.level_map import GUTTER
from amgs_app.terminal.themes import Palette
from amgs_focus.dependence import AnswerDependence, WordDependence
from amgs_focus.records import Band, BranchView, NodeRef, SpanSource
from amgs_focus.views import EntryView, FocusView
from tests.tui import figure_samples as samples

VIEW = samples.focus_view(24_000)
K = samples.K


def _entry(place: int, start: int, end: int, level: int, score: float = 0.0) -> EntryView:
    return replace(
        VIEW.entries[1],
        position=place,
        level=level,
        index=start // K if level == 0 else place,
        start=start,
        end=end,
        score=score,
        last_action="",
        reason="below_threshold",
        delta_nll=None,
        pinned=False,
        forbidden=False,
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
        VIEW,
        entries=tuple(entries),
        texts=("words of it",) * len(entries),
        lifetime=at,
        levels=4,
        history=(bands,),
        sources=(),
        decisions=(),
        found=(),
    )


@given(views(), st.integers(1, 150), st.floats(1, 16), st.integers(0, 50_000))
def test_columns_tile_what_is_shown_and_the_finest_level_wins(
    view: FocusView, width: int, zoom: float, offset: int
) -> None:
    cut = map_columns(view, width, zoom, offset)
    assert cut.width == width
    assert np.all(cut.ends >= cut.starts)
    assert np.array_equal(cut.starts[1:], cut.ends[:-1])
    assert cut.starts[0] >= 0 and cut.ends[-1] <= view.lifetime + 1e-6
    for place in range(width):
        here = view.entries[int(cut.first[place]) : int(cut.last[place])]
        assert cut.level[place] == min(entry.level for entry in here)
        assert abs(cut.score[place]) == pytest.approx(max(abs(entry.score) for entry in here))
        touched = [e for e in view.entries if e.start < cut.ends[place] - 1e-6 and e.end > cut.starts[place] + 1e-6]
        assert cut.level[place] <= min((entry.level for entry in touched), default=9)


@given(views(), st.integers(1, 150))
def test_unzoomed_everything_is_on_the_map_and_the_past_of_now_is_now(view: FocusView, width: int) -> None:
    cut = map_columns(view, width)
    seen = {index for a, b in zip(cut.first, cut.last, strict=True) for index in range(int(a), int(b))}
    assert seen == set(range(len(view.entries)))
    assert np.array_equal(past_levels(view.history[0], cut), cut.level)


@pytest.mark.parametrize("zoom", [1.0, 2.0, 7.5, 64.0])
def test_the_offset_keeps_an_entry_in_sight(zoom: float) -> None:
    for selected in (0, 17, 40, len(VIEW.entries) - 1):
        cut = map_columns(VIEW, 115, zoom, offset_for(VIEW, selected, zoom))
        entry = VIEW.entries[selected]
        assert cut.starts[0] < entry.end and cut.ends[-1] > entry.start


@pytest.mark.parametrize("symbols", ["braille", "ascii"])
def test_levels_are_readable_without_colour(symbols: str) -> None:
    entries = tuple(_entry(at, at * 320, (at + 1) * 320, level) for at, level in enumerate((0, 1, 2, 3)))
    view = replace(VIEW, entries=entries, texts=("",) * 4, lifetime=1280, levels=3, history=(), sources=(), found=())
    plain = Palette(monochrome=True)
    drawn = focus(view, Canvas(45, 6, plain, symbols)).render().plain  # type: ignore[arg-type]
    row = next(line for line in drawn.split("\n") if line.startswith("map"))[GUTTER:]
    assert [row[0], row[10], row[20], row[30]] == ["0", "1", "2", "3"]
    assert len({row[1], row[11], row[21], row[31]}) == 4


# --- the window as text -------------------------------------------------------------------------------------


def window() -> FocusView:
    """A gist, two blocks word for word of which the second was just opened, a gist that was just closed."""
    entries = (
        _entry(0, 0, 32, 1),
        _entry(1, 32, 64, 0),
        replace(_entry(2, 64, 96, 0), last_action="expand", reason="applied"),
        replace(_entry(3, 96, 128, 1), last_action="collapse", reason="applied"),
    )
    return replace(
        VIEW,
        entries=entries,
        texts=("Tea is at four", "The valve was", " shut by hand.\n\nIt leaked.", "Rain fell"),
        lifetime=128,
        levels=1,
        history=(),
        sources=(SpanSource(0, 32, "tea", "memory", "Kitchen"), SpanSource(32, 128, "valve", "memory", "Valve log")),
        found=(2,),
        refocuses=1,
    )


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 60)])
def test_what_the_model_reads_is_text_and_what_not_is_one_line_a_gist(width: int, height: int) -> None:
    lines = focus(window(), Canvas(width, height)).render().plain.split("\n")
    whole = next(line for line in lines if "The valve was shut by hand." in line)  # two blocks flow into each other
    assert "▸▲" in whole and "It leaked." not in whole  # the cursor starts on the block that was found
    gists = [line for line in lines if "▓ …" in line]
    assert len(gists) == 2
    assert "▓ …Tea is at four… ← Kitchen" in gists[0] and "▽ ▓ …Rain fell… ← Valve log" in gists[1]
    assert any("▲ 1 opened ▽ 1 closed" in line for line in lines)
    assert any("64 of 128 tokens" in line for line in lines[:2])


def test_the_memory_tells_how_much_of_each_text_is_read_and_what_was_found() -> None:
    view = window()
    assert start_of(view) == 2
    told = [(text.name, text.read, text.rank) for text in list_memory(view).items]
    assert told == [("Kitchen", "as gists", None), ("Valve log", "64 of 96", 1)]
    narrow = focus(view, Canvas(80, 24), side="memory").render().plain
    assert "the memory" in narrow and "what the model reads now" not in narrow


def test_few_numbers_stand_above_and_the_others_are_asked_for() -> None:
    plain, full = (focus(VIEW, Canvas(200, 60), numbers=more).render().plain for more in (False, True))
    for word in ("unchanged for", "changed a refocus", "read anew"):
        assert word not in plain and word in full
    assert "life" in plain and "window" in plain and "next refocus" in plain
    assert "last refocus:" in full and "+.00" not in full


def test_each_word_of_the_answer_is_lit_by_the_block_that_it_depends_on_beside_a_control() -> None:
    words = (WordDependence(" It", None, 0.02, 0.01), WordDependence(" leaked", NodeRef(0, 2), 2.4, 0.1))
    depends = AnswerDependence(words, (NodeRef(0, 1), NodeRef(0, 2)), (0.1, 2.4), NodeRef(1, 0), "")
    view = replace(window(), text=" It leaked")
    for width in (80, 120, 200):
        lines = focus(view, Canvas(width, 40), depends=depends).render().plain.split("\n")
        assert any("It leaked [1]" in line for line in lines)
        told = " ".join(lines)
        assert "in nats: a block that was not open +0.1 · [1] +2.4 Valve log" in told
        assert any("▸1 The valve was shut by hand." in line for line in lines)  # the block has the number, too


def test_the_answer_without_a_block_stands_beside_the_first() -> None:
    here = BranchView("branch-1", "main", 4, 9, True, " It rained", "")
    first = BranchView("main", "", 0, 9, False, " It leaked", "")
    view = replace(window(), text=" It rained", branch="branch-1", branches=(first, here))
    lines = focus(view, Canvas(120, 40)).render().plain.split("\n")
    assert any("the answer on branch-1" in line and "on main" in line for line in lines)
    assert any("It rained" in line and "It leaked" in line for line in lines)
