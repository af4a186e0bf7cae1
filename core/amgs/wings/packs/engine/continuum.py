"""Layer 6: how packs live on between sessions: which stay needed, which to do without, what is read together, and what
follows what. How likely a pack is read again is by the BG/NBD model (Fader, Hardie and Lee 2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from amgs.text.plural import plural
from amgs.wings.packs.engine.graphs import transitions
from amgs.wings.packs.engine.task import PackTask, session_chains
from amgs.wings.packs.values import PackUsage, PackUse

RATE_SHAPE, RATE_DAYS, ENDED, WENT_ON = 0.6, 8.0, 0.8, 2.5
"""The gamma distribution of rates over packs, and the beta distribution of how likely a reading is the last."""
LEAST_COUNT, LEAST_LIFT = 5, 1.5
"""Packs are read together where so many sessions have them all, and so many times more than by chance."""
_FORGOTTEN, _ASSOCIATED = 0.1, 0.1
"""The share of packs that is not asked; what one that is read with the worthiest gains, of its worth."""


def needed(readings: int, last: float, age: float, horizon: float) -> float:
    """Return how likely a pack is read within so many days. last: days from when it was kept to the last reading."""
    alive = 1.0
    if readings:
        gap = (RATE_DAYS + age) / (RATE_DAYS + last)
        alive = 1.0 / (1.0 + ENDED / (WENT_ON + readings - 1) * float(gap ** (RATE_SHAPE + readings)))
    none = ((RATE_DAYS + age) / (RATE_DAYS + age + horizon)) ** (RATE_SHAPE + readings)
    return alive * float(1.0 - none)


def forget_packs(usages: Sequence[PackUsage], tokens: int) -> list[str]:
    """Return the names of those to do without so that the others take at most `tokens`: the least likely needed for the
    square root of their size first; what went and still fits in the end stays.
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
    """Packs that so many sessions have, of `either` that have any. lift: how many times more than by chance."""

    names: tuple[str, ...]
    sessions: int
    lift: float
    either: int


def find_combinations(sessions: Sequence[Iterable[str]]) -> list[ReadTogether]:
    """Pairs of packs read in the same sessions, at least LEAST_COUNT times and LEAST_LIFT above chance, or in all but
    one of so many where any is read, since what every session has is together by chance too; the most often first.
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
    """Forget, for this question, the tenth of packs that are worth least by how likely they are needed and what came of
    them; add to what sessions read with the worthiest pack, and to what usually follows the last reading of this one.
    """
    value = {
        name: usage.needed * (0.5 if usage.success is None else usage.success) for name, usage in task.usages.items()
    }
    forgotten = sorted(value, key=lambda name: (value[name], name))[: int(_FORGOTTEN * len(value))]
    task.worth |= dict.fromkeys(forgotten, 0.0)
    task.because |= dict.fromkeys(forgotten, "forgotten: of the tenth that is worth least")
    best = next(iter(task.ranked()), "")
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
