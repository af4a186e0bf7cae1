"""A store with packs in it, for whoever reads it without them."""

from __future__ import annotations

from pathlib import Path

from amgs.clock import FixedClock, parse_instant
from amgs.memory import Memory
from amgs.types import BlockFilter


def make_store(path: Path) -> None:
    """Three notes, two packs of them that were read and judged, and what could be done with them."""
    with Memory.open(path, clock=FixedClock(parse_instant("2026-03-01T09:00:00Z"))) as memory:
        for text in ("The dome stalled on Sunday.", "The encoder slipped in the cold.", "A goat on the terrace."):
            memory.add(text)
        memory.consolidate()
        ids = [block.id for block in memory.blocks(BlockFilter())]
        memory.packs.keep("dome", blocks=ids[:2])
        memory.packs.keep("motor", blocks=ids[:2], title="Motor")
        memory.packs.outcome(*memory.packs.assemble(pack="dome").uses)
        for proposal in memory.packs.proposals():
            memory.packs.decide(proposal.id, accept=False)
