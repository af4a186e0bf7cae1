"""The frozen results of operations on the working context and its lifetime that the engine has no type for."""

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
    """`focus step`, `focus step --refocus`: the steps taken, how the working context stands after them, and a
    refocus that was forced.
    """

    records: tuple[StepRecord, ...]
    view: FocusView
    refocus: Refocus | None = None


@dataclass(frozen=True, slots=True)
class WorthRow:
    """A block of `focus measure --feedback`. reinforce: it stood in tokens; useful: what its forecast is told, None
    where the measurement does not say or none is open.
    """

    worth: BlockUtility
    reinforce: bool
    useful: bool | None
    open_forecast: bool


@dataclass(frozen=True, slots=True)
class FocusFeedback:
    """`focus measure --feedback`: what each block was worth, and what memory was told of it (or would be)."""

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

    how: Literal["back", "branch", "switch", "without", "resume"]
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
class BranchList:
    """`focus branch --list`: every branch of the run."""

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


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`focus forget`: what would be, or was, forgotten. act: None for a plan that was not carried out."""

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
    """`focus forget --purge`: what would be, or was, made empty for good. act: None where --yes was not said."""

    gists: int
    tokens: int
    bytes: int
    act: Act | None
    view: FocusView


@dataclass(frozen=True, slots=True)
class ActRow:
    """One line of `focus forget --list`. in_force: gists of it that are still forgotten; wanted: of these, how many
    were asked for since.
    """

    act: Act
    in_force: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ForgottenList:
    """`focus forget --list`: what was forgotten, restored and purged, in order."""

    rows: tuple[ActRow, ...]
    sealed: int
    purged: int
    view: FocusView


@dataclass(frozen=True, slots=True)
class Tagged:
    """`focus forget --tag`: a word put on tokens or taken off, and all the tags there are."""

    tag: Tag
    released: bool
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span of `focus view --texts`. number: what `focus set --text` names it by; forgotten: share of its tokens
    that may not be shown any more; opened, dwell: summed over its blocks; spread: how much its gists differ, near 0
    for text that repeats itself.
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
    """`focus view --texts`: where the lifetime came from, in order; `total` counts all, shown or not."""

    rows: tuple[SpanRow, ...]
    total: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class SpanDescribed:
    """`focus describe`: what is known of a span, before and after."""

    number: int
    before: SpanAbout
    after: SpanAbout


@dataclass(frozen=True, slots=True)
class CorpusRead:
    """`focus open DIR`: the plan of a folder, and whether it was read in. skipped: (file, why)."""

    folder: str
    plan: CorpusPlan
    skipped: tuple[tuple[str, str], ...]
    read: bool
    view: FocusView | None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """`focus rebuild`: gists that were made anew, and by what. purged: rows that had to stay as they were."""

    gists: int
    purged: int
    gist: str
    version: int
    view: FocusView
