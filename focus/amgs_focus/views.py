"""Views of the focus engine: the working context entry by entry, the reasons behind every entry, and the data of a
screen. Frozen values, cheap to import.

Units as in `records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from amgs_focus.records import (
    Action,
    Band,
    BranchView,
    Decision,
    FoundBlock,
    Measurement,
    NodeProvenance,
    NodeRef,
    Reason,
    SpanSource,
    join_bands,
)

LEAST_SHARE = 0.15
"""Share of a question's words below which a block does not resemble it: any text holds as many."""

LEAST_LIKELY = 0.25
"""Likelihood that some block answers below which none resembles the question. One in ten of the reworded questions that
set it falls below (docs/results/focus.md).
"""

ACTION_SIGNS: Mapping[Action, str] = MappingProxyType({"expand": "▲", "collapse": "▽"})
"""Signs for applied actions."""

REASON_LETTERS: Mapping[Reason, str] = MappingProxyType(
    {
        "applied": "",
        "below_threshold": "·",
        "cooldown": "c",
        "budget": "b",
        "n_diff": "n",
        "illegal_level": "l",
        "mixed_siblings": "m",
        "protected_tail": "t",
        "parent_not_open": "p",
        "superseded": "s",
        "stale_gist": "g",
    }
)
"""A letter for each reason in the action row of the map; an applied action has the sign of its kind instead."""

REASON_SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        "applied": "done",
        "below_threshold": "its score asks for neither more nor less detail",
        "cooldown": "the opposite was done to it too recently",
        "budget": "the window has no room for it, or nothing needs the room it would free",
        "n_diff": "one pass makes no more changes",
        "illegal_level": "there is no finer or coarser form of it",
        "mixed_siblings": "the passages that one gist would replace are not all alike in detail",
        "protected_tail": "the latest text is always read word for word",
        "parent_not_open": "a coarser gist stands for it and would have to open first",
        "superseded": "another change, or the operator, decided otherwise",
        "stale_gist": "its gist was computed by another version of the encoder",
    }
)
"""How each reason ends the sentence "not done: …", if a decision has no detail of its own."""


def nothing_alike(share: float | None, likelihood: float | None) -> bool:
    """Return whether no block resembles the question, by the likelihood if given, else by the share of its words."""
    if likelihood is not None:
        return likelihood < LEAST_LIKELY
    return share is not None and share < LEAST_SHARE


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry of the working context as a screen draws it.

    cost: positions it takes. residency: refocuses at this level. last_action, reason: of the latest decision that
    concerns it ("" before the first refocus). inherited: the score is that of the node from which an action made the
    entry, not yet one of its own. cooldown: refocuses for which the opposite action stays masked. delta_nll: its latest
    measurement, None without one. source: the memory block that most of it came from.
    """

    position: int
    level: int
    index: int
    start: int
    end: int
    cost: int
    score: float
    parts: tuple[tuple[str, float], ...]
    last_action: Action | Literal[""]
    reason: Reason | Literal[""]
    rank: int
    cooldown: int
    expandable: bool
    collapsible: bool
    protected: bool
    pinned: bool
    forbidden: bool
    residency: int
    delta_nll: float | None = None
    delta_nll_error: float | None = None
    source: str | None = None
    inherited: bool = False

    @property
    def node(self) -> NodeRef:
        return NodeRef(self.level, self.index)


@dataclass(frozen=True, slots=True)
class EntryExplanation:
    """Everything behind an entry: what it is, its sources, what was decided and what would change that.

    keeping: its provenance, usage and whether it was forgotten. found: the block in it that resembles the question
    most, if a search found one; found_rank: its rank, from 1. unanswered: as in FocusView.

    would: a sentence that says what would make the opposite or the refused action apply. expand_cost, collapse_cost:
    change in positions, None where illegal. expand_ms: predicted time to recompute after expanding.
    """

    entry: EntryView
    text: str
    sources: tuple[SpanSource, ...]
    score: float
    parts: tuple[tuple[str, float], ...]
    decision: Decision | None
    expand_cost: int | None
    collapse_cost: int | None
    expand_ms: float
    cooldown: int
    tau_expand: float
    tau_collapse: float
    reason_text: str
    would: str
    measurement: Measurement | None = None
    keeping: NodeProvenance | None = None
    found: FoundBlock | None = None
    found_rank: int = 0
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class FocusView:
    """A snapshot of the whole engine for a screen: immutable, without tensors.

    lifetime: tokens. step: decoded tokens. window: W_max; used: positions taken, sinks included. levels: depth of the
    tree (highest level with a node). next_refocus_in: tokens to decode before the next refocus (0: the next step
    refocuses). dirty, predicted_ms: of the last refocus. history: bands after each of the last 24 refocuses, oldest
    first. decisions: of the last refocus. text: decoded since the question. question_share: share of the question's
    words, by idf, in the block that holds most of them; None without a question or a search for it.
    question_likelihood: that some block answers it; None without a question or a calibrated search by meaning.
    position: steps shown; head: steps known on this branch (equal when live). unheld: pinned nodes that are coarser
    now, for want of room. full_read_every: the setting; rotates: whether the model's keys can be rotated, without which
    everything is read in full. texts: of each entry, for a gist its beginning. found: the blocks that resemble the
    question, best first.
    """

    model: str
    precision: str
    gist: str
    scorer: str
    block_size: int
    lifetime: int
    step: int
    window: int
    used: int
    sinks: int
    levels: int
    entries: tuple[EntryView, ...]
    decisions: tuple[Decision, ...]
    history: tuple[tuple[Band, ...], ...]
    swap_rate: float
    mean_residency: float
    cadence: int
    next_refocus_in: int
    refocuses: int
    dirty: int
    predicted_ms: float
    tau_expand: float
    tau_collapse: float
    question: str
    text: str
    finished: bool
    position: int
    head: int
    branch: str = "main"
    branches: tuple[BranchView, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    sources: tuple[SpanSource, ...] = ()
    question_share: float | None = None
    unheld: tuple[NodeRef, ...] = ()
    full_read_every: int = 1
    rotates: bool = True
    question_likelihood: float | None = None
    texts: tuple[str, ...] = ()
    found: tuple[int, ...] = ()

    @property
    def unanswered(self) -> bool:
        """Whether nothing resembles the question: in the whole lifetime by a calibrated search by meaning, else before
        the tail by words.
        """
        return nothing_alike(self.question_share, self.question_likelihood)

    @property
    def untrained(self) -> bool:
        """Whether a real model reads gists without a trained encoder."""
        return self.gist == "pointer" and not self.model.startswith("tiny")

    @property
    def live(self) -> bool:
        return self.position == self.head

    @property
    def budget_utilization(self) -> float:
        return self.used / self.window if self.window else 0.0

    @property
    def bands(self) -> tuple[Band, ...]:
        return join_bands(tuple(Band(entry.start, entry.end, entry.level) for entry in self.entries))
