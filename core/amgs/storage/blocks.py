"""Blocks: content that never changes under its hash, and metadata that does (AMGS §3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from amgs.types import Block, BlockFilter, Vector

BlockOrder = Literal["created", "reinforced", "id", "arrival"]


@dataclass(frozen=True)
class NumberedBlock:
    """A block with its running number and how often it was reinforced."""

    number: int
    block: Block
    reinforcements: int


@dataclass(frozen=True)
class BlockDescription:
    """What is known of a block without its text."""

    number: int
    id: str
    created_at: datetime
    status: str
    meta: Mapping[str, Any]


class BlockStorage(Protocol):
    """Blocks one by one: written, found by id, number, filter or source, and counted."""

    def insert(self, blocks: Sequence[Block]) -> tuple[str, ...]:
        """Add the blocks that are not there yet, without embedding; returns their ids in the order given.

        Ids given twice count once. About 100,000 blocks a second.
        """
        ...

    def update(self, blocks: Sequence[Block], embeddings: Vector | None = None) -> None:
        """Write the metadata of blocks that exist: category, confidence, λ, status, self flag, meta.

        embeddings: (n, d), written along when given. Content, created_at and the reinforcement clock stay.
        """
        ...

    def set_embeddings(self, ids: Sequence[str], embeddings: Vector | None) -> None:
        """Write the embeddings (n, d) of n blocks; None takes them away."""
        ...

    def reinforce(self, ids: Sequence[str], at: datetime) -> None:
        """Reset the decay clock of blocks and count the event; a clock that went back never moves it back."""
        ...

    def turn_back(self, block_id: str, at: datetime, before: datetime) -> None:
        """Put the decay clock of a block back to `before`, where it still stands at the instant `at`."""
        ...

    def recount(self, ids: Sequence[str]) -> None:
        """Set the counters of reinforcement to what the log says: for blocks that come back."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Take blocks out for good: for undoing what made them, and for hard pruning.

        Their running numbers are not given out again: an index that has not caught up yet would take the next
        block for the one that left.
        """
        ...

    def existing(self, ids: Iterable[str]) -> set[str]:
        """Which of the ids the store holds."""
        ...

    def get(self, ids: Iterable[str], *, embeddings: bool = False) -> dict[str, Block]:
        """The blocks with these ids, by id; unknown ids are missing from the answer."""
        ...

    def by_number(self, wanted: Sequence[int]) -> tuple[NumberedBlock, ...]:
        """The blocks with these running numbers, rising; unknown numbers are left out."""
        ...

    def described(self, wanted: BlockFilter, batch: int = 10_000) -> Iterator[BlockDescription]:
        """The blocks that pass the filter without their texts, in order of arrival, read in batches."""
        ...

    def contents_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of blocks, by id; unknown ids are missing from the answer."""
        ...

    def numbers_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The running number of each id that exists."""
        ...

    def expand(self, prefix: str, limit: int = 10) -> tuple[str, ...]:
        """Ids that begin with `prefix`, at most `limit`, sorted."""
        ...

    def select(
        self,
        wanted: BlockFilter,
        *,
        order: BlockOrder = "created",
        limit: int | None = None,
        offset: int = 0,
        embeddings: bool = False,
    ) -> tuple[Block, ...]:
        """Blocks that pass the filter; `created` and `reinforced` give the latest first."""
        ...

    def earliest(self, wanted: BlockFilter) -> datetime | None:
        """When the oldest block that passes the filter was created; None where none does."""
        ...

    def count(self, wanted: BlockFilter) -> int:
        """How many blocks pass the filter."""
        ...

    def texts(self, wanted: Sequence[int]) -> list[tuple[int, str, Mapping[str, Any]]]:
        """(number, content, what meta says of its title and headings) of the blocks with these numbers, rising."""
        ...

    def with_source(self, source: str) -> tuple[str, ...]:
        """Ids of the blocks that came from a source, from `source#part`, or that it repeats.

        In order of arrival.
        """
        ...

    def has_source(self, sources: Sequence[str]) -> bool:
        """Whether a block has one of these sources, written just so."""
        ...

    def outlines(self) -> list[tuple[str, str, str]]:
        """(id, title, first 200 characters) of every block that is not pruned, in order of arrival.

        For the finder.
        """
        ...

    def by_status(self) -> dict[str, int]:
        """How many blocks have each status."""
        ...

    def by_category(self) -> dict[str, int]:
        """How many consolidated blocks each category has."""
        ...

    def marked(self, name: str) -> list[tuple[str, str, str]]:
        """(id, value, category) of the blocks with a value under this name in their meta, in order of arrival."""
        ...

    def mean_relevance(self, now: datetime) -> float:
        """Mean of e^(-λt) over the consolidated blocks; 0 when there are none."""
        ...
