"""A block that is too long for a frame's budget stands there with the passage that answers the query."""

from __future__ import annotations

from dataclasses import replace

from amgs.frames.assemble import CountTokens, Template
from amgs.retrieval.passage_finder import PassageFinder
from amgs.types import Candidate, PassageSpan

SHARE = 8
"""Of a block's content at most one part in so many of the budget is written."""

LONGEST_WHOLE = 160
"""A content of so many tokens stands whole whatever the budget, where it fits."""

_LEAST = 32
"""A passage of fewer tokens is not worth its place."""
_TRIES = 4


class Shortener:
    """Cuts candidates for one assembly. budget: of the whole frame, in tokens."""

    def __init__(
        self, budget: int, template: Template, finder: PassageFinder, count_tokens: CountTokens
    ) -> None:
        self._most = max(LONGEST_WHOLE, budget // SHARE)
        self._template, self._finder, self._count_tokens = template, finder, count_tokens
        self._made: dict[tuple[str, int], Candidate] = {}
        self._around: dict[tuple[str, str], int] = {}

    def __call__(self, candidate: Candidate, left: int) -> Candidate:
        """The candidate with a passage that costs no more than a block may and than is left, where the whole costs
        more; else the candidate as it is.
        """
        if candidate.tokens <= min(self._most, left) or self._template.assembly == "summary":
            return candidate
        if left < _LEAST:  # nothing worth writing fits, whatever stands around it
            return candidate
        around = self._cost_around(candidate)
        room = min(self._most + around, left)
        if candidate.tokens <= room or room - around < _LEAST:
            return candidate
        key = (candidate.block.id, room)
        if key not in self._made:
            self._made[key] = self._cut(candidate, room, around)
        made = self._made[key]
        if made.passage is None:
            return candidate
        cut = f"cut to {made.tokens} of {candidate.tokens} tokens"
        because = f"{candidate.because}; {cut}" if candidate.because else cut
        return replace(candidate, passage=made.passage, tokens=made.tokens, because=because)

    def _cost_around(self, candidate: Candidate) -> int:
        """What the words around the content cost."""
        key = (candidate.block.id, candidate.child)
        if key not in self._around:
            empty = replace(candidate, passage=PassageSpan(0, 0))
            self._around[key] = self._template.cost(empty, self._count_tokens)
        return self._around[key]

    def _cut(self, candidate: Candidate, room: int, around: int) -> Candidate:
        """The longest passage found in a few tries that costs at most `room`; without any, the candidate. around:
        what the words around the content cost.
        """
        size = int(len(candidate.block.content) * (room - around) / max(candidate.tokens - around, 1))
        for _ in range(_TRIES):
            if size < 1:
                break
            cut = replace(candidate, passage=self._finder.passage(candidate.block.content, size))
            cut = replace(cut, tokens=self._template.cost(cut, self._count_tokens))
            if cut.tokens <= room:
                return cut
            size = int(0.95 * size * (room - around) / max(cut.tokens - around, 1))
        return candidate
