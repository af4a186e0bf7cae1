"""`conversation show`: one command for the messages and every view of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from amgs.errors import UsageError
from amgs_app.calls.registry import standard
from amgs_app.conversation.commands import View
from amgs_app.engine import Engine, Options
from amgs_app.session import Operator

RESULTS = {
    "messages": "ConversationShown",
    "mentions": "ConversationShown",
    "entities": "ConversationEntities",
    "topics": "ConversationTopics",
    "acts": "ConversationActs",
    "memories": "ConversationMemories",
    "summary": "ConversationExtract",
    "stats": "ConversationStats",
    "survival": "ConversationSurvival",
    "compare": "ContextComparison",
}


@pytest.fixture(scope="module")
def operator() -> Iterator[Operator]:
    with Operator(Engine(Options(store=":memory:", model="tiny"))) as opened:
        said = [{"speaker": "Ada", "text": "I will mend the sail on day 7 for $40."}] * 3
        opened.engine.memory.conversation.add("ship", said)
        yield opened


def shown(operator: Operator, line: str) -> object:
    call = standard().parse(f"conversation show ship {line}")
    assert call is not None
    return operator.run(call)


@pytest.mark.parametrize("view", get_args(View))
def test_each_view_is_what_the_memory_tells(operator: Operator, view: str) -> None:
    found = shown(operator, f"--view {view}")
    assert type(found).__name__ == RESULTS[view]
    if view not in ("messages", "mentions", "compare"):
        told = getattr(operator.engine.memory.conversation, view)("ship")
        assert repr(found) == repr(told)


def test_a_context_and_a_text_are_held_against_the_messages(operator: Operator) -> None:
    small = shown(operator, "--view survival --query sail --budget 60 --strategy levels")
    assert small.of == "levels, within 60 tokens"  # type: ignore[attr-defined]
    told = shown(operator, "'#2' --view survival --text 'The sail cost $90.'")
    assert told.verdict == "invented" and told.handle == "#2"  # type: ignore[attr-defined]
    both = shown(operator, "--view compare --budget 60 --against topic")
    assert (both.a.strategy, both.b.strategy) == ("topic", "extractive")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "told", "way_out"),
    [
        ("--view topics --closed", "--closed means nothing with `--view topics`.", "It is for `--view acts`."),
        ("--view stats --budget 9", "--budget means nothing", "It is for `--view survival` and `--view compare`."),
        ("--type person", "--type means nothing with `--view messages`.", "It is for `--view entities`."),
        (
            "'#2' --view stats",
            "HANDLE means nothing",
            "It is for `--view messages` and `--view mentions` and `--view survival`.",
        ),
    ],
)
def test_what_a_view_cannot_use_is_refused(operator: Operator, line: str, told: str, way_out: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        shown(operator, line)
    assert refused.value.way_out == way_out
