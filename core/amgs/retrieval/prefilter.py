"""Layer 1: conditions on status, category, time and metadata, answered by the store as SQL (AMGS §6)."""

from __future__ import annotations

from amgs.retrieval.sources import BlockReader, Numbers
from amgs.types import STATUSES, BlockFilter


def prefilter(wanted: BlockFilter, blocks: BlockReader) -> Numbers:
    """Numbers of the blocks that may be considered at all, ascending: (n,). No later layer lets another one
    in.
    """
    return blocks.numbers(wanted)


def total(blocks: BlockReader) -> int:
    """How many blocks the pre-filter chose from."""
    return int(blocks.numbers(BlockFilter(statuses=STATUSES)).size)
