"""Memory: the engine's public face. It opens the store, hands the stages what they need, and holds no rules
itself.
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
    """Return the embedder that the store's embeddings come from, which may be the one at hand; in a store without any,
    the one at hand.
    """
    space = storage.meta.embedding_space()
    if space is None or (at_hand is not None and space == (at_hand.name, at_hand.dimension)):
        return at_hand
    return named(*space)


class Memory(BlockMethods, LifecycleMethods, RetrievalMethods, Intake):
    """One open memory, made by `amgs.open` or `Memory.open`; close it, or use it as a context manager.

    A round takes four calls: `add` takes texts in, `consolidate` works them into the memory, `context` assembles what
    a model should read for a question, `feedback` says what of it was useful.

    Every method may be called from any thread. One thread writes at a time; others read meanwhile, each call one
    committed state, and wait for the writer only while indexes catch up. Long methods take a Progress by which they
    are watched and stopped.
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
        # A block that stands in the pool of one frame stands in that of the next.
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
        """Open or create the memory at a path (":memory:" for one that is gone on close), with the models that are
        given; `amgs.open` chooses them.

        Without an embedder, the one that made the store's embeddings is taken; in a store that has none yet,
        `new_embedder`. For models that are not given, deterministic ones that need none serve. create: False
        where a missing store is an error. accept_loss: open a store that has lost its last changes, and go on with
        what is left. summariser: writes the digests of conversations in words of its own, marked as such. model: says
        what kinds and names notes hold, whether two are one and where one turns to another subject, and writes the
        frames that are summaries; rules check what it says.
        Raises StoreLockedError, StoreTooNewError, StoreCorruptError or StoreError; ModelError for a store whose
        embedder is not installed.
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
        """Write what was kept of searches, seal the indexes and close the store. Texts that nobody has searched since
        they came are indexed first, which takes a second for some thousands of them.
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
        """Write anew the files that an erasure has left behind; on a full disk the next opening tries again."""
        if not self._storage.read_only and self._storage.erasure.unfinished:
            with contextlib.suppress(StoreError):
                self.erasure.finish()

    def discard(self) -> None:
        """Close the memory and, where opening it made it and nothing was done in it, remove its file or namespace."""
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
        """Location of the store; `:memory:` for one that is gone on close."""
        return self._storage.path

    @property
    def read_only(self) -> bool:
        """Return whether it is open for reading alone."""
        return self._storage.read_only

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed change."""
        return self._storage.change_counter

    @property
    def committed_changes(self) -> int:
        """Change counter after the last commit, whatever state this thread reads; needs no access to a file."""
        return self._storage.committed_changes

    def transaction(self) -> AbstractContextManager[None]:
        """All that is changed inside, by this thread, is committed together or not at all; others wait to write."""
        return self._storage.transaction()

    def keep(self, name: str, value: str | None) -> None:
        """Remember a text under a name, in the store itself: a layout, a bookmark; None forgets it."""
        with self._storage.transaction():
            self._storage.meta.keep(name, value)

    def kept(self, prefix: str = "") -> dict[str, str]:
        """Return what is remembered under names that begin so, by name."""
        return self._storage.meta.kept(prefix)

    # --- health -----------------------------------------------------------------------------------------

    def counts(self) -> Mapping[str, int]:
        """Return how many blocks are raw, consolidated, archived and pruned; of a state without any there is no
        entry.
        """
        return self._storage.blocks.by_status()

    def status(self) -> StoreStatus:
        """Return one look at the whole memory."""
        from amgs.api import health

        return health.status(self._context)

    def namespaces(self) -> tuple[NamespaceSize, ...]:
        """Return the namespaces of the database that this memory lies in, those that whoever is connected may use;
        nothing for a memory in a file.
        """
        return self._storage.namespaces()

    def health(self) -> Health:
        """Return how each side of the memory stands, and what looks closer or mends it."""
        from amgs.api import health

        return health.health(self._context)

    def verify(self, progress: Progress | None = None) -> Verification:
        """Re-hash every block, follow every reference, compare the indexes; names each fault."""
        from amgs.api import health

        return health.verify(self._context, progress)
