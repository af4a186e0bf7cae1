"""Immutable results of operations on the working context and its lifetime that are not types of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types import Outcome
    from amgs_focus.records import (
        BlockUtility,
        BranchView,
        Measurement,
        Override,
        Refocus,
        SpanAbout,
        SpanProvenance,
        StepRecord,
        Tag,
    )
    from amgs_focus.trace.lineage import TraceSummary
    from amgs_focus.tree.corpus import CorpusPlan
    from amgs_focus.tree.retention import ForgetPlan
    from amgs_focus.tree.span_metadata import Act
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
    """`focus step`, `focus step --refocus`: the steps taken, the state after them, and a forced refocus."""

    records: tuple[StepRecord, ...]
    view: FocusView
    refocus: Refocus | None = None


@dataclass(frozen=True, slots=True)
class WorthRow:
    """A block of `focus measure --feedback`. reinforce: it was in the context as tokens; useful: the verdict for its
    forecast, None if the measurement gives none or no forecast is open.
    """

    worth: BlockUtility
    reinforce: bool
    useful: bool | None
    open_forecast: bool


@dataclass(frozen=True, slots=True)
class FocusFeedback:
    """`focus measure --feedback`: what each block was worth, and the verdicts reported to the memory (or that would
    be).
    """

    rows: tuple[WorthRow, ...]
    outcomes: tuple[Outcome, ...]
    applied: bool

    @property
    def reinforced(self) -> tuple[str, ...]:
        return tuple(row.worth.source for row in self.rows if row.reinforce)


@dataclass(frozen=True, slots=True)
class Steered:
    """`focus steer`: a setting of a node, or its removal. in_tail: whether the node reaches into the tail, which stays
    tokens.
    """

    node: str
    word: Override
    released: bool
    view: FocusView
    in_tail: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """`focus measure`: what the detail of an entry is worth."""

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
    """`focus back`, `branch`, `switch`: where the run is now. steps: generated tokens that were taken back."""

    how: Literal["back", "branch", "switch", "without", "resume"]
    steps: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class LastRun:
    """`focus view` if nothing is open: what a previous session left in its trace; None if it cannot be continued.

    kept: folder of the lifetime, "" if the trace contains everything.
    """

    path: str
    trace: TraceSummary | None
    kept: str = ""


@dataclass(frozen=True, slots=True)
class BranchList:
    """`focus branch --list`: every branch of the run."""

    branches: tuple[BranchView, ...]
    view: FocusView


@dataclass(frozen=True, slots=True)
class Replayed:
    """`focus trace PATH --replay`: a trace that was repeated with equal results. complete: it had its end mark."""

    path: str
    steps: int
    branches: int
    state_hash: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`focus forget`: what was forgotten, or would be. act: None for a plan that was not carried out."""

    plan: ForgetPlan
    act: Act | None
    view: FocusView


@dataclass(frozen=True, slots=True)
class Brought:
    """`focus forget --restore`: gists that may be opened again."""

    act: Act
    gists: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Purged:
    """`focus forget --purge`: what was erased, or would be. act: None without --yes."""

    gists: int
    tokens: int
    bytes: int
    act: Act | None
    view: FocusView


@dataclass(frozen=True, slots=True)
class ActRow:
    """A line of `focus forget --list`. in_force: its gists that are still forgotten; wanted: how many of these were
    asked for since.
    """

    act: Act
    in_force: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ForgottenList:
    """`focus forget --list`: acts of forgetting, restoring and purging, in order."""

    rows: tuple[ActRow, ...]
    sealed: int
    purged: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Tagged:
    """`focus forget --tag`: a tag put on tokens or removed, and all tags."""

    tag: Tag
    released: bool
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span of `focus view --texts`.

    number: its name for `focus set --text`; forgotten: share of its tokens that may no longer be shown; opened, dwell:
    summed over its blocks; spread: how much its gists differ, near 0 for repetitive text.
    """

    number: int
    kept: SpanProvenance
    tags: tuple[Tag, ...]
    opened: int
    dwell: int
    forgotten: float
    spread: float


@dataclass(frozen=True, slots=True)
class SpanList:
    """`focus view --texts`: spans of the lifetime in order. total: number of all, shown or not."""

    rows: tuple[SpanRow, ...]
    total: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class SpanDescribed:
    """`focus describe`: the description of a span, before and after."""

    number: int
    before: SpanAbout
    after: SpanAbout


@dataclass(frozen=True, slots=True)
class CorpusRead:
    """`focus open DIR`: the plan of a folder, and whether it was read in. skipped: (file, reason)."""

    folder: str
    plan: CorpusPlan
    skipped: tuple[tuple[str, str], ...]
    read: bool
    view: FocusView | None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """`focus rebuild`: gists that were computed again, and by what. purged: rows that could not be."""

    gists: int
    purged: int
    gist: str
    version: int
    view: FocusView
