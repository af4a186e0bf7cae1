"""Whom a conversation speaks of: told beside its messages, which stay as they were said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

import amgs
from amgs.clock import parse_instant
from amgs.conversation.coreference.passage import GrammarParser
from amgs.conversation.resolved.reading import find_by_grammar
from amgs.errors import UnknownConversationError, UsageError
from amgs.types.conversation import Message
from tests.engine.memory_world import open_memory

SAID = [
    {"role": "system", "content": "You are a clerk."},
    {"role": "user", "name": "Ada", "content": "I met Thomas today. He asked you for the key."},
    {"role": "assistant", "content": "I gave it to him."},
]


@pytest.fixture(scope="module")
def memory() -> Iterator[amgs.Memory]:
    with open_memory(now=parse_instant("2026-03-02T09:00:00Z")) as opened:
        opened.conversation.add("desk", SAID)
        opened.conversation.resolve("desk")
        yield opened


def test_each_reference_stands_at_its_words(memory: amgs.Memory) -> None:
    found = [one for one in memory.conversation.mentions("desk", least=0.0) if one.kind == "reference"]
    texts = {m.number: m.text for m in memory.conversation.show("desk")}
    assert all(texts[one.number][one.start : one.end] == one.text for one in found)
    meant = {(one.number, one.text): one.means for one in found}
    assert meant[2, "I"] == ("Ada",)
    assert meant[2, "you"] == ("assistant",)
    assert meant[2, "He"] == ("Thomas",)
    assert meant[3, "I"] == ("assistant",)
    assert meant[3, "him"] == ("Thomas",)
    assert not any(one.number == 1 for one in found)


def test_below_the_least_confidence_nothing_is_said(memory: amgs.Memory) -> None:
    everything = memory.conversation.mentions("desk", least=0.0)
    sure = memory.conversation.mentions("desk")
    assert sure == tuple(one for one in everything if one.confidence >= 0.75) != everything
    assert {one.number for one in memory.conversation.mentions("desk", "#3", least=0.0)} == {3}


def test_a_conversation_that_is_not_held_and_no_confidence_are_errors(memory: amgs.Memory) -> None:
    with pytest.raises(UnknownConversationError):
        memory.conversation.mentions("nowhere")
    with pytest.raises(UsageError, match="confidence"):
        memory.conversation.mentions("desk", least=2.0)


def test_after_a_long_pause_who_was_there_need_not_be_there() -> None:
    def said(number: int, speaker: str, text: str, at: str) -> Message:
        return Message(number, "user", text, datetime.fromisoformat(at), speaker)

    morning, evening = "2026-03-02T08:00:00+00:00", "2026-03-02T20:00:00+00:00"
    talk = [
        said(1, "Ada", "Good morning.", morning),
        said(2, "Ben", "Good morning.", morning),
        said(3, "Carla", "Are you there?", evening),
        said(4, "Ben", "Yes.", evening),
    ]
    numbers = frozenset(one.number for one in talk)
    found = {(one.number, one.text): one for one in find_by_grammar(talk, numbers, (), GrammarParser())}
    assert found[3, "you"].means == ("Ben",)
    assert found[3, "you"].because == "the only other speaker"
    assert find_by_grammar([], frozenset(), (), GrammarParser()) == ()
