"""What every bench is given, whatever it measures."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amgs.types import Progress

if TYPE_CHECKING:
    from amgs.text.embedding import Embedder
    from amgs.text.tokens import CountTokens


class Stopwatch:
    """The machine's monotonic clock: a bench measures real time, whatever the session's clock says."""

    def perf(self) -> float:
        return time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class Rig:
    """progress: what a bench reports to, and what can stop it. seed: the session's, for what a bench draws."""

    progress: Progress = field(default_factory=Progress)
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class MemoryRig(Rig):
    """What a bench of the memory engine is given: the models of its stores."""

    embedder: Embedder
    count_tokens: CountTokens
