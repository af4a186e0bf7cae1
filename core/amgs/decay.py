"""Half-life decay (AMGS §3.4, §7.1): relevance(t) = exp(-λ t), t in hours since the last reinforcement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from amgs.errors import UsageError

# λ per hour and the half-lives they give: 6.9 hours, 2.9 days, 28.9 days, 289 days.
PROFILES: Mapping[str, float] = MappingProxyType({"ephemeral": 0.1, "standard": 0.01, "durable": 0.001, "core": 0.0001})


def check_lambda(decay_lambda: float) -> float:
    """Return λ; raise UsageError where it is not finite or negative. λ = 0 never decays (a pin)."""
    if not math.isfinite(decay_lambda) or decay_lambda < 0:
        raise UsageError(
            f"A decay constant must be finite and not negative, got {decay_lambda!r}.",
            way_out="Use a profile: " + ", ".join(PROFILES) + ".",
        )
    return decay_lambda


def relevance(decay_lambda: float, hours: float) -> float:
    """Return exp(-λ·hours) in [0, 1]; negative hours (the clock went back) count as 0."""
    return math.exp(-decay_lambda * max(hours, 0.0))


def relevance_at(decay_lambda: float, since: datetime, now: datetime) -> float:
    """Return relevance at `now` of something last reinforced at `since`."""
    return relevance(decay_lambda, hours_between(since, now))


def hours_between(since: datetime, now: datetime) -> float:
    """Return signed hours from `since` to `now`."""
    return (now - since).total_seconds() / 3600.0


def half_life_hours(decay_lambda: float) -> float:
    """Return the half-life ln 2 / λ in hours; infinite for λ = 0."""
    return math.log(2) / decay_lambda if decay_lambda > 0 else math.inf


def falls_below(decay_lambda: float, since: datetime, threshold: float) -> datetime | None:
    """Return the instant at which relevance crosses `threshold` (0 < threshold <= 1); None if never within a
    millennium.
    """
    if decay_lambda <= 0:
        return None
    hours = -math.log(threshold) / decay_lambda
    try:
        return since + timedelta(hours=hours)
    except OverflowError:
        return None  # beyond the last year that a calendar holds


def profile_name(decay_lambda: float, profiles: Mapping[str, float] = PROFILES) -> str:
    """Return the profile whose λ this is, `pinned` for 0, else `custom`."""
    if decay_lambda == 0:
        return "pinned"
    for name, value in profiles.items():
        if math.isclose(value, decay_lambda, rel_tol=1e-9):
            return name
    return "custom"
