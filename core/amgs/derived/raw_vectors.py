"""Vectors of raw blocks, by which a search compares them with those that are consolidated.

A search embeds the best few itself. While a consolidation embeds them all, it takes those that are there so far, and
what one search has embedded the next need not: they compete for the same cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from amgs.types import Vector

MOST: Final = 4096
"""So many vectors are held while a consolidation runs: those of its present transaction."""


class RawVectors:
    """embed: what embeds one text that no consolidation has come to."""

    def __init__(self, embed: Callable[[str], Vector]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._running = 0
        self._computed: dict[str, Vector] = {}

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        """Yield held while blocks are embedded to be consolidated."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._computed = {}

    def computed(self, texts: Sequence[str], vectors: Vector) -> None:
        """Keep the vectors (n, d) of some texts while a consolidation runs."""
        with self._lock:
            if self._running:
                self._computed.update(zip(texts, vectors, strict=True))
                for text in list(self._computed)[: max(len(self._computed) - MOST, 0)]:
                    del self._computed[text]

    def of(self, text: str) -> Vector:
        """Return the vector (d,) of a text."""
        with self._lock:
            vector = self._computed.get(text)
        if vector is None:
            vector = self._embed(text)
            self.computed([text], vector[None])
        return vector
