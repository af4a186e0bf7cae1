"""The frozen results of operations that no engine has a type for.

Everything else an operation gives back is an engine's own value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from amgs.api.sources import SourceSummary
    from amgs.frames.shipping import Origin
    from amgs.lifecycle.proposals import Proposal
    from amgs.lifecycle.revision import Revision
    from amgs.lifecycle.schedule import Due
    from amgs.lifecycle.supersede import ReviewItem
    from amgs.storage.sources import SourcePiece
    from amgs.types import (
        Block,
        Centrality,
        ConsolidationPlan,
        Edge,
        ForecastCase,
        Frame,
        FrameDefinition,
        JournalEntry,
        Neighbourhood,
        Outcome,
        StoreStatus,
    )
    from amgs_app.pane_names import Pane
    from amgs_app.row_filter import ListFilter
    from amgs_app.settings import Setting
    from amgs_focus.records import BlockUtility, BranchView, Measurement, Override, Refocus, StepRecord
    from amgs_focus.trace.lineage import TraceSummary
    from amgs_focus.views import FocusView


@dataclass(frozen=True, slots=True)
class Overview:
    """`status`: the store, and what the session works with.

    corpus: "" for a memory that none belongs to. model_loaded: whether the language model is in memory. sample_time:
    whether `store.now` is in the year of the corpus, not in the real one.
    """

    store: StoreStatus
    corpus: str
    model: str
    model_loaded: bool
    seed: int
    selection: str | None = None
    focus: FocusView | None = None
    sample_time: bool = False


@dataclass(frozen=True, slots=True)
class SettingsList:
    """`settings`: the file that is read (it need not be there), and the keys in its order."""

    file: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Inbox:
    """`inbox list`: raw blocks, the newest first, from the `offset`-th on; total counts all that pass, shown or not.

    oldest: when the oldest of all was made. waiting: how many there are, whether they pass or not.
    """

    blocks: tuple[Block, ...]
    total: int
    now: datetime
    offset: int = 0
    oldest: datetime | None = None
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class BlockList:
    """`block find`: blocks that match, best first; `block latest`, whose text is empty: the latest first."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class BlockDetail:
    """`block show`: a block, its relevance now, and how many edges touch it."""

    block: Block
    relevance: float
    profile: str
    edges_out: int
    edges_in: int


