"""Topics of a conversation: the measures against published examples, and what every cut keeps to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.cohesion import boundaries, cut_topics, find_terms
from amgs.conversation.messages import PAUSE, number_sessions
from amgs.text.embedding import HashingEmbedder
from amgs.types.conversation import Message
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
    found = cut_topics(texts, HashingEmbedder(32).embed(texts), [(0, len(texts))] if texts else [])
    assert [place for start, end, _ in found for place in range(start, end)] == list(range(len(texts)))
    assert all(0.0 <= chance <= 1.0 for *_, chance in found)


def test_a_turn_to_other_things_is_found_and_told_by_its_words() -> None:
    bread = [f"The sourdough bread dough needs flour, salt and water, loaf {i}" for i in range(8)]
    trams = [f"The tram line to the station runs late, timetable {i}" for i in range(8)]
    texts = [*bread, *trams, *bread]
    found = cut_topics(texts, HashingEmbedder(256).embed(texts), [(0, len(texts))])
    assert all(min(abs(start - turn) for start, _, _ in found) <= 1 for turn in (8, 16))
    terms = find_terms(["\n".join(texts[start:end]) for start, end, _ in found])
    middle = next(words for (start, end, _), words in zip(found, terms, strict=True) if start <= 11 < end)
    assert {"tram", "timetable", "station"} & set(middle)


def test_a_long_pause_ends_a_session() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    times = [noon, None, noon + PAUSE + timedelta(minutes=1), None, noon + PAUSE + timedelta(minutes=2)]
    messages = [Message(n, "user", "So.", at) for n, at in enumerate(times, 1)]
    assert number_sessions(messages) == [1, 1, 2, 2, 2] and number_sessions([]) == []
