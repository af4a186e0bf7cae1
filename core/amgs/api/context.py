"""Shared context of an open memory, the base class of its parts, and two of them: search by six layers, with why
a block is among the hits (AMGS §6); and `memory.changes`, by all programs that share the memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from amgs import bounds
from amgs.clock import Clock, ShiftedClock, as_utc
from amgs.derived.block_reader import State
from amgs.derived.indexes import Derived
from amgs.errors import AmbiguousIdError, UnknownBlockError, UsageError
from amgs.frames import registry, shipping
from amgs.frames.registry import Definitions
from amgs.incoming import check_storable
from amgs.retrieval import search_log, waterfall
from amgs.retrieval import why as following
from amgs.retrieval.layers import SEARCH_WEIGHTS
from amgs.retrieval.search_log import SearchLog
from amgs.settings import Settings
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder, load
from amgs.text.entities import EntityRecogniser
from amgs.text.language_model import TextModel
from amgs.types import Block, BlockFilter, Explanation, PastSearch, SearchResult, StoreChange, Weights

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
        """Return the registered frames by name, children before their parents; those of a state are cached."""
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


class Changes:
    """`memory.changes`, by all programs that share the memory. The latest 4,096 changes are available; they contain no
    text of the memory.
    """

    def __init__(self, context: MemoryContext) -> None:
        self._storage = context.storage

    @property
    def shared(self) -> bool:
        """Return whether other programs may change the memory while it is open, as in PostgreSQL."""
        return self._storage.shared

    def since(self, counter: int, limit: int = 500) -> tuple[StoreChange, ...]:
        """Return the first available changes after a value of the change counter; none for a file."""
        return self._storage.changes(counter, bounds.count("A limit", limit) or 0)

    def wait(self, seconds: float) -> None:
        """Wait until any program announces a change, or `seconds` have passed; call `since` either way, since
        announcements may be missed.

        For a single thread, in a shared memory. Raises StoreError if the database is gone.
        """
        self._storage.hear(seconds)


SEARCHED = BlockFilter(statuses=("consolidated", "raw"))
"""Blocks searched by default: raw ones too, which are found by words only."""


class Retrieval(MemoryPart):
    """Search by six layers (AMGS §6), and why a block is among the hits. Each question reads one committed state, even
    while others write.
    """

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        layers: Sequence[str] | None = None,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        as_of: datetime | None = None,
        keep: bool = False,
    ) -> SearchResult:
        """Return the blocks that answer a query best, `.hits` by falling score, each with its passage; changes nothing.

        Raw blocks are found by words only (`hit.block.status`); superseded ones rank last (`hit.block.superseded`).
        top_k: most hits. layers: only these of prefilter, keyword, fuzzy, vector, graph and score. filter: default: raw
        and consolidated blocks. weights: of the five components of a score. as_of: only what held then, including what
        was superseded or archived since. keep: log the search, so that `why_then` explains it by number later; written
        with the next assembly or on closing, never in a memory opened for reading only. Raises UsageError for an
        unknown layer, WeightsError for weights that do not sum to 1.
        """
        check_storable(query)
        query = self._context.settings.ingest.mask(query)
        wanted = filter or SEARCHED
        if as_of is not None:
            wanted = replace(wanted, as_of=as_utc(as_of))
        asked = waterfall.check_layers(layers)
        request = waterfall.RetrievalRequest(query, wanted, weights or waterfall.search_weights(asked), asked)
        words_alone = not request.layers & {"vector", "graph"}
        if not words_alone:
            load(self._context.embedder, "the encoder")  # so that its layer's time excludes loading
        with self._context.derived.searching(words_alone=words_alone) as sources:
            if wanted.as_of is not None:
                sources = replace(sources, clock=ShiftedClock(wanted.as_of, base=sources.clock))
            result, gathered = waterfall.search_with_evidence(request, sources, top_k)
            if keep:
                self._context.searches.keep(
                    query,
                    gathered,
                    at=sources.clock.now(),
                    places=bounds.count("The number of hits", top_k),
                    weights=gathered.weights,
                    most=self._context.settings.retrieval.searches,
                )
            return result

    def searches(self, limit: int = 20) -> tuple[PastSearch, ...]:
        """Return the latest logged searches, newest first."""
        rows = self._context.searches.latest(bounds.count("A limit", limit))
        return tuple(PastSearch(row.serial, row.at, row.query, row.places, row.pool) for row in rows)

    def why_then(self, number: int, block: str) -> Explanation:
        """Return why a block was a hit of a logged search or not: its scores, rank and layers then.

        Raises UsageError if the search is not logged, UnknownBlockError or AmbiguousIdError for the block.
        """
        row = self._context.searches.get(number)
        if row is None:
            most = self._context.settings.retrieval.searches
            raise UsageError(
                f"Search {number} is no longer stored; the latest {most} are.",
                title="Not stored",
                way_out="Search again; `memory.retrieval.searches` in the settings says how many are stored.",
            )
        return search_log.explain(row, self._context.block(block))

    def gather(
        self, query: str, *, layers: Sequence[str] | None = None, weights: Weights | None = None
    ) -> waterfall.Gathered:
        """Return all candidates of the layers for a query, with evidence, without reading blocks; for measurements."""
        asked = waterfall.check_layers(layers)
        request = waterfall.RetrievalRequest(
            query, weights=weights or waterfall.search_weights(asked), layers=asked, most=0
        )
        with self._context.derived.searching() as sources:
            return waterfall.gather(request, sources)

    def nearest(self, query: str, limit: int = 10) -> list[tuple[str, float]]:
        """Return ids and cosines of the blocks nearest in meaning, by the vector layer."""
        with self._context.derived.searching() as sources:
            hits = sources.vectors.search(sources.embed(query), limit)
            ids = {
                stored_block.number: stored_block.block.id
                for stored_block in sources.blocks.read_blocks([n for n, _ in hits])
            }
        return [(ids[number], cosine) for number, cosine in hits]

    def why(
        self, query: str, block: str, *, top_k: int, filter: BlockFilter | None, weights: Weights | None
    ) -> Explanation:
        """Return why a block is among the `top_k` hits, or in which layer it dropped out. Leaves no trace."""
        context = self._context
        asked = waterfall.RetrievalRequest(query, filter or SEARCHED, weights or SEARCH_WEIGHTS)
        with context.derived.searching() as sources:
            wanted = context.block(block)
            number = context.storage.blocks.numbers_of([wanted.id])[wanted.id]
            return following.why(asked, wanted, number, sources, top_k)
