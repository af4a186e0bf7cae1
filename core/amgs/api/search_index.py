"""`memory.index`: the search index outside the process, derived from the store and built whole, version by version."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs.api.context import MemoryPart
from amgs.errors import UsageError
from amgs.index.vector import VectorIndex

if TYPE_CHECKING:
    from amgs.derived.indexes import Derived
    from amgs.derived.search_tier import SearchTier
    from amgs.retrieval.sources import Sources
    from amgs.types import IndexBuild, IndexStatus, Progress


class SearchIndex(MemoryPart):
    """The search index of one open memory; a memory that was opened without one raises UsageError."""

    def build(
        self, *, anew: bool = False, compact: bool = False, progress: Progress | None = None
    ) -> IndexBuild:
        """Bring the index to the store's present state: what changed since the last build, or all of it where nothing
        was built. Readers see the version before until the new one is whole, and the store is written meanwhile.

        anew: write every row; compact: join small files. Raises StoreError where the place cannot be written, or
        another build has begun meanwhile; MissingExtraError where what keeps it is not installed.
        """
        tier = self._tier()
        with self._context.storage.snapshot():
            built = tier.build(anew=anew, compact=compact, progress=progress)
        self._context.derived.look_again()
        self._context.derived.keep(progress)
        return built

    def status(self) -> IndexStatus:
        """At which state of the store the index was built, and what has changed since."""
        tier = self._tier()
        with self._context.derived.reading() as state:
            return tier.status(state.structure)

    def _tier(self) -> SearchTier:
        if self._context.derived.tier is None:
            raise UsageError(
                "This memory was opened without a search index.",
                title="No index",
                way_out="Open it with the place of one: a folder, or s3://bucket/prefix.",
            )
        return self._context.derived.tier


def counters(derived: Derived) -> tuple[int | None, int | None]:
    """The structure at which the index was built, 0 before the first build, and that of the store; None without an
    index.
    """
    if derived.tier is None:
        return None, None
    with derived.reading() as state:
        dataset = derived.tier.dataset(state.structure)
        return 0 if dataset is None else dataset.built.structure, state.structure


def built_alone(derived: Derived, sources: Sources) -> Sources:
    """The same sources with the words and vectors that the index holds, and none that came since; as they are without
    an index.
    """
    if derived.tier is None:
        return sources
    with derived.reading() as state:
        kept = derived.tier.vectors(state.structure)
        vectors = VectorIndex(sources.vectors.dimension, None if kept is None else kept[0])
        return replace(sources, keyword=derived.tier.words_alone(state.structure), vectors=vectors)
