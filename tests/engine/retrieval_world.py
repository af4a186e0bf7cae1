"""A small memory for tests: blocks in a list, indexes in RAM, a hashing embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from amgs.clock import FixedClock, microseconds_of
from amgs.graph.live import LiveGraph
from amgs.identity import block_id
from amgs.index.arrays import BlockFeatures, Stamp
from amgs.index.keyword import KeywordIndex
from amgs.index.vector import VectorIndex
from amgs.retrieval.sources import Sources, build_sequences
from amgs.settings import GraphSettings
from amgs.storage.block_columns import FeatureColumns, ScoringFacts
from amgs.storage.blocks import NumberedBlock
from amgs.storage.edges import EdgeColumns
from amgs.text.embedding import HashingEmbedder
from amgs.types import STATUSES, Block, BlockFilter, SearchResult, Vector

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
EMBEDDER = HashingEmbedder(128)


def note(
    content: str,
    *,
    hours_ago: float = 300.0,
    category: str = "observation",
    confidence: float = 0.7,
    decay_lambda: float = 0.001,
    **rest: object,
) -> Block:
    """A consolidated block of the given age."""
    at = NOW - timedelta(hours=hours_ago)
    block = Block(block_id(content), content, at, at, category, confidence, decay_lambda, status="consolidated")
    return replace(block, **rest)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Link:
    """An edge between the blocks at two places of the list, counted from 1 like their numbers."""

    source: int
    target: int
    relation: str = "related"
    weight: float = 0.8
    confidence: float = 1.0
    hours_ago: float = 0.0
    decay_lambda: float = 0.0


def columns(links: Sequence[Link]) -> EdgeColumns:
    """Links as the columns that the graph reads."""
    since = [round((NOW - timedelta(hours=link.hours_ago)).timestamp() * 1e6) for link in links]
    return EdgeColumns(
        np.array([link.source for link in links], dtype=np.int64),
        np.array([link.target for link in links], dtype=np.int64),
        np.array([link.relation for link in links], dtype=object),
        np.array([link.weight for link in links], dtype=np.float64),
        np.array([link.confidence for link in links], dtype=np.float64),
        np.array(since, dtype=np.int64),
        np.array(since, dtype=np.int64),
        np.array([link.decay_lambda for link in links], dtype=np.float64),
    )


def traits(blocks: Sequence[Block]) -> FeatureColumns:
    """What the store would say of the blocks, one at a time."""
    episodes = {"": 0}
    rows = []
    for block in blocks:
        source = str(block.meta.get("source", "")).split("#")[0]
        name = str(block.meta.get("speaker") or block.meta.get("author") or "").lower()
        marks = [c for c in block.content if c in ".!?…"]
        number = episodes.setdefault(source, len(episodes))
        rows.append((number, name, len(block.content.encode()), marks.count("?"), len(marks), marks[-1:] == ["?"]))
    episode, names, characters, questions, sentences, asks = zip(*rows, strict=True) if rows else ((),) * 6
    return FeatureColumns(
        np.arange(1, len(blocks) + 1, dtype=np.int64),
        np.array(episode, dtype=np.uint64),
        tuple(names),
        np.array(characters, dtype=np.int64),
        np.array(questions, dtype=np.int64),
        np.array(sentences, dtype=np.int64),
        np.array(asks, dtype=np.bool_),
    )


class Reader:
    """The store's reading side over a list: block number i stands at place i - 1."""

    def __init__(self, blocks: Sequence[Block], reinforcements: Mapping[int, int]) -> None:
        self.rows = [NumberedBlock(i, b, reinforcements.get(i, 0)) for i, b in enumerate(blocks, start=1)]

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
        passing = [row for row in self.rows if passes(row.block, wanted)]
        if limit is not None:
            passing.sort(key=lambda row: (row.block.last_reinforced_at, row.number), reverse=True)
        return np.sort(np.array([row.number for row in passing[:limit]], dtype=np.int64))

    def read_blocks(self, numbers: Sequence[int]) -> Sequence[NumberedBlock]:
        return [self.rows[n - 1] for n in numbers if 1 <= n <= len(self.rows)]

    def facts(self, numbers: Sequence[int]) -> ScoringFacts:
        rows = self.read_blocks(sorted(numbers))
        return ScoringFacts(
            numbers=np.array([row.number for row in rows], dtype=np.int64),
            ids=np.array([row.block.id for row in rows], dtype=object),
            reinforced=np.array([microseconds_of(row.block.last_reinforced_at) for row in rows], dtype=np.int64),
            decay_lambda=np.array([row.block.decay_lambda for row in rows], dtype=np.float64),
            confidence=np.array([row.block.confidence for row in rows], dtype=np.float64),
            reinforcements=np.array([row.reinforcements for row in rows], dtype=np.int64),
            superseded=np.array([row.block.superseded for row in rows], dtype=np.bool_),
        )

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        return {row.block.id: row.number for row in self.rows if row.block.id in set(ids)}


def passes(block: Block, wanted: BlockFilter) -> bool:
    """The pre-filter, as plainly as it can be said."""
    return (
        not (wanted.current and block.superseded)
        and block.status in wanted.statuses
        and (wanted.categories is None or any(kind in wanted.categories for kind in block.categories))
        and block.categories != (wanted.without,)
        and (wanted.since is None or block.created_at >= wanted.since)
        and (wanted.until is None or block.created_at < wanted.until)
        and (wanted.reinforced_since is None or block.last_reinforced_at >= wanted.reinforced_since)
        and (not wanted.self_only or block.is_self_component)
        and all(block.meta.get(key) == value for key, value in wanted.meta.items())
    )


def parts(result: SearchResult, opening: str) -> dict[str, float]:
    """What each feature adds for the hit that begins so."""
    return dict(next(hit for hit in result.hits if hit.block.content.startswith(opening)).evidence)


def embed(text: str) -> Vector:
    vector: Vector = EMBEDDER.embed([text])[0]
    return vector


def world(
    blocks: Sequence[Block],
    links: Sequence[Link] = (),
    *,
    reinforcements: Mapping[int, int] | None = None,
    vectors: Mapping[int, Vector] | None = None,
) -> Sources:
    """What retrieval reads, over these blocks; raw ones have no embedding, `vectors` overrides the others."""
    reader = Reader(blocks, reinforcements or {})
    keyword = KeywordIndex.open(None)
    every = reader.numbers(BlockFilter(statuses=STATUSES))
    keyword.catch_up(every, lambda wanted: [(n, blocks[n - 1].content) for n in wanted], Stamp("world", 1))
    index = VectorIndex(EMBEDDER.dimension)
    embedded = [row for row in reader.rows if row.block.status != "raw"]
    if embedded:
        index.add([row.number for row in embedded], EMBEDDER.embed([row.block.content for row in embedded]))
    for number, vector in (vectors or {}).items():
        index.add([number], vector[None])
    clock = FixedClock(NOW)
    graph = LiveGraph(lambda: (columns(links), every), lambda: 1, clock, GraphSettings())
    sequences = build_sequences(BlockFeatures.none().merge_changed(traits(blocks)), graph.view())
    return Sources(reader, keyword, index, graph, embed, embed, clock, lambda: sequences, lambda _: True)
