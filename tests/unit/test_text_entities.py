"""What the rules take for a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.entities import Entity, RuleRecogniser


def names(*texts: str) -> list[list[str]]:
    return [[e.text for e in found] for found in RuleRecogniser().recognise(texts)]


@pytest.mark.parametrize("identifier", ["QX-7741-B", "MSV-0417", "E-17", "HX2410", "F7-6.3AT", "GF/25-118"])
def test_an_identifier_is_one_entity_and_no_piece_of_it_is_another(identifier: str) -> None:
    assert RuleRecogniser().recognise([f"the part {identifier}, replaced"]) == [(Entity(identifier, "identifier"),)]


def test_names_in_mid_sentence_are_found_whole_and_without_possessive() -> None:
    assert names("we met Gaudenz Tschurr at Emil's house in Alp Sura") == [["Gaudenz Tschurr", "Emil", "Alp Sura"]]


def test_a_capital_at_the_start_counts_only_when_the_word_is_a_name_elsewhere() -> None:
    assert names("Beppo cooks. Soup is hot.", "we asked Beppo for soup") == [["Beppo"], ["Beppo"]]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_texts_give_one_answer_each(texts: list[str]) -> None:
    assert len(RuleRecogniser().recognise(texts)) == len(texts)
