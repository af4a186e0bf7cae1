"""The language of a text, by its function words: what is English must never be silenced, other text mostly."""

from __future__ import annotations

import pytest

from amgs.text.language import foreign_function_words, foreign_question, foreign_text

ENGLISH = (
    "When did Caroline go to the support group?",
    "Which Python versions does textual support?",
    "who won in 1998",
    "boiler valve",
    "What is die casting, and was it used in Rom or in Paris?",
    "Autonomous cars in San José",
    "",
    "???",
)
FOREIGN = (
    "Wie wird die Heizung im Keller entlüftet?",
    "Comment puis-je installer un paquet à partir des sources ?",
    "¿Dónde se encuentra la capital de Argentina?",
    "Hoe installeer ik een pakket uit de broncode?",
    "Jak mogę zainstalować pakiet źródłowy?",
    "Как мне собрать пакет из исходников?",
    "Πού είναι η βαλβίδα;",
    "ソースからパッケージを作るには?",
    "كيف أثبت الحزمة؟",
)


@pytest.mark.parametrize("text", ENGLISH)
def test_an_english_question_is_not_foreign(text: str) -> None:
    assert not foreign_question(text) and not foreign_text(text)


@pytest.mark.parametrize("text", FOREIGN)
def test_a_question_in_another_language_is(text: str) -> None:
    assert foreign_question(text)


def test_function_words_of_the_question_s_own_language() -> None:
    assert {"wie", "wird", "die"} <= foreign_function_words(FOREIGN[0])
    assert "heizung" not in foreign_function_words(FOREIGN[0])
    assert not foreign_function_words("What is die casting?")
