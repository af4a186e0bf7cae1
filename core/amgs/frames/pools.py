"""Gather the members of SELF, WORLD (knowledge about a subject) and TASK (what a task needs) (AMGS §4.2).

WORLD and TASK start from the best hits of a search. WORLD adds what is near in meaning and of the same
categories; both follow edges. The reason with each member is shown by `frame why`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from amgs.retrieval.layers import reinforcement
from amgs.retrieval.sources import Numbers, Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.settings import Settings
from amgs.text.words import plural
from amgs.types import Block, BlockFilter, Candidate, SelectionRule

ANCHOR_META = {"anchor": "self"}
"""Metadata that marks a block as the root anchor; `find_anchor` says which block it is where none is marked."""

_OF_SELF = ("value", "preference")
_MOST = 200
"""Number of values and preferences, the last used, among which an anchor is sought."""


@dataclass(frozen=True, slots=True)
class Belonging:
    """Why a block is a member of a frame, whatever the layers of a search say; lower tiers are selected first."""

    because: str
    tier: int = 0


Members = Mapping[int, Belonging]
"""Members of a frame, by the block's number."""


def gather_identity(wanted: BlockFilter, sources: Sources, settings: Settings) -> Members:
    """Return the members of SELF: tagged blocks always; blocks near the anchor, and central and often reinforced ones,
    only where they decay slowly, because identity is what lasts.

    Source: AMGS §10.1.
    """
    tagged = sources.blocks.numbers(replace(wanted, self_only=True)).tolist()
    members = {number: Belonging("tagged as self") for number in tagged}
    near: dict[int, int] = {}
    root = find_anchor(wanted, sources, tagged)
    if root is not None:
        near = sources.graph.view().distances(root, settings.identity.anchor_distance)
    central = _central(sources, settings.identity.threshold)
    allowed = sources.blocks.numbers(wanted)
    numbers = np.array(sorted((near.keys() | central.keys()) - set(tagged)), dtype=np.int64)
    for stored in sources.blocks.read_blocks(numbers[np.isin(numbers, allowed)].tolist()):
        if stored.block.decay_lambda > settings.decay.profiles.durable:
            continue
        strength = (central.get(stored.number, 0.0) + reinforcement(stored.reinforcements)) / 2
        if stored.number in near:
            hops = near[stored.number]
            rule = f"{plural(hops, 'hop')} from the anchor" if hops else "the anchor: the most central of its kind"
            members[stored.number] = Belonging(rule, 1)
        elif strength >= settings.identity.threshold:
            members[stored.number] = Belonging(f"central and reinforced ({strength:.2f})", 2)
    return members


def find_anchor(wanted: BlockFilter, sources: Sources, tagged: list[int]) -> int | None:
    """Return the number of the root anchor: the marked block, else the most central tagged block, else the most central
    of the operator's values and preferences; ties to the oldest, None where there is none.
    """
    marked = sources.blocks.numbers(replace(wanted, meta={**wanted.meta, **ANCHOR_META})).tolist()
    if marked:
        return int(marked[0])
    roots = tagged or _own_statements(wanted, sources)
    importance = sources.graph.importance(roots)
    return min(roots, key=lambda number: (-importance[number], number), default=None)


def _own_statements(wanted: BlockFilter, sources: Sources) -> list[int]:
    """Return numbers of values and preferences without an author or speaker: the operator's own."""
    stored = sources.blocks.read_blocks(
        sources.blocks.numbers(replace(wanted, categories=_OF_SELF), limit=_MOST).tolist()
    )
    signs = ("author", "speaker")
    return [s.number for s in stored if s.block.category in _OF_SELF and not any(map(s.block.meta.get, signs))]


def _central(sources: Sources, threshold: float) -> dict[int, float]:
    """Return the centrality, by number, of blocks that can reach the threshold on the mean of centrality and
    reinforcement, which is under 1.
    """
    standing = sources.graph.standing()
    enough = standing.scores >= max(2 * threshold - 1, 1e-9)
    return dict(zip(standing.numbers[enough].tolist(), standing.scores[enough].tolist(), strict=True))


FIRST, FIRST_OF_A_TASK = 10, 4
"""Number of hits from which WORLD and TASK go on."""

BESIDE = 20
"""Number of nearest blocks in meaning that each of these hits adds."""

