"""The memory engine's settings, each with its sentence: the settings are their own manual.

The workstation reads them from TOML and the environment (`amgs_app.settings`); a program passes them as values.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amgs.decay import PROFILES


class SettingsSection(BaseModel):
    """A frozen group of settings that refuses unknown names, and numbers that are infinite or none."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IngestSettings(SettingsSection):
    max_file_bytes: int = Field(default=32 * 2**20, gt=0, description="Larger files are refused.")
    max_block_chars: int = Field(
        default=1600,
        ge=200,
        description="Longer texts are split at headings and paragraphs into linked blocks.",
    )


class ConsolidationSettings(SettingsSection):
    batch: int = Field(
        default=32, gt=0, description="Blocks embedded at a time; the unit of progress and cancellation."
    )
    transaction: int = Field(
        default=2048,
        gt=0,
        description="Blocks consolidated in one transaction; stopping loses at most this many.",
    )
    neighbours: int = Field(default=5, ge=0, description="At most this many `related` edges per new block.")
    similarity: float = Field(default=0.45, ge=0, le=1, description="Minimum cosine of two `related` blocks.")
    interval_minutes: float = Field(
        default=15.0, gt=0, description="A block that waits this long makes a consolidation due."
    )
    volume: int = Field(
        default=50, gt=0, description="This many raw blocks in the inbox make a consolidation due."
    )
    automatic: bool = Field(
        default=False,
        description="Consolidate as soon as it is due, while the workstation is open; it looks every minute.",
    )
    automatic_served: bool = Field(
        default=True,
        description="Consolidate as soon as it is due, while `serve` or `gateway` runs; it looks every minute.",
    )


class RetrievalSettings(SettingsSection):
    keyword_pool: int = Field(default=200, gt=0, description="Candidates that the keyword layer passes on.")
    vector_pool: int = Field(default=100, gt=0, description="Candidates that the vector layer passes on.")
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
        description="From this many vectors on, nearest neighbours are searched approximately, in a neighbour graph.",
    )
    searches: int = Field(
        default=100,
        ge=0,
        description="Past searches whose candidates are kept, so that `searches why` explains them; at most about "
        "20 kB each. 0: none.",
    )
    lexical_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Lexical share of the similarity; the rest comes from the vectors.",
    )


class FrameSettings(SettingsSection):
    waterfalls: int = Field(
        default=100,
        ge=0,
        description="Past assemblies whose candidates are kept, so that `frame why` answers from them; about 100 bytes "
        "per candidate. 0: none.",
    )
    reinforce_shown: bool = Field(
        default=False,
        description="Whether being selected by a frame reinforces a block. Off: only use does, that is a verdict "
        "`useful`, what a model kept open, or `block reinforce`.",
    )


class ConversationSettings(SettingsSection):
    exchanges: int = Field(
        default=200,
        ge=0,
        description="Past requests through the gateway that are kept, so that `conversation exchange` shows what a "
        "model read; about 10 kB each. 0: none.",
    )
    half_life_hours: float = Field(
        default=0.0,
        ge=0,
        description="Hours after which a message counts half in the choice of what a model reads. 0: age does not "
        "count.",
    )


class GraphSettings(SettingsSection):
    ttl_seconds: float = Field(
        default=300.0,
        ge=0,
        description="How long a materialised graph is used before it is checked for changes.",
    )
    fresh_centrality_nodes: int = Field(
        default=10_000,
        ge=0,
        description="Above this size a search uses the stored centrality, updated on closing or by a worker.",
    )
    exact_betweenness_nodes: int = Field(
        default=2000, gt=0, description="Above this size betweenness is sampled."
    )


