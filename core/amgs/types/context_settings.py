"""How contexts of conversations are chosen, by name (context optimiser, L12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.conversation import ContextStrategy

ContextConfiguration = Literal["default", "high-compression", "high-fidelity"]


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What a configuration fixes. Shares are in [0, 1].

    strategy: unless another is asked for. fill: of the budget, what a context takes at most. soft: of that, what a plan
    takes that is made because an earlier one no longer fits. recent: so many of the last messages are HIGH;
    recent_share: of the room beside what is CRITICAL, what they take at most, with `extractive` in proportion less
    below a room of `full_recent` tokens. medium_share: likewise, for decisions, goals, commitments and questions that
    are open (MEDIUM); 0 protects none. recalled: so many atoms that answer a new query come back into a plan that is
    kept. trigger: a plan that takes more of its room than this is made anew at the next natural boundary, once it has
    lasted `cooldown` messages; 1 for only when it no longer fits.
    """

    strategy: ContextStrategy = "extractive"
    fill: float = 1.0
    soft: float = 0.8
    recent: int = 6
    recent_share: float = 0.25
    full_recent: int = 2_048
    medium_share: float = 0.0
    recalled: int = 4
    trigger: float = 1.0
    cooldown: int = 8


CONTEXT_CONFIGURATIONS: Mapping[ContextConfiguration, ContextSettings] = {
    "default": ContextSettings(),
    "high-compression": ContextSettings(
        strategy="levels", fill=0.5, soft=0.6, recent=2, recent_share=0.2, recalled=2, trigger=0.9
    ),
    "high-fidelity": ContextSettings(soft=0.9, recent=8, recent_share=0.4, medium_share=0.1, recalled=8),
}
