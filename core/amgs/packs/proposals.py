"""What could be done with packs: candidates with what is seen of them, the rule that judges them, and their order.

The rule is the policy unless learning is shown to be better. Chance has a say in the order of proposals alone, so that
what is decided can tell what another order would have come to (Bottou et al. 2013); its propensity is noted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, log1p

from amgs.packs.alike import likeness
from amgs.packs.continuum import ReadTogether
from amgs.types import Block
from amgs.types.pack_learning import PackAction, PackProposal
from amgs.types.packs import PackUsage

COST: Mapping[PackAction, float] = {"ADD": 1.0, "UPDATE": 1.0, "DELETE": 9.0, "MERGE": 9.0}
"""What a proposal that is wrong takes away, where one that is right gives 1."""
_WORTH_A_LOOK = 0.3
"""Containment from which two packs may be one."""
_WORD = re.compile(r"\w+")
_LONGEST_WORDS, _COMMON = 3, 20
"""Words of a text by which it is compared, unless more packs hold them."""
_MERGE_CONTAINED, _MERGE_ALIKE = 0.9, 0.6
_RESTS_DAYS = 60.0
"""Days without a reading from which a pack may be retired, and the rule asked."""
_UNREAD_DAYS, _NEVER_DAYS, _FADED = 400.0, 730.0, 0.9
"""Days after which what is read once a year was read again, and for what was never read."""
_YEAR_NEEDED = 0.01
_SURE = 0.95
_LIFT = 2.0
"""What is read together four times as often as by chance is as well kept as one as not."""


@dataclass(frozen=True, slots=True)
class PackView:
    """A pack as the rule sees it. blocks: its members that are held, of any status. heir: what took the place of a
    member, by its id. age, unread: days since it was kept, and since it was read last, or kept. needed: how likely it
    is read within a year. faded: the share of members whose relevance is below the threshold.
    """

    usage: PackUsage
    blocks: Mapping[str, Block]
    heirs: Mapping[str, Block]
    age: float
    unread: float
    needed: float
    faded: float

    @property
    def reference(self) -> str:
        """`NAME@VERSION`."""
        return f"{self.usage.pack.name}@{self.usage.pack.version}"


@dataclass(frozen=True, slots=True)
class PackCandidate:
    """An action on packs that may be worth a decision. sure: the rule's confidence; 0 where it is against it."""

    action: PackAction
    packs: tuple[str, ...]
    name: str
    come: tuple[str, ...]
    gone: tuple[str, ...]
    because: str
    features: Mapping[str, float]
    sure: float


FEATURES = (
    "similarity",
    "containment",
    "contradiction",
    "newer",
    "usage",
    "unread",
    "needed",
    "size",
    "trust",
    "faded",
    "superseded",
    "together",
)
"""What is seen of a candidate; what does not apply is 0."""


def candidates(views: Sequence[PackView], read_together: Sequence[ReadTogether]) -> tuple[PackCandidate, ...]:
    """Everything that may be worth a decision, by action and name."""
    found = [one for a, b in _near(views) if (one := _merge(a, b)) is not None]
    found += [one for view in views if (one := _update(view)) is not None]
    found += [_delete(view) for view in views if view.unread >= _RESTS_DAYS]
    found += [one for each in read_together if (one := _add(each, views)) is not None]
    return tuple(sorted(found, key=lambda one: (one.action, one.packs)))


def _near(views: Sequence[PackView]) -> Iterator[tuple[PackView, PackView]]:
    """Pairs that may hold a text of one wording: those that share a block, or one of the longest words of a block."""
    holders: dict[str, set[int]] = {}
    for n, view in enumerate(views):
        for i, block in view.blocks.items():
            words = sorted(set(_WORD.findall(block.content.lower())), key=lambda word: (-len(word), word))
            for key in (i, *words[:_LONGEST_WORDS]):
                holders.setdefault(key, set()).add(n)
    near = {pair for own in holders.values() if len(own) <= _COMMON for pair in combinations(sorted(own), 2)}
    for a, b in sorted(near):
        yield views[a], views[b]


def _merge(a: PackView, b: PackView) -> PackCandidate | None:
    """The one that is read more, then the larger, then the older, stays."""
    kept, gone = sorted(
        (a, b), key=lambda one: (-one.usage.uses, -len(one.blocks), -one.age, one.usage.pack.name)
    )
    texts = [{i: block.content for i, block in one.blocks.items()} for one in (kept, gone)]
    alike = likeness(*texts)
    if alike.containment < _WORTH_A_LOOK:
        return None
    sure = 0.0
    if (
        not alike.differing
        and alike.containment >= _MERGE_CONTAINED
        and alike.jaccard >= _MERGE_ALIKE
        and {len(one.blocks) == len(one.usage.pack.members) for one in (a, b)} == {True}
    ):
        sure = 0.9 + 0.1 * alike.jaccard
    seen = _seen(
        gone,
        similarity=alike.jaccard,
        containment=alike.containment,
        contradiction=alike.differing / max(len(gone.blocks), 1),
        newer=_signed_log(kept.age - gone.age),
    )
    shared = f"{alike.same} of {len(gone.blocks)} members say what {kept.usage.pack.name} says"
    told = shared + (f", {alike.differing} say something else in its words" if alike.differing else "")
    come = tuple(i for i in gone.blocks if i not in kept.blocks)
    return PackCandidate(
        "MERGE",
        (kept.reference, gone.reference),
        kept.usage.pack.name,
        come,
        (),
        told,
        seen,
        min(sure, 1.0),
    )


