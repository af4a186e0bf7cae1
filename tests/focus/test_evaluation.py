"""What the focus benches measure with: windows drawn from documents, intervals by document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import TextError
from amgs_focus.evaluation.bootstrap import resampled
from amgs_focus.evaluation.gist import draw_windows


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=8),
    st.integers(1, 100),
    st.integers(1, 20),
    st.integers(0, 9),
)
def test_windows_lie_inside_documents_that_can_hold_them(
    lengths: list[int], need: int, windows: int, seed: int
) -> None:
    if max(lengths) < need:
        with pytest.raises(TextError):
            draw_windows(lengths, need, windows, seed)
        return
    places = draw_windows(lengths, need, windows, seed)
    assert 1 <= len(places) <= windows
    assert places == draw_windows(lengths, need, windows, seed)
    assert len(set(places)) == len(places)
    assert all(at >= 0 and at + need <= lengths[document] for document, at in places)


def test_an_interval_by_document_is_wider_where_documents_differ() -> None:
    rows = {"x": [0.0] * 20 + [1.0] * 20}
    alone = resampled(rows, lambda means: means["x"], seed=1)
    grouped = resampled(rows, lambda means: means["x"], seed=1, groups=[0] * 20 + [1] * 20)
    assert alone.mean == grouped.mean == 0.5
    assert (grouped.low, grouped.high) == (0.0, 1.0)
    assert 0.3 < alone.low < alone.high < 0.7


def test_one_document_is_resampled_by_window() -> None:
    rows = {"x": list(np.arange(30.0))}
    found = resampled(rows, lambda means: means["x"], seed=1, groups=[3] * 30)
    assert found.low < found.mean == 14.5 < found.high
