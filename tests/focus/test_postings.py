"""The words of blocks: against a plain dictionary of sets, and in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.tree.span_index import BlockPostings
from tests.focus.focus_world import MODEL

LETTERS = st.lists(st.sampled_from([32, 97, 98, 99, 65, 120]), min_size=4, max_size=4)


@given(st.lists(LETTERS, max_size=40), st.integers(0, 40), st.lists(LETTERS, max_size=12), st.integers(1, 9))
def test_a_search_finds_what_a_set_of_words_a_block_holds(
    blocks: list[list[int]], keep: int, more: list[list[int]], step: int
) -> None:
    held = BlockPostings(MODEL)
    for start in range(0, len(blocks), step):
        held.add(np.array(blocks[start : start + step]), len(blocks))
    keep = min(keep, len(blocks))
    assert held.forget(keep)
    if more:
        held.add(np.array(more), keep + len(more))
    there = [{chr(t).casefold() for t in block if t != 32} for block in [*blocks[:keep], *more]]
    words = held.words_of([97, 99, 120])
    for word, letter in zip(words.tolist(), "acx", strict=True):
        places, weights = held.search({word: 2.0})
        assert places.tolist() == [place for place, letters in enumerate(there) if letter in letters]
        assert (weights == 2.0).all()
    both, summed = held.search({int(words[0]): 1.0, int(words[1]): 0.5})
    for place, weight in zip(both.tolist(), summed.tolist(), strict=True):
        assert weight == ("a" in there[place]) + 0.5 * ("c" in there[place])
    expected = [np.log((len(there) + 1) / (sum(c in letters for letters in there) + 1)) for c in "acx"]
    assert held.idf(words).tolist() == pytest.approx(expected)