@dataclass(frozen=True, slots=True)
class SourceList:
    """`source list`: the first of the sources, and how many there are."""

    sources: tuple[SourceSummary, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceHistory:
    """`source show`: what a source holds and held, the earliest first, each with the title of its block."""

    source: str
    pieces: tuple[SourcePiece, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """`source watch`: what changed in a folder while it was watched."""

    folder: str
    revisions: tuple[Revision, ...]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """`consolidate`: what was done, by category, and its journal entries: one, unless another came between.

    plan: of the first batch, which is all of it unless the inbox was large.
    """

    plan: ConsolidationPlan
    operations: tuple[JournalEntry, ...]
    categories: Mapping[str, int] = field(hash=False)


def consolidated(batches: Iterable[tuple[ConsolidationPlan, JournalEntry]]) -> Consolidated:
    """What a consolidation in batches did; of the plans only the first is kept."""
    first: ConsolidationPlan | None = None
    operations: dict[int, JournalEntry] = {}
    categories: Counter[str] = Counter()
    for plan, operation in batches:
        first = first or plan
        operations[operation.id] = operation
        categories.update(item.category for item in plan.items)
    if first is None:
        raise ValueError("a consolidation has one batch at least")
    return Consolidated(first, tuple(operations.values()), categories)


@dataclass(frozen=True, slots=True)
class Enhanced:
    """`enhance`: the proposals that were applied and their journal entry."""

    proposals: tuple[Proposal, ...]
    operation: JournalEntry


@dataclass(frozen=True, slots=True)
class ReviewList:
    """`review list`: findings that wait for a verdict, the surest first."""

    items: tuple[ReviewItem, ...]


@dataclass(frozen=True, slots=True)
class Untouched:
    """`consolidate --if-due` when it is not: nothing was done, and why."""

    due: Due


@dataclass(frozen=True, slots=True)
class FrameList:
    """`frame list`: every registered frame definition, and where each comes from, in the same order."""

    definitions: tuple[FrameDefinition, ...]
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class LastFrame:
    """`frame last`: the frame assembled last; None where the store remembers none.

    verdicts: what was said of its blocks, by id: 1 useful, 0 useless.
    """

    frame: Frame | None
    verdicts: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Inspection:
    """`graph inspect`: a node with its neighbourhood and its place in the whole graph."""

    neighbourhood: Neighbourhood
    centrality: Centrality


@dataclass(frozen=True, slots=True)
class OperationList:
    """`operations`: the journal, newest first."""

    operations: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class Redone:
    """`redo`: the operation that stands again."""

    operation: JournalEntry


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
class ForecastList:
    """`calibration forecasts`: forecasts in full, the latest first. bin: place from 1 and number of bins, None for all
    bins. of: the group they belong to, as `frame SESSION`, "" for all.
    """

    cases: tuple[ForecastCase, ...]
    now: datetime
    bin: tuple[int, int] | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class Steered:
    """`focus pin`, `forbid`, `force`: what was said about a node, or taken back. in_tail: whether it reaches into the
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
    """`focus last`: what a session before left in its trace; None where nothing is left to go on with.

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
    """`focus branches`: every branch of the run."""

    branches: tuple[BranchView, ...]
    view: FocusView


@dataclass(frozen=True, slots=True)
class Replayed:
    """`focus replay`: a trace that was done again and agreed. complete: it had its end mark."""

    path: str
    steps: int
    branches: int
    state_hash: str
    complete: bool


@dataclass(frozen=True, slots=True)
class SelectedBlock:
    """`select`: the block that every pane now shows."""

    block: Block


@dataclass(frozen=True, slots=True)
class CorrectedBlock:
    """`block set`, `block pin`: the block as it is now."""

    block: Block


@dataclass(frozen=True, slots=True)
class AnnotatedBlock:
    """`block tag`, `block note`: the block as it is now."""

    block: Block


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    """`edge add`: the edge, and the titles of its ends."""

    edge: Edge
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`show`: a pane and the result it draws."""

    pane: Pane
    result: Any


@dataclass(frozen=True, slots=True)
class ThemeSet:
    """`theme`: the palette in use, and those there are."""

    name: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """`bookmark`: a block that the operator wants to find again, and why. kept: False when it was taken off."""

    block: str
    title: str
    note: str = ""
    kept: bool = True


@dataclass(frozen=True, slots=True)
class BookmarkList:
    """`bookmarks`: by title."""

    rows: tuple[Bookmark, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """`layout …`: the large pane, those under it (none: its own companions), whether it has the whole screen.

    sifts: the filter and the order of each pane that has one. theme: the colours that were chosen, "" for none.
    """

    pane: Pane = "inbox"
    beside: tuple[str, ...] = ()
    large: bool = False
    sifts: Mapping[Pane, ListFilter] = field(default_factory=dict, hash=False)
    theme: str = ""


@dataclass(frozen=True, slots=True)
class Sifted:
    """`filter`, `sort`: what a pane's list shows from now on, and in what order."""

    pane: Pane
    sift: ListFilter


@dataclass(frozen=True, slots=True)
class LayoutList:
    """`layout list`: names and arrangements; "(last)" is how the screen was left."""

    rows: tuple[tuple[str, Layout], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """`record`: since when the session's acts go into the recording, as a number of acts before it."""

    since: int


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """`snapshot`: the files written, or found equal when the run checks."""

    name: str
    pane: Pane
    files: tuple[str, ...]
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """`save`: a script of what the session did, and how many lines it has."""

    file: str
    lines: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """`expect`: a metric that was compared and held."""

    metric: str
    operator: str
    wanted: float
    found: float


@dataclass(frozen=True, slots=True)
class VerbHelp:
    """What `help` says of one operation. parameters: (label, text) in order."""

    name: str
    usage: str
    summary: str
    text: str
    parameters: tuple[tuple[str, str], ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HelpList:
    """`help`: all operations by their first word, or one in full."""

    verbs: tuple[VerbHelp, ...]


@dataclass(frozen=True, slots=True)
class PaneState:
    """What a pane shows now and the line that brought it there."""

    line: str
    result: Any
