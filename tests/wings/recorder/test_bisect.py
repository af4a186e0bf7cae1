"""The bench of causes: which span of a window is found, and when it cannot be told."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recorder.bisection import AskedModel, Score, WindowMessage, find_cause

QUESTION = WindowMessage("user", "When does the boat leave?")


def window(count: int) -> list[WindowMessage]:
    return [*(WindowMessage("user", f"Note {n}.") for n in range(count)), QUESTION]


def losing(*places: int, nats: float = 5.0) -> Score:
    """A score that loses for each of these notes that is not there."""

    def score(messages: Sequence[WindowMessage]) -> float:
        there = {one.text for one in messages}
        return -nats * sum(f"Note {place}." not in there for place in places)

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
