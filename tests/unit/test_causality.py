"""What a sentence states of causes, and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.text.causality import of_sentence, stated_causes


@pytest.mark.parametrize(
    ("sentence", "cause", "effect"),
    [
        ("The dome stalled because the rail was iced.", "the rail was iced", "The dome stalled"),
        ("Because the rail was iced, the dome stalled.", "the rail was iced", "the dome stalled"),
        ("The ferry was late due to heavy fog, and we waited.", "heavy fog", "The ferry was late"),
        ("A loose wire led to two nights without data.", "A loose wire", "two nights without data"),
        ("Two nights were lost; the stall was caused by a loose wire.", "a loose wire", "the stall"),
        ("The fuse blew, so we changed the plan.", "The fuse blew", "we changed the plan"),
        ("The fuse blew, which is why we stopped early.", "The fuse blew", "we stopped early"),
        ("She came just because he had asked her.", "he had asked her", "She came"),
    ],
)
def test_cause_and_effect_are_told_apart_whichever_stands_first(
    sentence: str, cause: str, effect: str
) -> None:
    found = of_sentence(sentence)
    assert found is not None
    assert (found.cause, found.effect) == (cause, effect)
    assert 0 < found.confidence < 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The dome stalled and the rail was iced.",
        "Did the dome stall because the rail was iced?",
        ["The dome did not stall because the rail was iced", " because of the wire."][0] + "?",
        "It stalled, but not because the rail was iced.",
        "Maybe because the rail was iced.",
        "A loose wire might lead to two lost nights.",
        "It works without causing any trouble.",
        "The mine was triggered near the gate at noon.",
        "Because I like it.",
        "The train is due to arrive at nine o'clock.",
        "He talked so that everybody could hear him.",
    ],
)
def test_what_is_asked_denied_doubted_or_merely_told_together_is_no_stated_cause(sentence: str) -> None:
    assert of_sentence(sentence) is None


def test_what_points_back_takes_the_sentence_before_and_in_a_turn_whoever_speaks_is_left_out() -> None:
    (found,) = stated_causes("The rail was iced. Because of that, the dome stalled twice.")
    assert (found.cause, found.effect) == ("The rail was iced", "the dome stalled twice")
    (opening,) = stated_causes("Ilse: That's why we heat the rail now.")
    assert (opening.sentence, opening.cause) == ("That's why we heat the rail now.", "")


def test_code_states_nothing() -> None:
    assert not stated_causes("```\nfails because the rail was iced\n```")


@given(st.text(alphabet="abc ,.;:()-because\n'", max_size=200))
def test_clauses_are_of_the_sentence_and_never_empty_where_a_connective_stands_between(text: str) -> None:
    for one in stated_causes(f"it rains because {text}"):
        assert one.effect in one.sentence
        assert (
            not one.cause
            or " ".join(one.cause.split()) in one.sentence
            or one.cause in " ".join(text.split())
        )
