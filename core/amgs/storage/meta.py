"""Named values of the whole store: the embedder its vectors came from, the last consolidation."""

from __future__ import annotations

from typing import Protocol

EMBEDDER = "embedding_model"


DIMENSION = "embedding_dimension"


MIGRATION = "migration"
"""Stands in a store while a memory is being copied into it: JSON, which memory, and as of which change."""


class MetaStorage(Protocol):
    """Values by name."""

    def get(self, key: str) -> str | None:
        """The value under a key, None when there is none."""
        ...

    def put(self, key: str, value: str) -> None:
        """Set the value of a key."""
        ...

    def remove(self, key: str) -> None:
        """Take a key away; one that is not there is left so."""
        ...

    def keep(self, name: str, value: str | None) -> None:
        """Set what a workstation remembers under a name; None forgets it. No index follows, nothing is stale."""
        ...

    def kept(self, prefix: str) -> dict[str, str]:
        """What is remembered under names that begin so, by name."""
        ...

    def store_id(self) -> str:
        """What tells this store from every other one."""
        ...

    def embedding_space(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder that made the store's embeddings; None before the first one."""
        ...

    def put_embedding_space(self, name: str, dimension: int) -> None:
        """Record the embedder whose vectors the store holds."""
        ...
