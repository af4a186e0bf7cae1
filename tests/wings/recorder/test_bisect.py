"""The bench of causes: which span of a window is found, and when it cannot be told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recorder.bisection import CALLS, AskedModel, Score, WindowMessage, cut, find_cause, without

QUESTION = WindowMessage("user", "When does the boat leave?")


def window(count: int) -> list[WindowMessage]:
    return [*(WindowMessage("user", f"Note {n}.") for n in range(count)), QUESTION]


def losing(*places: int, nats: float = 5.0, any_does: bool = False) -> Score:
    """A score that loses for each of these notes that is not there. any_does: only once all of them are gone."""

    def score(messages: Sequence[WindowMessage]) -> float:
        there = {one.text for one in messages}
        gone = [place for place in places if f"Note {place}." not in there]
        if any_does:
            return -nats if len(gone) == len(places) else 0.0
        return -nats * len(gone)

    return score


def saying(score: Score) -> Score:
    """A share of words: all of them where the score loses nothing."""
    return lambda messages: 1.0 + score(messages)


def asking(score: Score) -> tuple[AskedModel, list[Sequence[WindowMessage]]]:
    """A model that answered, and what it was asked."""
    asked: list[Sequence[WindowMessage]] = []

    def counted(messages: Sequence[WindowMessage]) -> float:
        asked.append(messages)
        return score(messages)

    return AskedModel("large", 0.25, counted), asked


@given(st.integers(1, 16), st.data())
def test_the_one_cause_is_named(count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 1))
    found = find_cause(window(count), losing(place))
    assert found.named == (place + 1, place + 1) and not found.calls
    assert (found.weights[0].lost, found.weights[0].alone) == (5.0, 5.0)
    assert all(one.weight == 0 for one in found.weights[1:])


@given(st.integers(17, 200), st.data())
def test_of_more_spans_than_can_be_told_apart_neighbours_are_named(count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 1))
    found = find_cause(window(count), losing(place))
    assert found.named and found.named[0] <= place + 1 <= found.named[1]
    assert found.named[1] - found.named[0] < -(-count // 16) and len(found.weights) == 16


@pytest.mark.parametrize(
    ("score", "because"),
    [
        (losing(), "nothing there"),
        (losing(2, nats=1.0), "nothing there"),
        (losing(1, 10, any_does=True), "another span says it"),
    ],
    ids=["no cause", "a faint one", "one that stands twice"],
)
def test_it_says_when_it_cannot_tell(score: Score, because: str) -> None:
    found = find_cause(window(12), score)
    assert found.named is None and because in found.because


def test_what_stands_twice_weighs_most_all_the_same() -> None:
    weights = find_cause(window(12), losing(1, 10, any_does=True)).weights
    assert {one.first for one in weights[:2]} == {2, 11}


@given(st.permutations(range(12)))
def test_the_model_that_answered_is_asked_without_the_heaviest_until_it_is_lost(places: list[int]) -> None:
    """The small model is wrong about all that weighs more than the cause."""
    cause = places[3]

    def small(messages: Sequence[WindowMessage]) -> float:
        there = {one.text for one in messages}
        return sum(5.0 - at for at, place in enumerate(places[:5]) if f"Note {place}." in there)

    model, asked = asking(saying(losing(cause, nats=1.0)))
    found = find_cause(window(12), small, model)
    assert found.named == (cause + 1, cause + 1)
    assert [one.first for one in found.calls] == [0, *(place + 1 for place in places[:4])]
    assert len(asked) == 5 and f"Note {cause}." not in {one.text for one in asked[-1]}


def test_after_six_calls_it_cannot_tell() -> None:
    model, asked = asking(saying(losing()))
    found = find_cause(window(12), losing(3), model)
    assert found.named is None and len(asked) == len(found.calls) == CALLS
    assert "is said without any" in found.because


def test_a_model_that_does_not_say_it_again_is_asked_once() -> None:
    model, asked = asking(losing())
    found = find_cause(window(12), losing(3), model)
    assert found.named is None and len(asked) == len(found.calls) == 1
    assert "does not say the sentence" in found.because


def test_a_window_with_nothing_but_a_question_has_no_cause() -> None:
    model, asked = asking(losing())
    found = find_cause([QUESTION], losing(), model)
    assert (found.named, found.weights, found.spans, asked) == (None, (), (), [])


TEXT = st.text("ab \n", max_size=30).map(lambda text: text * 30) | st.text("ab \n", max_size=30)
ROLE = st.sampled_from(["system", "user", "assistant", "tool"])


@given(st.lists(st.builds(WindowMessage, ROLE, TEXT), max_size=6), st.data())
def test_spans_are_left_out_and_all_else_stays(messages: list[WindowMessage], data: st.DataObject) -> None:
    spans = cut(messages)
    assert without(messages, spans, ()) == messages
    left = data.draw(st.sets(st.integers(0, max(len(spans) - 1, 0)), max_size=len(spans)))
    kept = "".join(one.text for one in without(messages, spans, left))
    whole = "".join(one.text for one in messages)
    gone = sum(spans[place].end - spans[place].start for place in left if spans)
    assert len("".join(kept.split())) >= len("".join(whole.split())) - gone
    for one in spans:
        assert messages[one.message].text[one.start : one.end].strip() == one.text


def test_frames_are_cut_by_blocks_long_messages_by_paragraphs_and_the_question_is_no_span() -> None:
    frame = "# SESSION: boat\n\n(5d4f27f2) The boat is red.\n(07ac91d3) It leaves at nine.\n"
    long = "\n\n".join(["word " * 50] * 3)
    asked = f"Context: it rains.\n\n{QUESTION.text}"
    spans = cut([WindowMessage("system", frame), WindowMessage("tool", long), WindowMessage("user", asked)])
    assert [one.text[:12] for one in spans] == [
        "# SESSION: b", "(5d4f27f2) T", "(07ac91d3) I", *["word word wo"] * 3, "Context: it ",
    ]  # fmt: skip
