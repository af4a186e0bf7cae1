"""`AsyncMemoryClient`: a served memory, asked from a program that does other things while it waits.

Made by `scripts/client_stubs.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from amgs.api.diversity import Diversity
from amgs.api.entities import EntityOrder
from amgs.api.graph import Communities, GraphPath
from amgs.api.sources import SourceSummary
from amgs.calibration.recalibrate import Method
from amgs.calibration.results import Calibrated, CalibrationPlan
from amgs.client.methods import ClientPart
from amgs.client.transport import AwaitedTransport
from amgs.conversation.messages import GivenMessage
from amgs.frames.results import CachedFrame, History, Replay
from amgs.lifecycle.decay_forecast import DecayPreview
from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt
from amgs.lifecycle.proposals import EnhancementPlan
from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
from amgs.lifecycle.revision import Revision, RevisionPlan
from amgs.lifecycle.schedule import Due
from amgs.lifecycle.supersede import ReviewItem, ReviewPlan
from amgs.simulation.evolve import Evolution
from amgs.simulation.insert import Insertion
from amgs.simulation.prune import PruningFutures
from amgs.simulation.stability import Stability
from amgs.storage.forecasts import ForecastGroup
from amgs.storage.sources import SourcePiece
from amgs.types import (
    Block,
    BlockFilter,
    CategoryCurves,
    Centrality,
    ConsolidationPlan,
    ConsolidationSummary,
    DecayCurve,
    Edge,
    Explanation,
    Forecast,
    Frame,
    FrameDefinition,
    GraphStats,
    Health,
    IngestReceipt,
    JournalEntry,
    JournalEntryDetail,
    JournalPage,
    Neighbourhood,
    Outcome,
    PastSearch,
    PlanApplied,
    Reliability,
    SearchResult,
    ServedPlan,
    Status,
    StoreStatus,
    UndoPlan,
    Verification,
    Weights,
)
from amgs.types.calibration import BlockUse
from amgs.types.conversation import (
    ContextConfiguration,
    ContextStrategy,
    ConversationAdded,
    ConversationKept,
    ConversationStats,
    ConversationSummary,
    Message,
    OptimisedContext,
    RestoredSpan,
)
from amgs.types.conversation_views import (
    ConversationActs,
    ConversationExtract,
    ConversationMemories,
    ConversationSurvival,
    ConversationTopics,
    RestoreLevel,
    SummaryLevel,
)
from amgs.types.diagnosis import Diagnosis, DiagnosisArguments, FixApplied
from amgs.types.entities import EntityKnowledge, EntitySummary, EntityType
from amgs.types.gateway import GatewayExchange
from amgs.types.mentions import ConversationEntities, ConversationResolved, MentionType, ResolvedMention
from amgs.wings.packs.values import (
    PackAssembly,
    PackContent,
    PackDifference,
    PackKept,
    PackLearned,
    PackProposal,
    PackRole,
    PackRoute,
    PackText,
    PackUsage,
    PackUse,
    PackWeights,
)

class AsyncFramesCalls(ClientPart):
    """What can be assembled, and what has been."""
    async def assemble(
        self,
        name: str,
        *,
        query: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
        as_of: datetime | None = None,
    ) -> Frame:
        """Assemble a frame. Its scores are logged as forecasts that feedback settles.

        reinforce: False for a look that leaves no trace; so it is in a memory opened for reading only.
        as_of: of what held at that instant; a look, too. Raises UnknownFrameError, BudgetError or
        WeightsError.
        """
    async def cached(
        self, name: str, *, query: str = "", budget: int | None = None, weights: Weights | None = None
    ) -> CachedFrame:
        """The kept assembly of a frame while it is fresh, else a new one (AMGS §10.2).

        Each frame is fresh for its refresh_hours; SELF for the hours in the settings, whatever changes
        but the identity itself. A memory opened for reading only is not written to.
        """
    async def history(self, name: str | None = None, limit: int = 20) -> History:
        """The latest assemblies, of one frame when it is named."""
    async def replay(self, assembly_id: str) -> Replay:
        """Make a past assembly again as of its instant, and say whether it came out equal and if not, why.

        The store is copied into memory and everything later is taken back there; the memory itself is
        untouched. Raises UsageError for an id that no assembly or more than one has.
        """
    async def why_then(self, assembly_id: str, block: str) -> Explanation:
        """Why a block was in a past assembly or not, from the candidates that were kept of it. Leaves no
        trace.

        Raises UsageError for an id that no assembly or more than one has, and where its candidates are
        not kept.
        """
    async def definitions(self) -> tuple[FrameDefinition, ...]:
        """The registered frames, children before their parents."""
    async def why(
        self,
        name: str,
        query: str,
        block: str,
        *,
        budget: int | None = None,
        weights: Weights | None = None,
        child: str | None = None,
    ) -> Explanation:
        """Why a block is in a frame, or where it fell out. Leaves no trace.

        child: the part of a composite that is asked about.
        """
    async def reset(self, name: str) -> FrameDefinition:
        """Give a shipped frame its shipped definition back.

        Raises UnknownFrameError, UsageError for a frame of the operator's own, FrameCycleError where
        the shipped one would now contain itself.
        """
    async def delete(self, name: str) -> FrameDefinition:
        """Take a frame of the user's own out; past assemblies of it can still be replayed.

        Raises UnknownFrameError, and UsageError for a frame that ships with the engine or that another
        contains.
        """

class AsyncConversationsCalls(ClientPart):
    """Conversations that are kept whole, and what of one a model should read for a question."""
    async def add(self, conversation: str, messages: Sequence[GivenMessage]) -> ConversationAdded:
        """Keep messages that follow on those that are held, and take them in as raw blocks.

        messages: `Message`, or objects in the style of OpenAI or Anthropic, or `{"speaker": …, "text":
        …}`. Raises MessageError for what is no conversation; nothing is changed then.
        """
    async def show(self, conversation: str, handle: str = "") -> tuple[Message, ...]:
        """The messages of a conversation, or those that a handle names."""
    async def optimise(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> OptimisedContext:
        """What of a conversation a model should read for a query, in at most `budget` tokens; writes
        nothing.

        query: the last message of the user unless given. budget: 124,000 unless given. previous: the
        `plan` of the context that was sent before; it is kept while it fits, so that what a provider
        has cached stays valid. until: the conversation as it stood after the message of this number.
        keep: handles of what must stay whole. configuration: what is kept and how much of the budget is
        used; its strategy serves unless another is given. Raises UnknownConversationError,
        ImpossibleBudgetError, or UsageError for another strategy, configuration or no plan.
        """
    async def survival(
        self,
        conversation: str,
        query: str = "",
        *,
        budget: int | None = None,
        strategy: ContextStrategy | None = None,
        configuration: ContextConfiguration = "default",
        previous: str = "",
        until: int | None = None,
        keep: Sequence[str] = (),
    ) -> ConversationSurvival:
        """What of each class of words (numbers, paths, commitments, …) a context has in its window, what
        is one handle away, and what is lost. Takes and raises what `optimise` does.
        """
    async def validate(self, conversation: str, text: str, handle: str = "") -> ConversationSurvival:
        """What of a conversation is in a text that somebody else made of it, as a summary, and what that
        makes up.

        A handle (`#12-15`) in the text brings its messages back. handle: of the messages that the text
        stands for; all unless given. Names, numbers, dates, paths, commands and ids that no message has
        are invented; sentences are looked for word for word.
        """
    async def restore(
        self, conversation: str, handle: str, level: RestoreLevel = "complete", *, most: int = 12
    ) -> RestoredSpan:
        """The messages that a handle names: byte for byte as they were said, or at a shorter level in
        their own words, each piece cited and every class of words held against the originals.

        most: of a shorter level, sentences of a session and findings of a class. Raises UsageError for
        another level, UnknownConversationError for a handle that names no messages.
        """
    async def topics(self, conversation: str) -> ConversationTopics:
        """What is talked of, in the order of time, and which topics are on the same thing."""
    async def memories(self, conversation: str, *, recent: int = 20) -> ConversationMemories:
        """What is at hand, what is open, what is held for long and which episodes there were; and the
        state of the conversation: turns, topic, calls that are done, whether the user is asked back.
        Writes nothing.

        recent: messages at hand.
        """
    async def acts(self, conversation: str, *, closed: bool = False) -> ConversationActs:
        """Questions, goals and commitments that are open; the closed ones too where they are asked for."""
    async def summary(
        self, conversation: str, level: SummaryLevel = "cumulative", *, sentences: int = 5
    ) -> ConversationExtract:
        """A summary in the words of a conversation, by turn, topic, session or of all; always from the
        originals.

        sentences: of a part, at most. Raises UsageError for another level.
        """
    async def keep(
        self, conversation: str, handle: str = "", *, drop: bool = False, budget: int | None = None
    ) -> ConversationKept:
        """Keep messages whole in every context of a conversation from now on, the gateway's next request
        too, as long as the budget holds them. drop: no longer; all of them without a handle. `undo`
        takes it back. budget: of a context, in tokens, of which it is said whether it can hold them.

        Raises UnknownConversationError.
        """
    async def resolve(self, conversation: str) -> ConversationResolved:
        """Read the messages that were added since the last time with the parser, and keep what they
        mention beside them, as one journal entry: names with their types, whose something is, whom
        pronouns mean. `add` itself keeps what needs no parser: dates, amounts, addresses, paths. `undo`
        takes it back.

        Raises UnknownConversationError, or ModelError without spaCy's model; nothing is changed then.
        """
    async def mentions(
        self, conversation: str, handle: str = "", *, least: float = 0.75
    ) -> tuple[ResolvedMention, ...]:
        """What words of a conversation mean, of all its messages or of those a handle names, in the order
        of the words.

        least: confidence in [0, 1] below which nothing is said. Raises UnknownConversationError, or
        UsageError for another confidence.
        """
    async def entities(
        self, conversation: str, *, type: MentionType | None = None, least: float = 0.75
    ) -> ConversationEntities:
        """What a conversation speaks of, the most often mentioned first, with each mention; writes
        nothing.

        type: only entities of this type. least: as in `mentions`. What only the parser finds is told of
        messages that `resolve` has read. Raises what `mentions` raises, and UsageError for a type that
        is none.
        """
    async def stats(self, conversation: str) -> ConversationStats:
        """What a conversation holds, by role and in tokens."""
    async def clear(self, conversation: str) -> JournalEntry:
        """Drop a conversation: its messages go, and what no other source holds of them is archived."""
    async def list(self) -> tuple[ConversationSummary, ...]:
        """The conversations that are held, by name."""

class AsyncGatewayLogCalls(ClientPart):
    """What agents asked their model through the gateway, and what the model read when it answered."""
    async def exchanges(self, limit: int = 50) -> tuple[GatewayExchange, ...]:
        """The latest requests, the newest first, without what was sent."""
    async def exchange(self, number: int) -> GatewayExchange:
        """A request with what its model read, put together from the conversation and held against the
        digest of what was sent, and beside the request before it. Raises NotFoundError for a request
        that is not kept.
        """

class AsyncEntitiesCalls(ClientPart):
    """People, organisations, places, projects and topics that the memory names."""
    async def list(
        self, limit: int = 50, type: EntityType | None = None, min_mentions: int = 2
    ) -> tuple[EntitySummary, ...]:
        """The entities that are named at least so often, the most often named first.

        Raises UsageError for a type that is none.
        """
    async def get(self, name: str, limit: int = 20, order: EntityOrder = "relevance") -> EntityKnowledge:
        """What is known of an entity, by its name or an alias: the blocks that name it, each with the
        passage, and the entities beside it.

        order: relevance (often named in a short text and what still holds first) or time (the earliest
        first). Raises UnknownEntityError, which tells names near to it.
        """

class AsyncGraphCalls(ClientPart):
    """What lies around a block, ways between blocks, groups of them."""
    async def neighbours(
        self,
        block_id: str,
        hops: int = 1,
        limit: int = 60,
        *,
        relations: Collection[str] = (),
        since: datetime | None = None,
    ) -> Neighbourhood:
        """What lies within `hops` of a block, the nearest and strongest `limit` of it.

        relations: only edges of these types; () for all. since: only edges made or reinforced then or
        later.
        """
    async def path(self, start: str, goal: str) -> GraphPath:
        """The way from one block to another whose edges' strengths have the greatest product."""
    async def communities(self, limit: int = 12) -> Communities:
        """The blocks parted by Louvain's method on the strengths of the edges, the largest part first."""
    async def confirm_edge(self, source: str, target: str, *, kind: str = "related") -> Edge:
        """Confirm that an edge is right: its confidence is 1, and its decay begins anew; journalled.
        Raises UsageError where there is none.
        """
    async def centrality(self, block_id: str) -> Centrality:
        """A block's degree, eigenvector, PageRank and betweenness, each scaled to [0, 1]; zeros outside
        the graph.
        """
    async def neighbourhood(
        self,
        block_id: str,
        hops: int = 1,
        limit: int = 60,
        *,
        relations: Collection[str] = (),
        since: datetime | None = None,
    ) -> Neighbourhood:
        """What lies within `hops` of a block, the nearest and strongest `limit` of it.

        relations: only edges of these types; () for all. since: only edges made or reinforced then or
        later.
        """
    async def stats(self) -> GraphStats:
        """Counts and shape of the whole graph."""

