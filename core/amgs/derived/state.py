"""One committed state of the store as readers see it: what was derived from it, which no other change moves on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from amgs.derived.block_reader import StateReader
from amgs.graph.live import LiveGraph
from amgs.graph.view import GraphView
from amgs.retrieval.sequence_index import SequenceIndex


@dataclass(frozen=True, eq=False)
class State:
    """changes, structure: the store's counters. lay_out: makes the sequence index of this state.

    Several threads may read one state; each reads the store in a snapshot of its own, all of the same state.
    """

    changes: int
    structure: int
    blocks: StateReader
    graph: LiveGraph
    lay_out: Callable[[int, GraphView], SequenceIndex]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _laid_out: list[SequenceIndex] = field(default_factory=list)

    def sequences(self) -> SequenceIndex:
        """The order and the episodes of all blocks, laid out once."""
        with self._lock:
            if not self._laid_out:
                self._laid_out.append(self.lay_out(self.structure, self.graph.view()))
            return self._laid_out[0]
