"""Shared context of an open memory, and the base class of an API part."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from amgs.clock import Clock
from amgs.derived.block_reader import State
from amgs.derived.indexes import Derived
from amgs.errors import AmbiguousIdError, UnknownBlockError
from amgs.frames import registry, shipping
from amgs.frames.registry import Definitions
from amgs.retrieval.search_log import SearchLog
from amgs.settings import Settings
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder
from amgs.text.entities import EntityRecogniser
from amgs.text.text_model import TextModel
from amgs.types import Block

if TYPE_CHECKING:
    from amgs.conversation.summaries import AbstractiveSummariser


_ID_LENGTH = 64
_HEX = re.compile(r"[0-9a-f]+")
_PREFIX = re.compile(r"[0-9a-f]{4,64}")
"""Less than four digits of an id match by chance."""


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """One open memory from inside: its store, what is derived from it, and what it was opened with. model: the language
    model that the user has, which reads notes.
    """

    storage: Storage
    derived: Derived
    clock: Clock
    settings: Settings
    embedder: Embedder
    count_tokens: Callable[[str], int]
    recogniser: EntityRecogniser
    searches: SearchLog
    summariser: AbstractiveSummariser | None = None
    model: TextModel | None = None

    def definitions(self, state: State | None = None) -> Definitions:
        """Return the registered frames by name, children before their parents. state: as of it, from memory."""
        registered = self.storage.frames.everything() if state is None else state.blocks.frames()
        known = registry.by_name(registered or shipping.DEFAULTS)
        return {name: known[name] for name in registry.order(known)}

    def whole_id(self, prefix: str) -> str:
        """Return the only id that begins so; raises UnknownBlockError, or AmbiguousIdError naming those that match."""
        wanted = prefix.strip().lower()
        matches = self.storage.blocks.expand(wanted, 6) if _PREFIX.fullmatch(wanted) else ()
        if not matches:
            if len(wanted) < 4 and _HEX.fullmatch(wanted):
                raise UnknownBlockError(
                    f"{prefix!r} is too short for a block's id.", way_out="Give at least its first four characters."
                )
            beginning = prefix if len(prefix) <= _ID_LENGTH else f"{prefix[:_ID_LENGTH]}…"
            raise UnknownBlockError(
                f"No block id starts with {beginning!r}.", way_out="Search for the block by its words."
            )
        if len(matches) > 1:
            raise AmbiguousIdError(
                f"{prefix!r} is the start of {', '.join(i[:12] for i in matches[:5])}"
                f"{' and more' if len(matches) > 5 else ''}.",
                way_out="Give a longer part of the id.",
            )
        return matches[0]

    def block(self, id_or_prefix: str) -> Block:
        """Return the block with an id or with the only id that begins so, with its embedding; raises like whole_id."""
        whole = self.whole_id(id_or_prefix)
        return self.storage.blocks.get([whole], embeddings=True)[whole]


class MemoryPart:
    """It stands by itself, over the context that it is given, or is one of those that `Memory` is made of."""

    def __init__(self, context: MemoryContext) -> None:
        self._opened = context

    @property
    def _context(self) -> MemoryContext:
        return self._opened

    @property
    def _storage(self) -> Storage:
        return self._context.storage

    @property
    def _now(self) -> datetime:
        return self._context.clock.now()
