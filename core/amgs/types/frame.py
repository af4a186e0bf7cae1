"""A frame as it is defined, and as it was assembled (AMGS §4)."""

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
"""Those by which the question decides what comes into a pool."""
Order = Literal["search", "weights"]


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Rule for the blocks that may enter the pool and for the choice of the final ones.

    window_hours: only blocks created or reinforced within it. hops: graph distance walked from the seeds.
    gather: where the pool comes from: what the query finds, that with what is near it in category and meaning (known)
    or with what tasks need and edges lead to (task), all that passes the filter (the most recently reinforced first),
    or the identity of §10. similarity_share: a candidate that a query brought must match it at least this much
    of the best match, so that recent chatter does not crowd out the answer. order: what decides the order where there
    is a question, the search's own weights or those of the frame; without one those of the frame do.
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

    def weighed(self, weights: Weights) -> FrameDefinition:
        """Return the definition with weights of its own, which decide with a question too."""
        return replace(self, weights=weights, rule=replace(self.rule, order="weights"))


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
class FramePart:
    """An atomic frame as it took part in an assembly: what its candidates were scored with, and where they came from.

    gather "identity" in a composite: the question plays no part in its scores.
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

    entropy_bits: Shannon entropy of the categories of the selected blocks. remarks: what the frame has to say of
    itself ("weights of centrality and reinforcement redistributed"). spans tile the text. parts: the atomic frames it
    was made of, in the order in which they were filled; empty in a frame that an older version kept. coverage: None
    where no or too few labelled questions tell of it.
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
