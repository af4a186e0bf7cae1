"""Results of the commands on packs that are not types of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.wings.packs.values import PackProposal, PackUsage


@dataclass(frozen=True, slots=True)
class PackList:
    """`pack list`: the latest version of each pack, by name. keep: tokens that the packs to be kept must fit in."""

    packs: tuple[PackUsage, ...]
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class PackProposals:
    """`pack change`: proposals, most valuable first. done: what was just done, None for nothing."""

    proposals: tuple[PackProposal, ...]
    done: JournalEntry | None = None
