"""The centrality of a large graph: worked out now and then, kept in the store, and the same for whoever searches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.graph.live import LIVE, CentralityFound
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, GraphSettings, Settings
from amgs.types import HealthLine
from tests.engine.memory_world import open_memory, write_notes

LARGE = Settings(graph=GraphSettings(fresh_centrality_nodes=3), consolidation=ConsolidationSettings(similarity=0.0))
"""Six blocks with edges are a large graph."""


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Of a file; tests/safety/postgres/test_contract.py has one of PostgreSQL."""
    return str(tmp_path / "m.duckdb")


@pytest.fixture
def memory(place: str, tmp_path: Path) -> Iterator[Memory]:
    """Six consolidated blocks, whose centrality nobody has worked out."""
    with open_memory(place, settings=LARGE) as opened:
        opened.ingest_folder(write_notes(tmp_path / "notes"))
        opened.consolidate()
        yield opened


def scored(memory: Memory) -> dict[str, float]:
    """The centrality by which each block was scored."""
    return {hit.block.id: hit.parts.centrality for hit in memory.search("valve dome notes Ilse").hits}


def line(memory: Memory) -> HealthLine:
    (found,) = (each for each in memory.health().lines if each.side == "centrality")
    return found


def test_what_was_worked_out_is_what_every_search_goes_by(memory: Memory) -> None:
    assert set(scored(memory).values()) == {0.0}
    assert (line(memory).standing, line(memory).verb) == ("act", "consolidate")
    before = memory.change_counter
    memory.lifecycle.keep_derived()
    assert memory.change_counter == before + 1  # an answer may differ now
    right = {block.id: memory.centrality(block.id) for block in memory.blocks(LIVE)}
    wanted = {i: (one.degree + one.eigenvector + one.pagerank) / 3 for i, one in right.items()}
    assert scored(memory) == {i: pytest.approx(wanted[i], abs=1e-9) for i in scored(memory)}
    assert max(scored(memory).values()) > 0.5
    memory.lifecycle.keep_derived()
    assert line(memory).standing == "well" and memory.change_counter == before + 1


def test_of_one_graph_it_is_kept_once_and_none_replaces_a_later_one(memory: Memory) -> None:
    derived = memory._context.derived

    def found() -> CentralityFound:
        with derived.reading() as state:
            return derived.centrality.of(state.graph.view(), state.structure)

    early = found()
    memory.ingest_text("The ferry waits for the tide at Harlin.")
    late = found()
    assert derived.centrality.keep(late)
    counter = memory.change_counter
    assert not derived.centrality.keep(late) and not derived.centrality.keep(early)
    assert memory.change_counter == counter


def test_a_copy_is_scored_alike_and_an_erased_block_leaves_no_score(memory: Memory, tmp_path: Path) -> None:
    memory.lifecycle.keep_derived()
    memory.exchange.export(tmp_path / "e.json")
    with open_memory(settings=LARGE) as copy:
        copy.exchange.load(tmp_path / "e.json")
        assert scored(copy) == scored(memory) and copy.verify().ok
        found = scored(copy)
        first = max(found, key=lambda block: found[block])
        erased = copy.erasure.erase([first])
        assert erased.rows["centrality"] == 1
