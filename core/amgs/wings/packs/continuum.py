"""Learn from readings and outcomes: use of packs across sessions (layer 6), and a weight for each pack (7)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from math import exp
from typing import NamedTuple

from amgs.text.words import plural
from amgs.wings.packs.choice import PackTask, session_chains, transitions
from amgs.wings.packs.values import PackUsage, PackUse

RATE_SHAPE, RATE_DAYS, ENDED, WENT_ON = 0.6, 8.0, 0.8, 2.5
"""Shape and scale (days) of the gamma distribution of reading rates, and the beta distribution of the chance that a
reading is the last.
"""
LEAST_COUNT, LEAST_LIFT = 5, 1.5
"""Packs count as read together in at least this many sessions, and this many times as often as by chance."""
_FORGOTTEN, _ASSOCIATED = 0.1, 0.1
"""Share of packs that are not asked; share of the best pack's worth that packs read with it gain."""


def reading_probability(readings: int, last: float, age: float, horizon: float) -> float:
    """Return how likely a pack is read within `horizon` days.

    age: days since it was first saved. last: days from then to the last reading.

    By the BG/NBD model (Fader, Hardie and Lee 2005).
    """
    alive = 1.0
    if readings:
        gap = (RATE_DAYS + age) / (RATE_DAYS + last)
        alive = 1.0 / (1.0 + ENDED / (WENT_ON + readings - 1) * float(gap ** (RATE_SHAPE + readings)))
    none = ((RATE_DAYS + age) / (RATE_DAYS + age + horizon)) ** (RATE_SHAPE + readings)
    return alive * float(1.0 - none)


def forget_packs(usages: Sequence[PackUsage], tokens: int) -> list[str]:
    """Return the names of packs to drop so that the rest has at most `tokens`.

    First go those least likely needed per square root of size; at the end, dropped packs that still fit are put back.
    """
    total, gone = sum(usage.pack.tokens for usage in usages), list[PackUsage]()
    for usage in sorted(usages, key=lambda usage: (usage.needed / max(usage.pack.tokens, 1) ** 0.5, usage.pack.name)):
        if total > tokens:
            total -= usage.pack.tokens
            gone.append(usage)
    for usage in gone[::-1]:
        if total + usage.pack.tokens <= tokens:
            total += usage.pack.tokens
            gone.remove(usage)
    return [usage.pack.name for usage in gone]


class ReadTogether(NamedTuple):
    """Packs that `sessions` sessions read, of `either` that read any of them. lift: how many times as often as by
    chance.
    """

    names: tuple[str, ...]
    sessions: int
    lift: float
    either: int


def find_combinations(sessions: Sequence[Iterable[str]]) -> list[ReadTogether]:
    """Return pairs of packs read in the same sessions, most frequent first.

    A pair counts from LEAST_COUNT sessions on, if its lift is at least LEAST_LIFT, or if nearly all sessions that read
    either read both: packs that every session reads have no lift.
    """
    read = [frozenset(session) for session in sessions]
    alone = Counter(name for session in read for name in session)
    both = Counter(pair for session in read for pair in combinations(sorted(session), 2))
    pairs = []
    for (a, b), count in both.items():
        either, lift = alone[a] + alone[b] - count, count * len(read) / (alone[a] * alone[b])
        if count >= LEAST_COUNT and (lift >= LEAST_LIFT or LEAST_COUNT * (either - count) <= count):
            pairs.append(ReadTogether((a, b), count, lift, either))
    return sorted(pairs, key=lambda combination: (-combination.sessions, -combination.lift, combination.names))


def associations(uses: Sequence[PackUse]) -> Counter[tuple[str, str]]:
    """Return how many sessions read both of two packs, each pair in both orders."""
    counts: Counter[tuple[str, str]] = Counter()
    for chain in session_chains(uses):
        counts.update(permutations(sorted({use.name for use in chain}), 2))
    return counts


def evolve_worth(task: PackTask) -> str:
    """Forget for this question the tenth of packs with the least expected use and success; raise what sessions read
    with the best pack, and what usually follows this session's last reading.
    """
    value = {
        name: usage.needed * (0.5 if usage.success is None else usage.success) for name, usage in task.usages.items()
    }
    forgotten = sorted(value, key=lambda name: (value[name], name))[: int(_FORGOTTEN * len(value))]
    task.worth |= dict.fromkeys(forgotten, 0.0)
    task.because |= dict.fromkeys(forgotten, "forgotten: of the tenth that is worth least")
    best = next(iter(task.rank_packs()), "")
    counts = associations(task.uses)
    beside = {other: n for (name, other), n in counts.items() if name == best}
    latest = next((use.name for use in task.uses if task.session and use.session == task.session), "")
    after = transitions(task.uses).get(latest, {})
    most = task.worth.get(best, 0.0)
    for shares in ({other: n / max(beside.values()) for other, n in beside.items()}, after):
        for other, share in shares.items():
            if other in task.worth and other not in forgotten:
                task.worth[other] += _ASSOCIATED * share * most
    summary = f"{plural(len(forgotten), 'pack')} forgotten, {len(beside)} read beside {best or 'none'}"
    return f"{summary}, {len(after)} usually follow {latest}" if latest else summary


_RATE = 0.5


def sigmoid(value: float) -> float:
    """Return 1 / (1 + e^−value) without overflow."""
    return 1.0 / (1.0 + exp(-value)) if value >= 0 else 1.0 - 1.0 / (1.0 + exp(value))


def train_weights(uses: Sequence[PackUse]) -> dict[str, float]:
    """Return the weight in (0, 1) of each judged pack: a gradient step on the cross entropy per outcome.

    If all packs of a session have the same outcome, they share the step. uses: newest first.

    It is computed from the log each time, so that `undo` of an outcome unlearns it.
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
