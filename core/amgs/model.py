"""The frozen values that travel between the stages of the memory engine and out to the screen.

Nothing here computes more than a check or a total; every instant is aware and in UTC; every score is in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from amgs.errors import Cancelled, WeightsError

Status = Literal["raw", "consolidated", "archived", "pruned"]
STATUSES: tuple[Status, ...] = ("raw", "consolidated", "archived", "pruned")

Vector = NDArray[np.float32]
"""(d,) or (n, d) float32; embeddings are unit length."""


# --- primitives (AMGS §3) ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """The atom of memory: immutable content under its hash, and metadata that evolves (AMGS §3.1).

    meta holds what the source said: `source` (a path, or path#turn), `title`, `tags`, `author`, `entities`.
    """

    id: str
    content: str
    created_at: datetime
    last_reinforced_at: datetime
    category: str = "uncategorised"
    confidence: float = 0.5
    decay_lambda: float = 0.01
    status: Status = "raw"
    is_self_component: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    embedding: Vector | None = field(default=None, compare=False, repr=False)

    @property
    def title(self) -> str:
        """The title from the source, else the first line without markdown signs, at most 60 characters."""
        given = self.meta.get("title")
        text = str(given) if given else self.content.lstrip().split("\n", 1)[0].lstrip("#>*- ").strip()
        return text if len(text) <= 60 else text[:59].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, weighted, directed relation between two blocks that decays on its own (AMGS §3.2)."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    confidence: float
    created_at: datetime
    last_reinforced_at: datetime
    decay_lambda: float = 0.001


# --- scoring (AMGS §3.3, §7.2) ----------------------------------------------------------------------------

COMPONENTS = ("recency", "centrality", "confidence", "similarity", "reinforcement")


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The five components of a composite score, each in [0, 1]."""

    recency: float = 0.0
    centrality: float = 0.0
    confidence: float = 0.0
    similarity: float = 0.0
    reinforcement: float = 0.0

    def weighted(self, weights: Weights) -> ScoreParts:
        """Each part times its weight: the stacked bar whose total is the score."""
        return ScoreParts(*(getattr(self, name) * getattr(weights, name) for name in COMPONENTS))

    def total(self) -> float:
        """The sum of the parts, clipped to [0, 1]: rounding must not lift a score over its range."""
        return min(1.0, max(0.0, sum(float(getattr(self, name)) for name in COMPONENTS)))


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each component counts in a frame; not negative, sum 1 (raises WeightsError otherwise)."""

    recency: float
    centrality: float
    confidence: float
    similarity: float
    reinforcement: float

    def __post_init__(self) -> None:
        values = [getattr(self, f.name) for f in fields(self)]
        if any(not math.isfinite(v) or v < 0 for v in values) or not math.isclose(
            sum(values), 1.0, abs_tol=1e-6
        ):
            given = ", ".join(f"{name} {value:g}" for name, value in zip(COMPONENTS, values, strict=True))
            raise WeightsError(
                f"Got {given} (sum {sum(values):g}).",
                way_out="Give five weights that are not negative and sum to 1.",
            )

    @classmethod
    def normalised(cls, **weights: float) -> Weights:
        """Weights from any not-negative numbers by dividing by their sum; missing ones are 0."""
        total = sum(weights.values())
        if not math.isfinite(total) or total <= 0:
            raise WeightsError("All weights are 0.", way_out="Give at least one a positive value.")
        return cls(**{name: weights.get(name, 0.0) / total for name in COMPONENTS})


# --- retrieval (AMGS §6) ----------------------------------------------------------------------------------

LAYERS = ("prefilter", "keyword", "fuzzy", "vector", "graph", "score")


@dataclass(frozen=True, slots=True)
class BlockFilter:
    """What the pre-filter lets through; None means no condition. since/until bound created_at, half open."""

    statuses: tuple[Status, ...] = ("consolidated",)
    categories: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    reinforced_since: datetime | None = None
    self_only: bool = False
    meta: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What one layer of the waterfall did: candidates in and out, how many were new with it, milliseconds."""

    layer: str
    candidates_in: int
    candidates_out: int
    contributed: int
    milliseconds: float
    skipped: str = ""


Fate = Literal["selected", "over_budget", "duplicate", "below_threshold", "not_in_top_k", "child_dropped"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block under consideration: its parts before weighting, its score, where it came from and what became of it.

    layers: the layers that found it, in waterfall order. because: a few words for the fate ("duplicate of 3f2a…").
    child: the atomic frame that brought it. lexical, vector, graph: the raw layer scores in [0, 1]. evidence:
    what each feature adds to the linear score behind the similarity (hits of a search only).
    """

    block: Block
    parts: ScoreParts
    score: float
    tokens: int = 0
    layers: tuple[str, ...] = ()
    fate: Fate = "selected"
    because: str = ""
    child: str = ""
    lexical: float = 0.0
    vector: float = 0.0
    graph: float = 0.0
    evidence: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A word of the query that no block holds, and the stem it was read as; closeness in (0, 1)."""

    written: str
    read_as: str
    closeness: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in falling score, and the report of each layer.

    readings: the words that were taken for typos. answerable: the chance that the memory holds an answer at
    all; None where the layers that ran cannot tell.
    """

    query: str
    hits: tuple[Candidate, ...]
    layers: tuple[LayerReport, ...]
    milliseconds: float
    weights: Weights
    readings: tuple[Reading, ...] = ()
    answerable: float | None = None


# --- frames (AMGS §4) -------------------------------------------------------------------------------------

Merge = Literal["union", "intersection", "priority_chain"]
BudgetStrategy = Literal["static", "dynamic", "priority"]
Selection = Literal["budget", "top_k", "threshold", "entropy"]
Assembly = Literal["raw", "structured", "template", "summary"]
Gather = Literal["query", "filter", "identity"]


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Which blocks may enter the pool and how the final ones are chosen.

    window_hours: only blocks created or reinforced within it. hops: graph distance walked from the seeds.
    gather: where the pool comes from: what the query finds, all that passes the filter (the most recently reinforced
    first), or the identity of §10. similarity_share: a candidate that a query brought must match it at least this much
    of the best match, so that recent chatter does not crowd out the answer.
    """

    filter: BlockFilter = BlockFilter()
    window_hours: float | None = None
    pool: int = 200
    hops: int = 1
    selection: Selection = "budget"
    top_k: int | None = None
    threshold: float = 0.0
    gather: Gather = "query"
    similarity_share: float = 0.0


@dataclass(frozen=True, slots=True)
class ChildFrame:
    """A child of a composite; share is its part of the budget (of what is left, in a priority chain)."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class FrameDefinition:
    """ContextFrame = selection rule + scoring function + assembly strategy; with children it is a composite.

    refresh_hours: how long an assembly stays fresh; 0 means every query makes its own.
    """

    name: str
    purpose: str
    weights: Weights
    rule: SelectionRule = SelectionRule()
    assembly: Assembly = "template"
    budget: int = 1024
    refresh_hours: float = 0.0
    children: tuple[ChildFrame, ...] = ()
    merge: Merge = "priority_chain"
    budget_strategy: BudgetStrategy = "priority"
    semantic_threshold: float | None = 0.95
    rescore: Weights | None = None

    @property
    def is_composite(self) -> bool:
        return bool(self.children)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a frame's text that came from one block; None for the template's own words."""

    start: int
    end: int
    block_id: str | None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Tokens that a child frame was given and used."""

    child: str
    budget: int
    used: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Frame:
    """An assembled context: the text, the block of every span, every candidate with its fate, and the ledger.

    entropy_bits: Shannon entropy of the categories of the selected blocks. remarks: what the frame has to say of
    itself ("weights of centrality and reinforcement redistributed"). spans tile the text.
    """

    id: str
    name: str
    query: str
    as_of: datetime
    budget: int
    tokens: int
    text: str
    spans: tuple[Span, ...]
    candidates: tuple[Candidate, ...]
    ledger: tuple[LedgerEntry, ...]
    layers: tuple[LayerReport, ...]
    weights: Weights
    entropy_bits: float
    remarks: tuple[str, ...] = ()
    milliseconds: float = 0.0

    @property
    def selected(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.fate == "selected")


Verdict = Literal["passed", "missed", "switched off"]


@dataclass(frozen=True, slots=True)
class LayerVerdict:
    """What one layer said of a block. value: what the block has there; needed: what the last one in has; None
    where the layer does not measure.
    """

    layer: str
    verdict: Verdict
    value: float | None
    needed: float | None
    because: str


@dataclass(frozen=True, slots=True)
class WeightChange:
    """Weights under which a block would be admitted, at which rank, and their L2 distance from those in force."""

    weights: Weights
    distance: float
    rank: int


@dataclass(frozen=True, slots=True)
class Fall:
    """Why a block was admitted to an answer, or where it fell out.

    fell_at: the layer, "selection" for a frame's own choice, empty when it was admitted. by: how much it lacked
    there, in the unit of that layer. rank: where its score stands among `of` candidates, 1 the best; 0 when the
    pre-filter turned it away. places: how many are admitted. score, needed: its composite and that of the last
    admitted. change: the smallest change of weights that would admit it; None where it is admitted, or where no
    weights can.
    """

    query: str
    block: Block
    frame: str
    fell_at: str
    because: str
    by: float
    rank: int
    of: int
    places: int
    score: float
    needed: float
    candidate: Candidate | None
    layers: tuple[LayerVerdict, ...]
    weights: Weights
    change: WeightChange | None = None

    @property
    def admitted(self) -> bool:
        return not self.fell_at


# --- graph (AMGS §5.3, §7.4) ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Centrality:
    """A block's place in the graph; each measure scaled to [0, 1] over the graph."""

    degree: float = 0.0
    eigenvector: float = 0.0
    pagerank: float = 0.0
    betweenness: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveEdge:
    """An edge with its strength at an instant: weight x confidence x relevance."""

    edge: Edge
    strength: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What lies within `hops` of a block: distance by id, the blocks, and the edges among them."""

    center: Block
    hops: int
    distances: Mapping[str, int] = field(hash=False)
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    centrality: Mapping[str, Centrality] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Counts and shape of the graph of blocks that are neither archived nor pruned."""

    nodes: int
    edges: int
    density: float
    components: int
    by_relation: Mapping[str, int] = field(default_factory=dict, hash=False)


# --- decay ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DecayCurve:
    """Relevance of a block from its creation to `until`, with the instants at which it was reinforced.

    hours: (n,) relative to now, negative in the past. relevance: (n,) in [0, 1].
    """

    block: Block
    hours: tuple[float, ...]
    relevance: tuple[float, ...]
    reinforced_hours: tuple[float, ...]
    falls_below_at: datetime | None
    threshold: float


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """A block that will fall under the threshold, when, and its relevance now and then."""

    block: Block
    relevance_now: float
    relevance_then: float
    falls_at: datetime


@dataclass(frozen=True, slots=True)
class Forecast:
    """What falls under `threshold` between as_of and as_of + days, soonest first; already_below were under before."""

    as_of: datetime
    days: float
    threshold: float
    rows: tuple[ForecastRow, ...]
    already_below: int
    histogram_now: tuple[int, ...]
    histogram_then: tuple[int, ...]


# --- lifecycle (AMGS §8) ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """An input that was not taken in, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Ids of the blocks that are new, of those already known, and what was refused."""

    added: tuple[str, ...]
    known: tuple[str, ...]
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsolidationItem:
    """What consolidation will do to one raw block."""

    block: Block
    category: str
    category_confidence: float
    category_because: str
    entities: tuple[str, ...]
    decay_lambda: float
    is_self_component: bool
    confidence: float
    edges: tuple[Edge, ...]
    embedding: Vector = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """A proposal, bound to the store's change counter it was made at; nothing has happened yet."""

    items: tuple[ConsolidationItem, ...]
    made_at: datetime
    change_counter: int


@dataclass(frozen=True, slots=True)
class Operation:
    """A journal entry: one applied lifecycle change, which can be undone while it is the latest on its blocks."""

    id: int
    kind: str
    at: datetime
    summary: str
    blocks: int
    edges: int
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """A finding that waits for the operator: the newer block may supersede the older one, or contradict it.

    operation: the journal entry of the verdict; None while it is open.
    """

    id: int
    kind: Literal["supersedes", "contradicts"]
    older_id: str
    newer_id: str
    because: str
    confidence: float
    found_at: datetime
    state: Literal["open", "accepted", "rejected"] = "open"
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class ReinforcementEvent:
    """One entry of the reinforcement log."""

    block_id: str
    event_type: str
    at: datetime
    source: str


# --- calibration (AMGS §7.3) ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """A forecast and what came of it; brier = (predicted - actual)². actual is None until the verdict."""

    prediction_id: str
    predicted: float
    actual: float | None
    brier: float | None
    at: datetime
    block_id: str = ""
    frame: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts in [low, high): how many, their mean, the rate at which they came true with a 95 % interval."""

    low: float
    high: float
    count: int
    mean_predicted: float
    rate: float
    rate_low: float
    rate_high: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability table and the Brier score with its Murphy decomposition.

    brier = reliability - resolution + uncertainty + within_bin, exactly; None where there are no outcomes.
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


# --- health -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """One look at the whole memory."""

    path: str
    schema_version: int
    change_counter: int
    blocks: Mapping[str, int] = field(hash=False)
    categories: Mapping[str, int] = field(hash=False)
    edges: int
    frames: int
    mean_relevance: float
    last_consolidation: datetime | None
    brier: float | None
    outcomes: int
    now: datetime


@dataclass(frozen=True, slots=True)
class Fault:
    """Something `verify` found: where, what, and whether the program can repair it."""

    where: str
    what: str
    repairable: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `amgs verify`; ok when faults is empty."""

    blocks: int
    edges: int
    faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        return not self.faults


# --- long actions -----------------------------------------------------------------------------------------


class Progress:
    """Handed into every long action: it reports, and asks whether to stop.

    report(done, total, doing) is called from the working thread. A cancelled action raises Cancelled at its next
    report and leaves the store as it was.
    """

    def __init__(self, report: Callable[[int, int, str], None] | None = None) -> None:
        self._report = report
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def __call__(self, done: int, total: int, doing: str = "") -> None:
        """Say how far it is; raises Cancelled when the operator has asked to stop."""
        if self._cancelled:
            raise Cancelled(f"Stopped at {done} of {total}.", way_out="What was already committed stays.")
        if self._report is not None:
            self._report(done, total, doing)
