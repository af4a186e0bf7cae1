"""Questions, goals and commitments of a conversation, and what closes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.conversation.acts import acts
from amgs.conversation.questions import is_question
from amgs.conversation.sentences import sentences
from amgs_app.benches.conversation.fit_questions import fit_questions


@pytest.mark.parametrize(
    ("sentence", "asks"),
    [
        ("Where is the key?", True),
        ("You came by tram?!", True),
        ("where do you keep the flour", True),
        ("do you want to go there", True),
        ("I keep the flour in the cellar", False),
        ("What a day.", False),
        ("okay", False),
        ("", False),
        ("???", True),
    ],
)
def test_a_question_is_known_by_its_mark_or_its_words(sentence: str, asks: bool) -> None:
    assert is_question(sentence) is asks


@given(st.text(max_size=200))
def test_sentences_are_pieces_of_their_text_in_order(text: str) -> None:
    spans = list(sentences(text))
    assert all(text[a:b].strip() == text[a:b] != "" for a, b in spans)
    assert [place for span in spans for place in span] == sorted(place for span in spans for place in span)


def test_code_is_no_sentence() -> None:
    text = "Dr. Vale ran it. See:\n```\nif x: run()? no.\n```\nDone!"
    assert [text[a:b] for a, b in sentences(text)] == ["Dr. Vale ran it.", "See:", "Done!"]


def test_an_answer_closes_a_question_and_a_counter_question_does_not() -> None:
    found = acts(["Which oven do we take?", "Which are there?", "Two.", "The big one."], ["A", "B", "A", "B"])
    assert [(act.place, act.closed_by) for act in found if act.kind == "question"] == [(0, 3), (1, 2)]


def test_a_promise_stays_open_until_its_words_are_done() -> None:
    texts = [
        "I will send the tram timetable to Mara.",
        "Thanks!",
        "I sent a parcel.",
        "I sent Mara the timetable.",
    ]
    speakers = ["A", "B", "A", "A"]
    promise = next(act for act in acts(texts, speakers) if act.kind == "commitment")
    assert texts[0][promise.start : promise.end] == texts[0] and promise.closed_by == 3
    assert acts(texts[:3], speakers[:3])[0].closed_by is None


def test_a_wish_is_a_goal() -> None:
    assert [act.kind for act in acts(["We want to open a bakery.", "I'll be happy."], ["A", "B"])] == ["goal"]


def test_the_words_of_questions_are_learned_from_examples() -> None:
    asks = ["do you bake", "where is it", "do they run"] * 8
    tells = ["it is here", "they run late", "you bake well"] * 8
    bias, weights = fit_questions([*asks, *tells], [True] * len(asks) + [False] * len(tells))
    assert weights["^do"] > 0 > bias + sum(weights.get(word, 0.0) for word in ("they", "run", "late"))
