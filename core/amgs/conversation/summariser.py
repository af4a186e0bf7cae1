"""A summariser that somebody brought, as the contexts of a conversation use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.conversation.summaries import AbstractiveSummariser

_HELD = 4_096


@dataclass(frozen=True, slots=True)
class RememberedSummariser:
    """Says the same of the same messages for as long as a memory is open: what was sent stays as it was, and a model
    writes each summary once. Safe to use from any thread that its summariser is safe to use from.
    """

    own: AbstractiveSummariser
    _told: dict[tuple[tuple[str, ...], int], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.own.name

    def summarise(self, texts: Sequence[str], most_tokens: int) -> str:
        """See `AbstractiveSummariser`; on one line."""
        key = tuple(texts), most_tokens
        found = self._told.get(key)
        if found is None:
            if len(self._told) >= _HELD:
                self._told.clear()
            found = self._told[key] = " ".join(self.own.summarise(texts, most_tokens).split())
        return found
