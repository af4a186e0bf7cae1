"""Pages of blocks: those of the whole list, in its order, whatever the size of a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_pages_are_the_list_in_pieces_and_the_earliest_is_its_end() -> None:
    raw = BlockFilter(statuses=("raw",))
    with Memory.open(":memory:", clock=FixedClock(NOW)) as memory:
        assert memory.earliest(raw) is None
        # Many of one instant: their order is that of their arrival, on every page.
        memory.ingest_many(RawBlock(f"note {n}", NOW - timedelta(days=n // 7)) for n in range(30))
        whole = memory.blocks(raw)
        for order in ("created", "reinforced", "id"):
            listed = [block.id for block in memory.blocks(raw, order=order)]
            pages = [memory.blocks(raw, order=order, limit=7, offset=at) for at in range(0, 35, 7)]
            assert [block.id for page in pages for block in page] == listed
        assert memory.earliest(raw) == whole[-1].created_at == NOW - timedelta(days=4)
        assert memory.earliest(BlockFilter(statuses=("archived",))) is None
