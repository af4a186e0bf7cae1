"""A frame as defined, and as assembled (AMGS §4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from amgs.types.retrieval import BlockFilter, Candidate, LayerReport

if TYPE_CHECKING:
    from amgs.types.calibration import FrameCoverage
    from amgs.types.retrieval import Weights

Merge = Literal["union", "intersection", "priority_chain"]
BudgetStrategy = Literal["static", "dynamic", "priority"]
Selection = Literal["budget", "top_k", "threshold", "entropy"]
Assembly = Literal["raw", "structured", "template", "summary"]
Gather = Literal["query", "known", "task", "filter", "identity"]
_ASKING: tuple[Gather, ...] = ("query", "known", "task")
"""Values with which the question decides what enters the pool."""
Order = Literal["search", "weights"]


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Which blocks may enter the pool, and how the final ones are chosen.

    window_hours: only blocks created or reinforced within it. hops: graph distance from the seeds. gather: source of
    the pool: what the query finds; that with what is near it in category and meaning (known), or with what tasks need
    and edges lead to (task); everything that passes the filter, most recently reinforced first; or the identity of §10.
    similarity_share: a candidate found by a query must match it at least this much of the best match, so that recent
    chatter does not displace the answer. order: whether a question's results are ordered by the search's weights or the
    frame's; without a question it is the frame's.
    """

    filter: BlockFilter = BlockFilter()  # noqa: RUF009 (frozen)
    window_hours: float | None = None
    pool: int = 200
    hops: int = 1
    selection: Selection = "budget"
    top_k: int | None = None
    threshold: float = 0.0
    gather: Gather = "query"
    similarity_share: float = 0.0
    order: Order = "weights"

    @property
    def asks(self) -> bool:
        """Return whether the question decides what enters the pool."""
        return self.gather in _ASKING


@dataclass(frozen=True, slots=True)
class ChildFrame:
    """A child of a composite; share: of the budget (in a priority chain, of the remaining budget)."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class FrameDefinition:
    """ContextFrame = selection rule + scoring function + assembly strategy; with children it is a composite.

    refresh_hours: how long an assembly is reused; 0 means never.
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

    def weighed(self, weights: Weights) -> FrameDefinition:
        """Return the definition with other weights, which then also apply with a question."""
        return replace(self, weights=weights, rule=replace(self.rule, order="weights"))


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a frame's text from a block; None for the template's own words."""

    start: int
    end: int
    block_id: str | None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Tokens that a child frame could use, and those it used."""

    child: str
    budget: int
    used: int
    blocks: int


@dataclass(frozen=True, slots=True)
class FramePart:
    """An atomic frame in an assembly: the weights of its candidates, and where they came from.

    gather "identity" in a composite: the question does not affect its scores.
    """

    name: str
    weights: Weights
    gather: Gather

    @property
    def asks(self) -> bool:
        """Return whether the question decided what entered its pool."""
        return self.gather in _ASKING


@dataclass(frozen=True, slots=True)
class Frame:
    """An assembled context: the text, the block of every span, every candidate with its fate, and the ledger.

    spans tile the text. entropy_bits: Shannon entropy of the selected blocks' categories. remarks: notes on the frame
    ("weights of centrality and reinforcement redistributed"). parts: its atomic frames in the order of filling; empty
    in a frame stored by an older version. coverage: None with too few labelled questions.
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
    parts: tuple[FramePart, ...] = ()
    coverage: FrameCoverage | None = None

    @property
    def selected(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.fate == "selected")
