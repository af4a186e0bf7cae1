"""Memory: the engine's public interface. It opens the store and provides the stages with what they need; it contains no
rules itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.api.context import MemoryContext
from amgs.api.ingest import Intake
from amgs.clock import ZonedClock
from amgs.derived.indexes import Derived
from amgs.errors import StoreError
from amgs.frames import shipping
from amgs.memory.block_methods import BlockMethods
from amgs.memory.lifecycle_methods import LifecycleMethods
from amgs.memory.retrieval_methods import RetrievalMethods
from amgs.retrieval.search_log import SearchLog
from amgs.settings import Settings
from amgs.storage.opening import open_storage, remove
from amgs.text.embedders import named
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.entities import EntityRecogniser, RuleRecogniser
from amgs.text.tokens import approximate_tokens

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.conversation.summaries import AbstractiveSummariser
    from amgs.storage.store import Storage
    from amgs.text.text_model import TextModel
    from amgs.types import Health, Progress, StoreStatus, Verification
    from amgs.types.topology import NamespaceSize

_COUNTS_KEPT = 4096


def _embedder_of(storage: Storage, at_hand: Embedder | None) -> Embedder | None:
    """Return the embedder of the store's embeddings, which may be the given one; for a store without any, the given
    one.
    """
    space = storage.meta.embedding_space()
    if space is None or (at_hand is not None and space == (at_hand.name, at_hand.dimension)):
        return at_hand
    return named(*space)


class Memory(BlockMethods, LifecycleMethods, RetrievalMethods, Intake):
    """An open memory, from `amgs.open` or `Memory.open`; close it, or use it as a context manager.

    Four calls make a cycle: `add` ingests texts, `consolidate` processes them, `context` assembles what a model should
    read for a question, `feedback` records what of it was useful. All methods may be called from any thread. One thread
    writes at a time; others read one committed state per call meanwhile, and wait only while indexes catch up. Long
    methods take a Progress, which reports and cancels.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        clock: Clock,
        settings: Settings,
        embedder: Embedder,
        count_tokens: Callable[[str], int],
        recogniser: EntityRecogniser,
        summariser: AbstractiveSummariser | None = None,
        model: TextModel | None = None,
    ) -> None:
        derived = Derived(storage, embedder, clock, settings)
        # Pools of successive frames contain the same blocks.
        counted = lru_cache(maxsize=_COUNTS_KEPT)(count_tokens)
        searches = SearchLog(storage)
        if summariser is not None:
            from amgs.conversation.written import RememberedSummariser

            summariser = RememberedSummariser(summariser)
        super().__init__(
            MemoryContext(storage, derived, clock, settings, embedder, counted, recogniser, searches, summariser, model)
        )
        if not storage.read_only:
            shipping.renew(storage, shipping.DEFAULTS)
            self._finish_erasure()

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        clock: Clock,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        new_embedder: Embedder | None = None,
        count_tokens: Callable[[str], int] | None = None,
        recogniser: EntityRecogniser | None = None,
        summariser: AbstractiveSummariser | None = None,
        model: TextModel | None = None,
        read_only: bool = False,
        create: bool = True,
        accept_loss: bool = False,
    ) -> Memory:
        """Open or create a memory (":memory:" for one in RAM) with the given models; `amgs.open` chooses them.

        embedder: default: the one that made the store's embeddings; in a store without any, `new_embedder`.
        Deterministic replacements are used for missing models. create: if False, a missing store is an error.
        accept_loss: open a store that has lost its last changes. summariser: writes digests of conversations in its own
        words, marked as such. model: proposes categories, names, duplicates and changes of topic in notes, and writes
        frames that are summaries; rules check its answers. Raises StoreLockedError, StoreTooNewError, StoreCorruptError
        or StoreError; ModelError if the store's embedder is not installed.
        """
        storage = open_storage(path, read_only=read_only, create=create, accept_loss=accept_loss)
        try:
            return cls(
                storage,
                clock=ZonedClock(clock, zone) if (zone := (settings or Settings()).time_zone) else clock,
                settings=settings or Settings(),
                embedder=embedder or _embedder_of(storage, new_embedder) or HashingEmbedder(),
                count_tokens=count_tokens or approximate_tokens,
                recogniser=recogniser or RuleRecogniser(),
                summariser=summariser,
                model=model,
            )
        except BaseException:
            storage.close()
            raise

    def close(self, progress: Progress | None = None) -> None:
        """Write the log of searches, save the indexes and close the store.

        New texts that nobody has searched yet are indexed first, which takes about a second for some thousands of them.
        """
        if self._storage.closed:
            return
        try:
            self._finish_erasure()
            if self._opened.searches.waits:
                with self._storage.log():
                    self._opened.searches.write(self.settings.retrieval.searches, most=None)
            self._opened.derived.close(progress)
        finally:
            self._storage.close()

    def _finish_erasure(self) -> None:
        """Rewrite files that still contain erased content; if the disk is full, the next opening tries again."""
        if not self._storage.read_only and self._storage.erasure.unfinished:
            with contextlib.suppress(StoreError):
                self.erasure.finish()

    def discard(self) -> None:
        """Close the memory; if opening created it and nothing was done in it, delete its file or namespace."""
        empty = self._storage.made and self._storage.tables.untouched()
        self.close()
        if empty:
            remove(self._storage.path, untouched=True)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """Place of the store; `:memory:` for one in RAM."""
        return self._storage.path

    @property
    def read_only(self) -> bool:
        """Return whether it was opened for reading only."""
        return self._storage.read_only

    @property
    def change_counter(self) -> int:
        """Number that increases by one with every committed change."""
        return self._storage.change_counter

    @property
    def committed_changes(self) -> int:
        """Change counter after the last commit, whatever state this thread reads; reads no file."""
        return self._storage.committed_changes

    def transaction(self) -> AbstractContextManager[None]:
        """Commit all changes of this thread while the block runs together, or none; other writers wait."""
        return self._storage.transaction()

    def keep(self, name: str, value: str | None) -> None:
        """Store a text under a name in the store, such as a layout or bookmark; None deletes it."""
        with self._storage.transaction():
            self._storage.meta.keep(name, value)

    def kept(self, prefix: str = "") -> dict[str, str]:
        """Return the texts from `keep` under names with this prefix, by name."""
        return self._storage.meta.kept(prefix)

    # --- health -----------------------------------------------------------------------------------------

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of raw, consolidated, archived and pruned blocks; without entries for 0."""
        return self._storage.blocks.by_status()

    def status(self) -> StoreStatus:
        """Return the status of the whole memory."""
        from amgs.api import health

        return health.status(self._context)

    def namespaces(self) -> tuple[NamespaceSize, ...]:
        """Return the namespaces of this memory's database that the connected role may use; none for a file."""
        return self._storage.namespaces()

    def health(self) -> Health:
        """Return the state of each area of the memory, with commands that show more or repair it."""
        from amgs.api import health

        return health.health(self._context)

    def verify(self, progress: Progress | None = None) -> Verification:
        """Hash every block again, check every reference, compare the indexes; return each fault."""
        from amgs.api import health

        return health.verify(self._context, progress)
