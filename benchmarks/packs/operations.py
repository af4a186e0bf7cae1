"""What is proposed to do with packs: how often a merge or a retirement is false, and whether learning beats the rule.

What is learned takes decisions on one corpus and is judged on the other. The one who decides errs once in twenty.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np

from amgs.packs.learned_policy import AcceptanceModel, compared, learned_from
from amgs.packs.proposals import (
    COST,
    Likely,
    by_rule,
    listed,
    proposal,
)
from amgs.types.pack_learning import PackProposals
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.conversation import evidence_data
from benchmarks.packs.estimators import measure_estimators
from benchmarks.packs.operations_world import NOW, OperationsWorld, invented
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult, joined

_WORLDS = 4
"""Invented for each conversation to learn from, and as many others to be judged by."""
_EXPLORE, _LIMIT, _ERRS = 0.2, 20, 0.05
_RESAMPLES = 2_000
GOALS: dict[str, tuple[Comparator, float]] = {
    "false_delete_merge": ("<=", 1.0),
    "operations_learned_gain_low": (">=", 0.0),
}


def measure_operations(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The estimators, and the proposals by rule and as learned; None where there is no data for either."""
    parts = [one for one in (measure_estimators(rig, data), _measure(rig, data)) if one is not None]
    return joined(parts) if parts else None


def _measure(rig: MemoryRig, data: Path) -> SubjectResult | None:
    texts = {
        corpus: [[str(each["text"]) for each in one.messages] for one in evidence_data.read(data, corpus)]
        for corpus in ("locomo", "realtalk")
    }
    if not all(texts.values()):
        return None
    rows: list[tuple[str | float, ...]] = []
    metrics: dict[str, float] = {}
    wrong: dict[str, list[int]] = {}
    lows = []
    for learned_on, judged_on in (("locomo", "realtalk"), ("realtalk", "locomo")):
        log = _decided(texts[learned_on], f"{rig.seed} {learned_on}")
        model = learned_from(log)
        gate = compared(log)
        worlds = [
            [invented(each, f"held out {rig.seed} {judged_on} {n} {k}") for k in range(_WORLDS)]
            for n, each in enumerate(texts[judged_on])
        ]
        found = {name: _values(worlds, policy) for name, policy in _policies(model).items()}
        for name, (each, counts) in found.items():
            key = name.split(":")[0].replace(" ", "_")
            gain = [a - b for a, b in zip(each, found["the rule"][0], strict=True)]
            low, high = _interval(gain)
            told = f"{mean(gain):+.2f} [{low:+.2f}, {high:+.2f}]"
            rows.append(
                (judged_on, name, mean(each), *(f"{counts[a][1]} of {counts[a][0]}" for a in COST), told)
            )
            own = wrong.setdefault(key, [0, 0])
            for action in ("DELETE", "MERGE"):
                own[0] += counts[action][1]
                own[1] += counts[action][0]
            if name == "as learned":
                metrics[f"operations_learned_gain_{judged_on}"] = mean(gain)
                lows.append(low)
        metrics[f"operations_gate_{learned_on}"] = float(gate.better)
        metrics[f"operations_gate_gain_low_{learned_on}"] = gate.gain.low
        metrics[f"operations_gate_rounds_{learned_on}"] = gate.learned.effective
        metrics[f"operations_calibration_{judged_on}"] = _calibration(worlds, model)
    metrics["operations_learned_gain_low"] = min(lows)
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


Policy = Callable[[OperationsWorld], Likely]


def _policies(model: AcceptanceModel) -> Mapping[str, Policy]:
    return {
        "the rule": lambda _: by_rule,
        "as learned": lambda _: model.likely,
        "every candidate": lambda _: lambda _: 1.0,
        "nothing": lambda _: lambda _: 0.0,
        "ceiling: what is right": lambda world: lambda one: float(world.is_right(one)),
    }


def _decided(conversations: Sequence[Sequence[str]], seed: str) -> tuple[PackProposals, ...]:
    """A log of lists in the rule's order with chance in it, each decided whole; the latest first."""
    log = []
    for k in range(_WORLDS):
        for n, texts in enumerate(conversations):
            chance = random.Random(f"decide {seed} {n} {k}")
            world = invented(texts, f"learn {seed} {n} {k}")
            placed, rest = listed(world.candidates, by_rule, _EXPLORE, _LIMIT, chance)
            proposed = []
            for place, one in enumerate(placed, 1):
                right = world.is_right(one.candidate) != (chance.random() < _ERRS)
                made = proposal(one.candidate, place, one.propensity, None, 0.0)
                proposed.append(replace(made, state="accepted" if right else "rejected"))
            passed = tuple(proposal(one, 0, 0.0, None, 0.0) for one in rest)
            log.append(PackProposals(tuple(proposed), "rule", _EXPLORE, passed, NOW))
    return tuple(reversed(log))


def _values(
    worlds: Sequence[Sequence[OperationsWorld]], policy: Policy
) -> tuple[list[float], dict[str, tuple[int, int]]]:
    """The worth of the list of a world, by conversation, and of each action how many were proposed, and wrong."""
    counts = dict.fromkeys(COST, (0, 0))
    values = []
    for own in worlds:
        each = []
        for world in own:
            placed, _ = listed(world.candidates, policy(world), 0.0, None, random.Random(0))
            worth = 0.0
            for one in placed:
                action, right = one.candidate.action, world.is_right(one.candidate)
                worth += 1.0 if right else -COST[action]
                counts[action] = (counts[action][0] + 1, counts[action][1] + (not right))
            each.append(worth)
        values.append(mean(each))
    return values, {str(action): count for action, count in counts.items()}


def _calibration(worlds: Sequence[Sequence[OperationsWorld]], model: AcceptanceModel) -> float:
    """The expected calibration error of what is learned, in ten bins, over candidates that it may propose."""
    pairs = [
        (model.likely(one), float(world.is_right(one)))
        for own in worlds
        for world in own
        for one in world.candidates
        if COST[one.action] <= 1.0 or one.sure > 0
    ]
    likely, right = np.array(pairs).T
    bins = np.minimum((10 * likely).astype(int), 9)
    parts = [abs(float((likely - right)[bins == n].sum())) for n in range(10)]
    return float(sum(parts) / likely.size)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean, by drawing conversations."""
    chance = random.Random(1)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
