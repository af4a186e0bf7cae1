"""What `memory.calibration` answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from amgs.calibration.recalibrate import Curve, Method
from amgs.types import Edge, FrameDefinition, JournalEntry, Weights
from amgs.types.question_case import CaseComparison

GroupKind = Literal["all", "frame", "category", "relation"]


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """Forecasts and outcomes of one frame, category or relation type; None where nothing was decided."""

    kind: GroupKind
    name: str
    forecasts: int
    outcomes: int
    mean_predicted: float | None
    rate: float | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class OutcomeGroups:
    """All groups, by kind and name."""

    groups: tuple[OutcomeGroup, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve from composite scores to outcomes.

    before, after: Brier score against the outcomes; after is measured on outcomes that the curve was not fitted on.
    used: whether it helps and is applied.
    """

    before: float
    after: float
    used: bool
    curve: Curve


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge whose confidence changes: `count` verdicts on what it led to, `hits` of them useful."""

    edge: Edge
    after: float
    hits: float
    count: int


@dataclass(frozen=True, slots=True)
class FrameNeeds:
    """What labelled questions need of a frame. needed: the least budgets, in tokens, that hold all of it, in the order
    of the questions; None where none did. definition: of the frame as it was asked.
    """

    frame: str
    definition: str
    needed: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """A proposal; nothing has happened yet. forecast: the curve from composite score to forecast, of all verdicts.
    The blocks' confidences stay: they say how sure the category is, which no verdict asks.

    compared: questions of a file, asked before and after the change in a copy of the memory; None where none were.
    needs: of the labelled questions, by frame, on which its promise of coverage rests from then on.
    """

    method: Method
    outcomes: int
    forecast: Fit
    edges: tuple[EdgeChange, ...]
    made_at: datetime
    change_counter: int
    compared: CaseComparison | None = None
    needs: tuple[FrameNeeds, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A plan that was carried out, and its journal entry."""

    plan: CalibrationPlan
    operation: JournalEntry


# --- metrics ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Metric:
    """One success metric (AMGS §13.1). value is None where there is nothing to measure; note says what it rests on."""

    name: str
    value: float | None
    target: str
    met: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class Metrics:
    """The six success metrics, and the two of retrieval on the held-out third apart."""

    metrics: tuple[Metric, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Sighting:
    """A value that a monitor saw."""

    at: datetime
    kind: str
    subject: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Monitored:
    """What the monitors see now, and what they saw before, the newest first."""

    now: tuple[Sighting, ...]
    before: tuple[Sighting, ...]
    recorded: bool


# --- tuning -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """Mean recall@k, precision@k and reciprocal rank over a number of questions."""

    questions: int
    recall: float
    precision: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One weight set that was tried, and its recall on the questions for tuning."""

    weights: Weights
    score: Score


@dataclass(frozen=True, slots=True)
class QuestionMoves:
    """How many questions get other answers by other weights. better: more of their sources are found, or as many and
    the first of them at a better rank; worse: the opposite. same: neither.
    """

    better: int
    worse: int
    same: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """A proposal of new weights for a frame. held_out: the third of the questions that no trial saw.

    better: whether it beats the present weights on the held-out third, by no measure and on neither part does worse,
    and makes no more questions worse than better; definition is applied only on request. moves, held_out_moves: what
    the proposal does to all questions, and to those held out. turns: whether the frame keeps the order of the search
    now, which it would give up.
    """

    frame: str
    method: str
    k: int
    trials: tuple[Trial, ...]
    present: Weights
    proposed: Weights
    present_tuning: Score
    proposed_tuning: Score
    present_held_out: Score
    proposed_held_out: Score
    better: bool
    definition: FrameDefinition
    moves: QuestionMoves
    held_out_moves: QuestionMoves
    turns: bool = False
    applied: bool = False


@dataclass(frozen=True, slots=True)
class WeightTest:
    """Two weight sets on the same questions. difference: mean of B's recall less A's, with a 95 % interval from a
    bootstrap over the questions. verdict: "A", "B" or "no difference" where the interval holds 0.
    """

    frame: str
    k: int
    first: Weights
    second: Weights
    first_score: Score
    second_score: Score
    difference: float
    low: float
    high: float
    verdict: str
    by_kind: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
