"""Events of a runtime as lines of a trace, and the Protocol of their receiver. Needs neither torch nor a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from amgs_focus.records import (
    BranchView,
    Keyframe,
    Measurement,
    ModelCard,
    NodeRef,
    Override,
    Refocus,
    Segment,
    StepRecord,
)
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.span_metadata import Act, ActKind

FORMAT = "amgs-focus-trace-4"
"""The only format that is read."""


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """Initial conditions of a replay.

    fingerprint: of the model's embedding rows; gist_version, scorer_version: of the encoder's and the lens's weights;
    lifetime: tokens present at the start; created: ISO 8601 or empty; kept: the folder of a stored lifetime, '' if the
    trace holds all of it; text_encoder: used to search for questions, '' if they are searched by words alone; search:
    the options of that search, by name; options: the engine's constants.
    """

    model: ModelCard
    fingerprint: str
    gist: str
    gist_version: int
    scorer: str
    settings: Mapping[str, Any]
    lifetime: int = 0
    created: str = ""
    format: str = FORMAT
    scorer_version: int = 0
    kept: str = ""
    text_encoder: str = ""
    search: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ingested:
    """Segments were appended. state_hash: afterwards, here and below."""

    segments: tuple[Segment, ...]
    state_hash: str


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A question was appended."""

    question: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class SteppedBack:
    """Steps were undone."""

    steps: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class Overridden:
    """The operator overrode a node; None removed the override."""

    node: NodeRef
    word: Override | None


@dataclass(frozen=True, slots=True)
class Configured:
    """The operator changed a setting."""

    key: str
    value: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class Branched:
    """A branch left `parent` at a step.

    chosen: the operator began it, and may have gone to that step for it; otherwise the next event, after stepping back,
    began it.
    """

    name: str
    parent: str
    at: int
    chosen: bool
    state_hash: str


@dataclass(frozen=True, slots=True)
class Switched:
    """The end of a branch became the present."""

    name: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class Acted:
    """Spans were forgotten, restored or purged. nodes: runs (level, first, stop)."""

    id: int
    kind: ActKind
    nodes: tuple[tuple[int, int, int], ...]
    at: str
    by: str
    why: str
    state_hash: str

    @property
    def act(self) -> Act:
        """The act for a replay, without the descriptors that only the lifetime's journal holds."""
        return Act(self.id, self.kind, NodeSet.join(self.nodes), self.at, self.by, self.why)


@dataclass(frozen=True, slots=True)
class Ended:
    """The trace was closed properly. events: number of lines between the header and this line."""

    events: int


Record = (
    Ingested
    | QuestionRecord
    | Refocus
    | StepRecord
    | SteppedBack
    | Overridden
    | Configured
    | Branched
    | Switched
    | Acted
    | Keyframe
    | Measurement
    | Ended
)

KINDS: dict[str, type[Any]] = {
    "ingest": Ingested,
    "question": QuestionRecord,
    "refocus": Refocus,
    "decode": StepRecord,
    "back": SteppedBack,
    "override": Overridden,
    "setting": Configured,
    "branch": Branched,
    "switch": Switched,
    "upkeep": Acted,
    "keyframe": Keyframe,
    "measure": Measurement,
    "end": Ended,
}
NAMES = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """A record and its line number, from 1."""

    line: int
    record: Record


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as read. complete: it was closed properly."""

    header: TraceHeader
    events: tuple[TraceEvent, ...]
    complete: bool

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        return tuple(event.record for event in self.events if isinstance(event.record, StepRecord))


def outcome(refocus: Refocus | None) -> Any:
    """Return the decisions and bands of a refocus for comparison, without times and scores."""
    if refocus is None:
        return None
    decided = [
        (decision.level, decision.index, decision.kind, decision.reason, decision.rank)
        for decision in refocus.decisions
    ]
    return decided, refocus.bands


class TraceSink(Protocol):
    """Receives everything that happens, in order. state_hash: after the event."""

    def record_segments(self, segments: Sequence[Segment], state_hash: str) -> None: ...

    def record_question(self, question: str, state_hash: str) -> None: ...

    def record_refocus(self, refocus: Refocus) -> None: ...

    def record_step(self, record: StepRecord) -> None: ...

    def record_step_back(self, steps: int, state_hash: str) -> None: ...

    def overridden(self, node: NodeRef, override: Override | None) -> None: ...

    def record_setting(self, key: str, value: str, state_hash: str) -> None: ...

    def record_measurement(self, measurement: Measurement) -> None: ...

    def record_branch(self, branch: BranchView, chosen: bool, state_hash: str) -> None:
        """Record a new branch. chosen: as in `Branched`."""

    def record_keyframe(self, keyframe: Keyframe) -> None: ...

    def record_switch(self, name: str, state_hash: str) -> None: ...

    def record_act(self, act: Act, state_hash: str) -> None: ...
