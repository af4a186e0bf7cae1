"""Typos are read as the nearest known word, and only typos."""

from __future__ import annotations

import pytest

from amgs.index.fuzzy import corrections, edits_allowed

VOCABULARY = {"observatori": 9, "dome": 4, "done": 20, "router": 3, "valv": 2, "encod": 5, "encor": 1}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("observatroi", "observatori"), ("observtori", "observatori"), ("routr", "router"), ("valb", "valv")],
)
def test_the_nearest_word_is_found(typed: str, meant: str) -> None:
    assert [c.known for c in corrections([typed], VOCABULARY)] == [meant]


def test_a_nearer_word_keeps_farther_ones_out() -> None:
    assert [
        c.known for c in corrections(["observatorr"], {"observatori": 1, "observators": 1, "observat": 9})
    ] == [
        "observatori",
        "observators",
    ]


def test_equally_near_words_come_by_frequency_then_alphabet() -> None:
    assert [c.known for c in corrections(["doze"], VOCABULARY)] == ["done", "dome"]


def test_short_words_are_never_corrected() -> None:
    assert corrections(["cat", "ox"], {"car": 5, "bat": 2, "ax": 1}) == ()
    assert [edits_allowed(w) for w in ("cat", "dome", "encoders", "")] == [0, 1, 2, 0]


def test_a_word_far_from_all_others_has_no_correction() -> None:
    assert corrections(["zygomorphic"], VOCABULARY) == ()


def test_closeness_falls_with_the_edits() -> None:
    one, two = corrections(["observatorx", "obsxrvatorx"], {"observatori": 1})
    assert (one.edits, two.edits) == (1, 2)
    assert 0 < two.closeness < one.closeness < 1


def test_another_year_is_no_typo() -> None:
    assert corrections(["1998"], {"1908": 3}) == ()
