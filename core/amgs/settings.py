"""The memory engine's settings, each with its sentence: the settings are their own manual.

The workstation reads them from TOML and the environment (`amgs_tui.settings`); a program passes them as values.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amgs.decay import PROFILES


class Section(BaseModel):
    """A frozen group of settings that refuses unknown names, and numbers that are infinite or none."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IngestSettings(Section):
    max_file_bytes: int = Field(
        default=32 * 2**20, gt=0, description="A file larger than this is refused, not read."
    )
    max_block_chars: int = Field(
        default=1600,
        ge=200,
        description="A note longer than this is split at headings and paragraphs into linked blocks.",
    )


class ConsolidationSettings(Section):
    batch: int = Field(
        default=32, gt=0, description="Blocks embedded at a time; the unit of progress and cancellation."
    )
    transaction: int = Field(
        default=2048, gt=0, description="Blocks consolidated in one transaction; what a stop can lose."
    )
    neighbours: int = Field(default=5, ge=0, description="At most this many `related` edges per new block.")
    similarity: float = Field(
        default=0.45, ge=0, le=1, description="Cosine from which two blocks are `related`."
    )
    interval_minutes: float = Field(
        default=15.0, gt=0, description="Consolidate at least this often when asked to watch."
    )
    volume: int = Field(
        default=50, gt=0, description="Consolidate when the inbox holds this many raw blocks."
    )


class RetrievalSettings(Section):
    keyword_pool: int = Field(default=200, gt=0, description="Candidates the keyword layer hands on.")
    vector_pool: int = Field(default=100, gt=0, description="Candidates the vector layer hands on.")
    fuzzy_pool: int = Field(
        default=50, ge=0, description="Candidates the fuzzy layer adds when a word is unknown."
    )
    graph_seeds: int = Field(
        default=20, ge=0, description="Best candidates whose neighbours the graph layer adds."
    )
    graph_share: float = Field(
        default=0.25, ge=0, le=1, description="How much of a seed's similarity flows along a full edge."
    )
    approximate_from: int = Field(
        default=50_000,
        gt=0,
        description="From so many vectors on the nearest are looked up in a graph of neighbours.",
    )
    lexical_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Part of the similarity that is lexical; the rest is the vector's.",
    )


class GraphSettings(Section):
    ttl_seconds: float = Field(
        default=300.0, ge=0, description="How long a materialised graph may serve without a look."
    )
    fresh_centrality_nodes: int = Field(
        default=10_000,
        ge=0,
        description="Above this size a search goes by the centrality last worked out, and closing works it out.",
    )
    exact_betweenness_nodes: int = Field(
        default=2000, gt=0, description="Above this size betweenness is sampled."
    )


class ProfileSettings(Section):
    """The decay profiles of AMGS §7.1: λ per hour, relevance = exp(−λ · hours)."""

    ephemeral: float = Field(
        default=PROFILES["ephemeral"], ge=0, description="λ per hour of what is gone in a day."
    )
    standard: float = Field(
        default=PROFILES["standard"], ge=0, description="λ per hour of notes, tasks and dialogues."
    )
    durable: float = Field(
        default=PROFILES["durable"], ge=0, description="λ per hour of facts, people, places and procedures."
    )
    core: float = Field(
        default=PROFILES["core"], ge=0, description="λ per hour of values and preferences; 0 never decays."
    )

    @model_validator(mode="after")
    def _slower_and_slower(self) -> Self:
        if not self.ephemeral >= self.standard >= self.durable >= self.core:
            raise ValueError(
                "each of ephemeral, standard, durable, core decays no faster than the one before"
            )
        return self

    def of(self, name: str) -> float:
        """λ of the profile with this name."""
        return float(getattr(self, name))

    def named(self) -> dict[str, float]:
        """λ of every profile by its name."""
        return {name: self.of(name) for name in PROFILES}


DEFAULT_PROFILES = ProfileSettings()


class DecaySettings(Section):
    profiles: ProfileSettings = DEFAULT_PROFILES
    threshold: float = Field(
        default=0.05, gt=0, lt=1, description="Relevance under which a block counts as fading."
    )


