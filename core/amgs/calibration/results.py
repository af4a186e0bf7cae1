"""Results of `memory.calibration`."""

from __future__ import annotations

from dataclasses import dataclass
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
    """Needs of labelled questions for a frame.

    needed: the least budgets, in tokens, that hold all of it, in the order of the questions; None where none did.
    definition: of the frame as it was asked.
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
    """One success metric (AMGS §13.1) or monitor (§13.3). value is None where there is nothing to measure; note says
    what it rests on. before: as it was recorded last. target, met: "" and None of a monitor.
    """

    name: str
    value: float | None
    target: str
    met: bool | None
    note: str
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The six success metrics, the two of retrieval on the held-out third apart, and the monitors."""

    metrics: tuple[Metric, ...]
    at: datetime
    recorded: bool = False


# --- tuning -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """Mean recall@k, precision@k and reciprocal rank over a number of questions."""

    questions: int
    recall: float
    precision: float
    mrr: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """A proposal of weights for a frame: the best of `trials`, or those that were given. held_out: the third of the
    questions that no trial saw. difference: of their recall, with a 95 % interval from a bootstrap over them.

    better: whether it beats the present weights on the held-out third and by no measure does worse on either part.
    turns: whether the frame keeps the order of the search now, which it would give up.
    """

    frame: str
    method: str
    k: int
    trials: int
    present: Weights
    proposed: Weights
    present_tuning: Score
    proposed_tuning: Score
    present_held_out: Score
    proposed_held_out: Score
    difference: tuple[float, float, float]
    better: bool
    definition: FrameDefinition
    turns: bool = False
    applied: bool = False
