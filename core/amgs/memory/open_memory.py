"""OpenMemory: what the public face works on, and the parts by which more can be asked of it."""

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
    """One open memory. A part is imported when it is asked for: a command that asks one question and ends pays for no
    other.
    """

    def __init__(self, opened: MemoryContext) -> None:
        super().__init__(opened)
        self.clock: Clock = opened.clock
        self.settings: Settings = opened.settings

    @property
    def _context(self) -> MemoryContext:
        # The clock and the settings may have been set anew since the memory was opened.
        return replace(self._opened, clock=self.clock, settings=self.settings)

    @property
    def space(self) -> tuple[str, int]:
        """Name and dimension of the embedder that vectors are computed with."""
        return self._opened.embedder.name, self._opened.embedder.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Embed texts by the memory's own embedder, as unit vectors (n, d)."""
        return self._opened.embedder.embed(texts, progress)

    @property
    def sources(self) -> SourceLibrary:
        """Sources of texts, and the treatment of texts whose sources now differ."""
        from amgs.api.sources import SourceLibrary

        return SourceLibrary(self._context)

    @property
    def lifecycle(self) -> Lifecycle:
        """Enhancement, review of what may be superseded, pruning, previews and triggers."""
        from amgs.api.lifecycle import Lifecycle

        return Lifecycle(self._context)

    @property
    def frames(self) -> Frames:
        """Assembled frames: cached, compared; and frames of the user's own."""
        from amgs.api.frames import Frames

        return Frames(self._context)

    @property
    def entities(self) -> Entities:
        """Names that the memory knows: people, organisations, places, projects, topics, with its knowledge of them."""
        from amgs.api.entities import Entities

        return Entities(self._context)

    @property
    def conversation(self) -> Conversations:
        """Conversations that are kept whole, and what of one a model should read for a question."""
        from amgs.api.conversation import Conversations

        return Conversations(self._context)

    @property
    def gateway(self) -> GatewayLog:
        """Requests of agents to their model through the gateway, with the text the model read for an answer."""
        from amgs.api.gateway import GatewayLog

        return GatewayLog(self._context)

    @property
    def diagnosis(self) -> Diagnosing:
        """Diagnosis of missed facts: the cause, the fix, and its effect on other answers."""
        from amgs.diagnosis.diagnosing import Diagnosing

        return Diagnosing(self._context)

    @property
    def changes(self) -> Changes:
        """Changes to a memory that several programs share, whoever makes them."""
        from amgs.api.changes import Changes

        return Changes(self._context)

    @property
    def graph(self) -> Graph:
        """Neighbourhood of a block, ways between blocks, communities, centralities."""
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
        """Draw what a change would come to after some days (AMGS §7.6): a `Change` of blocks and edges as `enhance`
        proposes it, a `Pruning`, an `Insertion` or a `Decay`. rate: uses a day, as in the last month without one.
        """
        from amgs.api.simulation import simulate

        means = self.lifecycle.means
        return simulate(self._context, means, change, draws=draws, seed=seed, days=days, rate=rate, progress=progress)

    @property
    def erasure(self) -> Erasure:
        """Blocks erased so that nothing of their text is left in the store."""
        from amgs.api.erasure import Erasure

        return Erasure(self._context)

    @property
    def exchange(self) -> Exchange:
        """Export of the whole memory to a file, and import."""
        from amgs.api.exchange import Exchange

        return Exchange(self._context)