class EnhancementSettings(Section):
    nearest: int = Field(
        default=3, gt=0, description="Two blocks are compared when each is among the other's nearest so many."
    )
    copy_wording: float = Field(
        default=0.7, gt=0, le=1, description="Share of three-word runs from which two blocks are copies."
    )
    merge_wording: float = Field(
        default=0.25, gt=0, le=1, description="Share of three-word runs from which two like blocks may merge."
    )
    merge_cosine: float = Field(
        default=0.75, ge=0, le=1, description="Cosine from which blocks that share wording may merge."
    )
    overlap_words: int = Field(
        default=15, ge=0, description="An account of an event has at least so many words."
    )
    overlap_cosine: float = Field(
        default=0.5, ge=0, le=1, description="Cosine from which two blocks tell of one event."
    )
    overlap_hours: float = Field(
        default=48.0, ge=0, description="Two accounts of one event were written within so many hours."
    )
    split_words: int = Field(
        default=40, gt=0, description="A part that a block is split into has at least so many words."
    )
    split_cosine: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Cosine between halves of a block under which it is two concepts.",
    )
    weak_strength: float = Field(default=0.1, gt=0, le=1, description="Strength under which an edge is weak.")
    weak_confidence: float = Field(
        default=0.6, gt=0, le=1, description="Confidence under which a weak edge may go."
    )
    mismatch: float = Field(
        default=0.3, gt=0, le=1, description="Difference of confidence from which like blocks disagree."
    )
    mismatch_weight: float = Field(
        default=0.7, ge=0, le=1, description="Weight from which two blocks count as strongly related."
    )
    uses: int = Field(default=2, gt=0, description="Uses from which the logs say something about an edge.")


class ReviewSettings(Section):
    nearest: int = Field(default=12, gt=0, description="A block is held against its nearest so many.")
    cosine: float = Field(default=0.35, ge=0, le=1, description="Cosine from which two blocks are compared.")
    subject: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Share of the rarer words of two sentences that makes one subject.",
    )
    confidence: float = Field(
        default=0.5, ge=0, le=1, description="How sure a finding must be to enter the queue."
    )
    event_hours: float = Field(
        default=48.0, ge=0, description="Observations further apart tell of different events."
    )


class PruningSettings(Section):
    relevance: float = Field(default=0.05, gt=0, le=1, description="A block above this relevance stays.")
    centrality: float = Field(default=0.1, ge=0, le=1, description="A block above this centrality stays.")
    reinforcements: int = Field(default=1, ge=0, description="A block reinforced more often stays.")
    confidence: float = Field(default=0.75, ge=0, le=1, description="A block believed more than this stays.")
    lowest: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="This share of the memory counts as low in centrality and in confidence, beside the limits.",
    )


class SelfSettings(Section):
    refresh_hours: float = Field(
        default=1.0, ge=0, description="How long an assembled SELF frame stays fresh."
    )
    anchor_distance: int = Field(
        default=1, ge=0, description="Graph distance from the root anchor that counts as self."
    )
    threshold: float = Field(
        default=0.75, ge=0, le=1, description="Centrality and reinforcement from which a block is self."
    )
    largest_shift: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="A kept SELF falls when more of the centrality within the identity has moved than this.",
    )


class CalibrationSettings(Section):
    fewest_outcomes: int = Field(
        default=20, gt=1, description="With fewer verdicts than this nothing is recalibrated."
    )
    prior_strength: float = Field(
        default=4.0, gt=0, description="How many verdicts an edge's present confidence counts for."
    )


class Settings(Section):
    """Everything the memory engine can be told."""

    ingest: IngestSettings = IngestSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    graph: GraphSettings = GraphSettings()
    decay: DecaySettings = DecaySettings()
    identity: SelfSettings = SelfSettings()
    enhancement: EnhancementSettings = EnhancementSettings()
    review: ReviewSettings = ReviewSettings()
    pruning: PruningSettings = PruningSettings()
    calibration: CalibrationSettings = CalibrationSettings()
