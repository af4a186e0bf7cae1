"""Questions, goals and commitments of a conversation, and what closes them."""

from __future__ import annotations

import pytest

from amgs.conversation.findings import acts, is_question


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


def test_an_answer_closes_a_question_and_a_counter_question_does_not() -> None:
    found = acts(["Which oven do we take?", "Which are there?", "Two.", "The big one."], ["A", "B", "A", "B"])
    assert [(act.place, act.closed_by) for act in found if act.kind == "question"] == [(0, 3), (1, 2)]


def test_a_promise_stays_open_and_nodding_answers_nothing() -> None:
    texts = ["I will send it to Mara. When is it due?", "Mm-hmm.", "On Friday."]
    promise, question = acts(texts, ["A", "B", "B"])
    assert (promise.kind, promise.closed_by, question.closed_by) == ("commitment", None, 2)
    assert texts[0][promise.start : promise.end] == "I will send it to Mara."


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We want to open a bakery.", "goal"),
        ("I'm planning on baking rye.", "goal"),
        ("Please check the oven.", "goal"),
        ("I'll bake two loaves.", "commitment"),
        ("Ill bake two loaves", "commitment"),
        ("I will just have to order more flour.", "commitment"),
        ("I'll be happy.", None),
        ("I'll keep that in mind.", None),
        ("I know I will manage.", None),
        ("If you run out I'll bring some.", None),
        ("I'd like to thank the Minister.", None),
        ("Please note that the oven is hot.", None),
    ],
)
def test_goals_and_commitments_say_what_will_be_done(sentence: str, kind: str | None) -> None:
    assert [act.kind for act in acts([sentence], ["A"])] == ([kind] if kind else [])
