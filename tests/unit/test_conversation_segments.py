"""Topics of a conversation: the measures against published examples, and what every cut keeps to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.segments import PAUSE, boundaries, segments, sittings
from amgs.text.embedding import HashingEmbedder
from benchmarks.conversation.segments import Cuts, pk


def _cuts(written: str) -> Cuts:
    return np.array([sign == "1" for sign in written])


@pytest.mark.parametrize(("other", "share"), [("1" * 400, 0.5), ("0" * 400, 0.5), ("0100" * 100, 0.0)])
def test_pk_gives_the_published_examples(other: str, share: float) -> None:
    """NLTK's (nltk.metrics.segmentation.pk)."""
    assert pk(_cuts("0100" * 100), _cuts(other), 2) == pytest.approx(share, abs=0.005)


@given(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=40))
def test_no_more_is_cut_than_is_expected_and_the_likeliest_gap_first(chances: list[float]) -> None:
    cuts = boundaries(np.array(chances))
    assert cuts.sum() <= round(sum(chances))
    assert not cuts.any() or cuts[int(np.argmax(chances))]


@given(st.lists(st.sampled_from(["a loaf of bread", "?", "", "the tram is late", "thanks!"]), max_size=30))
def test_topics_tile_the_messages(texts: list[str]) -> None:
    found = segments(texts, HashingEmbedder(32).embed(texts))
    assert [place for one in found for place in range(one.first, one.last + 1)] == list(range(len(texts)))
    assert all(0.0 <= one.chance <= 1.0 for one in found)


def test_a_turn_to_other_things_is_found_and_a_topic_that_returns_is_linked() -> None:
    bread = [f"The sourdough bread dough needs flour, salt and water, loaf {i}" for i in range(8)]
    trams = [f"The tram line to the station runs late, timetable {i}" for i in range(8)]
    texts = [*bread, *trams, *bread]
    found = segments(texts, HashingEmbedder(256).embed(texts))
    threads = [one.thread for place in (3, 11, 19) for one in found if one.first <= place <= one.last]
    assert threads[0] == threads[2] != threads[1]
    assert all(min(abs(one.first - turn) for one in found) <= 1 for turn in (8, 16))
    middle = next(one for one in found if one.first <= 11 <= one.last)
    assert {"tram", "timetable", "station"} & set(middle.terms)


def test_a_long_pause_ends_a_sitting() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    later = noon + PAUSE + timedelta(minutes=1)
    assert sittings(5, [noon, None, later, later, None]) == [(0, 2), (2, 5)]
    assert sittings(3, []) == [(0, 3)]
    assert sittings(0, []) == []
