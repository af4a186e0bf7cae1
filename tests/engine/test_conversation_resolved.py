"""What words of messages mean is kept beside them: undone, erased, cleared and exported with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

import amgs
from amgs.clock import parse_instant
from amgs.conversation.coreference.passage import GrammarParser
from amgs.conversation.mention_finder import LONGEST, MOST, find_by_grammar, find_by_shape
from amgs.errors import UnknownConversationError, UsageError
from amgs.log import journal
from amgs.types import BlockFilter
from amgs.types.conversation import Message
from amgs.types.conversation_views import ResolvedMention
from tests.engine.memory_world import open_memory

SAID = [
    {"role": "system", "content": "You are a clerk."},
    {
        "role": "user",
        "name": "Ada",
        "content": "I met Thomas in Berlin yesterday. He drove my car and paid $1,200 for it.",
        "at": "2026-03-02T08:00:00Z",
    },
    {"role": "assistant", "content": "Was it Anna's car? See https://example.org/a?b=1, due by Friday."},
    {
        "role": "user",
        "name": "Ada",
        "content": "No. My car is in core/amgs/tool.py, ask anna@example.org. Thomas knows.",
    },
]


@pytest.fixture(scope="module")
def memory() -> Iterator[amgs.Memory]:
    with open_memory(now=parse_instant("2026-03-02T09:00:00Z")) as opened:
        yield opened


def told(mentions: tuple[ResolvedMention, ...]) -> set[tuple[int, str, str, tuple[str, ...]]]:
    return {(one.number, one.type, one.text, one.means) for one in mentions}


def test_what_needs_no_parser_is_kept_by_add_and_the_rest_by_resolve(memory: amgs.Memory) -> None:
    added = memory.conversation.add("desk", SAID)
    shapes = memory.conversation.mentions("desk", least=0.0)
    assert told(shapes) >= {
        (2, "date", "yesterday", ("2026-03-01",)),
        (2, "money", "$1,200", ("$1,200",)),
        (3, "url", "https://example.org/a?b=1", ("https://example.org/a?b=1",)),
        (4, "path", "core/amgs/tool.py", ("core/amgs/tool.py",)),
        (4, "email", "anna@example.org", ("anna@example.org",)),
    }
    assert {one.detector for one in shapes} == {"shape"}
    assert memory.conversation.stats("desk").unresolved == len(SAID)
    done = memory.conversation.resolve("desk")
    assert (done.messages, memory.conversation.stats("desk").unresolved) == (len(SAID), 0)
    assert memory.conversation.resolve("desk").operation is None, "nothing waits, nothing is written"
    found = memory.conversation.mentions("desk", least=0.0)
    assert len(found) == len(shapes) + done.mentions
    assert told(found) >= {
        (2, "person", "Thomas", ("Thomas",)),
        (2, "place", "Berlin", ("Berlin",)),
        (2, "person", "He", ("Thomas",)),
        (2, "personal_object", "my car", ("Ada’s car",)),
        (3, "personal_object", "Anna's car", ("Anna’s car",)),
    }
    texts = {m.number: m.text for m in memory.conversation.show("desk")}
    assert all(texts[one.number][one.start : one.end] == one.text for one in found)
    assert [m["content"] for m in SAID] == list(texts.values())
    he = next(one for one in found if one.text == "He")
    assert he.antecedent is not None and texts[2][he.antecedent[1] : he.antecedent[2]] == "Thomas"
    assert memory.verify().faults == ()

    assert done.operation is not None and memory.undo(done.operation).undone
    assert memory.conversation.mentions("desk", least=0.0) == shapes
    again = memory.conversation.resolve("desk")
    assert memory.conversation.mentions("desk", least=0.0) == found

    # The numbers of messages that were taken back are given to others, and those have nothing of the first ones.
    assert again.operation is not None and added.operation is not None
    memory.undo(added.operation)
    memory.conversation.add("desk", [{"speaker": "Ada", "text": "Nothing at all, and nothing more than that."}] * 4)
    assert memory.conversation.mentions("desk", least=0.0) == ()


def test_one_thing_is_one_entity_by_form_and_type(memory: amgs.Memory) -> None:
    memory.conversation.add("shop", SAID)
    memory.conversation.resolve("shop")
    found = memory.conversation.entities("shop", least=0.3)
    named = {(one.type, one.name): one for one in found.entities}
    assert named["personal_object", "Ada’s car"].handles == ("#2", "#4")
    assert named["personal_object", "Ada’s car"].owner == "Ada"
    assert named["personal_object", "Anna’s car"].handles == ("#3",), "another owner, another thing"
    assert {one.text for one in named["person", "Thomas"].mentions} == {"Thomas", "He"}
    places = memory.conversation.entities("shop", type="place", least=0.0).entities
    assert [one.name for one in places] == ["Berlin"]
    nothing = memory.conversation.entities("shop", least=1.0)
    assert (nothing.entities, nothing.waiting) == ((), 0) and nothing.withheld == len(
        memory.conversation.mentions("shop", least=0.0)
    )
    assert {one.number for one in memory.conversation.mentions("shop", "#3", least=0.0)} == {3}
    with pytest.raises(UsageError, match="type"):
        memory.conversation.entities("shop", type="ship")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="confidence"):
        memory.conversation.mentions("shop", least=-1)
    with pytest.raises(UnknownConversationError):
        memory.conversation.resolve("nowhere")


def test_an_alias_of_an_older_store_is_no_mention(memory: amgs.Memory) -> None:
    memory.conversation.add("old", SAID)
    before = memory.conversation.mentions("old", least=0.0)
    alias = replace(before[0], kind="alias", means=("Thomas", "Tom"), detector="merge")
    storage = memory._context.storage
    with storage.transaction():
        operation = journal.write(storage, "merge", memory.clock.now(), "Tom is Thomas", []).id
        storage.mentions.add("old", [alias], operation)
    assert memory.conversation.mentions("old", least=0.0) == before
    assert memory.undo(operation).undone and memory.verify().faults == ()


def test_erasing_and_clearing_take_what_was_resolved(tmp_path: Path) -> None:
    with open_memory(now=parse_instant("2026-03-02T09:00:00Z")) as memory:
        memory.conversation.add("desk", SAID)
        memory.conversation.resolve("desk")
        path = tmp_path / "memory.json"
        memory.exchange.export(path)
        with open_memory(now=parse_instant("2026-03-02T09:00:00Z")) as other:
            other.exchange.load(path)
            assert other.conversation.mentions("desk", least=0.0) == memory.conversation.mentions("desk", least=0.0)
            assert other.conversation.stats("desk").unresolved == 0
            other.conversation.clear("desk")
            other.conversation.add("desk", SAID[3:])
            assert {one.type for one in other.conversation.mentions("desk", least=0.0)} == {"path", "email"}
        (block,) = [b for b in memory.blocks(BlockFilter(statuses=("raw",))) if "Berlin" in b.content]
        receipt = memory.erasure.erase([block.id])
        left = memory.conversation.mentions("desk", least=0.0)
        assert receipt.rows["mentions"] and {one.number for one in left} == {3, 4}
        assert not any("Berlin" in repr(one) for one in left)
        assert memory.verify().faults == ()


def test_the_shapes_of_a_long_and_of_a_hostile_message_are_read_so_far_and_no_further() -> None:
    at = parse_instant("2026-03-02T09:00:00Z")
    message = Message(1, "tool", "see /etc/hosts " + "a" * LONGEST + " /etc/passwd", at)
    assert [one.text for one in find_by_shape(message)] == ["/etc/hosts"]
    for one in ("$", "1,", "a@", "http://", "v1.", "-1:"):
        found = find_by_shape(replace(message, text=one * 400))
        assert all(mention.text for mention in found) and len(found) <= MOST
    assert find_by_shape(replace(message, text="on Monday, 3 March 2025", at=None)) == (), "no day to tell it from"


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