NEAR = 0.45
"""Least cosine of those blocks."""

OF_TASKS = ("task", "decision", "procedure")
"""Categories of a task, and tags that say so."""


def gather_known(query: str, wanted: BlockFilter, rule: SelectionRule, sources: Sources) -> Members:
    """Return the members of WORLD: the best hits, blocks of their categories near them in meaning, and blocks that
    their edges lead to. Without words in the query: the last used blocks.
    """
    hits = _hits(query, wanted, rule, sources)
    if not any(map(str.isalnum, query)):
        return {number: Belonging("the last used of what is known") for number, _ in hits}
    first = hits[:FIRST]
    members = {number: Belonging(f"hit {place} of the search") for place, (number, _) in enumerate(first, 1)}
    kinds = tuple(sorted({hit.block.category for _, hit in first}))
    clustered = sources.blocks.numbers(replace(wanted, categories=kinds))
    vectors = sources.vectors.vectors(list(members))
    if vectors:
        near = sources.vectors.nearest(np.stack(list(vectors.values())), BESIDE, floor=NEAR, allowed=clustered)
        titles = {number: hit.block.title for number, hit in first}
        for number, row, cosines in zip(vectors, near.rows.tolist(), near.cosines.tolist(), strict=True):
            for beside, cosine in zip(row, cosines, strict=True):
                if beside >= 0:
                    members.setdefault(beside, Belonging(f"near “{titles[number]}” in meaning ({cosine:.2f})"))
    return _walk_edges(members, first, sources.blocks.numbers(wanted), rule.hops, sources)


def gather_task(query: str, wanted: BlockFilter, rule: SelectionRule, sources: Sources) -> Members:
    """Return the members of TASK: tasks, decisions and procedures among the hits, the best hits of any kind, and blocks
    that their edges lead to. Without words in the query: all tasks, decisions and procedures, up to the pool's size.
    """
    hits = _hits(query, wanted, rule, sources)
    members = {number: Belonging(reason) for number, hit in hits if (reason := _task_reason(hit.block))}
    if any(map(str.isalnum, query)):
        for place, (number, _) in enumerate(hits[:FIRST_OF_A_TASK], 1):
            members.setdefault(number, Belonging(f"hit {place} of the search"))
    else:
        every = sources.blocks.numbers(replace(wanted, categories=OF_TASKS), limit=rule.pool)
        for stored in sources.blocks.read_blocks(every.tolist()):
            members.setdefault(stored.number, Belonging(_task_reason(stored.block)))
    first = [(number, hit) for number, hit in hits if number in members][:FIRST] or hits[:FIRST]
    return _walk_edges(members, first, sources.blocks.numbers(wanted), rule.hops, sources)


def _hits(query: str, wanted: BlockFilter, rule: SelectionRule, sources: Sources) -> list[tuple[int, Candidate]]:
    """Return a search's hits with a similarity of at least `similarity_share` of the best; without words, the last
    used blocks.
    """
    gathered = gather(RetrievalRequest(query, wanted, recent=rule.pool, most=rule.pool), sources)
    least = rule.similarity_share * max((hit.parts.similarity for hit in gathered.candidates), default=0.0)
    return [(gathered.numbers[hit.block.id], hit) for hit in gathered.candidates if hit.parts.similarity >= least]


def _task_reason(block: Block) -> str:
    """Return why a block belongs to a task, such as `a decision` or `tagged task`; "" where it does not."""
    kind = next((kind for kind in block.categories if kind in OF_TASKS), "")
    tag = next((tag for tag in map(str, block.meta.get("tags") or ()) if tag.lower() in OF_TASKS), "")
    return f"a {kind}" if kind else f"tagged {tag}" if tag else ""


def _walk_edges(
    members: dict[int, Belonging], first: Iterable[tuple[int, Candidate]], allowed: Numbers, hops: int, sources: Sources
) -> Members:
    """Return the members with the allowed blocks within `hops` edges of the first hits, the nearest first."""
    inside = set(allowed.tolist())
    view = sources.graph.view()
    steps = [(far, n, hit.block.title) for number, hit in first for n, far in view.distances(number, hops).items()]
    for far, number, title in sorted(steps, key=lambda step: step[0]):
        if number in inside:
            members.setdefault(number, Belonging(f"{plural(far, 'hop')} from “{title}”"))
    return members
