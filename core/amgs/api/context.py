"""Shared context of an open memory, and the base class of its parts."""

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
"""With fewer than four digits, ids would match by chance."""


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The internals of an open memory: its store, derived state, and what it was opened with. model: the user's
    language model, if any.
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
        """Return the registered frames by name, children before their parents. state: if given, as of it, cached."""
        registered = self.storage.frames.everything() if state is None else state.blocks.frames()
        known = registry.by_name(registered or shipping.DEFAULTS)
        return {name: known[name] for name in registry.order(known)}

    def whole_id(self, prefix: str) -> str:
        """Return the only id with this prefix; raises UnknownBlockError, or AmbiguousIdError, which names up to five
        matching ids.
        """
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
        """Return the block with this id or unique prefix, with its embedding; raises like whole_id."""
        whole = self.whole_id(id_or_prefix)
        return self.storage.blocks.get([whole], embeddings=True)[whole]


class MemoryPart:
    """A part of a memory, used by itself over a context, or as a base class of `Memory`."""

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
