"""Layer 7: a trainable weight for each pack, learned from outcomes by gradient steps and read by the router. It is made
of the log each time, so that `undo` of an outcome unlearns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from amgs.wings.packs.engine.task import PackTask
from amgs.wings.packs.values import PackUse

_RATE = 0.5


def sigmoid(value: float) -> float:
    """1 / (1 + e^−value), where that does not overflow."""
    return 1.0 / (1.0 + exp(-value)) if value >= 0 else 1.0 - 1.0 / (1.0 + exp(value))


def train_weights(uses: Sequence[PackUse]) -> dict[str, float]:
    """Return the weight of each pack that was judged, in (0, 1): one step of gradient descent on the cross entropy for
    each outcome. Where all packs of a session had one outcome it is theirs together, and each learns its part of it.
    uses: the newest first.
    """
    packs: dict[str, set[str]] = {}
    verdicts: dict[str, set[float]] = {}
    for use in uses:
        if use.outcome is not None:
            packs.setdefault(_together(use), set()).add(use.name)
            verdicts.setdefault(_together(use), set()).add(use.outcome)
    values: dict[str, float] = {}
    for use in reversed(uses):
        if use.outcome is not None:
            key, value = _together(use), values.get(use.name, 0.0)
            sharing = len(packs[key]) if len(verdicts[key]) == 1 else 1
            values[use.name] = value + _RATE * (use.outcome - sigmoid(value)) / sharing
    return {name: sigmoid(value) for name, value in values.items()}


def _together(use: PackUse) -> str:
    """Return what readings for one task have in common."""
    return use.session or use.at.isoformat()


def weigh_packs(task: PackTask) -> str:
    """Multiply the worth of each pack by what outcomes taught of it: by 1 where they taught nothing."""
    known = {name: usage.weight for name, usage in task.usages.items() if usage.judged}
    for name, weight in known.items():
        task.worth[name] *= 2.0 * weight
    if not known:
        return "no outcome is known: nothing is weighed"
    low, high = min(known.values()), max(known.values())
    return f"{len(known)} packs weighed, from {low:.2f} to {high:.2f}"
