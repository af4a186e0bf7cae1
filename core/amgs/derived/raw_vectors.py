"""Vectors of raw blocks, with which a search compares them to consolidated blocks.

A search embeds its best few raw blocks itself. While a consolidation embeds all of them, its vectors are used instead,
since both compete for the same cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from amgs.types import Vector

MOST: Final = 4096
"""Most vectors cached while a consolidation runs."""


class RawVectors:
    """Cache of vectors by text. embed: embeds one text."""

    def __init__(self, embed: Callable[[str], Vector]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._running = 0
        self._computed: dict[str, Vector] = {}

    @contextmanager
    def consolidating(self) -> Iterator[None]:
        """Cache vectors while the block runs; they are dropped at its end."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._computed = {}

    def store(self, texts: Sequence[str], vectors: Vector) -> None:
        """Cache the vectors (n, d) of texts, if a consolidation runs."""
        with self._lock:
            if self._running:
                self._computed.update(zip(texts, vectors, strict=True))
                for text in list(self._computed)[: max(len(self._computed) - MOST, 0)]:
                    del self._computed[text]

    def of(self, text: str) -> Vector:
        """Return the vector (d,) of a text, embedding it if it is not cached."""
        with self._lock:
            vector = self._computed.get(text)
        if vector is None:
            vector = self._embed(text)
            self.store([text], vector[None])
        return vector