class AsyncLifecycleCalls(ClientPart):
    """Consolidation, enhancement, pruning, review, decay and undo."""
    async def status(self) -> StoreStatus:
        """One look at the whole memory. Its path is told only to who may operate it."""
    async def due(self) -> Due:
        """Whether the inbox should be consolidated now, by its volume and by the time since the last one."""
    async def consolidate(self, *, limit: int | None = None) -> ConsolidationSummary:
        """Work what was added into the memory: category, embedding, entities, edges, decay profile.

        limit: only so many of the raw blocks, the oldest arrivals first. Each batch is one transaction.
        Without raw blocks nothing is written. Raises StoreError where another embedder made the store's
        embeddings, ModelError where a model cannot be loaded.
        """
    async def plan_consolidation(self, *, limit: int | None = None) -> ConsolidationPlan:
        """What consolidating the inbox (its `limit` oldest arrivals) would do; changes nothing."""
    async def enhance(self, *, kinds: Sequence[str] = (), limit: int | None = None) -> JournalEntry:
        """Carry out what `plan_enhancement` proposes, in one journal entry."""
    async def plan_enhancement(
        self, *, kinds: Sequence[str] = (), limit: int | None = None
    ) -> EnhancementPlan:
        """What could be better: of the kinds asked for, at most `limit` of each; changes nothing."""
    async def prune(
        self, *, limit: int | None = None, threshold: float | None = None, lowest: float | None = None
    ) -> Pruned:
        """Mark what is faded, peripheral, unused and of low confidence as pruned; `undo` brings it back."""
    async def plan_pruning(
        self,
        *,
        hard: bool = False,
        limit: int | None = None,
        threshold: float | None = None,
        lowest: float | None = None,
    ) -> PrunePlan:
        """Blocks that are faded, peripheral, unused and doubted; hard: pruned blocks that would leave the
        store.

        threshold: stands in for `relevance` of the settings. lowest: this share of the memory counts as
        low in centrality and confidence, besides what lies under the limits.
        """
    async def explain_pruning(
        self, block_id: str, *, threshold: float | None = None, lowest: float | None = None
    ) -> PruneAssessment:
        """How a block stands to the four limits: which of them keep it, and when it will have faded."""
    async def calibrate(self, method: Method = "isotonic") -> Calibrated:
        """Recalibrate the forecasts from their outcomes; `undo` takes it back."""
    async def plan_review(self) -> ReviewPlan:
        """What may be superseded, contradicted or merged and is not in the queue yet; changes nothing."""
    async def reviews(self, *, every: bool = False, limit: int | None = None) -> tuple[ReviewItem, ...]:
        """The queue: open findings, the surest first; every: also those decided. 50 unless limited
        otherwise.
        """
    async def accept(self, review_id: int) -> JournalEntry:
        """Carry a finding out; raises UsageError for one that is not open."""
    async def reject(self, review_id: int) -> JournalEntry:
        """Say that a finding is none; raises UsageError for one that is not open."""
    async def reinforce(self, ids: Sequence[str]) -> tuple[Block, ...]:
        """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    async def decay_curve(self, block_id: str, *, days: float = 30) -> DecayCurve:
        """A block's relevance from its creation to `days` ahead."""
    async def category_curves(self, *, days: float = 30) -> CategoryCurves:
        """Mean relevance of each category from `days` ago to `days` ahead."""
    async def preview_decay(self, block_id: str, decay_lambda: float, *, days: float = 30.0) -> DecayPreview:
        """What another λ (0 pins) would do to a block; changes nothing."""
    async def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """What will fall under the threshold within `days`, soonest first. The service gives the first
        500.
        """
    async def operations(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """The latest operations, the newest first."""
    async def plan_undo(self, operation_id: int | None = None) -> UndoPlan:
        """What undoing an operation (the latest that stands) would take back; changes nothing."""
    async def undo(self, operation_id: int) -> JournalEntry:
        """Take an operation back; raises UsageError when a later one stands on it."""
    async def redo(self, operation_id: int | None = None) -> JournalEntry:
        """Put an undone operation (the one undone last) back exactly as the undo found it.

        Raises UsageError when something later stands in the way.
        """
    async def operation(self, operation_id: int, limit: int = 200) -> JournalEntryDetail:
        """What an operation did to its first `limit` blocks and to edges, and which ones stand on it."""

class AsyncErasureCalls(ClientPart):
    """Blocks taken out for good, with a receipt."""
    async def erase(self, ids: Sequence[str]) -> ErasureReceipt:
        """Erase blocks so that their texts are nowhere in the store: not in its tables, its journal or its
        logs, nor in an index or a freed page of its file. It cannot be undone.

        Writes the whole file and the keyword index anew, which takes as much room beside them for that
        time. Blocks that were merged from these or split from them stay, and the receipt names them.
        Raises StoreError where the disk is full: the tables are without them then, and the file is
        written anew when the memory is closed. Needs the right to operate.
        """
    async def plan(self, ids: Sequence[str]) -> ErasurePlan:
        """What erasing blocks would take; changes nothing."""

class AsyncPlansCalls(ClientPart):
    """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
    async def journal(self, limit: int = 50, offset: int = 0) -> JournalPage:
        """A page of what was changed, the newest first."""
    async def undo(self, operation_id: int) -> JournalEntry:
        """Take an operation back; raises UsageError when a later one stands on it."""
    async def redo(self, operation_id: int | None = None) -> JournalEntry:
        """Put an undone operation (the one undone last) back exactly as the undo found it.

        Raises UsageError when something later stands in the way.
        """
    async def consolidate(self, *, limit: int | None = None) -> ServedPlan:
        """Plan a consolidation of the inbox, which the service keeps for an hour; changes nothing."""
    async def enhance(self, *, kinds: Sequence[str] = (), limit: int | None = None) -> ServedPlan:
        """Plan what could be better, which the service keeps for an hour; changes nothing."""
    async def prune(
        self, *, limit: int | None = None, threshold: float | None = None, lowest: float | None = None
    ) -> ServedPlan:
        """Plan a pruning, which the service keeps for an hour; changes nothing."""
    async def revision(self, source: str, text: str) -> ServedPlan:
        """Plan what a source's new text would change, which the service keeps for an hour; changes
        nothing.
        """
    async def apply(self, plan: ServedPlan, *, even_if_changed: bool = False) -> PlanApplied:
        """Carry a plan out, in one transaction that `undo` takes back.

        Raises StaleError, whose `changed` are the journal entries since, where the memory is not the
        one that it was made from. even_if_changed: apply it if it still fits, whatever else has
        changed.
        """

class AsyncCalibrationCalls(ClientPart):
    """Learning from outcomes."""
    async def feedback(
        self, block_id: str, *, useful: bool, assembly_id: str | None = None, prediction_id: str | None = None
    ) -> Outcome:
        """Say whether a block that `context` selected was useful; its score was a forecast of that.

        block_id: an id, or the only one that begins so. Without more, the verdict is on the latest open
        forecast of the block. assembly_id: on that of one frame (`frame.id`). prediction_id: on this
        one. Raises UsageError where no such forecast is open, UnknownBlockError or AmbiguousIdError for
        the id.
        """
    async def outcomes(self, limit: int = 100) -> tuple[Outcome, ...]:
        """The latest forecasts, with their outcome where there is one."""
    async def reliability(
        self, bins: int = 10, *, by: ForecastGroup | None = None, value: str | None = None
    ) -> Reliability:
        """The reliability table and the Brier score with its parts, of all forecasts or of one frame,
        category or relation type; of all, with what came of the promises of coverage.
        """
    async def note_answer(self, answer: str, *, query: str = "") -> tuple[BlockUse, ...]:
        """Log which blocks of the latest frame for a query an answer used: those that it cites by their
        ids, and those with which it shares more words than chance gives. Raises UsageError where no
        frame was assembled for it.
        """
    async def answers(self, limit: int = 100) -> tuple[BlockUse, ...]:
        """The latest blocks that models had in front of them when they answered, the newest first: with a
        forecast whether they were used or not, else those that were.
        """
    async def plan(self, method: Method = "isotonic") -> CalibrationPlan:
        """What recalibrating forecasts would do; raises UsageError for too few outcomes."""

class AsyncSourcesCalls(ClientPart):
    """Where texts came from, and what became of them."""
    async def plan_text(self, name: str, text: str) -> RevisionPlan:
        """What giving a source another text would do; raises UsageError for a source that holds nothing.
        Changes nothing; `plans.revision` has the service keep the plan.
        """
    async def plan_delete(self, names: Sequence[str]) -> RevisionPlan:
        """What taking sources out would do: what no other source holds is archived."""
    async def list(self, below: str = "") -> tuple[SourceSummary, ...]:
        """The sources that hold something, by name; below: of those, the ones whose name begins so."""
    async def history(self, name: str) -> tuple[SourcePiece, ...]:
        """What a source ever held, the earliest first; raises UsageError for one that holds nothing."""
    async def update(self, name: str, text: str) -> Revision:
        """Take in a source's new text, and end what it no longer says; `undo` takes it back."""
    async def delete(self, names: Sequence[str]) -> Revision:
        """Take sources out: what no other source holds is archived; `undo` brings it back."""

class AsyncDiagnosisCalls(ClientPart):
    """Why an answer missed a fact, and what would bring it in."""
    async def diagnose(self, answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> Diagnosis:
        """Find the one cause for which an answer missed a fact, and the fix that brings it in and moves
        fewest others.

        answer: what was answered, "" where that is not known. missed: the fact, as the memory would say
        it. The others: see `DiagnosisArguments`. Raises UsageError where nothing tells which question
        was asked, or several blocks hold the fact alike, and TypeError for a name that is none of the
        arguments.
        """
    async def fix(self, answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> FixApplied:
        """Diagnose, and carry the fix out that is proposed; takes what `diagnose` takes.

        Raises what it raises, and UsageError where nothing in the memory is to be changed.
        """

class AsyncSimulationCalls(ClientPart):
    """What may become of the memory, drawn many times; each needs the right to operate."""
    async def evolve(
        self, *, days: float = 90.0, draws: int = 64, steps: int = 6, rate: float | None = None
    ) -> Evolution:
        """The memory after `days` of decay and of `rate` accesses a day, as the last month had them
        without one.
        """
    async def prune(
        self,
        *,
        thresholds: Sequence[float] = (),
        days: float = 180.0,
        cycle: float = 30.0,
        draws: int = 32,
        rate: float | None = None,
        lowest: float | None = None,
    ) -> PruningFutures:
        """Ways to prune beside each other: each threshold of relevance with each number of the other
        signs.
        """
    async def insert(self, text: str, *, days: float = 30.0, draws: int = 64) -> Insertion:
        """Where a text would take hold, if it were ingested and consolidated now; of a text that is there
        already, how its links will last.
        """
    async def stability(
        self,
        *,
        noise: float = 0.3,
        loss: float = 0.1,
        days: float = 30.0,
        paces: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
        draws: int = 32,
    ) -> Stability:
        """How firm centrality and components stand under noise on the edges, today and after `days` at
        each pace.
        """

class AsyncPacksCalls(ClientPart):
    """Frames that are kept under a name, versioned, read again, and judged."""
    async def keep(
        self,
        name: str,
        *,
        query: str = "",
        frame: str = "SESSION",
        budget: int | None = None,
        blocks: Sequence[str] = (),
        title: str = "",
        keywords: Sequence[str] = (),
    ) -> PackKept:
        """Keep what a frame selects for a query, or the blocks that are named, as the next version of a
        pack.

        query: assembled without a trace; a frame takes the nearest there is, so the result says how
        likely the memory holds an answer. blocks: ids, in place of a query. keywords: those that tell
        its members from the rest of the memory unless given. Where the latest version says the same,
        nothing is written. Raises UsageError for neither or both of query and blocks, or where nothing
        was found.
        """
    async def list(self, *, retired: bool = False, keep: int | None = None) -> tuple[PackUsage, ...]:
        """The latest version of each pack, by name, with what its log says and how likely it is read
        within 30 days.

        retired: those that are retired, too. keep: mark those to do without so that the others take at
        most so many tokens, the least needed first. Writes nothing.
        """
    async def show(self, pack: str) -> PackContent:
        """A pack, `NAME` or `NAME@VERSION`, with its members as they are now, its readings, and what links
        it to other packs.
        """
    async def diff(self, left: str, right: str = "") -> PackDifference:
        """From one version to another; the latest of the same name unless given."""
    async def use(
        self, pack: str, query: str = "", *, budget: int | None = None, prune: bool = False, session: str = ""
    ) -> PackText:
        """A pack as a text in at most `budget` tokens (2,048 unless given); that it was read is logged.

        prune: the sentences that answer the query, in place of whole members; " … " where something is
        left out. session: a name that joins what is read for one task. Raises UsageError for a pack
        that is retired, or to prune without a query.
        """
    async def route(
        self, query: str, *, budget: int | None = None, role: PackRole | None = None
    ) -> PackRoute:
        """The packs that a question should be given, whole, within `budget` tokens (2,048 unless given).

        Writes nothing. role: only the members of this role are read. Raises UsageError for a question
        without words.
        """
    async def learn(
        self, pack: str, *, others: Sequence[str] = (), share: float = 0.25, dry_run: bool = False
    ) -> PackLearned:
        """Make learnings of the sources of a pack that are in none yet, and keep the next version, with
        both.

        Sources that speak of one thing, eight at most, give one learning: the sentence that weighs
        most, what was decided, further sentences, and names, dates, numbers, paths, commands and ids
        that these do not tell. All of it is cited word for word, and the sources stay members. Nothing
        is learned from learnings, and none is ever rewritten: where nothing is new, nothing happens.
        Raw sources wait.

        others: packs whose sources, and learnings, it takes over. share: of the sources' tokens, for
        sentences; further findings take as many at most. dry_run: the plan; nothing is written. Raises
        UsageError for a pack that is retired.
        """
    async def assemble(
        self, query: str, *, budget: int | None = None, role: PackRole | None = None, session: str = ""
    ) -> PackAssembly:
        """All packs as one text for a question, in at most `budget` tokens (2,048 unless given).

        Packs are chosen within four times as many, and the sentences of their members written that
        answer it. What stands in several packs is read once. The ledger says what each stage left out,
        and why.

        What was read of each pack is logged. role: only the members of this role are read. session: a
        name that joins what is read for one task. Raises UsageError for a question without words.
        """
    async def judge(self, use: int, *, useful: bool) -> PackUse:
        """Note whether what was read was useful; raises NotFoundError for a use that is not logged."""
    async def weights(self) -> PackWeights:
        """What judged readings taught of each pack. Explains only: nothing that chooses packs asks it.
        Where all packs of a session got one verdict, it is not counted for any of them.
        """
    async def proposals(self) -> tuple[PackProposal, ...]:
        """What could be done with packs, what is worth most first, without what was decided of the same
        versions.

        MERGE: two packs whose members say the same. UPDATE: members that were superseded. DELETE: packs
        that are hardly needed any more. ADD: packs that sessions read together become one. Changes
        nothing.
        """
    async def accept(self, proposal: str) -> JournalEntry:
        """Carry a proposal out, as one change that `undo` takes back; proposal: its id, or the start of
        it.

        Raises UsageError for one that is not made, which may be because one of its packs was changed
        since.
        """
    async def reject(self, proposal: str) -> JournalEntry:
        """Say that a proposal is not wanted; it is not made again while its packs stay as they are."""
    async def retire(self, *names: str) -> JournalEntry:
        """Retire packs, as one change: they are no longer listed or used; their versions and their log
        stay. Raises UsageError for no name, or where one is retired already.
        """

class AsyncMemoryClient(AwaitedTransport):
    """A served memory, by the names that `Memory` has in the process.

    Answers are the engine's own frozen values, and what the engine would raise is raised here; a
    service that does not answer raises UnreachableError. Requests that may be repeated are tried again,
    with growing waits that chance spreads; one that changes the memory carries an idempotency key, so
    that trying again does nothing twice.

    Use it as an asynchronous context manager, or close it; in one event loop.
    """
    async def ingest(
        self,
        content: str | Sequence[str | Mapping[str, Any]],
        *,
        occurred_at: datetime | None = None,
        speaker: str = "",
        source: str = "",
        tags: Sequence[str] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReceipt:
        """Take in a text or many, all of them or none; they wait in the inbox for `consolidate`.

        content: a text, or a list of texts, each a str or a mapping with `content` and any of what
        follows. occurred_at: when it happened or was written, now unless given. What is known already
        is left alone, so that a request can be repeated. Returns only after the memory has it on disk.
        Raises InputError for a text that cannot be taken in.
        """
    async def add(
        self, what: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReceipt:
        """Take in a text, as `Memory.add` does; a file or a folder is read where it lies."""
    async def ingest_text(
        self, text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReceipt:
        """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
    async def ingest_texts(
        self, given: Sequence[tuple[str, datetime | None, Mapping[str, Any]]]
    ) -> IngestReceipt:
        """Take in texts, each with when it was written (None: now) and its metadata, all of them or none."""
    async def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        layers: Sequence[str] | None = None,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        as_of: datetime | None = None,
    ) -> SearchResult:
        """The blocks that answer a query best, `.hits` in falling score, each with the passage that does;
        changes nothing.

        Raw blocks are found by their words until they are consolidated; `hit.block.status` tells them.
        What was superseded ranks behind, and `hit.block.superseded` tells it. top_k: how many at most.
        layers: of prefilter, keyword, fuzzy, vector, graph and score only these. filter: only blocks
        that pass it; raw and consolidated ones unless given. weights: other weights of the five parts
        of a score. as_of: only what held at that instant, also what was superseded or archived since.
        Raises UsageError for a layer there is not, WeightsError for weights that do not sum to one.
        Raises UsageError for a filter with a condition that the service does not take.
        """
    async def why(
        self,
        query: str,
        block: str,
        *,
        frame: str | None = None,
        top_k: int = 10,
        filter: BlockFilter | None = None,
        weights: Weights | None = None,
        budget: int | None = None,
        child: str | None = None,
    ) -> Explanation:
        """Why a block is among the `top_k` hits or in a frame, or at which layer it fell out: by how much,
        and the smallest change of weights that would admit it. Leaves no trace.

        child: the part of a composite frame that is asked about. The service takes no filter.
        """
    async def searches(self, limit: int = 20) -> tuple[PastSearch, ...]:
        """The latest searches that were kept, the newest first."""
    async def why_then(self, number: int, block: str) -> Explanation:
        """Why a block was a hit of a search that was kept or not: its scores, rank and finders of then.

        Raises UsageError for a number that is not kept, UnknownBlockError or AmbiguousIdError for the
        block.
        """
    async def assemble(
        self,
        name: str,
        *,
        query: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
        as_of: datetime | None = None,
    ) -> Frame:
        """Assemble a frame. Its scores are logged as forecasts that feedback settles.

        reinforce: False for a look that leaves no trace; so it is in a memory opened for reading only.
        as_of: of what held at that instant; a look, too. Raises UnknownFrameError, BudgetError or
        WeightsError.
        """
    async def context(
        self,
        query: str,
        *,
        frame: str = "SESSION",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
    ) -> Frame:
        """What a model should read for a query: the assembled frame, `.text` to put into a prompt and
        `.selected` with the blocks that are in it, the best first.

        frame: SESSION (who the agent is, what answers the query, what was last), ATTENTION (only what
        answers it) or any other that is defined. budget: at most so many tokens; the frame's own unless
        given. weights: other weights of the five parts of a score. reinforce: what is selected counts
        as used, and its scores as forecasts that `feedback` judges; False for a look that leaves no
        trace. Raises UnknownFrameError, BudgetError or WeightsError.
        """
    async def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        """The registered frames, children before their parents."""
    async def block(self, id_or_prefix: str) -> Block:
        """The block with an id or with the only id that begins so.

        Raises UnknownBlockError or AmbiguousIdError, which names the blocks that match.
        """
    async def find(self, text: str, limit: int = 20) -> tuple[Block, ...]:
        """Blocks whose title, first words or id fit what was typed, the best first."""
    async def set_metadata(
        self,
        id: str,
        *,
        category: str | None = None,
        confidence: float | None = None,
        decay_lambda: float | None = None,
        is_self_component: bool | None = None,
        status: Status | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> Block:
        """Change a block's metadata; journalled, so that it can be undone. meta: an empty value takes a
        key away.
        """
    async def tag(self, id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Block:
        """Add tags to a block and take others away; journalled, and kept when its source is read again."""
    async def note(self, id: str, text: str) -> Block:
        """Write a note on a block, in place of the one before; an empty one removes it. Journalled."""
    async def add_edge(
        self, source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
    ) -> Edge:
        """Add an edge between two consolidated blocks, or change the one of that kind; journalled."""
    async def remove_edge(self, source: str, target: str, *, kind: str | None = None) -> JournalEntry:
        """Remove the edges from one block to another, of one kind or of all; journalled."""
    async def reinforce(self, ids: Sequence[str]) -> tuple[Block, ...]:
        """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    async def consolidate(self, *, limit: int | None = None) -> ConsolidationSummary:
        """Work what was added into the memory: category, embedding, entities, edges, decay profile.

        limit: only so many of the raw blocks, the oldest arrivals first. Each batch is one transaction.
        Without raw blocks nothing is written. Raises StoreError where another embedder made the store's
        embeddings, ModelError where a model cannot be loaded.
        """
    async def plan_consolidation(self, *, limit: int | None = None) -> ConsolidationPlan:
        """What consolidating the inbox (its `limit` oldest arrivals) would do; changes nothing."""
    async def operations(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """The latest operations, the newest first."""
    async def undo(self, operation_id: int) -> JournalEntry:
        """Take an operation back; raises UsageError when a later one stands on it."""
    async def redo(self, operation_id: int | None = None) -> JournalEntry:
        """Put an undone operation (the one undone last) back exactly as the undo found it.

        Raises UsageError when something later stands in the way.
        """
    async def decay_curve(self, block_id: str, *, days: float = 30) -> DecayCurve:
        """A block's relevance from its creation to `days` ahead."""
    async def forecast(self, *, days: float = 30, threshold: float | None = None) -> Forecast:
        """What will fall under the threshold within `days`, soonest first. The service gives the first
        500.
        """
    async def feedback(
        self, block_id: str, *, useful: bool, assembly_id: str | None = None, prediction_id: str | None = None
    ) -> Outcome:
        """Say whether a block that `context` selected was useful; its score was a forecast of that.

        block_id: an id, or the only one that begins so. Without more, the verdict is on the latest open
        forecast of the block. assembly_id: on that of one frame (`frame.id`). prediction_id: on this
        one. Raises UsageError where no such forecast is open, UnknownBlockError or AmbiguousIdError for
        the id.
        """
    async def outcomes(self, limit: int = 100) -> tuple[Outcome, ...]:
        """The latest forecasts, with their outcome where there is one."""
    async def reliability(
        self, bins: int = 10, *, by: ForecastGroup | None = None, value: str | None = None
    ) -> Reliability:
        """The reliability table and the Brier score with its parts, of all forecasts or of one frame,
        category or relation type; of all, with what came of the promises of coverage.
        """
    async def neighbourhood(self, block_id: str, hops: int = 1, limit: int = 60) -> Neighbourhood:
        """What lies within `hops` of a block, the nearest and strongest `limit` of it."""
    async def centrality(self, block_id: str) -> Centrality:
        """A block's degree, eigenvector, PageRank and betweenness, each scaled to [0, 1]; zeros outside
        the graph.
        """
    async def graph_stats(self) -> GraphStats:
        """Counts and shape of the whole graph."""
    async def status(self) -> StoreStatus:
        """One look at the whole memory. Its path is told only to who may operate it."""
    async def counts(self) -> Mapping[str, int]:
        """How many blocks are raw, consolidated, archived and pruned; of a state without any there is no
        entry.
        """
    async def health(self) -> Health:
        """How each side of the memory stands, and what looks closer or mends it."""
    async def diversity(self) -> Diversity:
        """How evenly the memory is spread: entropy of its categories, of the decisions for them, of its
        clusters.
        """
    async def verify(self) -> Verification:
        """Re-hash every block, follow every reference, compare the indexes; names each fault."""
    async def call(
        self, name: str, /, *, packages: Collection[str] = (), writes: bool = True, **arguments: Any
    ) -> Any:
        """Any operation of the service by its name, such as `frame compare`, with its parameters.

        Answers in plain JSON, as the command line prints with `--format json`; with packages
        (`{"amgs"}`), as frozen values of theirs. writes: False for a request that changes nothing,
        which needs no idempotency key.
        """
    @property
    def frames(self) -> AsyncFramesCalls:
        """What can be assembled, and what has been."""
    @property
    def conversation(self) -> AsyncConversationsCalls:
        """Conversations that are kept whole, and what of one a model should read for a question."""
    @property
    def gateway(self) -> AsyncGatewayLogCalls:
        """What agents asked their model through the gateway, and what the model read when it answered."""
    @property
    def entities(self) -> AsyncEntitiesCalls:
        """People, organisations, places, projects and topics that the memory names."""
    @property
    def graph(self) -> AsyncGraphCalls:
        """What lies around a block, ways between blocks, groups of them."""
    @property
    def lifecycle(self) -> AsyncLifecycleCalls:
        """Consolidation, enhancement, pruning, review, decay and undo."""
    @property
    def erasure(self) -> AsyncErasureCalls:
        """Blocks taken out for good, with a receipt."""
    @property
    def plans(self) -> AsyncPlansCalls:
        """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
    @property
    def calibration(self) -> AsyncCalibrationCalls:
        """Learning from outcomes."""
    @property
    def sources(self) -> AsyncSourcesCalls:
        """Where texts came from, and what became of them."""
    @property
    def diagnosis(self) -> AsyncDiagnosisCalls:
        """Why an answer missed a fact, and what would bring it in."""
    @property
    def simulation(self) -> AsyncSimulationCalls:
        """What may become of the memory, drawn many times; each needs the right to operate."""
    @property
    def packs(self) -> AsyncPacksCalls:
        """Frames that are kept under a name, versioned, read again, and judged."""
    @property
    def frame(self) -> AsyncFramesCalls:
        """The same as `frames`, by the name that the REST paths have."""
