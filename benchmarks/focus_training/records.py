"""What training operations give back: frozen values that load neither torch nor Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Shard:
    """One Arrow file: a split of a text. digest: SHA-256 of the text. fresh: it was written just now."""

    name: str
    split: str
    tokens: int
    digest: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Staged:
    """`focus stage`: the shards in a folder."""

    folder: str
    shards: tuple[Shard, ...]


@dataclass(frozen=True, slots=True)
class Leg:
    """One session of a run on one of its parts: steps [start, stop), how long it took, by how many workers."""

    part: str
    start: int
    stop: int
    seconds: float
    workers: int


@dataclass(frozen=True, slots=True)
class TrainedPart:
    """How far one part of a run is, and what it last measured.

    losses: means over the last steps, nats where they are; validation: by metric name. kept: the step whose weights
    are exported, 0 until they are.
    """

    part: str
    step: int
    steps: int
    seconds: float
    losses: Mapping[str, float] = field(default_factory=dict, hash=False)
    validation: Mapping[str, float] = field(default_factory=dict, hash=False)
    kept: int = 0


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """A training run: where a run stands. checkpoint and card: files in its folder, empty until it is complete.

    effects: of the phases that are done, each against its frozen ablation. A complete run of phases without a
    checkpoint is one in which none was worth keeping.
    """

    name: str
    folder: str
    parts: tuple[TrainedPart, ...]
    checkpoint: str = ""
    card: str = ""
    effects: tuple[Effect, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """A phase against its own frozen ablation: NLL over the next H tokens, in nats, on windows kept apart.

    change: after − before, with the ends of its 95 % interval. beyond_plain: the same of what the working context
    loses or gains against as many raw tokens; a change that raw tokens share is not about gists. verdict: "better" or
    "worse" where the interval of `change` leaves 0 out.
    """

    phase: str
    before: float
    after: float
    change: tuple[float, float, float]
    beyond_plain: tuple[float, float, float]
    windows: int
    verdict: Literal["better", "no effect", "worse"]
