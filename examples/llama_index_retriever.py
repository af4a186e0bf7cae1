"""A LlamaIndex retriever over a memory: `RetrieverQueryEngine.from_args(MemoryRetriever(memory))`.

Copy this file into your program; it needs `llama-index-core>=0.14`.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from amgs.types import BlockFilter, Candidate, SearchResult


class SearchedMemory(Protocol):
    """What a retriever needs of a memory; `Memory` and `MemoryClient` have it."""

    def search(self, query: str, *, top_k: int, filter: BlockFilter | None) -> SearchResult: ...


class MemoryRetriever(BaseRetriever):
    """Retrieves blocks by the memory's own search, the best first; changes nothing.

    top_k: how many at most. filter: only blocks that pass it; raw and consolidated ones unless given.
    """

    def __init__(self, memory: SearchedMemory, *, top_k: int = 10, filter: BlockFilter | None = None) -> None:
        super().__init__()
        self._memory = memory
        self._top_k = top_k
        self._filter = filter

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._memory.search(query_bundle.query_str, top_k=self._top_k, filter=self._filter)
        return [_node(hit) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: Candidate) -> NodeWithScore:
    """A block as a node under its own id. Only its source and date are shown to a model beside the text."""
    block = hit.block
    shown = {"source": str(block.meta.get("source", "")), "created_at": block.created_at.isoformat()}
    more = {
        "title": block.title,
        "category": block.category,
        "confidence": block.confidence,
        "status": block.status,
        "superseded": bool(block.superseded),
    }
    node = TextNode(
        id_=block.id,
        text=block.content,
        metadata={**shown, **more},
        excluded_llm_metadata_keys=list(more),
        excluded_embed_metadata_keys=[*shown, *more],
    )
    return NodeWithScore(node=node, score=hit.score)
