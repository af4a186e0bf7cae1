"""Explanation of a block's admission to an answer, or of the layer where it fell out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.retrieval import Candidate, Weights

Verdict = Literal["passed", "missed", "skipped", "switched off"]
"""skipped: there was nothing that the layer could have looked for."""


@dataclass(frozen=True, slots=True)
class LayerVerdict:
    """Verdict of one layer on a block.

    value: of the block; needed: of the last one admitted; None where the layer does not measure.
    """

    layer: str
    verdict: Verdict
    value: float | None
    needed: float | None
    because: str


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Weights under which a block would be admitted, at which rank, and their L2 distance from those in force."""

    weights: Weights
    distance: float
    rank: int


@dataclass(frozen=True, slots=True)
class MinimumChange:
    """A minimum of a frame that keeps a block out, and the value, in hundredths, from which down the frame takes it;
    None where the frame takes others then.
    """

    frame: str
    minimum: Literal["similarity_share", "threshold"]
    value: float
    lowered: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Reason that a block was admitted to an answer, or the layer where it fell out.

    fell_at: the layer, "selection" for a frame's own choice, empty when it was admitted. by: how much it lacked
    there, in the unit of that layer. rank: where its score stands among `of` candidates, 1 the best; 0 when the
    pre-filter turned it away. places: how many are admitted. score, needed: its composite and that of the last
    admitted. change: the smallest change of weights that would admit it; None where it is admitted, or where no
    weights can. budget_change: how many more tokens of budget admit what is over it; None for others, and where twice
    the budget does not. minimum_change: of what a minimum of its frame keeps out. form: of its
    text, in words; gate: how much its neighbours may say for it, in [0, 1]; both only where evidence was weighed.
    as_of: the instant of a past assembly that was explained from what is kept of it; None for now.
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
