"""`conversation show`: one command for the messages and every view of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from amgs.errors import UsageError
from amgs_app.calls.standard import standard
from amgs_app.conversation.commands import View
from amgs_app.engine import Engine, Options
from amgs_app.session.operator import Operator

RESULTS = {
    "messages": "ConversationShown",
    "mentions": "ConversationShown",
    "entities": "ConversationEntities",
    "topics": "ConversationTopics",
    "acts": "ConversationActs",
    "memories": "ConversationMemories",
    "summary": "ConversationExtract",
    "stats": "ConversationStats",
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
    if view not in ("messages", "mentions"):
        told = getattr(operator.engine.memory.conversation, view)("ship")
        assert repr(found) == repr(told)


def test_mentions_stand_beside_the_messages_that_a_handle_names(operator: Operator) -> None:
    found = shown(operator, "'#2' --view mentions --least 0.5")
    assert [one.number for one in found.messages] == [2]  # type: ignore[attr-defined]
    assert {one.text for one in found.mentions} >= {"$40"}  # type: ignore[attr-defined]
    assert shown(operator, "--limit 2").total == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "told", "way_out"),
    [
        ("--view topics --closed", "--closed means nothing with `--view topics`.", "It is for `--view acts`."),
        ("--type person", "--type means nothing with `--view messages`.", "It is for `--view entities`."),
        ("'#2' --view stats", "HANDLE means nothing", "It is for `--view messages` and `--view mentions`."),
    ],
)
def test_what_a_view_cannot_use_is_refused(operator: Operator, line: str, told: str, way_out: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        shown(operator, line)
    assert refused.value.way_out == way_out
