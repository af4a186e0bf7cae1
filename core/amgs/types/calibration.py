"""Forecasts and their outcomes (AMGS §7.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Outcome:
    """A forecast and its outcome; brier = (predicted - actual)². actual: None until there is a verdict."""

    prediction_id: str
    predicted: float
    actual: float | None
    brier: float | None
    at: datetime
    block_id: str = ""
    frame: str = ""
    category: str = ""


UseSign = Literal["words", "citation", ""]
"""How an answer shows that it used a block: `words` in common beyond chance; `citation` of its id; "" for neither."""


@dataclass(frozen=True, slots=True)
class BlockUse:
    """A block that a model had in its context when it answered, and whether the answer used it.

    chance: share of the compared blocks, including itself, that explain as much of the answer; 1 if not tested, or
    cited. prediction_id: forecast that this decides, "" for none. title: "" for a block that was removed.
    """

    at: datetime
    block_id: str
    by: UseSign
    chance: float
    prediction_id: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Usefulness:
    """Verdicts on a block: `useful` of `verdicts`; use by an answer counts as one.

    They do not affect the block's confidence, which rates its category.
    """

    useful: int
    verdicts: int

    @property
    def mean(self) -> float:
        """Probability that the block is useful when next shown: mean of the Beta posterior with one useful and one
        useless verdict as prior.
        """
        return (self.useful + 1) / (self.verdicts + 2)


@dataclass(frozen=True, slots=True)
class FrameCoverage:
    """What a frame promises for its question.

    share: lower bound of the probability that it contains all that the question needs. costs: for each level, the
    tokens that promise it, None if no budget does. questions: number of labelled questions behind it.
    """

    questions: int
    share: float
    costs: tuple[tuple[float, int | None], ...]


@dataclass(frozen=True, slots=True)
class CoverageLevel:
    """A promise and whether it held.

    tokens: that promise the level now, None if none do. held: of `tried` questions, those covered by what the questions
    before them promised.
    """

    level: float
    tokens: int | None
    held: int
    tried: int


@dataclass(frozen=True, slots=True)
class CoverageReview:
    """Coverage of a frame by labelled questions. least: with fewer questions nothing is promised, and
    levels is empty.
    """

    frame: str
    questions: int
    least: int
    levels: tuple[CoverageLevel, ...]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts in [low, high): their number, mean, and the rate at which they came true, with a 95 % interval."""

    low: float
    high: float
    count: int
    mean_predicted: float
    rate: float
    rate_low: float
    rate_high: float


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """The Brier score and its components over the last `outcomes` verdicts before a time."""

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

    brier = reliability - resolution + uncertainty + within_bin, exactly; None without outcomes. course: the same over
    time, oldest first. coverage: promises by frame.
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
    """A forecast in full.

    asked: query of the assembly it belongs to. relations: types of the edges that led to the block. made_at: when it
    was made; outcome.at is the time of the verdict.
    """

    outcome: Outcome
    title: str
    asked: str
    relations: tuple[str, ...]
    made_at: datetime
