"""Summaries of a conversation are pieces of it, whatever it says and however often they are made."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.findings import acts
from amgs.conversation.summaries import summary

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


_SAID = st.sampled_from(
    ["We decided to bake at 5.", "Is the oven on?", "Yes, since /tmp/a.py ran.", "", "Mara came yesterday.", "¿\0…"]
)


@given(st.lists(_SAID, min_size=1, max_size=12), st.integers(1, 3))
def test_every_span_is_a_piece_of_its_source_and_five_times_are_one(texts: list[str], most: int) -> None:
    speakers = ["A" if place % 2 else "B" for place in range(len(texts))]
    parts = [(0, len(texts) // 2 + 1), (len(texts) // 2 + 1, len(texts)), (0, len(texts))]
    parts = [(a, b) for a, b in parts if a < b]

    def made() -> list[tuple[object, ...]]:
        return [tuple(p) for p in summary(texts, [NOON] * len(texts), acts(texts, speakers), parts, most)]

    first = summary(texts, [NOON] * len(texts), acts(texts, speakers), parts, most)
    for (start, end), spans in zip(parts, first, strict=True):
        assert sum(one.slot == "sentence" for one in spans) <= most
        for one in spans:
            assert start <= one.place < end
            assert 0 <= one.start < one.end <= len(texts[one.place])
    assert all(made() == [tuple(p) for p in first] for _ in range(4))


def test_a_sentence_said_twice_is_taken_once_and_an_open_question_is_cited() -> None:
    texts = ["The oven needs a new door.", "The oven needs a new door.", "Who pays for the door?"]
    (spans,) = summary(texts, [], acts(texts, ["A", "B", "A"]), [(0, 3)], 3)
    assert [one.slot for one in spans].count("sentence") == 2
    assert [(one.place, one.slot) for one in spans if one.slot == "question"] == [(2, "question")]
