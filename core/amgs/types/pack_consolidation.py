"""Learnings of packs: what several sources say in a part of their words, and the sources behind one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.packs import Pack


@dataclass(frozen=True, slots=True)
class Learning:
    """A block that is made of sentences and findings of others. members: their ids, in the order of time. tokens: its
    own; of: those of its members.
    """

    block: Block
    members: tuple[str, ...]
    tokens: int
    of: int


@dataclass(frozen=True, slots=True)
class PackLearned:
    """What learning from a pack came to, or would.

    pack: the version with its learnings and sources. learnings: the new ones. stood: how many there were already.
    stale: ids of those that go, because a source of theirs is gone. waiting: ids of sources that are in no learning.
    operation: of the journal; None for a plan, and where nothing was to be learned.
    """

    pack: Pack
    learnings: tuple[Learning, ...]
    stood: int
    stale: tuple[str, ...]
    waiting: tuple[str, ...]
    planned: bool
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class LearningSource:
    """A block behind a learning, whole. cited: what of it stands in the learning, in the order of the learning."""

    block: Block
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoredLearning:
    """A learning and what it was made of. gone: ids of sources that the memory no longer holds."""

    learning: Block
    sources: tuple[LearningSource, ...]
    gone: tuple[str, ...]
