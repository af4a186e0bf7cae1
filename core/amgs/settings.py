"""The memory engine's settings, each with its sentence: the settings are their own manual.

The workstation reads them from TOML and the environment (`amgs_app.settings`); a program passes them as values.
"""

from __future__ import annotations

from typing import Literal, Self, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from amgs.decay import PROFILES

T = TypeVar("T")


class SettingsSection(BaseModel):
    """A frozen group of settings that refuses unknown names, and numbers that are infinite or none."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IngestSettings(SettingsSection):
    max_file_bytes: int = Field(default=32 * 2**20, gt=0, description="Larger files are refused.")
    max_block_chars: int = Field(
        default=1600, ge=200, description="Longer texts are split at headings and paragraphs into linked blocks."
    )
    secrets: Literal["mask", "keep"] = Field(
        default="mask",
        description="Keys, tokens, passwords and private keys in what is taken in, shown or sent: mask puts a mark "
        "such as [masked: GitHub token #3f9a1c] in their place, keep leaves them in clear.",
    )

    def mask(self, value: T) -> T:
        """Return a text, or a value with texts, without its secrets, unless masking is off."""
        from amgs.masking import mask

        return value if self.secrets == "keep" else mask(value)


class ConsolidationSettings(SettingsSection):
    batch: int = Field(
        default=32, gt=0, description="Blocks embedded at a time; the unit of progress and cancellation."
    )
    transaction: int = Field(
        default=2048, gt=0, description="Blocks consolidated in a transaction; stopping loses at most this many."
    )
    neighbours: int = Field(default=5, ge=0, le=1000, description="At most this many `related` edges per new block.")
    similarity: float = Field(default=0.45, ge=0, le=1, description="Minimum cosine of two `related` blocks.")
    interval_minutes: float = Field(
        default=15.0, gt=0, le=5_256_000, description="A block that waits this long makes a consolidation due."
    )
    volume: int = Field(default=50, gt=0, description="This many raw blocks in the inbox make a consolidation due.")
    automatic: bool = Field(
        default=False,
        description="Consolidate as soon as it is due, while the workstation is open; it looks every minute.",
    )
    automatic_served: bool = Field(
        default=True,
        description="Consolidate as soon as it is due, while `serve` or `gateway` runs; it looks every minute.",
    )


class RetrievalSettings(SettingsSection):
    approximate_from: int = Field(
        default=50_000,
        gt=0,
        description="From this many vectors on, nearest neighbours are searched approximately, in a neighbour graph.",
    )
    searches: int = Field(
        default=100,
        ge=0,
        description="Past searches whose candidates are stored, so that `why --search` explains them; at most about "
        "20 kB each. 0: none.",
    )


class FrameSettings(SettingsSection):
    waterfalls: int = Field(
        default=100,
        ge=0,
        description="Past assemblies whose candidates are stored, so that `frame why` can answer; about 100 bytes "
        "per candidate. 0: none.",
    )
    reinforce_shown: bool = Field(
        default=False,
        description="Whether being selected by a frame reinforces a block. Off: only use does, that is a verdict "
        "`useful`, what a model kept open, or `block reinforce`.",
    )


class IdentitySettings(SettingsSection):
    anchor_distance: int = Field(
        default=1, ge=0, description="Blocks at most so many edges from the identity's anchor may be part of SELF."
    )
    threshold: float = Field(
        default=0.75,
        gt=0,
        le=1,
        description="Least mean of centrality and reinforcement at which a block is part of SELF without a tag.",
    )


class ConversationSettings(SettingsSection):
    exchanges: int = Field(
        default=200,
        ge=0,
        description="Past requests through the gateway to store, so that `conversation exchanges N` shows what a "
        "model read; about 10 kB each. 0: none.",
    )
    half_life_hours: float = Field(
        default=0.0,
        ge=0,
        description="Hours after which a message counts half in the choice of what a model reads. 0: age does not "
        "count.",
    )
    decay: Literal["exponential", "logarithmic", "step", "adaptive"] = Field(
        default="exponential",
        description="How age counts: exponential, logarithmic, step, or adaptive, in which what speaks for the "
        "question halves in twice the time, what does not in half of it.",
    )


class GraphSettings(SettingsSection):
    fresh_centrality_nodes: int = Field(
        default=10_000,
        ge=0,
        description="Above this size a search uses the stored centrality, updated on closing and while it is served.",
    )


class ProfileSettings(SettingsSection):
    """The decay profiles of AMGS §7.1: λ per hour, relevance = exp(−λ · hours)."""

    ephemeral: float = Field(default=PROFILES["ephemeral"], ge=0, description="λ per hour of what fades within a day.")
    standard: float = Field(default=PROFILES["standard"], ge=0, description="λ per hour of notes, tasks and dialogues.")
    durable: float = Field(
        default=PROFILES["durable"], ge=0, description="λ per hour of facts, people, places and procedures."
    )
    core: float = Field(
        default=PROFILES["core"], ge=0, description="λ per hour of values and preferences; 0 never decays."
    )

    @model_validator(mode="after")
    def _slower_and_slower(self) -> Self:
        if not self.ephemeral >= self.standard >= self.durable >= self.core:
            raise ValueError("each of ephemeral, standard, durable, core must decay no faster than the one before it")
        return self

    def of(self, name: str) -> float:
        """λ of the profile with this name."""
        return float(getattr(self, name))

    def by_name(self) -> dict[str, float]:
        """λ of every profile by its name."""
        return {name: self.of(name) for name in PROFILES}


DEFAULT_PROFILES = ProfileSettings()


class DecaySettings(SettingsSection):
    profiles: ProfileSettings = DEFAULT_PROFILES
    threshold: float = Field(default=0.05, gt=0, lt=1, description="Relevance below which a block counts as faded.")


class PruningSettings(SettingsSection):
    relevance: float = Field(default=0.05, gt=0, le=1, description="A block above this relevance stays.")
    centrality: float = Field(default=0.1, ge=0, le=1, description="A block above this centrality stays.")
    reinforcements: int = Field(default=1, ge=0, description="A block reinforced more often stays.")
    confidence: float = Field(
        default=0.88,
        ge=0,
        le=1,
        description="A block with more confidence than this stays; the wording of a text alone gives no more. Where "
        "verdicts exist they count instead: a block that is useful more often than not stays.",
    )


class CalibrationSettings(SettingsSection):
    fewest_outcomes: int = Field(default=20, gt=1, description="Minimum number of verdicts for a recalibration.")
    answers: int = Field(
        default=10_000,
        ge=0,
        description="Blocks that a model had read when it answered, stored with whether the answer used them, "
        "for calibration and pruning; about 200 bytes each, and no text. 0: none.",
    )


class Settings(SettingsSection):
    """All settings of the memory engine."""

    time_zone: str = Field(
        default="",
        description="The zone in which a day begins where a text does not tell its own, as Europe/Berlin; empty for "
        "the machine's.",
    )
    ingest: IngestSettings = IngestSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    frames: FrameSettings = FrameSettings()
    identity: IdentitySettings = IdentitySettings()
    conversation: ConversationSettings = ConversationSettings()
    graph: GraphSettings = GraphSettings()
    decay: DecaySettings = DecaySettings()
    pruning: PruningSettings = PruningSettings()
    calibration: CalibrationSettings = CalibrationSettings()

    @field_validator("time_zone")
    @classmethod
    def _check_zone(cls, name: str) -> str:
        try:
            if name:
                ZoneInfo(name)
        except (OSError, ValueError, ZoneInfoNotFoundError):
            raise ValueError(f"takes the name of a time zone, such as Europe/Berlin, not {name!r}") from None
        return name
