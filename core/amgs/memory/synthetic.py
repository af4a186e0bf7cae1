"""A synthetic memory, to observe behaviour under controlled conditions (AMGS §13.2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import numpy as np

from amgs import bounds
from amgs.clock import FixedClock, earlier
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory.memory import Memory
from amgs.settings import Settings

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SUBJECTS, _WORDS, _DAYS = 40, 12, 60.0


@contextmanager
def synthetic_memory(blocks: int, seed: int, settings: Settings | None = None) -> Iterator[Memory]:
    """Open a consolidated memory in RAM with this many notes on distinct subjects, most of them recent."""
    rng = np.random.default_rng(bounds.count("A seed", seed))
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    subjects = rng.choice(syllables, (_SUBJECTS, _WORDS, 3))
    notes = []
    for number in range(bounds.count("A synthetic memory", blocks, least=1, most=10_000)):
        words = rng.permutation(subjects[rng.zipf(1.5) % _SUBJECTS])[:8]
        text = f"Note {number}. {' '.join(map(''.join, words.tolist()))}."
        notes.append(RawBlock(text, earlier(_NOW, timedelta(days=float(rng.exponential(_DAYS)))), {}))
    with Memory.open(":memory:", clock=FixedClock(_NOW), settings=settings) as memory:
        memory.ingest_many(notes)
        memory.apply_consolidation(memory.plan_consolidation())
        yield memory
