"""`why` tells the layer at which a block fell out, and what it promises comes true."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.retrieval_world import NOW

NOTES = [
    ("a", "The boiler valve part number is QX-7741-B and it was replaced in March.", 9000),
    ("b", "The boiler in the cellar hums.", 1),
    ("c", "My grandmother baked rye bread every Sunday.", 2),
    ("d", "A boiler, a valve, a pump: the plumber's poem of boilers and valves.", 4000),
]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory.open(tmp_path / "s.duckdb", clock=FixedClock(NOW))
    made.ingest_many(RawBlock(t, NOW - timedelta(hours=h), {"source": f"{n}.md"}) for n, t, h in NOTES)
    made.consolidate()
    return made


def ident(memory: Memory, name: str) -> str:
    (found,) = memory.resolve_source(f"{name}.md")
    return found


def test_the_prefilter_names_its_condition(memory: Memory) -> None:
    fall = memory.why("boiler", ident(memory, "b"), filter=BlockFilter(categories=("person",)))
    assert (fall.fell_at, fall.rank) == ("prefilter", 0)
    assert "only person is taken" in fall.because
    memory.set_metadata(ident(memory, "b"), status="archived")
    assert "archived" in memory.why("boiler", ident(memory, "b")).because


def test_the_change_of_weights_that_is_promised_admits_the_block(memory: Memory) -> None:
    told = 0
    for _, content, _ in NOTES:
        block = next(b for b in memory.blocks(BlockFilter()) if b.content == content)
        fall = memory.why("boiler valve", block.id, top_k=1)
        if fall.fell_at == "score":
            assert fall.by == pytest.approx(fall.needed - fall.score)
            assert fall.rank > 1
        if fall.change is not None:
            told += 1
            hits = memory.search("boiler valve", top_k=1, weights=fall.change.weights).hits
            assert hits[0].block.id == block.id
            assert fall.change.distance > 0
    assert told >= 1


def test_a_frame_tells_its_own_fate_and_leaves_no_trace(memory: Memory) -> None:
    before = memory.change_counter
    inside = memory.why("boiler valve", ident(memory, "a"), frame="ATTENTION")
    assert inside.admitted and inside.frame == "ATTENTION"
    fates = [memory.why("QX-7741-B", ident(memory, n), frame="ATTENTION", budget=40) for n in "bcd"]
    assert any(fall.fell_at for fall in fates)
    assert all(fall.because for fall in fates)
    raw = memory.why("boiler", ident(memory, "a"), frame="INBOX")
    assert raw.fell_at == "prefilter"
    assert memory.change_counter == before
