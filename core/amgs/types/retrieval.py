"""Requests and results of a search (AMGS §6), the components of scores (AMGS §3.3, §7.2), and why a block was
admitted or dropped out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amgs.errors import WeightsError

if TYPE_CHECKING:
    from amgs.types.block import Block, Status


COMPONENTS = ("recency", "centrality", "confidence", "similarity", "reinforcement")


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The five components of a composite score, each in [0, 1]."""

    recency: float = 0.0
    centrality: float = 0.0
    confidence: float = 0.0
    similarity: float = 0.0
    reinforcement: float = 0.0

    def weigh_parts(self, weights: Weights) -> ScoreParts:
        """Return the components times their weights, which sum to the score."""
        return ScoreParts(*(getattr(self, name) * getattr(weights, name) for name in COMPONENTS))

    def total(self) -> float:
        """Return the sum of the components, clipped to [0, 1] against rounding."""
        return min(1.0, max(0.0, sum(float(getattr(self, name)) for name in COMPONENTS)))


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the components in a frame; not negative, with sum 1 (else raises WeightsError)."""

    recency: float
    centrality: float
    confidence: float
    similarity: float
    reinforcement: float

    def __post_init__(self) -> None:
        values = [getattr(self, f.name) for f in fields(self)]
        if any(not math.isfinite(v) or v < 0 for v in values) or not math.isclose(sum(values), 1.0, abs_tol=1e-6):
            listing = ", ".join(f"{name} {value:g}" for name, value in zip(COMPONENTS, values, strict=True))
            raise WeightsError(
                f"Got {listing} (sum {sum(values):g}).", way_out="Give five weights that are not negative and sum to 1."
            )

    @classmethod
    def normalised(cls, **weights: float) -> Weights:
        """Return weights from non-negative numbers divided by their sum; missing ones are 0."""
        total = sum(weights.values())
        if not math.isfinite(total) or total <= 0:
            raise WeightsError("All weights are 0.", way_out="Give a positive weight.")
        return cls(**{name: weights.get(name, 0.0) / total for name in COMPONENTS})


LAYERS = ("prefilter", "keyword", "fuzzy", "vector", "graph", "score")


@dataclass(frozen=True, slots=True)
class BlockFilter:
    """Conditions of the pre-filter; None means no condition.

    since, until: bounds of created_at, until exclusive. categories: any of these. without: excludes blocks of only this
    category; "" for none. current: only what holds now. as_of: only what held then, including what was archived since.
    """

    statuses: tuple[Status, ...] = ("consolidated",)
    categories: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    reinforced_since: datetime | None = None
    self_only: bool = False
    meta: Mapping[str, str] = field(default_factory=dict, hash=False)
    current: bool = False
    as_of: datetime | None = None
    without: str = ""


@dataclass(frozen=True, slots=True)
class LayerReport:
    """Report on a layer of the search: candidates in and out, new ones, milliseconds."""

    layer: str
    candidates_in: int
    candidates_out: int
    contributed: int
    milliseconds: float
    skipped: str = ""


Fate = Literal["selected", "over_budget", "duplicate", "below_threshold", "not_in_top_k", "child_dropped"]


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """Characters [start, end) of a block's content. matches: [start, end) of words of the query within the passage, in
    the content.
    """

    start: int
    end: int
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block considered for an answer: its score and components, its origin and its fate.

    layers: that found it, in order. because: a few words on the fate ("duplicate of 3f2a…"). child: the atomic frame
    that found it. lexical, vector, graph: raw scores of the layers in [0, 1]. evidence: contributions of features to
    the linear score behind the similarity (only for hits of a search). passage: of a hit, what answers the query; in a
    frame, the written part of a long block, None for all of it.
    """

    block: Block
    parts: ScoreParts
    score: float
    tokens: int = 0
    layers: tuple[str, ...] = ()
    fate: Fate = "selected"
    because: str = ""
    child: str = ""
    lexical: float = 0.0
    vector: float = 0.0
    graph: float = 0.0
    evidence: tuple[tuple[str, float], ...] = ()
    passage: PassageSpan | None = None

    @property
    def source(self) -> str:
        """Source of the block on a single line; "" if unknown."""
        return " ".join(str(self.block.meta.get("source") or "").split())

    @property
    def excerpt(self) -> str:
        """The passage, with … where the content continues; the whole content without a passage."""
        if self.passage is None:
            return self.block.content
        content, start, end = self.block.content, self.passage.start, self.passage.end
        before, after = content[:start].strip(), content[end:].strip()
        return f"{'…' if before else ''}{content[start:end]}{'…' if after else ''}"


@dataclass(frozen=True, slots=True)
class StemReading:
    """A word of the query that is in no block, and the stem it was read as; closeness in (0, 1)."""

    written: str
    read_as: str
    closeness: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits by falling score, and a report on each layer.

    readings: words taken as typos. answerable: probability that the memory has an answer; None if the layers that ran
    cannot tell, or such estimates were not right for this kind of question or best hit; unestimated says which. unheld:
    words of the query in no block in any spelling, without function words.
    """

    query: str
    hits: tuple[Candidate, ...]
    layers: tuple[LayerReport, ...]
    milliseconds: float
    weights: Weights
    readings: tuple[StemReading, ...] = ()
    answerable: float | None = None
    unestimated: str = ""
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A logged search: its number and time, most hits wanted, and number of candidates."""

    number: int
    at: datetime
    query: str
    places: int
    pool: int


Verdict = Literal["passed", "missed", "skipped", "switched off"]
"""skipped: the layer had nothing to look for."""


@dataclass(frozen=True, slots=True)
class LayerVerdict:
    """Verdict of a layer on a block. value: of the block; needed: of the last admitted block; None if the layer does
    not measure.
    """

    layer: str
    verdict: Verdict
    value: float | None
    needed: float | None
    because: str


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Weights that would admit a block, its rank then, and their L2 distance from the present ones."""

    weights: Weights
    distance: float
    rank: int


@dataclass(frozen=True, slots=True)
class MinimumChange:
    """A minimum of a frame that excludes a block. lowered: the highest value, in hundredths, that admits it; None if
    others would be chosen then.
    """

    frame: str
    minimum: Literal["similarity_share", "threshold"]
    value: float
    lowered: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a block was admitted to an answer, or where it dropped out.

    fell_at: the layer, "selection" for a frame's own choice, "" if it was admitted. by: how much it lacked there, in
    that layer's unit. rank: by score among `of` candidates, from 1; 0 if the pre-filter excluded it. places: number
    admitted. score, needed: its composite score and that of the last admitted. change: smallest change of weights that
    would admit it; None if it is admitted or there is none. budget_change: additional tokens that would admit a block
    over budget; None for others, or if twice the budget does not suffice. minimum_change: if a minimum of its frame
    excludes it. form: kind of its text, in words; gate: how much its neighbours may count, in [0, 1]; both only if
    evidence was weighed. as_of: time of a past assembly that is explained from its log; None for now.
    """

    query: str
    block: Block
    frame: str
    fell_at: str
    because: str
    by: float
    rank: int
    of: int
    places: int
    score: float
    needed: float
    candidate: Candidate | None
    layers: tuple[LayerVerdict, ...]
    weights: Weights
    change: WeightChange | None = None
    budget_change: int | None = None
    minimum_change: MinimumChange | None = None
    form: str = ""
    gate: float = 0.0
    as_of: datetime | None = None

    @property
    def admitted(self) -> bool:
        return not self.fell_at
