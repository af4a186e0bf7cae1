"""A question on its way from packs to a text: what the layers read and change."""

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
"""Returns how much attention a language model pays, from a question, to each of some sentences."""
REACH = 4
"""Packs are chosen within this many times the text's budget, so that their sentences compete. A larger pack counts as
this much, since only its best sentences are read.
"""


@dataclass(frozen=True, slots=True)
class PackSentence:
    """Characters [start, end) of a member's content."""

    block: Block
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.block.content[self.start : self.end]


@dataclass(slots=True)
class PackTask:
    """A question, and what is known of packs; layers change `members`, `worth`, `chosen`, `because` and `sentences`.

    likely: probability of each member to be the one that answers, by id. uses: newest first. relevance: rates
    sentences. worth: by pack, how much of the answer it holds.
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

    def tokens(self, name: str) -> int:
        """Return the tokens of a pack's members."""
        for _, block in self.members[name]:
            if block.id not in self._sizes:
                self._sizes[block.id] = self.count_tokens(block.content)
        return sum(self._sizes[block.id] for _, block in self.members[name])

    def fits(self) -> bool:
        """Return whether all sentences fit into the budget."""
        return sum(self.count_tokens(sentence.text) for sentence in self.sentences) <= self.budget

    def best_sentences(self, scores: Sequence[float], share: float) -> list[int]:
        """Return the indices of the best share of the sentences, and of more while the budget has room, rising."""
        best, tokens = list[int](), 0
        for place in sorted(range(len(scores)), key=lambda place: (-scores[place], place)):
            if len(best) >= share * len(scores) and tokens >= self.budget:
                break
            best.append(place)
            tokens += self.count_tokens(self.sentences[place].text)
        return sorted(best)

    def cost(self, name: str) -> int:
        """Return the tokens that a pack takes of the reach."""
        return min(self.tokens(name), self.reach)

    def ranked(self) -> list[str]:
        """Return the packs with any worth, best first; equal ones by name."""
        return sorted((name for name, worth in self.worth.items() if worth > 0), key=lambda n: (-self.worth[n], n))


def session_chains(uses: Sequence[PackUse]) -> list[list[PackUse]]:
    """Return the readings of each session, oldest first. uses: the log, newest first."""
    chains: dict[str, list[PackUse]] = {}
    for use in reversed(uses):
        if use.session:
            chains.setdefault(use.session, []).append(use)
    return list(chains.values())
