"""What is proposed to do with packs: how often a merge or a retirement is false, and what a list is worth."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

from amgs.packs.proposals import COST, proposed
from amgs.types.packs import PackProposal
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.conversation import evidence_data
from benchmarks.packs.operations_world import OperationsWorld, invented
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

_WORLDS = 4
"""Invented for each conversation."""
_RESAMPLES = 2_000
GOALS: dict[str, tuple[Comparator, float]] = {"false_delete_merge": ("<=", 1.0)}
Proposals = Sequence[PackProposal]
POLICIES: Mapping[str, Callable[[OperationsWorld], Proposals]] = {
    "the rule": lambda world: proposed(world.candidates),
    "every candidate": lambda world: world.candidates,
    "nothing": lambda _: (),
    "ceiling: what is right": lambda world: [one for one in world.candidates if world.is_right(one)],
}


def measure_operations(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The proposals by rule, with their controls; None where there is no data."""
    rows: list[tuple[str | float, ...]] = []
    metrics: dict[str, float] = {}
    wrong: dict[str, list[int]] = {}
    for corpus in ("locomo", "realtalk"):
        texts = [[str(each["text"]) for each in one.messages] for one in evidence_data.read(data, corpus)]
        worlds = [
            [invented(each, f"held out {rig.seed} {corpus} {n} {k}") for k in range(_WORLDS)]
            for n, each in enumerate(texts)
        ]
        if not worlds:
            continue
        found = {name: _values(worlds, policy) for name, policy in POLICIES.items()}
        for name, (each, counts) in found.items():
            gain = [a - b for a, b in zip(each, found["the rule"][0], strict=True)]
            low, high = _interval(gain)
            told = f"{mean(gain):+.2f} [{low:+.2f}, {high:+.2f}]"
            rows.append(
                (corpus, name, mean(each), *(f"{counts[a][1]} of {counts[a][0]}" for a in COST), told)
            )
            own = wrong.setdefault(name.split(":")[0].replace(" ", "_"), [0, 0])
            for action in ("DELETE", "MERGE"):
                own[0] += counts[action][1]
                own[1] += counts[action][0]
    if not rows:
        return None
    for name, (false, every) in wrong.items():
        metrics["false_delete_merge" if name == "the_rule" else f"false_delete_merge_{name}"] = (
            100.0 * false / max(every, 1)
        )
    columns = (
        "judged on",
        "policy",
        "worth a list",
        *(f"{a}, wrong of" for a in COST),
        "less the rule, 95 %",
    )
    return SubjectResult(metrics, GOALS, (BenchTable("Proposals about packs", columns, tuple(rows)),))


def _values(
    worlds: Sequence[Sequence[OperationsWorld]], policy: Callable[[OperationsWorld], Proposals]
) -> tuple[list[float], dict[str, tuple[int, int]]]:
    """The worth of the list of a world, by conversation, and of each action how many were proposed, and wrong."""
    counts = dict.fromkeys(COST, (0, 0))
    values = []
    for own in worlds:
        each = []
        for world in own:
            total = 0.0
            for one in policy(world):
                right = world.is_right(one)
                total += 1.0 if right else -COST[one.action]
                counts[one.action] = (counts[one.action][0] + 1, counts[one.action][1] + (not right))
            each.append(total)
        values.append(mean(each))
    return values, {str(action): count for action, count in counts.items()}


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean, by drawing conversations."""
    chance = random.Random(1)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
