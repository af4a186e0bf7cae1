"""The frozen results of operations on the working context that the engine has no type for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types import Outcome
    from amgs_focus.records import BlockUtility, BranchView, Measurement, Override, Refocus, StepRecord
    from amgs_focus.trace.lineage import TraceSummary
    from amgs_focus.views import FocusView


@dataclass(frozen=True, slots=True)
class Opened:
    """`frame open` / `focus open`: a frame (or texts) that became the lifetime context."""

    source: str
    question: str
    segments: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Stepped:
    """`focus step`, `focus refocus`: the steps taken, how the working context stands after them, and a
    refocus that was forced.
    """

    records: tuple[StepRecord, ...]
    view: FocusView
    refocus: Refocus | None = None


@dataclass(frozen=True, slots=True)
class WorthRow:
    """One block of `focus feedback`. reinforce: it stood in tokens; useful: what its forecast is told, None where
    the measurement does not say or none is open.
    """

    worth: BlockUtility
    reinforce: bool
    useful: bool | None
    open_forecast: bool


@dataclass(frozen=True, slots=True)
class FocusFeedback:
    """`focus feedback`: what each block was worth, and what memory was told of it (or would be)."""

    rows: tuple[WorthRow, ...]
    outcomes: tuple[Outcome, ...]
    applied: bool

    @property
    def reinforced(self) -> tuple[str, ...]:
        return tuple(row.worth.source for row in self.rows if row.reinforce)


@dataclass(frozen=True, slots=True)
class Steered:
    """`focus steer`: what was said about a node, or taken back. in_tail: whether it reaches into the
    tail, which stays tokens.
    """

    node: str
    word: Override
    released: bool
    view: FocusView
    in_tail: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """`focus measure`: what an entry's detail is worth."""

    measurement: Measurement
    view: FocusView


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """`focus set`: a setting before and after."""

    key: str
    before: str
    after: str
    view: FocusView


@dataclass(frozen=True, slots=True)
class RunPosition:
    """`focus back`, `branch`, `switch`: where the run stands now. steps: decoded tokens that were taken back."""

    how: Literal["back", "branch", "switch"]
    steps: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class LastRun:
    """`focus view` while nothing is open: what a session before left in its trace; None where nothing is left to go on
    with.

    kept: the lifetime's folder, "" where the trace holds all of it.
    """

    path: str
    trace: TraceSummary | None
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """`focus resume`: the run of a session before, gone on with."""

    path: str
    steps: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class BranchList:
    """`focus switch` without a name: every branch of the run."""

    branches: tuple[BranchView, ...]
    view: FocusView


@dataclass(frozen=True, slots=True)
class Replayed:
    """`focus trace PATH --replay`: a trace that was done again and agreed. complete: it had its end mark."""

    path: str
    steps: int
    branches: int
    state_hash: str
    complete: bool
