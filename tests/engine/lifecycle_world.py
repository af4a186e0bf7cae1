"""A memory in which something can be better, and how to compare what it holds before and after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.memory_world import open_memory
from tests.prepared_store import copy_store

EVERY = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))

OWL = (
    "# The owl\n\nThe barn owl came back to the water tower on Monday evening and stayed on the rail until "
    "half past nine. It called four times."
)
OWL_COPY = OWL + "\n\nWe did not see it fly off."
OWL_AGAIN = "# Barn owl\n\nA barn owl on the rail of the water tower, Monday evening: it called and stayed until nine."
TWO_CONCEPTS = (
    "# Mixed\n\n## Bread\n\n"
    + "The sourdough rests overnight in the cold pantry and is baked early in the stone oven. " * 4
    + "\n\n## Antenna\n\n"
    + "The radio antenna needs new guy wires and its connector on the roof was soldered twice. " * 4
)
OTHERS = (
    "The ledger of the mill is kept in the second drawer of the desk.",
    "Ferdinand repairs clocks in the village and is paid in honey.",
    "The road to the pass is closed from November.",
)


def lively(path: Path | str | None = None) -> Memory:
    """A consolidated memory of seven blocks: two copies, an account of the same event, and one to split.

    path: as in `consolidated`.
    """
    return _make_lively(path) if isinstance(path, str) else open_memory(copy_store(_make_lively, path))


def _make_lively(path: Path | str) -> Memory:
    memory = open_memory(path)
    texts = (OWL, OWL_COPY, OWL_AGAIN, TWO_CONCEPTS, *OTHERS)
    at = datetime(2026, 2, 1, tzinfo=UTC)
    memory.ingest_many(
        RawBlock(text, at + timedelta(hours=n), {"source": f"notes/{n}.md"}) for n, text in enumerate(texts)
    )
    memory.consolidate()
    return memory


def content(memory: Memory) -> Any:
    """Everything the store holds but its journal: blocks with embeddings, edges, the review queue."""
    blocks = tuple(sorted(memory.blocks(EVERY), key=lambda b: b.id))
    vectors = tuple(None if (e := memory.block(b.id).embedding) is None else tuple(e.tolist()) for b in blocks)
    return blocks, vectors, memory.edges()
