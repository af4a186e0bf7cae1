"""What outcomes of readings teach: of each pack, the share of its judged readings that were useful, with its bound.

Only a verdict on one reading counts. Where several packs were read in a session and all got one verdict, it may be that
of the session, and says nothing of any of them. A regression over what is known before a reading told useless
companions no better than this share does (docs/results/packs.md). Nothing that chooses packs asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from amgs.wings.packs.values import PackUse, PackWeight, PackWeights

_Z = NormalDist().inv_cdf(0.95)


def weights(uses: Sequence[PackUse]) -> PackWeights:
    """What the verdicts in a log say of each pack."""
    packs: dict[str, set[str]] = {}
    verdicts: dict[str, set[float]] = {}
    judged = [(one, one.outcome) for one in uses if one.outcome is not None]
    for one, outcome in judged:
        if one.session:
            packs.setdefault(one.session, set()).add(one.name)
            verdicts.setdefault(one.session, set()).add(outcome)
    shared = {name for name, own in packs.items() if len(own) > 1 and len(verdicts[name]) == 1}
    own: dict[str, list[float]] = {}
    for one, outcome in judged:
        if one.session not in shared:
            own.setdefault(one.name, []).append(outcome)
    found = [
        PackWeight(name, len(each), sum(each) / len(each), share_bound(sum(each), len(each)))
        for name, each in own.items()
    ]
    counted = sum(one.judged for one in found)
    return PackWeights(tuple(sorted(found, key=lambda one: (-one.bound, one.name))), len(judged) - counted)


def share_bound(hits: float, n: int) -> float:
    """The one-sided 95 % lower bound of a share of which `hits` of n were seen (Wilson 1927)."""
    share = hits / n
    spread = _Z * sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
    return max((share + _Z * _Z / (2 * n) - spread) / (1 + _Z * _Z / n), 0.0)