def _update(view: PackView) -> PackCandidate | None:
    out = tuple(i for i in view.usage.pack.blocks if i in view.heirs)
    if not out:
        return None
    come = tuple(dict.fromkeys(view.heirs[i].id for i in out if view.heirs[i].id not in view.blocks))
    told = f"{len(out)} of {len(view.usage.pack.members)} members are superseded"
    seen = _seen(view, superseded=len(out) / len(view.usage.pack.members))
    return PackCandidate("UPDATE", (view.reference,), view.usage.pack.name, come, out, told, seen, _SURE)


def _delete(view: PackView) -> PackCandidate:
    rests = view.unread >= _UNREAD_DAYS and view.faded >= _FADED
    never = rests and not view.usage.uses and view.age >= _NEVER_DAYS
    over = rests and view.usage.uses > 0 and view.needed < _YEAR_NEEDED
    read = (
        f"read {view.usage.uses} times, last {view.unread:.0f} days ago" if view.usage.uses else "never read"
    )
    told = f"{read}, kept {view.age:.0f} days ago, {view.faded:.0%} of its members faded"
    sure = 1.0 - view.needed if over else _SURE if never else 0.0
    return PackCandidate("DELETE", (view.reference,), view.usage.pack.name, (), (), told, _seen(view), sure)


def _add(each: ReadTogether, views: Sequence[PackView]) -> PackCandidate | None:
    named = {view.usage.pack.name: view for view in views}
    if not all(name in named for name in each.names):
        return None
    own = [named[name] for name in each.names]
    every = dict.fromkeys(i for view in own for i in view.usage.pack.blocks if i in view.blocks)
    if any(every.keys() <= view.blocks.keys() for view in views):
        return None
    told = f"read together in {each.count} sessions, {each.lift:.1f} times as often as by chance"
    seen = _seen(max(own, key=lambda one: one.unread), together=log(each.lift))
    name = " + ".join(each.names)
    references = tuple(one.reference for one in own)
    sure = max(1.0 - _LIFT / each.lift, 0.0)
    return PackCandidate("ADD", references, name[:80].rstrip(), tuple(every), (), told, seen, sure)


def _seen(
    view: PackView,
    *,
    similarity: float = 0.0,
    containment: float = 0.0,
    contradiction: float = 0.0,
    newer: float = 0.0,
    superseded: float = 0.0,
    together: float = 0.0,
) -> dict[str, float]:
    trust = [block.confidence for block in view.blocks.values()]
    values = (
        similarity,
        containment,
        contradiction,
        newer,
        log1p(view.usage.uses),
        log1p(max(view.unread, 0.0)),
        view.needed,
        log1p(view.usage.pack.tokens),
        sum(trust) / max(len(trust), 1),
        view.faded,
        superseded,
        together,
    )
    return dict(zip(FEATURES, values, strict=True))


def _signed_log(days: float) -> float:
    return log1p(abs(days)) * (1.0 if days >= 0 else -1.0)


# --- the order --------------------------------------------------------------------------------------------

Likely = Callable[[PackCandidate], float]
"""How likely a candidate is accepted."""


def worth(candidate: PackCandidate, likely: float) -> float:
    """What proposing it comes to, on average: 1 where it is accepted, less its cost where it is not."""
    return likely - (1.0 - likely) * COST[candidate.action]


def by_rule(candidate: PackCandidate) -> float:
    """The rule's confidence, as if it were a probability."""
    return candidate.sure


def ranked(every: Sequence[PackCandidate], likely: Likely) -> list[PackCandidate]:
    """The candidates, what is worth most first; equal ones by action and name."""
    return sorted(every, key=lambda one: (-worth(one, likely(one)), one.action, one.packs))


@dataclass(frozen=True, slots=True)
class PlacedCandidate:
    """A candidate at its place, and how likely it was to stand there given what stands before it."""

    candidate: PackCandidate
    propensity: float


def explored(
    every: Sequence[PackCandidate], explore: float, chance: random.Random
) -> tuple[PlacedCandidate, ...]:
    """An order that gives each place, with the chance `explore`, to any of what remains, else to the first of it."""
    rest, placed = list(every), []
    while rest:
        at = chance.randrange(len(rest)) if chance.random() < explore else 0
        likely = explore / len(rest) + (1.0 - explore if at == 0 else 0.0)
        placed.append(PlacedCandidate(rest.pop(at), likely))
    return tuple(placed)


def listed(
    every: Sequence[PackCandidate], likely: Likely, explore: float, limit: int | None, chance: random.Random
) -> tuple[tuple[PlacedCandidate, ...], tuple[PackCandidate, ...]]:
    """The list that a policy makes of the candidates, and those that are not in it: all that are worth a decision, or,
    where chance has a say, all there are; at most so many.
    """
    wanted = [one for one in ranked(every, likely) if explore or worth(one, likely(one)) > 0]
    placed = explored(wanted, explore, chance)[:limit]
    told = {(one.candidate.action, one.candidate.packs) for one in placed}
    return placed, tuple(one for one in every if (one.action, one.packs) not in told)


def proposal(
    one: PackCandidate, place: int, propensity: float, likely: float | None, bound: float
) -> PackProposal:
    """A candidate as it is proposed; place 0 for one that is not."""
    return PackProposal(
        None,
        one.action,
        one.packs,
        one.name,
        one.come,
        one.gone,
        one.because,
        one.features,
        one.sure,
        likely,
        bound,
        place,
        propensity,
    )
