"""Public results of the focus engine: frozen values without tensors, cheap to import, safe to pass across threads.

Units: positions and costs in tokens of the base model, scores in [-1, 1], durations in milliseconds, NLL in
nats. A "node" is (level, index) in the gist tree: level 0 is a block of K tokens, level n stands for K^n
blocks' worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, NamedTuple

Action = Literal["expand", "collapse"]
Override = Literal["expand", "collapse", "pin", "forbid"]
SpanKind = Literal["memory", "question", "generated"]
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


def with_sign(value: float) -> str:
    """Return a score in words: two digits, always with its sign, and the minus that text has everywhere else."""
    return f"{value:+.2f}".replace("-", "−")


@dataclass(frozen=True, slots=True, order=True)
class NodeRef:
    """A node of the gist tree."""

    level: int
    index: int

    def __str__(self) -> str:
        return f"L{self.level}#{self.index}"


def span_id(node: NodeRef) -> int:
    """Return a number for a node, unique over all levels."""
    return (node.level << 48) | node.index


def parent_of(node: NodeRef, block_size: int) -> NodeRef:
    """Return the gist above a node: of its block alone at level 0, of K siblings above."""
    return NodeRef(node.level + 1, node.index if node.level == 0 else node.index // block_size)


def tail_start(lifetime: int, block_size: int, tail_blocks: int) -> int:
    """Return where the immutable tail begins: `tail_blocks` whole blocks and the open block."""
    return max(0, lifetime - lifetime % block_size - tail_blocks * block_size)


class Band(NamedTuple):
    """One stretch of the level-of-detail map: lifetime tokens [start, end) shown at a level."""

    start: int
    end: int
    level: int


def join_bands(entries: tuple[Band, ...]) -> tuple[Band, ...]:
    """Bands in order that tile the lifetime, neighbours of the same level joined."""
    bands: list[Band] = []
    for entry in entries:
        if bands and bands[-1].level == entry.level:
            bands[-1] = bands[-1]._replace(end=entry.end)
        else:
            bands.append(entry)
    return tuple(bands)


@dataclass(frozen=True, slots=True)
class SpanSource:
    """Lifetime tokens [start, end) came from a segment. `source` is the memory block's id, None for other text."""

    start: int
    end: int
    source: str | None
    kind: SpanKind = "memory"
    label: str = ""


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block that resembles the question. score: what ranks it; words: share of the question's words, by how rare
    they are; meaning: cosine of the question and the sentence that stands in the block; similar: how much words like
    the question's are there, in standard deviations above the mean block.
    """

    block: int
    score: float
    words: float
    meaning: float
    similar: float = 0.0


@dataclass(frozen=True, slots=True)
class Findings:
    """Result of a search of the whole lifetime for a question.

    blocks: best first. likelihood: that a block holds the answer; None where the text encoder is not calibrated.
    """

    blocks: tuple[FoundBlock, ...] = ()
    likelihood: float | None = None


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
class SpanAbout:
    """Metadata of a span's text, empty where nothing is known.

    time: ISO 8601, when the text was written. trust: in [0, 1]. version: of the document that `path` names;
    bridges: the keys (`path#section`) of spans that it is related to.
    """

    domain: str = ""
    path: str = ""
    section: str = ""
    language: str = ""
    time: str = ""
    trust: float | None = None
    version: str = ""
    bridges: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.path}#{self.section}" if self.path else ""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SpanAbout:
        """From plain data, other names passed over. Raises ValueError for a trust outside [0, 1]."""
        known = {
            attribute.name: data[attribute.name]
            for attribute in fields(cls)
            if data.get(attribute.name) not in (None, "")
        }
        if "trust" in known:
            known["trust"] = float(known["trust"])
            if not 0 <= known["trust"] <= 1:
                raise ValueError(f"trust is in [0, 1], not {known['trust']}")
        if "bridges" in known:
            listed = known["bridges"]
            known["bridges"] = tuple(listed.split("\n") if isinstance(listed, str) else map(str, listed))
        texts = {name: str(value) for name, value in known.items() if name not in ("trust", "bridges")}
        return cls(**{**known, **texts})

    def plain(self) -> dict[str, Any]:
        """Return only what is known."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", ())}


BLANK = SpanAbout()


@dataclass(frozen=True, slots=True)
class Tag:
    """A word on tokens [start, end): what lies under it is never forgotten by rule."""

    start: int
    end: int
    word: str
    at: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """One node's row; last: 0 where its detail never stood outside the tail; gain: None where never measured."""

    opened: int = 0
    dwell: int = 0
    last: int = 0
    wanted: int = 0
    measured: int = 0
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class SpanProvenance:
    """A span and what is known of it. recency: tokens of the lifetime that came after it."""

    span: SpanSource
    about: SpanAbout
    recency: int


@dataclass(frozen=True, slots=True)
class NodeProvenance:
    """Storage record of a node.

    provenance: 16 hex digits of its tokens' place, all their sources with their versions, and the version of the
    encoder; spans: the first of them, of `span_count`; purged: tokens that are gone for good.
    """

    provenance: str
    gist_version: int
    spans: tuple[SpanProvenance, ...]
    span_count: int
    tags: tuple[Tag, ...]
    use: Use
    forgotten: bool
    purged: int


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Model properties that must match before its files or checkpoints are used.

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
    """A text on its way into the lifetime. source: the id of the memory block it is, if any.

    meta["label"], if present, is the name that a screen shows for it.
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
    """The signed score of an entry; the parts add up to it (to rounding)."""

    node: NodeRef
    start: int
    end: int
    score: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class InvalidationCost:
    """Recomputation caused by a change: from window position `first` on so many positions, including all that are dirty
    already; predicted milliseconds, 0 while nothing was measured.
    """

    first: int
    positions: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Decision:
    """Action of the allocator on a single node, or its refusal, with the reason.

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
    front: InvalidationCost | None = None

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
    """A step: a refocus when due, then a decoded token.

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
    """Counterfactual ΔNLL of an expand or collapse over a horizon of tokens, in nats a token.

    gain = NLL of what follows with the gist − with the finer detail; positive means that the detail helps.
    error: standard error over the horizon's tokens. saved: NLL without the span − with the gist; None in an earlier
    trace.
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
    saved: float | None = None


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch of a run. at: the step at which it left its parent ("" for the first branch). steps: tokens decoded on
    it from the beginning. text: what was decoded after it left. state_hash: after its last step.
    """

    name: str
    parent: str
    at: int
    steps: int
    active: bool
    text: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class BlockUtility:
    """Value of a memory block of the lifetime to an answer.

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