class ProfileSettings(SettingsSection):
    """The decay profiles of AMGS §7.1: λ per hour, relevance = exp(−λ · hours)."""

    ephemeral: float = Field(
        default=PROFILES["ephemeral"], ge=0, description="λ per hour of what fades within a day."
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


class DecaySettings(SettingsSection):
    profiles: ProfileSettings = DEFAULT_PROFILES
    threshold: float = Field(
        default=0.05, gt=0, lt=1, description="Relevance below which a block counts as faded."
    )


class EnhancementSettings(SettingsSection):
    nearest: int = Field(
        default=3, gt=0, description="Two blocks are compared when each is among the other's N nearest."
    )
    copy_wording: float = Field(
        default=0.7,
        gt=0,
        le=1,
        description="Minimum share of three-word runs that two copies have in common.",
    )
    merge_wording: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="Minimum share of three-word runs in common of similar blocks that may merge.",
    )
    merge_cosine: float = Field(
        default=0.75, ge=0, le=1, description="Minimum cosine of blocks with shared wording that may merge."
    )
    overlap_words: int = Field(
        default=15, ge=0, description="Minimum number of words of an account of an event."
    )
    overlap_cosine: float = Field(
        default=0.5, ge=0, le=1, description="Minimum cosine of two accounts of one event."
    )
    overlap_hours: float = Field(
        default=48.0, ge=0, description="Maximum hours between two accounts of one event."
    )
    split_words: int = Field(
        default=40, gt=0, description="Minimum number of words of each part of a split block."
    )
    split_cosine: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="A block with a lower cosine between its halves holds two concepts.",
    )
    split_paragraphs: int = Field(
        default=1024,
        ge=0,
        description="At most this many paragraphs are embedded to split blocks in one plan, the longest blocks first.",
    )
    weak_strength: float = Field(default=0.1, gt=0, le=1, description="An edge below this strength is weak.")
    weak_confidence: float = Field(
        default=0.6, gt=0, le=1, description="A weak edge below this confidence may be removed."
    )
    mismatch: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="Minimum difference of confidence at which similar blocks count as disagreeing.",
    )
    mismatch_weight: float = Field(
        default=0.7, ge=0, le=1, description="Minimum weight of a strong relation."
    )
    uses: int = Field(
        default=2, gt=0, description="Minimum uses for the logs to count as evidence about an edge."
    )


class ReviewSettings(SettingsSection):
    nearest: int = Field(default=12, gt=0, description="A block is compared with its N nearest.")
    cosine: float = Field(
        default=0.35, ge=0, le=1, description="Minimum cosine of two blocks that are compared."
    )
    subject: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Minimum share of rare words that two sentences on one subject have in common.",
    )
    confidence: float = Field(
        default=0.5, ge=0, le=1, description="Minimum confidence of a finding in the queue."
    )
    event_hours: float = Field(
        default=48.0, ge=0, description="Observations further apart are about different events."
    )
    later_hours: float = Field(
        default=12.0, ge=0, description="A superseding block is at least this many hours later."
    )


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
    lowest: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="In addition to the limits, this share of the memory counts as low in centrality and confidence.",
    )
    alone_cosine: float = Field(
        default=0.65,
        ge=0,
        le=1,
        description="A block that no other comes as near as this stands alone on its subject, and stays; 0 for none.",
    )
    redundant_cosine: float = Field(
        default=0.9,
        gt=0,
        le=1,
        description="A faded and unused block may go, however central, if another that stays comes as near as this.",
    )
    alone_words: int = Field(
        default=8, gt=0, description="A shorter block has no subject of its own to stand alone on."
    )
    interval_hours: float = Field(
        default=0.0,
        ge=0,
        description="Hours after which the open workstation looks again for what may be pruned, and proposes it; it "
        "prunes nothing by itself. 0: never.",
    )


class SelfSettings(SettingsSection):
    refresh_hours: float = Field(
        default=1.0, ge=0, description="How long an assembled SELF frame stays fresh."
    )
    anchor_distance: int = Field(
        default=1, ge=0, description="Graph distance from the root anchor that counts as self."
    )
    threshold: float = Field(
        default=0.75, ge=0, le=1, description="Minimum centrality and reinforcement of a self block."
    )
    largest_shift: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="A cached SELF expires when more than this share of the centrality within the identity has moved.",
    )


class CalibrationSettings(SettingsSection):
    fewest_outcomes: int = Field(
        default=20, gt=1, description="Minimum number of verdicts for a recalibration."
    )
    prior_strength: float = Field(
        default=4.0, gt=0, description="How many verdicts an edge's present confidence counts as."
    )


class Settings(SettingsSection):
    """All settings of the memory engine."""

    ingest: IngestSettings = IngestSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    frames: FrameSettings = FrameSettings()
    conversation: ConversationSettings = ConversationSettings()
    graph: GraphSettings = GraphSettings()
    decay: DecaySettings = DecaySettings()
    identity: SelfSettings = SelfSettings()
    enhancement: EnhancementSettings = EnhancementSettings()
    review: ReviewSettings = ReviewSettings()
    pruning: PruningSettings = PruningSettings()
    calibration: CalibrationSettings = CalibrationSettings()
