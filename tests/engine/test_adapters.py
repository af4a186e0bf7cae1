"""The memory behind the interfaces of agent frameworks: held by the real packages' own classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents.memory import Session, SessionSettings
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

import amgs
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.types import BlockFilter
from examples.langgraph_store import AmgsStore
from examples.llama_index_retriever import MemoryRetriever
from examples.openai_agents_session import MemorySession
from tests.engine.memory_world import open_memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory() as opened:
        yield opened


async def test_a_langgraph_store_keeps_the_contract_of_its_base_class(memory: Memory) -> None:
    store: BaseStore = AmgsStore(memory)
    ada, bob = ("users", "ada"), ("users", "bob")
    store.put(ada, "diet", {"text": "Ada eats no walnuts", "grade": 3})
    store.put(ada, "work", {"text": "Ada repairs clocks", "grade": 5})
    await store.aput(bob, "diet", {"text": "Bob eats no walnuts", "grade": 3})
    item = store.get(ada, "diet")
    assert item is not None and item.value == {"text": "Ada eats no walnuts", "grade": 3}
    assert (item.namespace, item.key) == (ada, "diet") and store.get(ada, "none") is None
    assert store.get(("users",), "diet") is None, "a key belongs to exactly its namespace"
    found = store.search(("users", "ada"), query="walnuts")
    assert found[0].key == "diet" and found[0].score is not None
    assert {one.namespace for one in found} == {ada}
    assert {one.key for one in store.search(("users",), filter={"grade": {"$gt": 3}})} == {"work"}
    assert {one.namespace for one in store.search(("users",), filter={"grade": 3})} == {ada, bob}
    assert len(await store.asearch((), limit=2)) == 2 and len(store.search((), limit=2, offset=2)) == 1
    assert store.list_namespaces() == [ada, bob]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    assert await store.alist_namespaces(suffix=("*", "bob")) == [bob]
    await store.adelete(bob, "diet")
    assert await store.aget(bob, "diet") is None and store.list_namespaces() == [ada]


async def test_a_put_of_a_key_archives_what_it_was_and_may_go_back_to_it(memory: Memory) -> None:
    store = AmgsStore(memory)
    for colour in ("green", "blue", "green"):
        store.put(("likes",), "colour", {"colour": colour})
        item = store.get(("likes",), "colour")
        assert item is not None and item.value == {"colour": colour}
    assert len(store.search(("likes",))) == 1
    assert memory.counts() == {"raw": 1, "archived": 2}, "nothing is lost"
    ops = (
        PutOp(("likes",), "colour", None),
        GetOp(("likes",), "colour"),
        PutOp(("likes",), "tea", {"kind": "oolong"}),
        SearchOp(("likes",)),
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("likes",)),)),
    )
    done = await store.abatch(ops)
    assert done[:3] == [None, None, None] and done[4] == [("likes",)]
    assert isinstance(done[3], list) and [one.value for one in done[3] if isinstance(one, Item)] == [
        {"kind": "oolong"}
    ]


def test_what_a_langgraph_store_cannot_do_is_said(memory: Memory) -> None:
    store = AmgsStore(memory)
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"v": 1}, ttl=5)
    with pytest.raises(UsageError, match="time to live"):
        store.batch([PutOp(("a",), "k", {"v": 1}, ttl=5)])
    with pytest.raises(UsageError, match="indexed whole"):
        store.put(("a",), "k", {"v": 1}, index=["v"])
    store.put(("a",), "k", {"v": "x"})
    with pytest.raises(UsageError, match=r"\$near"):
        store.search(("a",), filter={"v": {"$near": 1}})
    assert store.search(("a",), filter={"v": {"$gt": 1}}) == [], "a text has no order"


async def test_a_retriever_gives_nodes_with_scores_and_sources(memory: Memory) -> None:
    memory.add("Ada keeps the ledger of the mill.", meta={"source": "notes/mill.md"})
    memory.add("The road to the pass is closed from November.")
    retriever: BaseRetriever = MemoryRetriever(memory, top_k=1)
    found = retriever.retrieve("who keeps the ledger?")
    assert len(found) == 1 and isinstance(found[0], NodeWithScore)
    block = memory.block(found[0].node.node_id)
    assert found[0].text == block.content and found[0].metadata["source"] == "notes/mill.md"
    assert found[0].score == memory.search("who keeps the ledger?").hits[0].score
    assert [one.node.node_id for one in await retriever.aretrieve("who keeps the ledger?")] == [block.id]
    only = MemoryRetriever(memory, filter=BlockFilter(statuses=("archived",)))
    assert only.retrieve("ledger") == []


async def test_a_session_keeps_items_in_order_and_as_they_were(memory: Memory) -> None:
    session = MemorySession("ada", memory)
    other = MemorySession("bob", memory)
    assert isinstance(session, Session)
    items = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Where is the ledger?"}]},
        {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "1"},
        {"role": "user", "content": "hello"},
    ]
    await session.add_items(items[:2])  # type: ignore[arg-type]
    await session.add_items(items[2:])  # type: ignore[arg-type]
    assert await session.get_items() == items, "the same words twice are two items"
    assert await session.get_items(2) == items[2:] and await session.get_items(0) == []
    assert await MemorySession("ada", memory, SessionSettings(limit=1)).get_items() == items[3:]
    assert await other.get_items() == [] and await other.pop_item() is None
    assert memory.search("ledger").hits[0].block.meta["session_id"] == "ada"
    assert await session.pop_item() == items[3]
    await session.add_items(items[3:])  # type: ignore[arg-type]
    assert await session.get_items() == items
    await other.add_items(items[:1])  # type: ignore[arg-type]
    await session.clear_session()
    assert await session.get_items() == [] and await other.get_items() == items[:1]
    with pytest.raises(UsageError, match="negative"):
        await session.get_items(-1)


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))  # as if they were copied
    monkeypatch.setattr(amgs, "open", open_memory)  # without models, which take seconds to load
    examples = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    for example in examples:
        exec(compile(example, "adapters.md", "exec"), {"__name__": "example"})
    said = capsys.readouterr().out
    assert len(examples) == 3
    for told in ("Ada eats walnuts again\ndiet", "mill.md", "I moved to Lisbon."):
        assert told in said
