"""Immutable results of operations on the memory that are not types of the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.api.sources import SourceSummary
    from amgs.frames.shipping import Origin
    from amgs.lifecycle.proposing import Proposal
    from amgs.lifecycle.revision import Revision
    from amgs.lifecycle.supersede import ReviewItem
    from amgs.lifecycle.upkeep import Due
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
    from amgs.types.conversation_views import ResolvedMention
    from amgs.types.diagnosis import CaseComparison, CaseOutcome
    from amgs.types.gateway import GatewayExchange
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.settings import Setting


@dataclass(frozen=True, slots=True)
class FrameDeletion:
    """`frame delete`: the definition that was deleted, or the shipped definition; was: where it came from before."""

    definition: FrameDefinition
    was: Literal["shipped", "changed", "own"]


@dataclass(frozen=True, slots=True)
class ConversationList:
    """`conversation list`: the stored conversations, by name."""

    conversations: tuple[ConversationSummary, ...]


@dataclass(frozen=True, slots=True)
class ConversationShown:
    """`conversation show`: messages in order.

    total: number of all that were asked for. mentions: what words of these messages refer to, if wanted; waiting:
    messages not resolved yet.
    """

    conversation: str
    messages: tuple[Message, ...]
    total: int
    mentions: tuple[ResolvedMention, ...] = ()
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class SettingsList:
    """`settings`: the settings file, which may be missing, and the keys in its order."""

    file: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Inbox:
    """`inbox list`: raw blocks, newest first, from the `offset`-th on.

    total: number that match. oldest: time of the oldest of all. waiting: number of all.
    """

    blocks: tuple[Block, ...]
    total: int
    now: datetime
    offset: int = 0
    oldest: datetime | None = None
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class BlockList:
    """`block find`: matching blocks, best first; without a text, latest first."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class BlockDetail:
    """`block show`: a block, its present relevance, its number of edges, and its usefulness by verdicts (None without
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
    """`entity`: the first entities, most frequent first, and the number of all."""

    entities: tuple[EntitySummary, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceList:
    """`source list`: the first sources, and the number of all."""

    sources: tuple[SourceSummary, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SourceHistory:
    """`source list --pieces`: present and past pieces of a source, earliest first, with the titles of their blocks."""

    source: str
    pieces: tuple[SourcePiece, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """`source watch`: changes in a folder while it was watched."""

    folder: str
    revisions: tuple[Revision, ...]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """`consolidate`: what was done, by category, and its journal entries: one, unless another operation came between.

    plan: of the first batch, which is everything unless the inbox is large. elsewhere: blocks consolidated by another
    program meanwhile.
    """

    plan: ConsolidationPlan
    operations: tuple[JournalEntry, ...]
    categories: Mapping[str, int] = field(hash=False)
    elsewhere: int = 0


def sum_batches(batches: Iterable[tuple[ConsolidationPlan, JournalEntry]]) -> Consolidated | None:
    """Return the sum of a consolidation in batches, with the plan of the first; None without a batch."""
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
    """`enhance`: applied proposals and their journal entry, None if there were none."""

    proposals: tuple[Proposal, ...]
    operation: JournalEntry | None


@dataclass(frozen=True, slots=True)
class ReviewList:
    """`review`: findings that wait for a verdict, most certain first. scanned: whether it just looked for new ones."""

    items: tuple[ReviewItem, ...]
    scanned: bool = False


@dataclass(frozen=True, slots=True)
class SearchList:
    """`why` without a question: the stored searches, newest first."""

    searches: tuple[PastSearch, ...]


@dataclass(frozen=True, slots=True)
class Untouched:
    """`consolidate --if-due` when it is not due, or with an empty inbox: the reason why nothing was done."""

    due: Due


@dataclass(frozen=True, slots=True)
class FrameList:
    """`frame list`: all frame definitions, and the origin of each, in the same order."""

    definitions: tuple[FrameDefinition, ...]
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class LastFrame:
    """`frame last`: the frame assembled last; None if there is none.

    verdicts: on its blocks, by id: 1 useful, 0 useless.
    """

    frame: Frame | None
    verdicts: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Inspection:
    """`graph inspect`: a node with its neighbourhood and its position in the whole graph."""

    neighbourhood: Neighbourhood
    centrality: Centrality


@dataclass(frozen=True, slots=True)
class OperationList:
    """`operations`: the journal, newest first."""

    operations: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class TrafficList:
    """`traffic`: requests, newest first. served: whether the memory is served. asked: number of requests by the holder
    of each token.
    """

    events: tuple[ServiceEvent, ...]
    served: bool
    asked: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ExchangeList:
    """`conversation exchanges`: requests through the gateway, newest first. served: whether a gateway is running on
    this memory.
    """

    exchanges: tuple[GatewayExchange, ...]
    served: bool


@dataclass(frozen=True, slots=True)
class CasesTested:
    """`test`: the outcome of each case in a file.

    quiet: show only those that fail or moved. recorded: cases added from verdicts; None if not wanted. against: file of
    the earlier run in `compared`.
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
        """Return whether no case fails; otherwise `test` ends with the exit code of a failed check."""
        return not self.failed


@dataclass(frozen=True, slots=True)
class ForecastList:
    """`calibration forecasts`: forecasts in full, latest first. bin: number from 1 and count of bins, None for all. of:
    their group, such as `frame SESSION`, "" for all.
    """

    cases: tuple[ForecastCase, ...]
    now: datetime
    bin: tuple[int, int] | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class AnswerUses:
    """`feedback answered`, `calibration answers`: blocks that models had in their context, and whether answers used
    them.
    """

    uses: tuple[BlockUse, ...]


@dataclass(frozen=True, slots=True)
class CorrectedBlock:
    """`block set`: the block after the change."""

    block: Block


@dataclass(frozen=True, slots=True)
class Deleted:
    """`block delete`: the blocks before their deletion."""

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
    """`edge set --confirm`: the edge after the change, and the titles of its ends."""

    edge: Edge
    source: str
    target: str
