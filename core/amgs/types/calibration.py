"""Forecasts and what came of them (AMGS §7.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Outcome:
    """A forecast and what came of it; brier = (predicted - actual)². actual is None until the verdict."""

    prediction_id: str
    predicted: float
    actual: float | None
    brier: float | None
    at: datetime
    block_id: str = ""
    frame: str = ""
    category: str = ""


UseSign = Literal["words", "citation", ""]
"""By what an answer shows that it used a block: `words` that both have, more than chance gives; a `citation` of its id;
"" where neither does.
"""


@dataclass(frozen=True, slots=True)
class BlockUse:
    """A block that a model had in front of it when it answered, and whether the answer used it.

    chance: the share of blocks it was held beside, itself among them, that explain as much of the answer; 1 where it
    was not tested or is cited. prediction_id: the forecast that this is the outcome of; "" where there is none. title:
    "" for a block that has left the memory.
    """

    at: datetime
    block_id: str
    by: UseSign
    chance: float
    prediction_id: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Usefulness:
    """Verdicts on one block: `useful` of `verdicts`; an answer that used it counts as one.

    They are no part of the block's confidence, which rates the certainty of its category.
    """

    useful: int
    verdicts: int

    @property
    def mean(self) -> float:
        """Chance that the block proves useful when it is next shown: the mean of the Beta posterior whose prior is one
        useful and one useless showing.
        """
        return (self.useful + 1) / (self.verdicts + 2)


@dataclass(frozen=True, slots=True)
class FrameCoverage:
    """Promise of a frame for its question.

    share: the lower bound of the chance that it holds all that the question needs. costs: for each level the tokens
    that promise it, None where no budget does. questions: labelled ones that it rests on.
    """

    questions: int
    share: float
    costs: tuple[tuple[float, int | None], ...]


@dataclass(frozen=True, slots=True)
class CoverageLevel:
    """A promise beside what came of it. tokens: that promise the level now, None where none do. held: of so many
    questions tried, those held within what the questions before them promised.
    """

    level: float
    tokens: int | None
    held: int
    tried: int


@dataclass(frozen=True, slots=True)
class CoverageReview:
    """Coverage of a frame by labelled questions. least: fewer questions promise nothing, and then levels is empty."""

    frame: str
    questions: int
    least: int
    levels: tuple[CoverageLevel, ...]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts in [low, high): how many, their mean, the rate at which they came true with a 95 % interval."""

    low: float
    high: float
    count: int
    mean_predicted: float
    rate: float
    rate_low: float
    rate_high: float


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """The Brier score and its parts over the `outcomes` verdicts that led up to an instant."""

    at: datetime
    outcomes: int
    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bin: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability table and the Brier score with its Murphy decomposition.

    brier = reliability - resolution + uncertainty + within_bin, exactly; None where there are no outcomes.
    course: the same through time, the oldest first. coverage: what frames promise, by frame.
    """

    bins: tuple[ReliabilityBin, ...]
    forecasts: int
    outcomes: int
    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_bin: float | None
    history: tuple[tuple[datetime, float], ...] = ()
    course: tuple[CoursePoint, ...] = ()
    coverage: tuple[CoverageReview, ...] = ()


@dataclass(frozen=True, slots=True)
class ForecastCase:
    """One forecast in full. asked: the query of the assembly that made it. relations: the types of the edges that
    were walked to the block. made_at: when it was logged; outcome.at is the instant of the verdict.
    """

    outcome: Outcome
    title: str
    asked: str
    relations: tuple[str, ...]
    made_at: datetime
