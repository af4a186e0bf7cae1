"""The passage of a text lies where what is asked for stands, in whole sentences where they are short."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from amgs.retrieval.passage_finder import Match, best_passage

SENTENCES = [f"Sentence number {n} says nothing of it." for n in range(40)]


def found(text: str, *words: str) -> list[Match]:
    return [Match(m.start(), m.end(), word) for word in words for m in re.finditer(word, text)]


def passage(text: str, most: int, *words: str) -> str:
    start, end = best_passage(text, found(text, *words), most)
    return text[start:end]


def test_the_sentence_that_answers_is_shown_with_what_follows() -> None:
    text = " ".join([*SENTENCES[:20], "The dome stalled in May.", *SENTENCES[20:]])
    shown = passage(text, 120, "dome", "stalled")
    assert shown.startswith("The dome stalled in May.")
    assert shown.endswith(".")
    assert 80 < len(shown) <= 120


def test_a_sentence_without_an_end_is_cut_at_blanks_around_the_word() -> None:
    text = "and so on " * 200 + "dome " + "and so on " * 200
    shown = passage(text, 80, "dome")
    assert "dome" in shown.split()
    assert set(shown.split()) <= {"and", "so", "on", "dome"}


@given(st.text(st.sampled_from("ab .\n!?é漢"), max_size=300), st.integers(12, 80))
def test_a_passage_is_a_part_of_the_text_and_no_longer_than_wanted(text: str, most: int) -> None:
    start, end = best_passage(text, found(text, "a"), most)
    assert 0 <= start <= end <= len(text)
    assert end - start <= most
    assert bool(text[start:end].strip()) == bool(text.strip())
