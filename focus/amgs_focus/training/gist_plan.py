"""What a GistNet run is told: its shape, its losses, its curriculum and its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from amgs_focus.gist.gistnet import BLOCK, GistShape


@dataclass(frozen=True, slots=True)
class Phase:
    """One stretch of the curriculum, up to and without step `until`.

    Each of `sequences` windows has `blocks` blocks of its level. Its students read `least` to `blocks`
    of them as gists: `short` students continue for `short_horizon` tokens, `long` ones for `long_horizon`, so
    that the first part of a long continuation is the raw tail of the second. With probability `open_share` a
    student reads one of its blocks raw.
    """

    until: int
    sequences: int
    blocks: int
    short: int
    long: int
    least: int = 1
    short_horizon: int = BLOCK
    long_horizon: int = 3 * BLOCK
    open_share: float = 0.0


@dataclass(frozen=True, slots=True)
class GistTraining:
    """Settings of one run. Losses are in nats a token; `gap` weighs KL(teacher ‖ student)."""

    shape: GistShape
    phases: tuple[Phase, ...]
    level: Literal[1, 2] = 1
    steps: int = 2000
    seed: int = 0
    learning_rate: float = 6e-4
    warmup: int = 100
    decay: float = 0.35
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    gap: float = 1.0
    truth: float = 0.5
    hinge: float = 0.5
    hinge_every: int = 8
    contrast: float = 0.03
    contrast_every: int = 1
    content_weight: float = 1.0
    style_share: float = 0.5
    reconstruction: float = 0.1
    recited: int = 8
    separation: float = 0.05
    separation_margin: float = 0.5
    validate_every: int = 200
    validation_windows: int = 48
    save_every: int = 100


def phase_at(settings: GistTraining, step: int) -> Phase:
    """The phase of a step; the last one goes on for ever."""
    return next((phase for phase in settings.phases if step < phase.until), settings.phases[-1])


def learning_rate(settings: GistTraining, step: int) -> float:
    """Linear warm-up, a plateau, and a cosine down to a twentieth over the last `decay` of the steps."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    begin = settings.steps * (1 - settings.decay)
    if step < begin:
        return settings.learning_rate
    done = min(1.0, (step - begin) / max(1.0, settings.steps - begin))
    return settings.learning_rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))
