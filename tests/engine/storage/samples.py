"""Blocks and edges for the tests of a storage."""

from __future__ import annotations

from datetime import UTC, datetime

from amgs.identity import block_id
from amgs.storage.store import Storage
from amgs.types import Block, Edge

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def block(text: str, **more: object) -> Block:
    """A raw block of this text, created at noon."""
    fields: dict[str, object] = {"created_at": NOON, "last_reinforced_at": NOON, **more}
    return Block(id=block_id(text), content=text, **fields)  # type: ignore[arg-type]


def edge(source: str, target: str, relation: str = "related", weight: float = 0.5) -> Edge:
    """An edge between the blocks of two texts."""
    return Edge(block_id(source), block_id(target), relation, weight, 0.5, NOON, NOON)


def put(storage: Storage, *blocks: Block) -> None:
    """Insert blocks in a transaction of their own."""
    with storage.transaction():
        storage.blocks.insert(blocks)
