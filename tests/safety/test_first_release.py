"""A store that the first release wrote (0.1.0, schema 5) is brought up to this one with all it holds.

`first_release.duckdb.xz` was made by the code of c681ebd9: three notes taken in and consolidated, a SESSION frame of
which a block was judged useful, a search, and a text that waits in the inbox.
"""

from __future__ import annotations

import lzma
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.storage.migrations import LATEST
from amgs.types import BlockFilter

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "first.duckdb"
    path.write_bytes(lzma.decompress((Path(__file__).parent / "first_release.duckdb.xz").read_bytes()))
    with duckdb.connect(str(path), read_only=True) as raw:
        assert raw.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() == ("5",)
    return path


def test_a_store_of_the_first_release_holds_what_it_held(store: Path) -> None:
    with Memory.open(store, clock=FixedClock(NOW + timedelta(days=1))) as memory:
        assert memory.status().schema_version == LATEST and memory.verify().ok
        held = memory.blocks(BlockFilter(statuses=("raw", "consolidated")))
        assert {each.content.split("\n")[0]: each.status for each in held} == {
            "# Dome": "consolidated",
            "# Valve": "consolidated",
            "# Self": "consolidated",
            "The spare tyre is in the shed.": "raw",
        }
        assert [each.kind for each in memory.operations()] == ["ingest", "feedback", "consolidate", "ingest"]
        (frame,) = memory.frames.history().assemblies
        assert (frame.name, frame.blocks) == ("SESSION", 3)
        assert [each.actual for each in memory.outcomes()].count(1) == 1


def test_a_store_of_the_first_release_is_gone_on_with(store: Path) -> None:
    with Memory.open(store, clock=FixedClock(NOW + timedelta(days=1))) as memory:
        assert memory.search("boiler valve").hits[0].block.content.startswith("# Valve")
        memory.consolidate()
        assert memory.search("spare tyre").hits[0].block.status == "consolidated"
        for entry in memory.operations():
            memory.undo(entry.id)
        assert memory.verify().ok and not memory.blocks(BlockFilter(statuses=("raw", "consolidated")))
