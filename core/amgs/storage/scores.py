"""The latest composite score of a block in a frame (AMGS §5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol


class ScoreStorage(Protocol):
    """Scores by frame and block."""

    def put(self, frame: str, scores: Mapping[str, float], at: datetime) -> None:
        """Write the scores of blocks in a frame, in place of older ones."""
        ...

    def get(self, frame: str) -> dict[str, float]:
        """The cached scores of a frame by block id."""
        ...

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the cached scores of blocks."""
        ...
