"""Layer 7: a weight for each pack, trained on outcomes by gradient steps.

It is computed from the log each time, so that `undo` of an outcome unlearns it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp

from amgs.wings.packs.engine.task import PackTask
from amgs.wings.packs.values import PackUse

_RATE = 0.5


def sigmoid(value: float) -> float:
    """Return 1 / (1 + e^−value) without overflow."""
    return 1.0 / (1.0 + exp(-value)) if value >= 0 else 1.0 - 1.0 / (1.0 + exp(value))


def train_weights(uses: Sequence[PackUse]) -> dict[str, float]:
    """Return the weight in (0, 1) of each judged pack: one gradient step on the cross entropy per outcome.

    If all packs of a session have the same outcome, they share the step. uses: newest first.
    """
    judged = [(use, use.session or use.at.isoformat(), use.outcome) for use in uses if use.outcome is not None]
    tasks: dict[str, set[tuple[str, float]]] = defaultdict(set)
    for use, key, outcome in judged:
        tasks[key].add((use.name, outcome))
    values: dict[str, float] = defaultdict(float)
    for use, key, outcome in reversed(judged):
        together = len({result for _, result in tasks[key]}) == 1
        sharing = len(tasks[key]) if together else 1
        values[use.name] += _RATE * (outcome - sigmoid(values[use.name])) / sharing
    return {name: sigmoid(value) for name, value in values.items()}


def weigh_packs(task: PackTask) -> str:
    """Multiply each pack's worth by twice its weight, which is 1 if nothing was learned."""
    known = {name: usage.weight for name, usage in task.usages.items() if usage.judged}
    task.worth |= {name: task.worth[name] * 2.0 * weight for name, weight in known.items()}
    if not known:
        return "no outcome is known: nothing is weighed"
    return f"{len(known)} packs weighed, from {min(known.values()):.2f} to {max(known.values()):.2f}"
