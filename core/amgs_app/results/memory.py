"""The frozen results of operations on the memory that the engine has no type for.

Everything else an operation gives back is an engine's own value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

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
        EntitySummary,
        ForecastCase,
        Frame,
        FrameDefinition,
        JournalEntry,
        Neighbourhood,
        PastSearch,
    )
    from amgs.types.calibration import BlockUse, Usefulness
    from amgs.types.conversation import ConversationSummary, Message
    from amgs.types.gateway import GatewayExchange
    from amgs.types.mentions import ResolvedMention
    from amgs.types.question_case import CaseComparison, CaseOutcome
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.settings import Setting


@dataclass(frozen=True, slots=True)
class FrameDeletion:
    """`frame delete`: the definition that was deleted, or the shipped one; was: where it came from before."""

    definition: FrameDefinition
    was: Literal["shipped", "changed", "own"]


@dataclass(frozen=True, slots=True)
class ConversationList:
    """`conversation list`: the conversations that are held, by name."""

    conversations: tuple[ConversationSummary, ...]


@dataclass(frozen=True, slots=True)
class ConversationShown:
    """`conversation show`: messages as they were said. total: how many were asked for; more than are shown.

    mentions: what words of these messages mean, where it was asked for; waiting: messages that `conversation resolve`
    has not read.
    """

    conversation: str
    messages: tuple[Message, ...]
    total: int
    mentions: tuple[ResolvedMention, ...] = ()
    waiting: int = 0


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
    """`block find`: blocks that match, best first; where the text is empty, the latest first."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class BlockDetail:
    """`block show`: a block, its relevance now, how many edges touch it, and what verdicts say of it (None without
    any).
    """

    block: Block
    relevance: float
    profile: str
    edges_out: int
    edges_in: int
    usefulness: Usefulness | None = None


@dataclass(frozen=True, slots=True)
class EntityList:
    """`entity`: the first of the entities, the most often named first, and how many there are."""

    entities: tuple[EntitySummary, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceList:
    """`source list`: the first of the sources, and how many there are."""

    sources: tuple[SourceSummary, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceHistory:
    """`source list --pieces`: what a source holds and held, the earliest first, each with the title of its block."""

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

    plan: of the first batch, which is all of it unless the inbox was large. elsewhere: blocks of the inbox that
    somebody else consolidated meanwhile.
    """

    plan: ConsolidationPlan
    operations: tuple[JournalEntry, ...]
    categories: Mapping[str, int] = field(hash=False)
    elsewhere: int = 0


def consolidated(batches: Iterable[tuple[ConsolidationPlan, JournalEntry]]) -> Consolidated | None:
    """Return what a consolidation in batches did, None where there was no batch; of the plans only the first is
    kept.
    """
    first: ConsolidationPlan | None = None
    operations: dict[int, JournalEntry] = {}
    categories: Counter[str] = Counter()
    elsewhere = 0
    for plan, operation in batches:
        first = first or plan
        operations[operation.id] = operation
        categories.update(item.category for item in plan.items)
        elsewhere += plan.elsewhere
    if first is None:
        return None
    return Consolidated(first, tuple(operations.values()), categories, elsewhere)


@dataclass(frozen=True, slots=True)
class Enhanced:
    """`enhance`: the proposals that were applied and their journal entry, None where there were none."""

    proposals: tuple[Proposal, ...]
    operation: JournalEntry | None


@dataclass(frozen=True, slots=True)
class ReviewList:
    """`review`: findings that wait for a verdict, the surest first. scanned: whether it just looked for new ones."""

    items: tuple[ReviewItem, ...]
    scanned: bool = False


@dataclass(frozen=True, slots=True)
class SearchList:
    """`why` without a question: the searches that are kept, the newest first."""

    searches: tuple[PastSearch, ...]


@dataclass(frozen=True, slots=True)
class Untouched:
    """`consolidate --if-due` when it is not, `consolidate` of an empty inbox: nothing was done, and why."""

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
class TrafficList:
    """`traffic`: questions and changes, the newest first. served: whether the memory is served at all. asked: how much
    the holder of each token asked.
    """

    events: tuple[ServiceEvent, ...]
    served: bool
    asked: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ExchangeList:
    """`conversation exchanges`: requests through the gateway, the newest first. served: whether one stands
    on this memory now."""

    exchanges: tuple[GatewayExchange, ...]
    served: bool


@dataclass(frozen=True, slots=True)
class CasesTested:
    """`test`: what became of each case of a file. quiet: only what fails or moved is shown.

    recorded: cases that were written into it from verdicts; None where none were wanted. against: the earlier run that
    compared is the comparison with.
    """

    path: str
    outcomes: tuple[CaseOutcome, ...]
    quiet: bool = False
    recorded: int | None = None
    against: str = ""
    compared: CaseComparison | None = None

    @property
    def summary(self) -> str:
        """`9 hold, 1 fails`, and beside an earlier run `9 same, 1 differs`."""
        passes = len(self.outcomes) - self.failed
        verbs = "holds" if passes == 1 else "hold", "fails" if self.failed == 1 else "fail"
        sentence = f"{passes:,} {verbs[0]}, {self.failed:,} {verbs[1]}"
        if self.compared is not None:
            differ = len(self.compared.moved)
            sentence += f"; {self.compared.same:,} same, {differ:,} {'differs' if differ == 1 else 'differ'}"
        return sentence

    @property
    def failed(self) -> int:
        return sum(bool(outcome.faults) for outcome in self.outcomes)

    @property
    def as_expected(self) -> bool:
        """Return whether no case fails; else `test` ends with the exit code of a failed check."""
        return not self.failed


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
class AnswerUses:
    """`feedback answered`, `calibration answers`: blocks that models had in front of them, and the use."""

    uses: tuple[BlockUse, ...]


@dataclass(frozen=True, slots=True)
class CorrectedBlock:
    """`block set`: the block as it is now."""

    block: Block


@dataclass(frozen=True, slots=True)
class Deleted:
    """`block delete`: the blocks as they were before they were set aside."""

    blocks: tuple[Block, ...]
    operation: JournalEntry


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    """`edge set`: the edge, and the titles of its ends."""

    edge: Edge
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class EdgeConfirmed:
    """`edge set --confirm`: the edge as it is now, and the titles of its ends."""

    edge: Edge
    source: str
    target: str
