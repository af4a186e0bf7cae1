"""How each side of the memory stands: said in words, with the verb that helps."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from amgs.api import health
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.schedule import Due
from amgs.memory import Memory
from amgs.types import BlockFilter, HealthLine
from amgs_app.calls.standard import standard
from tests.engine.lifecycle_world import lively
from tests.engine.memory_world import NOW, open_memory


def side(memory: Memory, name: str) -> HealthLine:
    return next(line for line in memory.health().lines if line.side == name)


def test_an_empty_memory_names_what_to_begin_with() -> None:
    with open_memory() as memory:
        told = {line.side: line.standing for line in memory.health().lines}
        assert told["inbox"] == "well" and set(told.values()) == {"well", "unknown"}
        memory.ingest_many([RawBlock("A line of the ledger.")])
        assert side(memory, "inbox").verb == "consolidate plan"
        assert side(memory, "consolidation").standing == "act"


def test_a_living_memory_is_counted_side_by_side() -> None:
    with lively() as memory:
        blocks = len(memory.blocks(BlockFilter()))
        assert side(memory, "consolidation").told == "today"
        graph = side(memory, "graph")
        touched = {end for edge in memory.edges() for end in (edge.source_id, edge.target_id)}
        assert f"of {len(memory.edges())} edges" in graph.told
        assert f"{blocks - len(touched)} blocks alone" in graph.told
        ahead = memory.lifecycle.forecast(days=7)
        decay = side(memory, "decay")
        assert (
            decay.told == f"{ahead.already_below} of {blocks} below 0.05, {ahead.falling} more drop below it in 7 days"
        )
        of_use = any(row.uses for row in ahead.rows)
        most_faded = 2 * ahead.already_below > blocks
        assert decay.standing == ("watch" if of_use or most_faded else "well")
        young = replace(ahead, already_below=blocks // 2, rows=())
        assert health.of_decay(young, blocks).standing == "well"
        assert health.of_decay(replace(young, already_below=blocks // 2 + 1), blocks).standing == "watch"
        assert side(memory, "budget").standing == "unknown"
        frame = memory.assemble("ATTENTION", query="owl")
        assert f"{frame.tokens} of" in side(memory, "budget").told
        assert side(memory, "calibration").standing == "unknown"
        memory.feedback(frame.selected[0].block.id, useful=True)
        assert "Brier" in side(memory, "calibration").told


def test_edges_that_faded_and_findings_that_wait_are_said() -> None:
    with lively() as memory:
        for edge in memory.edges():
            assert edge.decay_lambda > 0
        memory.clock = type(memory.clock)(NOW + timedelta(days=40_000))  # type: ignore[call-arg]
        assert "100% of" in side(memory, "graph").told and side(memory, "graph").standing == "watch"
    assert health.of_review(2).standing == "watch" and health.of_review(0).standing == "well"


@pytest.mark.parametrize(("score", "standing"), [(0.1, "well"), (0.15, "act"), (0.3, "act")])
def test_calibration_is_held_against_its_goal(score: float, standing: str) -> None:
    assert health.of_calibration(score, 20, 20).standing == standing
    assert health.of_calibration(score, 19, 20).standing == "unknown"


def test_every_verb_that_is_named_exists() -> None:
    due = Due(True, "too long", 60, NOW, NOW)
    with lively() as memory:
        lines = [
            *memory.health().lines,
            health.of_inbox(due),
            health.of_consolidation(due, NOW),
            health.of_graph(9, 0, 9, 0),
            health.of_graph(9, 10, 9, 9),
            health.of_review(3),
            health.of_diversity({"note": 70}),
            health.of_calibration(0.4, 30, 20),
            health.of_calibration(0.1, 30, 20),
        ]
    for line in lines:
        assert standard().find(line.verb.split())[0] is not None, line


def test_entropy_is_told_beside_the_most_it_could_be() -> None:
    with lively() as memory:
        memory.set_metadata(memory.blocks(BlockFilter())[0].id, category="decision")
        counts = memory.status().categories.values()
        total = sum(counts)
        bits = -sum(n / total * math.log2(n / total) for n in counts)
        assert memory.status().diversity.bits == pytest.approx(bits)
        assert f"{bits:.2f} of {math.log2(len(counts)):.2f} bits" in side(memory, "diversity").told
    told = health.of_diversity({"note": 50, "fact": 50}).told
    assert told == "1.00 of 1.00 bits over 2 categories, 50% note"
