"""What the focus engine tells the world: frozen values without tensors, cheap to import, safe to hand
across threads.

Units: positions and costs in tokens of the base model, scores in [-1, 1], durations in milliseconds, NLL in
nats. A "node" is (level, index) in the gist tree: level 0 is a block of K tokens, level n stands for K^n
blocks' worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from amgs_focus.tree.provenance import NodeProvenance

Action = Literal["expand", "collapse"]
Override = Literal["expand", "collapse", "pin", "forbid"]
SpanKind = Literal["memory", "question", "generated"]
Legality = Literal["expandable", "collapsible", "both", "static"]
Reason = Literal[
    "applied",
    "below_threshold",
    "cooldown",
    "budget",
    "n_diff",
    "illegal_level",
    "mixed_siblings",
    "protected_tail",
    "parent_not_open",
    "superseded",
    "stale_gist",
]

LEAST_SHARE = 0.15
"""Below this share of a question's words a block does not resemble it: so much is found in any text."""

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
"""One letter a reason for the action row of the map; an applied action is drawn by its kind instead."""

REASON_SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        "applied": "done",
        "below_threshold": "its score does not reach the threshold",
        "cooldown": "the opposite was done too recently",
        "budget": "there is no room for it, or nothing needs the room it would free",
        "n_diff": "this pass has used up its actions",
        "illegal_level": "there is no finer or coarser level",
        "mixed_siblings": "its siblings are not all at the same level",
        "protected_tail": "the latest blocks always stay tokens",
        "parent_not_open": "a coarser gist stands in for it",
        "superseded": "another action or the operator decided otherwise",
        "stale_gist": "its gist was made by another version of the encoder",
    }
)
"""How each reason ends the sentence "not done: …", where a decision says nothing more exact."""


def with_sign(value: float) -> str:
    """A score in words: two digits, always with its sign, and the minus that text has everywhere else."""
    return f"{value:+.2f}".replace("-", "−")


@dataclass(frozen=True, slots=True, order=True)
class NodeRef:
    """A node of the gist tree."""

    level: int
    index: int

    def __str__(self) -> str:
        return f"L{self.level}#{self.index}"


