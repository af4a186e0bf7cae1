"""What the file of a training run says of phases on working contexts: B1, B2 and B3.

MegaContext, "Joint training (alternating / EM-style)".
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from amgs_focus.gist import BLOCK
from benchmarks.focus_training.run_config import ConfigSection, RunConfig


class ContextConfig(ConfigSection):
    """Working contexts that joint phases train and are judged on; the window itself is that of [focus]."""

    lifetime: int = Field(default=512, ge=BLOCK, description="Tokens that are read before those that are asked.")
    windows: int = Field(default=32, ge=2, description="Validation windows, spread over what is kept apart.")


class ContextPhaseConfig(ConfigSection):
    """One phase on working contexts: B1 (gists) or B3 (LoRA)."""

    steps: int = Field(default=200, ge=0)
    sequences: int = Field(default=4, gt=0, description="Lifetimes a pass.")
    accumulate: int = Field(default=1, ge=1, description="Passes whose mean gradient makes one step.")
    learning_rate: float = Field(default=1e-4, gt=0)
    warmup: int = Field(default=10, ge=1)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, gt=0)
    gap: float = Field(default=1.0, ge=0, description="Weight of KL(frozen on the full text ‖ working context).")
    truth: float = Field(default=0.5, ge=0, description="Weight of the NLL of what really follows.")
    stability: float = Field(default=0.0, ge=0, description="Weight of staying near the weights it began with.")
    boundary: float = Field(default=1.0, gt=0, description="How much more tokens beside a block's edge count.")
    validate_every: int = Field(default=25, gt=0)
    patience: int = Field(default=3, ge=1, description="Validations without gain after which it ends early.")


class LoraConfig(ContextPhaseConfig):
    rank: int = Field(default=8, ge=1, le=256)
    alpha: int = Field(default=16, ge=1)
    targets: tuple[str, ...] = Field(
        default=(), description="Layers it is added to; empty for the query and value projections."
    )


class LensPhaseConfig(ConfigSection):
    """Phase B2: labels measured under the modules of now, and a lens trained on them."""

    tokens: int = Field(default=100_000, gt=0, description="Of each text, from its beginning.")
    snapshots: int = Field(default=60, ge=2, description="Working contexts that are labelled.")
    exact: int = Field(default=12, ge=1, description="Candidates measured per snapshot.")
    facts: float = Field(default=0.3, ge=0, le=1, description="Share of made-up facts with a question.")
    warm: int = Field(default=60, ge=0, description="Lifetimes of the warm start.")
    warm_steps: int = Field(default=300, ge=0, description="Its steps.")
    steps: int = Field(default=300, ge=1, description="Steps on measured labels after the warm start.")
    learning_rate: float = Field(default=1e-3, gt=0)
    save_every: int = Field(default=100, gt=0)


class JointConfig(ConfigSection):
    cycles: int = Field(default=3, ge=1)
    patience: int = Field(default=1, ge=1, description="Cycles without gain after which the schedule ends early.")
    phases: tuple[Literal["b1", "b2", "b3"], ...] = Field(
        default=("b1", "b2", "b3"), min_length=1, description="b1 gists, b2 lens, b3 LoRA."
    )
    gistnet: ContextPhaseConfig = ContextPhaseConfig(stability=0.1, boundary=2.0)
    lensnet: LensPhaseConfig = LensPhaseConfig()


class JointRunConfig(RunConfig):
    """A training run with phases, whole."""

    contexts: ContextConfig = ContextConfig()
    lora: LoraConfig = LoraConfig()
    joint: JointConfig = JointConfig()
