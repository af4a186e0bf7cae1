"""`block latest`: what the memory holds by date, without a query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from amgs.ingest.raw_blocks import RawBlock
from amgs_app.engine import Engine, Options
from amgs_app.operations import block
from amgs_app.operator import Operator
from amgs_app.render.catalogue import table_of
from amgs_app.results import BlockList

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture
def operator() -> Operator:
    """Three consolidated blocks, one a day, and a raw one."""
    made = Operator(Engine(Options(store=":memory:", model="tiny", now=NOW)))
    memory = made.engine.memory
    memory.ingest_many([RawBlock(f"Note {day}.", NOW - timedelta(days=day), {}) for day in (3, 1, 2)])
    memory.consolidate()
    memory.ingest_many([RawBlock("Note 0.", NOW, {})])
    return made


def contents(result: BlockList) -> list[str]:
    return [each.content for each in result.blocks]


def test_the_latest_consolidated_blocks_come_first_and_can_be_meant_afterwards(operator: Operator) -> None:
    found = operator.run(block.latest())
    assert contents(found) == ["Note 1.", "Note 2.", "Note 3."]
    assert operator.listed == tuple(each.id for each in found.blocks)


def test_they_come_in_pages(operator: Operator) -> None:
    assert contents(operator.run(block.latest(limit=1, offset=1))) == ["Note 2."]
    assert table_of(operator.run(block.latest(limit=1))).title == "1 block, the latest first"


def test_a_time_bounds_them_half_open(operator: Operator) -> None:
    day = timedelta(days=1)
    assert contents(operator.run(block.latest(since=NOW - 2 * day, until=NOW - day))) == ["Note 2."]


def test_a_category_that_no_block_has_leaves_none(operator: Operator) -> None:
    assert contents(operator.run(block.latest(category=["nothing"]))) == []
