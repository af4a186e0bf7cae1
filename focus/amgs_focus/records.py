"""Public results of the focus engine: frozen values without tensors, cheap to import, safe to pass between threads.

Units: positions and costs in tokens of the base model, scores in [-1, 1], durations in milliseconds, NLL in nats. A
"node" is (level, index) in the gist tree: level 0 is a block of K tokens, a gist of level n covers K^n tokens.
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
    """Return a score as text: two decimals, always with a sign, and the typographic minus."""
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
    """Return the gist above a node: over one block at level 0, over K siblings at other levels."""
    return NodeRef(node.level + 1, node.index if node.level == 0 else node.index // block_size)


def tail_start(lifetime: int, block_size: int, tail_blocks: int) -> int:
    """Return the first token of the immutable tail: `tail_blocks` whole blocks and the open block."""
    return max(0, lifetime - lifetime % block_size - tail_blocks * block_size)


class Band(NamedTuple):
    """A stretch of the level-of-detail map: lifetime tokens [start, end) at a level."""

    start: int
    end: int
    level: int


def join_bands(entries: tuple[Band, ...]) -> tuple[Band, ...]:
    """Return bands that tile the lifetime in order, with neighbours of the same level joined."""
    bands: list[Band] = []
    for entry in entries:
        if bands and bands[-1].level == entry.level:
            bands[-1] = bands[-1]._replace(end=entry.end)
        else:
            bands.append(entry)
    return tuple(bands)


@dataclass(frozen=True, slots=True)
class SpanSource:
    """The source of lifetime tokens [start, end), a segment. source: the memory block's id, None for other text."""

    start: int
    end: int
    source: str | None
    kind: SpanKind = "memory"
    label: str = ""


@dataclass(frozen=True, slots=True)
class FoundBlock:
    """A block that resembles the question.

    score: ranks it. words: share of the question's words, by idf. meaning: cosine of the question and the sentence in
    the block. similar: amount of similar words there, in standard deviations above the mean block.
    """

    block: int
    score: float
    words: float
    meaning: float
    similar: float = 0.0


@dataclass(frozen=True, slots=True)
class Findings:
    """Result of a search of the whole lifetime for a question.

    blocks: best first. likelihood: that a block holds the answer; None if the text encoder is not calibrated.
    """

    blocks: tuple[FoundBlock, ...] = ()
    likelihood: float | None = None


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Lifetime tokens from `start` on, each with its text; joined they are the span's text. sources tile the span."""

    start: int
    texts: tuple[str, ...]
    sources: tuple[SpanSource, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.texts)


@dataclass(frozen=True, slots=True)
class SpanAbout:
    """Metadata of a span's text; empty fields are unknown.

    time: ISO 8601, when the text was written. trust: in [0, 1]. version: of the document at `path`. bridges: keys
    (`path#section`) of related spans.
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
        """Return the metadata in plain data, ignoring other names. Raises ValueError for a trust outside [0, 1]."""
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
        """Return the known fields as plain data."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", ())}


BLANK = SpanAbout()


@dataclass(frozen=True, slots=True)
class Tag:
    """A word on tokens [start, end): no rule forgets their detail."""

    start: int
    end: int
    word: str
    at: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """Usage of a node.

    opened: expansions; dwell: refocuses with its detail in the window; last: lifetime length at its last use, 0 for
    never; wanted: requests for its forgotten detail; measured: measurements; gain: their mean in nats a token, None
    without any.
    """

    opened: int = 0
    dwell: int = 0
    last: int = 0
    wanted: int = 0
    measured: int = 0
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class SpanProvenance:
    """A span and its metadata. recency: lifetime tokens after it."""

    span: SpanSource
    about: SpanAbout
    recency: int


@dataclass(frozen=True, slots=True)
class NodeProvenance:
    """Stored facts about a node.

    provenance: 16 hex digits of its place, all its sources with their versions, and the encoder's version. spans: the
    first of `span_count`. purged: number of tokens gone for good.
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

    adapter: name and hash of its LoRA weights, empty without an adapter. positions: most that a context may have, 0 for
    no limit.
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
    """A text to append to the lifetime. source: id of its memory block, if any.

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
    """The signed score of an entry; the parts add up to it (up to rounding)."""

    node: NodeRef
    start: int
    end: int
    score: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class InvalidationCost:
    """Recomputation caused by a change.

    first: first window position to compute; positions: how many, including those already dirty; milliseconds:
    predicted, 0 before the first measurement.
    """

    first: int
    positions: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Decision:
    """An action of the allocator on a node, or its refusal, with the reason.

    The node is always the parent: `expand` opens it into its children, `collapse` closes its children into it. cost:
    change of the working context in positions (negative refunds). rank: 1 is first in its queue of `of` candidates, 0
    if it was no candidate. refinement: the pass of the refocus, from 1. score: mean of the entries concerned. front:
    what the action makes dirty, known before it is taken; None if it was no candidate.
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
    """A refocus: every score and every decision. number: from 1; step: tokens decoded before it.

    dirty: positions whose keys and values must be computed again. swap_rate: applied actions per entry outside the
    tail. predicted_ms: for reading the new window; milliseconds: of the refocus itself (both 0 under a fixed clock).
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
    """A step: a refocus if due, then a decoded token.

    step: decoded tokens, from 1. nll: −log p of the chosen token, in nats. dirty: positions computed in this step.
    finished: the token ended the answer. state_hash: compared by a replay.
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

    entries: (level, index) in order of time. opened, closed: the cooldowns. state_hash: as in a step.
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

    gain: NLL of what follows with the gist − with the finer detail; positive if the detail helps. error: standard error
    over the horizon's tokens. saved: NLL without the span − with the gist; None in traces of earlier versions.
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
    """A branch of a run.

    at: the step at which it left its parent ("" for the first branch). steps: tokens decoded on it from the beginning.
    text: decoded after it left. state_hash: after its last step.
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

    tokens: of the block. residency: share of it read as tokens, averaged over refocuses; expansions: how often it
    became so. gain: ΔNLL of its detail in nats a token of the answer, None if none of it was measured; error: its
    standard error; measured: the share of the block that was measured.
    """

    source: str
    label: str
    tokens: int
    residency: float
    expansions: int
    gain: float | None = None
    error: float = 0.0
    measured: float = 0.0
