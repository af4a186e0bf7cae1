"""The memory engine's settings, each with its sentence: the settings are their own manual.

The workstation reads them from TOML and the environment (`amgs_tui.settings`); a program passes them as values.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A frozen group of settings that refuses unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    exact_betweenness_nodes: int = Field(
        default=2000, gt=0, description="Above this size betweenness is sampled."
    )


class DecaySettings(Section):
    threshold: float = Field(
        default=0.05, gt=0, lt=1, description="Relevance under which a block counts as fading."
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
    calibration: CalibrationSettings = CalibrationSettings()
