"""What decides which blocks a question finds and how much they are wanted, as one value that a trace names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from amgs_focus.errors import TraceError


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """meaning, words, similar: weights of the cosine and of similar words, each in standard deviations over the
    lifetime's blocks, and of the share of the question's own words. by_meaning, by_score: blocks best by meaning alone
    and by all evidence that are read sentence by sentence. found: blocks that a question finds at most. reread: best
    sentences of which the frozen model says how likely the question is after them; likelihood: what a nat of that
    counts, 0 asks it nothing. longest, shortest: tokens of a sentence. first, last: the scores of what holds the first
    and the last block found; what was not found lies below them by more than both thresholds.
    """

    meaning: float = 1.0
    words: float = 2.0
    similar: float = 0.5
    by_meaning: int = 8
    by_score: int = 24
    found: int = 16
    reread: int = 24
    likelihood: float = 0.3
    longest: int = 48
    shortest: int = 5
    first: float = 0.95
    last: float = 0.55

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> SearchOptions:
        """From a trace's header. Raises TraceError for names that are unknown here."""
        known = {one.name for one in fields(cls)}
        if strange := sorted(set(told) - known):
            raise TraceError(
                f"The trace was searched with {', '.join(strange)}, which this version does not know.",
                way_out="Replay it with the version that made it.",
            )
        return cls(**told)

    def told(self) -> dict[str, Any]:
        """As a trace's header has it."""
        return asdict(self)


EARLIER = SearchOptions(similar=0.0, by_meaning=40, by_score=16, likelihood=0.0)
"""What was always so before a trace named it."""
