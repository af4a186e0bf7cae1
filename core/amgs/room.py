"""What a door to one part of the engine needs of an open memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from amgs.clock import Clock
from amgs.derived import Derived
from amgs.frames.registry import Definitions
from amgs.settings import Settings
from amgs.store.connection import Store
from amgs.text.embedding import Embedder
from amgs.text.entities import EntityRecogniser


@dataclass(frozen=True, slots=True)
class Room:
    """One open memory from inside: its store, what is derived from it, and what it was opened with.

    lock: held while the indexes are read, which change as they catch up.
    """

    store: Store
    derived: Derived
    clock: Clock
    settings: Settings
    embedder: Embedder
    count_tokens: Callable[[str], int]
    recogniser: EntityRecogniser
    lock: threading.RLock
    definitions: Callable[[], Definitions]

    @property
    def setup(self) -> str:
        """The embedder's name and a hash of the settings: with another setup the same request may give
        another answer.
        """
        told = hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()[:12]
        return f"{self.embedder.name} {told}"
