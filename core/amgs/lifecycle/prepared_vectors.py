"""Vectors of raw blocks that are computed ahead, outside of any transaction, for the consolidation that comes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from amgs.storage.store import Storage
from amgs.text.embedding_text import embedding_text
from amgs.types import Vector

Prepared = Callable[[Sequence[str]], Mapping[str, tuple[str, Vector]]]
"""By block: the SHA-256 of what was embedded, and its vector (d,)."""


def none_prepared(blocks: Sequence[str]) -> Mapping[str, tuple[str, Vector]]:
    """`Prepared` where nothing was computed ahead."""
    del blocks
    return {}


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Blocks whose vectors are wanted, by id, and of each what is embedded."""

    blocks: tuple[str, ...]
    texts: tuple[str, ...]


def digest(text: str) -> str:
    """SHA-256 of a text, as a vector names what it is of."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def ranges(storage: Storage, space: str, size: int) -> list[tuple[int, int]]:
    """The raw blocks without a vector, as first and last running numbers of `size` blocks each."""
    numbers = storage.prepared_vectors.lacking(space)
    parts = [numbers[start : start + size] for start in range(0, numbers.size, size)]
    return [(int(part[0]), int(part[-1])) for part in parts]


def batch(storage: Storage, space: str, first: int, last: int) -> TextBatch:
    """What is to be embedded of the raw blocks with numbers from `first` to `last` that have no vector yet."""
    numbers = storage.prepared_vectors.lacking(space)
    wanted = numbers[(numbers >= first) & (numbers <= last)].tolist()
    blocks = [one.block for one in storage.blocks.by_number(wanted)]
    return TextBatch(tuple(b.id for b in blocks), tuple(embedding_text(b) for b in blocks))


def keep(storage: Storage, given: TextBatch, space: str, vectors: Vector) -> int:
    """Keep the vectors (n, d) of a batch where their blocks are still raw and have none; how many that were."""
    if not given.blocks:
        return 0
    return storage.prepared_vectors.put(given.blocks, [digest(text) for text in given.texts], space, vectors)
