"""Why a block was admitted to an answer, or in which layer it dropped out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.retrieval import Candidate, Weights

Verdict = Literal["passed", "missed", "skipped", "switched off"]
"""skipped: the layer had nothing to look for."""


@dataclass(frozen=True, slots=True)
class LayerVerdict:
    """Verdict of a layer on a block. value: of the block; needed: of the last one admitted; None if the layer does not
    measure.
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
