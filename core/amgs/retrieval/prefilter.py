"""Layer 1: conditions on status, category, time and metadata, answered by the store as SQL (AMGS §6)."""

from __future__ import annotations

from amgs.model import STATUSES, BlockFilter
from amgs.retrieval.ports import BlockReader, Numbers


def prefilter(wanted: BlockFilter, blocks: BlockReader) -> Numbers:
    """Numbers of the blocks that may be considered at all, ascending: (n,). No later layer lets another one
    in.
    """
    return blocks.numbers(wanted)


def total(blocks: BlockReader) -> int:
    """How many blocks the pre-filter chose from."""
    return int(blocks.numbers(BlockFilter(statuses=STATUSES)).size)
