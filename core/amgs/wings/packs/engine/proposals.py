"""What could be done with packs: candidates, the rule that judges them, and what is worth a decision. Packs as the rule
sees them: which texts of two say the same, what took the place of members, and how long they lie unread.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from rapidfuzz import fuzz, utils

from amgs.decay import hours_between, relevance_at
from amgs.storage.store import Storage
from amgs.text.differences import differ
from amgs.types import Block
from amgs.wings.packs.engine import continuum, keeping
from amgs.wings.packs.engine.continuum import ReadTogether
from amgs.wings.packs.engine.outcome_weights import share_bound
from amgs.wings.packs.store import PackStorage
from amgs.wings.packs.values import Pack, PackAction, PackProposal, PackUsage, PackUse

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


def candidates(views: Sequence[PackView], read_together: Sequence[ReadTogether]) -> tuple[PackProposal, ...]:
    """Everything that may be worth a decision, by action and name; `sure` is 0 where the rule is against it."""
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


def _merge(a: PackView, b: PackView) -> PackProposal | None:
    """The one that is read more, then the larger, then the older, stays."""
    kept, gone = sorted((a, b), key=lambda one: (-one.usage.uses, -len(one.blocks), -one.age, one.usage.pack.name))
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
    shared = f"{alike.same} of {len(gone.blocks)} members say what {kept.usage.pack.name} says"
    told = shared + (f", {alike.differing} say something else in its words" if alike.differing else "")
    come = tuple(i for i in gone.blocks if i not in kept.blocks)
    packs = (kept.reference, gone.reference)
    return _proposal("MERGE", packs, kept.usage.pack.name, come, (), told, min(sure, 1.0))


def _update(view: PackView) -> PackProposal | None:
    out = tuple(i for i in view.usage.pack.blocks if i in view.heirs)
    if not out:
        return None
    come = tuple(dict.fromkeys(view.heirs[i].id for i in out if view.heirs[i].id not in view.blocks))
    told = f"{len(out)} of {len(view.usage.pack.members)} members are superseded"
    return _proposal("UPDATE", (view.reference,), view.usage.pack.name, come, out, told, _SURE)


def _delete(view: PackView) -> PackProposal:
    rests = view.unread >= _UNREAD_DAYS and view.faded >= _FADED
    never = rests and not view.usage.uses and view.age >= _NEVER_DAYS
    over = rests and view.usage.uses > 0 and view.needed < _YEAR_NEEDED
    read = f"read {view.usage.uses} times, last {view.unread:.0f} days ago" if view.usage.uses else "never read"
    told = f"{read}, kept {view.age:.0f} days ago, {view.faded:.0%} of its members faded"
    sure = 1.0 - view.needed if over else _SURE if never else 0.0
    return _proposal("DELETE", (view.reference,), view.usage.pack.name, (), (), told, sure)


def _add(each: ReadTogether, views: Sequence[PackView]) -> PackProposal | None:
    named = {view.usage.pack.name: view for view in views}
    if not all(name in named for name in each.names):
        return None
    own = [named[name] for name in each.names]
    every = dict.fromkeys(i for view in own for i in view.usage.pack.blocks if i in view.blocks)
    if any(every.keys() <= view.blocks.keys() for view in views):
        return None
    told = f"read together in {each.count} of {each.either} sessions, {each.lift:.1f} times as often as by chance"
    name = " + ".join(each.names)
    references = tuple(one.reference for one in own)
    sure = max(1.0 - _LIFT / each.lift, share_bound(each.count, each.either))
    return _proposal("ADD", references, name[:80].rstrip(), tuple(every), (), told, sure)


def _proposal(
    action: PackAction,
    packs: tuple[str, ...],
    name: str,
    come: tuple[str, ...],
    gone: tuple[str, ...],
    because: str,
    sure: float,
) -> PackProposal:
    said = json.dumps([action, *packs], ensure_ascii=False)
    own = hashlib.sha256(said.encode()).hexdigest()[:8]
    return PackProposal(own, action, packs, name, come, gone, because, sure)


def worth(one: PackProposal) -> float:
    """What proposing it comes to, on average, if it is as sure as the rule is: 1 where it is right, less its cost where
    it is wrong.
    """
    return one.sure - (1.0 - one.sure) * COST[one.action]


def proposed(every: Sequence[PackProposal]) -> tuple[PackProposal, ...]:
    """The candidates that are worth a decision, what is worth most first; equal ones by action and name."""
    wanted = [one for one in every if worth(one) > 0]
    return tuple(sorted(wanted, key=lambda one: (-worth(one), one.action, one.packs)))


_SAME = 90.0
"""Ratio of characters, in percent, from which two texts are of one wording."""


@dataclass(frozen=True, slots=True)
class PackLikeness:
    """How far the members of two packs say the same. same: pairs of members, of the first and the second; differing:
    pairs of one wording that say different things.
    """

    same: int
    differing: int
    first: int
    second: int

    @property
    def jaccard(self) -> float:
        """Of all members the share that both have."""
        return self.same / max(self.first + self.second - self.same, 1)

    @property
    def containment(self) -> float:
        """Of the members of the smaller one the share that the other has too."""
        return self.same / max(min(self.first, self.second), 1)


def likeness(first: Mapping[str, str], second: Mapping[str, str]) -> PackLikeness:
    """Of the texts of two packs, by block: those that both have, then the most alike of the others, one to one."""
    same = len(first.keys() & second.keys())
    left = [text for block, text in first.items() if block not in second]
    right = [text for block, text in second.items() if block not in first]
    near = sorted(
        (-ratio, i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if (ratio := fuzz.ratio(a, b, processor=utils.default_process, score_cutoff=_SAME)) > 0
    )
    taken: set[tuple[int, int]] = set()
    differing = 0
    for _, i, j in near:
        if (0, i) in taken or (1, j) in taken:
            continue
        taken |= {(0, i), (1, j)}
        if differ(left[i], right[j]):
            differing += 1
        else:
            same += 1
    return PackLikeness(same, differing, len(first), len(second))


_YEAR = 365.0
_LIVE = ("raw", "consolidated")
_SUCCESSORS = ("superseded_by", "merged_into")
_LONGEST = 32
"""Steps from a block to what holds now."""


def views(
    storage: Storage, packs: Sequence[Pack], uses: Mapping[str, Sequence[PackUse]], now: datetime, threshold: float
) -> tuple[PackView, ...]:
    """Packs with their members, whoever took the place of one, and how likely each is needed within a year.

    uses: by name, the newest first. threshold: relevance below which a block has faded.
    """
    held = storage.blocks.get([i for one in packs for i in one.blocks])
    heirs = {i: heir for i, heir in ((i, _heir(storage, block)) for i, block in held.items()) if heir}
    made = []
    for pack in packs:
        born = PackStorage(storage).versions(pack.name)[0].created_at
        one = keeping.usage(pack, uses.get(pack.name, ()), born, now)
        age = max(hours_between(born, now), 0.0) / 24.0
        unread = max(hours_between(one.last_used or born, now), 0.0) / 24.0
        last = max(age - unread, 0.0) if one.uses else 0.0
        own = {i: held[i] for i in pack.blocks if i in held}
        faded = [relevance_at(block.decay_lambda, block.last_reinforced_at, now) < threshold for block in own.values()]
        made.append(
            PackView(
                one,
                {i: block for i, block in own.items() if block.status in _LIVE},
                {i: heirs[i] for i in own if i in heirs},
                age,
                unread,
                continuum.needed(one.uses, last, age, _YEAR),
                sum(faded) / max(len(faded), 1),
            )
        )
    return tuple(made)


def _heir(storage: Storage, block: Block) -> Block | None:
    """The live block that holds in its place; None where none took it."""
    seen, at = {block.id}, block
    for _ in range(_LONGEST):
        after = next((str(at.meta[key]) for key in _SUCCESSORS if at.meta.get(key)), "")
        found = storage.blocks.get([after]).get(after) if after and after not in seen else None
        if found is None:
            break
        seen.add(found.id)
        at = found
    return at if at is not block and at.status in _LIVE and not at.superseded else None
