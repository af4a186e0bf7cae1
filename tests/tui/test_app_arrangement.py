"""Where the panes stand: they tile the body at every size, and the lines around them never run over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.panes.layout import PANES
from amgs_tui.widgets.arrangement import arrange, mode_for
from amgs_tui.widgets.bars import ALWAYS, KeyHint, fit


@given(
    st.integers(110, 400),
    st.integers(26, 150),
    st.sampled_from(PANES),
    st.sampled_from(["single", "split", "tiled"]),
    st.booleans(),
)
def test_panes_tile_the_body_without_gap_or_overlap(
    width: int, height: int, main: str, mode: str, maximised: bool
) -> None:
    boxes = arrange(mode, width, height, main, maximised=maximised).boxes  # type: ignore[arg-type]
    cells: set[tuple[int, int]] = set()
    for box in boxes.values():
        assert box.width > 0 and box.height > 0
        mine = {(x, y) for x in (box.x, box.x + box.width - 1) for y in (box.y, box.y + box.height - 1)}
        assert not mine & cells
        cells |= mine
    assert sum(box.width * box.height for box in boxes.values()) == width * height
    assert main in boxes


def test_the_terminal_size_chooses_the_layout() -> None:
    assert [mode_for(*size) for size in ((200, 60), (120, 40), (80, 24), (60, 15), (39, 20), (80, 8))] == [
        "tiled",
        "split",
        "single",
        "single",
        "tiny",
        "tiny",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_the_key_bar_shows_whole_keys_and_keeps_the_way_out(width: int) -> None:
    entries = [KeyHint(f"p.{n}", "x", f"action {n}", "go") for n in range(12)]
    entries += [KeyHint(name, "q", name.removeprefix("app."), "go") for name in ALWAYS]
    left, right = fit(entries, width)
    assert sum(entry.width for entry in (*left, *right)) <= width
    if width >= 40:
        assert [entry.id for entry in right] == list(ALWAYS)