class Band(NamedTuple):
    """One stretch of the level-of-detail map: lifetime tokens [start, end) shown at a level."""

    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class SpanSource:
    """Lifetime tokens [start, end) came from one segment. `source` is the memory block's id, None for other
    text.
    """

    start: int
    end: int
    source: str | None
    kind: SpanKind = "memory"
    label: str = ""


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Lifetime tokens from `start` on, each with its text: joined they read as the span does. sources tile the span."""

    start: int
    texts: tuple[str, ...]
    sources: tuple[SpanSource, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.texts)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What must match before files or checkpoints made with a model are used with it.

    adapter: name and hash of the LoRA weights on it, empty when it is as it came. positions: the most that a context
    may have, 0 where there is no limit.
    """

    name: str
    vocabulary: int
    width: int
    layers: int
    precision: str
    adapter: str = ""
    positions: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A text on its way into the lifetime. source: the id of the memory block it is, if it is one.

    meta["label"], where given, is the name that a screen shows for it.
    """

    text: str
    source: str | None = None
    kind: SpanKind = "memory"
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return str(self.meta.get("label", ""))


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The signed score of one entry; the parts add up to it (to rounding)."""

    node: NodeRef
    start: int
    end: int
    score: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Front:
    """What a change makes the model compute again: from window position `first` on so many positions, with
    all that is dirty already; predicted milliseconds, 0 while nothing was measured.
    """

    first: int
    positions: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What the allocator did, or did not do, with one node, and why.

    The node is always the parent: `expand` opens it into its children, `collapse` closes its children into
    it. cost: change of the working context in tokens (negative refunds). rank: 1 is first in its queue of
    `of` candidates, 0 when it was none. refinement: the pass of the refocus, from 1. score: mean of the
    entries concerned. front: what the action makes dirty, known before it is taken; None for what was no
    candidate.
    """

    level: int
    index: int
    kind: Action
    score: float
    reason: Reason
    cost: int
    rank: int = 0
    of: int = 0
    detail: str = ""
    start: int = 0
    end: int = 0
    refinement: int = 1
    front: Front | None = None

    @property
    def node(self) -> NodeRef:
        return NodeRef(self.level, self.index)

    @property
    def applied(self) -> bool:
        return self.reason == "applied"


@dataclass(frozen=True, slots=True)
class Refocus:
    """One refocus: every score and every decision. `number` counts from 1; step: tokens decoded before it.

    dirty: positions whose keys and values must be computed anew. swap_rate: applied actions per entry
    outside the tail. predicted_ms is known before, milliseconds after (both 0 under a fixed clock).
    """

    number: int
    step: int
    lifetime: int
    scores: tuple[ScoreRow, ...]
    decisions: tuple[Decision, ...]
    bands: tuple[Band, ...]
    used_before: int
    used: int
    window: int
    passes: int
    swap_rate: float
    mean_residency: float
    dirty: int
    predicted_ms: float
    milliseconds: float
    forced: bool = False

    @property
    def applied(self) -> tuple[Decision, ...]:
        return tuple(decision for decision in self.decisions if decision.applied)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step: a refocus when one was due, then one decoded token.

    step counts decoded tokens from 1. nll: −log p of the token taken, in nats. dirty: positions computed in
    this step. budget_utilization: used / window. finished: the token ended the answer. state_hash: what
    replay compares.
    """

    step: int
    token: int
    text: str
    nll: float
    finished: bool
    lifetime: int
    used: int
    window: int
    dirty: int
    milliseconds: float
    state_hash: str
    refocus: Refocus | None = None

    @property
    def budget_utilization(self) -> float:
        return self.used / self.window


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The whole working context at a step, so that a trace can be shown from here without what came before.

    entries: (level, index) in order of time; opened, closed: the cooldowns; state_hash: as a step has it.
    """

    step: int
    lifetime: int
    used: int
    entries: tuple[NodeRef, ...]
    opened: tuple[tuple[NodeRef, int], ...]
    closed: tuple[tuple[NodeRef, int], ...]
    overrides: tuple[tuple[NodeRef, Override], ...]
    state_hash: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """Counterfactual ΔNLL of one expand or collapse over a horizon of tokens, in nats a token.

    gain = NLL of what follows with the gist − with the finer detail; positive means that the detail helps.
    error: standard error over the horizon's tokens.
    """

    node: NodeRef
    kind: Action
    gain: float
    error: float
    nll_fine: float
    nll_coarse: float
    horizon: int
    step: int
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch of a run. at: the step at which it left its parent ("" for the first one). steps: tokens
    decoded on it from the beginning. text: what was decoded after it left. state_hash: after its last step.
    """

    name: str
    parent: str
    at: int
    steps: int
    active: bool
    text: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class BlockWorth:
    """What one memory block of the lifetime was worth to an answer.

    tokens: of the block. residency: share of it that stood as tokens, over the refocuses of the answer;
    expansions: how often it came to stand so. gain: ΔNLL of its detail in nats a token of the answer, None
    where nothing of it was measured; error: its standard error; measured: the share of the block behind it.
    """

    source: str
    label: str
    tokens: int
    residency: float
    expansions: int
    gain: float | None = None
    error: float = 0.0
    measured: float = 0.0


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry of the working context as a screen draws it.

    cost: positions it takes. residency: refocuses it has kept this level. last_action and reason: of the
    latest decision that concerns it ("" before the first refocus). inherited: the score is that of the node it came
    from, handed down when that was opened or closed, and no judgement of its own yet. cooldown: refocuses for which the
    opposite action stays masked. delta_nll: latest measurement of it, None when there is none. source: the
    block most of it came from.
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
    """Everything behind one entry: what it is, where it came from, what was decided and what would change
    that.

    keeping: where it came from, how it was used, whether it was forgotten.

    would: one sentence, what would make the opposite or the refused action apply. expand_cost and
    collapse_cost: change in tokens, None where illegal. expand_ms: predicted time to recompute after
    expanding.
    """

    entry: EntryView
    text: str
    sources: tuple[SpanSource, ...]
    score: float
    parts: tuple[tuple[str, float], ...]
    decision: Decision | None
    legality: Legality
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


@dataclass(frozen=True, slots=True)
class FocusView:
    """A snapshot of the whole engine for a screen: no tensors, nothing that changes.

    lifetime: tokens. step: decoded tokens. window: W_max; used: positions taken, sinks included. levels:
    depth of the tree (highest level with a node). next_refocus_in: tokens to decode before the next refocus
    (0: the next step refocuses). dirty and predicted_ms: of the last refocus. history: bands after each of
    the last 24 refocuses, oldest first. decisions: of the last refocus. text: what was decoded since the
    question. question_share: share of the question's words, by how rare they are, in the block that holds most of
    them; None while there is no question or none was looked for. position: steps shown; head: steps known on this
    branch (equal when live).
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

    @property
    def unanswered(self) -> bool:
        """Whether nothing before the tail resembles the question by its words."""
        return self.question_share is not None and self.question_share < LEAST_SHARE

    @property
    def untrained(self) -> bool:
        """Whether a real model is read with gists that nothing was trained for."""
        return self.gist == "pointer" and not self.model.startswith("tiny")

    @property
    def live(self) -> bool:
        return self.position == self.head

    @property
    def budget_utilization(self) -> float:
        return self.used / self.window if self.window else 0.0

    @property
    def bands(self) -> tuple[Band, ...]:
        return tuple(Band(entry.start, entry.end, entry.level) for entry in self.entries)
