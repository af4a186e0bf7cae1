"""The memory behind the interfaces of agent frameworks: held by the real packages' own classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

import amgs
from amgs.memory import Memory
from amgs.types import BlockFilter
from examples.llama_index_retriever import MemoryRetriever
from tests.engine.memory_world import open_memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory() as opened:
        yield opened


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
