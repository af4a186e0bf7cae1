"""Map each block's number to its id. A number keeps its id for ever, so the map only grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import places

_BYTES = 32


@dataclass(frozen=True, eq=False)
class IdMap:
    """numbers (n,) ascending, ids (n, 32): SHA-256 as bytes."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.uint8]

    @classmethod
    def none(cls) -> IdMap:
        return cls(np.zeros(0, np.int64), np.zeros((0, _BYTES), np.uint8))

    @property
    def last(self) -> int:
        """Highest number in the map, 0 when it is empty."""
        return int(self.numbers[-1]) if self.numbers.size else 0

    def with_(self, numbers: NDArray[np.int64], ids: Sequence[str]) -> IdMap:
        """Return the map with more blocks, all with higher numbers."""
        if not numbers.size:
            return self
        fresh = np.frombuffer(bytes.fromhex("".join(ids)), dtype=np.uint8).reshape(-1, _BYTES)
        return IdMap(np.concatenate([self.numbers, numbers]), np.concatenate([self.ids, fresh]))

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return the id of each number (m,), in hexadecimal; all must be in the map."""
        rows = self.ids[places(self.numbers, numbers)]
        return np.array([row.tobytes().hex() for row in rows], dtype=object)
