"""OpenMemory: the basis of the public interface, with the parts of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.api.context import MemoryContext
from amgs.clock import Clock
from amgs.memory.wing_parts import WingParts
from amgs.settings import Settings

if TYPE_CHECKING:
    from amgs.api.calibration import Calibration
    from amgs.api.changes import Changes
    from amgs.api.conversation import Conversations
    from amgs.api.entities import Entities
    from amgs.api.erasure import Erasure
    from amgs.api.exchange import Exchange
    from amgs.api.frames import Frames
    from amgs.api.gateway import GatewayLog
    from amgs.api.graph import Graph
    from amgs.api.lifecycle import Lifecycle
    from amgs.api.simulation import SimulatedChange
    from amgs.api.sources import SourceLibrary
    from amgs.diagnosis.diagnosing import Diagnosing
    from amgs.simulation import Simulation
    from amgs.types import Progress, Vector


class OpenMemory(WingParts):
    """An open memory. Parts are imported on first use, so that a command that asks one question loads no others."""

    def __init__(self, opened: MemoryContext) -> None:
        super().__init__(opened)
        self.clock: Clock = opened.clock
        self.settings: Settings = opened.settings

    @property
    def _context(self) -> MemoryContext:
        # Clock and settings may have been replaced since the memory was opened.
        return replace(self._opened, clock=self.clock, settings=self.settings)

    @property
    def space(self) -> tuple[str, int]:
        """Name and dimension of the present embedder."""
        return self._opened.embedder.name, self._opened.embedder.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return unit vectors (n, d) of texts by the memory's embedder."""
        return self._opened.embedder.embed(texts, progress)

    @property
    def sources(self) -> SourceLibrary:
        """Sources of texts, and changes when they are read again."""
        from amgs.api.sources import SourceLibrary

        return SourceLibrary(self._context)

    @property
    def lifecycle(self) -> Lifecycle:
        """Enhancement, review of what may be superseded, pruning, previews and triggers."""
        from amgs.api.lifecycle import Lifecycle

        return Lifecycle(self._context)

    @property
    def frames(self) -> Frames:
        """Frames: cached, compared, and the user's own."""
        from amgs.api.frames import Frames

        return Frames(self._context)

    @property
    def entities(self) -> Entities:
        """Entities in the memory: people, organisations, places, projects, topics."""
        from amgs.api.entities import Entities

        return Entities(self._context)

    @property
    def conversation(self) -> Conversations:
        """Conversations, stored in full, and the part of one that a model should read for a question."""
        from amgs.api.conversation import Conversations

        return Conversations(self._context)

    @property
    def gateway(self) -> GatewayLog:
        """Agents' requests through the gateway, with what the model read for each answer."""
        from amgs.api.gateway import GatewayLog

        return GatewayLog(self._context)

    @property
    def diagnosis(self) -> Diagnosing:
        """Diagnosis of missed facts: the cause, the fix, and its effect on other answers."""
        from amgs.diagnosis.diagnosing import Diagnosing

        return Diagnosing(self._context)

    @property
    def changes(self) -> Changes:
        """Changes of a memory that several programs share, by any of them."""
        from amgs.api.changes import Changes

        return Changes(self._context)

    @property
    def graph(self) -> Graph:
        """Surroundings of a block, paths, communities, centrality."""
        from amgs.api.graph import Graph

        return Graph(self._context)

    @property
    def calibration(self) -> Calibration:
        """Learning from outcomes: recalibration, tuning, metrics, monitors."""
        from amgs.api.calibration import Calibration

        return Calibration(self._context)

    def simulate(
        self,
        change: SimulatedChange,
        draws: int = 64,
        seed: int = 0,
        *,
        days: float = 30.0,
        rate: float | None = None,
        progress: Progress | None = None,
    ) -> Simulation:
        """Simulate the effect of a change after some days (AMGS §7.6): a `Change` of blocks and edges as from
        `enhance`, a `Pruning`, an `Insertion` or a `Decay`. rate: uses per day; default: as in the last month.
        """
        from amgs.api.simulation import simulate

        means = self.lifecycle.means
        return simulate(self._context, means, change, draws=draws, seed=seed, days=days, rate=rate, progress=progress)

    @property
    def erasure(self) -> Erasure:
        """Erasure of blocks, so that nothing of their text remains in the store."""
        from amgs.api.erasure import Erasure

        return Erasure(self._context)

    @property
    def exchange(self) -> Exchange:
        """Export of the whole memory to a file, and import."""
        from amgs.api.exchange import Exchange

        return Exchange(self._context)
