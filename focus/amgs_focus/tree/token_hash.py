"""The hash of a lifetime's tokens, kept up as they come, and taken back without reading the whole lifetime again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amgs_focus.tree.files import RowStore

PIECE = 1 << 18
"""Tokens between two remembered states: what taking back reads at most."""

Tokens = NDArray[np.uint32]


class TokenHash:
    """SHA-256 of tokens as little-endian 32-bit numbers, with its state after every whole piece."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()
        self._marks = [self._state.copy()]
        self._length = 0

    def update(self, tokens: Tokens) -> None:
        """Tokens at the end."""
        while len(tokens):
            taken, tokens = np.split(tokens, [PIECE - self._length % PIECE])
            self._state.update(taken.astype("<u4").tobytes())
            self._length += len(taken)
            if self._length % PIECE == 0:
                self._marks.append(self._state.copy())

    def cut(self, length: int, rows: RowStore) -> None:
        """The hash of the first `length` tokens, which `rows` holds; only those after the last mark are read."""
        del self._marks[1 + length // PIECE :]
        self._length = PIECE * (len(self._marks) - 1)
        self._state = self._marks[-1].copy()
        for start in range(self._length, length, PIECE):
            self.update(rows.rows(start, min(length, start + PIECE)))

    def digest(self, further: Sequence[int]) -> str:
        """64 hex digits, with further tokens behind them."""
        state = self._state.copy()
        state.update(np.asarray(further, "<u4").tobytes())
        return state.hexdigest()
