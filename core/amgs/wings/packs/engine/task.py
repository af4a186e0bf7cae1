"""A question on its way from packs to a text: what each layer reads of it, and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.text.embedding import Embedder
from amgs.types import Block
from amgs.wings.packs.values import PackProposal, PackRole, PackUsage, PackUse

Floats = NDArray[np.float64]
Members = list[tuple[PackRole, Block]]
Attention = Callable[[str, Sequence[str]], Sequence[float]]
"""How much attention a language model pays, from a question, to each of some sentences."""
REACH = 4
"""Packs are chosen within so many times the tokens of the text, for their sentences to compete; one that is larger by
itself counts as so many, since its best sentences are all that is read of it."""


@dataclass(frozen=True, slots=True)
class PackSentence:
    """Characters [start, end) of the content of a member."""

    block: Block
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.block.content[self.start : self.end]


@dataclass(slots=True)
class PackTask:
    """A question, and what is known of packs. Layers change `members`, `worth`, `chosen`, `because` and `sentences`.

    members: what is read of each pack, by its name. likely: how likely each member is what answers, by id, together 1.
    stems: the words of a text that mean something, as the index reads them. uses: the log, the newest first. accuracy:
    of agents, by name. proposals: what may be done with packs. blocks: reads blocks. relevance: what each sentence is
    worth. worth: how much of what answers each pack holds, as the layers see it. because: why a pack was chosen or not.
    rationale: what each agent says.
    """

    query: str
    budget: int
    session: str
    now: datetime
    usages: Mapping[str, PackUsage]
    members: dict[str, Members]
    likely: Mapping[str, float]
    uses: Sequence[PackUse]
    accuracy: Mapping[str, float]
    count_tokens: Callable[[str], int]
    embedder: Embedder
    stems: Callable[[str], frozenset[str]]
    proposals: Callable[[], Sequence[PackProposal]]
    blocks: Callable[[Sequence[str]], Mapping[str, Block]]
    relevance: Callable[[str, Sequence[PackSentence]], Floats]
    attention: Attention | None = None
    worth: dict[str, float] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    because: dict[str, str] = field(default_factory=dict)
    rationale: dict[str, str] = field(default_factory=dict)
    sentences: list[PackSentence] = field(default_factory=list)
    _sizes: dict[str, int] = field(default_factory=dict)

    @property
    def reach(self) -> int:
        """Tokens within which packs are chosen."""
        return REACH * self.budget

    def size(self, block: Block) -> int:
        """Return tokens of a member."""
        if block.id not in self._sizes:
            self._sizes[block.id] = self.count_tokens(block.content)
        return self._sizes[block.id]

    def tokens(self, name: str) -> int:
        """Return tokens of what is read of a pack."""
        return sum(self.size(block) for _, block in self.members[name])

    def cost(self, name: str) -> int:
        """Return what a pack takes of the reach."""
        return min(self.tokens(name), self.reach)

    def ranked(self) -> list[str]:
        """Return the packs that hold anything that answers, the worthiest first; equal ones by name."""
        return sorted((name for name, worth in self.worth.items() if worth > 0), key=lambda n: (-self.worth[n], n))


def session_chains(uses: Sequence[PackUse]) -> list[list[PackUse]]:
    """Return the readings of each session, the oldest first. uses: the log, the newest first."""
    chains: dict[str, list[PackUse]] = {}
    for use in reversed(uses):
        if use.session:
            chains.setdefault(use.session, []).append(use)
    return list(chains.values())
