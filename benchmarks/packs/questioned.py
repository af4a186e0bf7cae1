"""Memories whose texts are packed without a look at any question, and what is asked of them.

A pack is six messages of a session in a row, or three paragraphs whose titles follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench_results import MemoryRig
from benchmarks.packs.routing import packed
from benchmarks.questioned import QuestionedMemory, questioned_memories

_IN_A_PACK = 3


def questioned_packs(rig: MemoryRig, data: Path) -> Iterator[QuestionedMemory]:
    """Each memory of four corpora as far as a folder has them, its packs kept, open until the next is asked for."""
    for one in questioned_memories(rig, data):
        if one.conversation is not None:
            packed(one.conversation, one.memory)
        else:
            ids = [block.id for block in one.blocks]
            for place in range(0, len(ids), _IN_A_PACK):
                one.memory.packs.keep(f"row {place:05d}", blocks=ids[place : place + _IN_A_PACK])
        yield one
