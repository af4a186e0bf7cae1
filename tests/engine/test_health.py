"""How each side of the memory stands: said in words, with the verb that helps."""

from __future__ import annotations

from dataclasses import replace

from amgs.api import health
from amgs.memory import Memory
from amgs.types import BlockFilter, HealthLine
from tests.engine.lifecycle_world import lively


def side(memory: Memory, name: str) -> HealthLine:
    return next(line for line in memory.health().lines if line.side == name)


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
