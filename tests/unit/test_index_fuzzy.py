"""Typos are read as the nearest known word, and only typos."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amgs.clock import FixedClock
from amgs.index.lexical import Vocabulary, count_allowed_edits, find_corrections
from amgs.memory import Memory

VOCABULARY = Vocabulary(
    {"observatori": 9, "dome": 4, "done": 20, "router": 3, "valv": 2, "encod": 5, "encor": 1}.items()
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("observatroi", "observatori"), ("observtori", "observatori"), ("routr", "router"), ("valb", "valv")],
)
def test_the_nearest_word_is_found(typed: str, meant: str) -> None:
    assert [c.known for c in find_corrections([typed], VOCABULARY)] == [meant]


def test_short_words_are_never_corrected() -> None:
    assert find_corrections(["cat", "ox"], Vocabulary({"car": 5, "bat": 2, "ax": 1}.items())) == ()
    assert [count_allowed_edits(w) for w in ("cat", "dome", "encoders", "")] == [0, 1, 2, 0]


def test_a_word_far_from_all_others_has_no_correction() -> None:
    assert find_corrections(["zygomorphic"], VOCABULARY) == ()


@pytest.mark.parametrize(
    ("typed", "stem", "meant"),
    [
        ("chnage", "chnage", "chang"),
        ("crate", "crate", "creat"),
        ("tehme", "tehm", "theme"),
        ("degress", "degress", "degre"),
        ("recieve", "reciev", "receiv"),
        ("runing", "rune", "run"),
    ],
)
def test_a_typo_is_compared_as_it_was_typed_too(typed: str, stem: str, meant: str) -> None:
    known = Vocabulary({"chang": 1, "creat": 1, "theme": 1, "degre": 1, "receiv": 1, "run": 1, "valv": 3}.items())
    (found,) = find_corrections([stem], known, {stem: typed})
    assert (found.unknown, found.known) == (stem, meant) and 0 < found.closeness < 1


def test_a_word_that_comes_later_corrects_a_typo_that_was_read_before() -> None:
    with Memory.open(":memory:", clock=FixedClock(datetime(2026, 1, 1, tzinfo=UTC))) as memory:
        memory.add("The valve of the heater leaks.")
        memory.consolidate()
        read = [memory.search("obsevratory").readings]
        memory.add("The observatory stands on the hill.")
        memory.consolidate()
        read.append(memory.search("obsevratory").readings)
    assert read[0] == () and [fix.read_as for fix in read[1]] == ["observatori"]
