"""Candidate pools of WORLD and TASK: knowledge about a subject, and needs of a task (AMGS §4.2).

Each begins with the first hits of a search and walks on from there, one by meaning and category, the other by edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from amgs.frames.self import Belonging, Members
from amgs.retrieval.sources import Numbers, Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.text.plural import plural
from amgs.types import Block, BlockFilter, Candidate, SelectionRule

FIRST, FIRST_OF_A_TASK = 10, 4
"""So many hits of a search are walked on from."""

BESIDE = 20
"""So many blocks are taken for near each of them in meaning."""

NEAR = 0.45
"""Least cosine of what is near in meaning."""

OF_TASKS = ("task", "decision", "procedure")
"""Categories of a task, and tags that say so."""


def gather_known(query: str, wanted: BlockFilter, rule: SelectionRule, sources: Sources) -> Members:
    """Return what is known about the query: the first hits, what of their categories is near to them in meaning, and
    what their edges lead to; without words everything is known.
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
    """Return what a task needs: tasks, decisions and procedures that the search finds for it, the first hits, and what
    the edges of these lead to.
    """
    hits = _hits(query, wanted, rule, sources)
    members = {number: Belonging(reason) for number, hit in hits if (reason := _for_tasks(hit.block))}
    if any(map(str.isalnum, query)):
        for place, (number, _) in enumerate(hits[:FIRST_OF_A_TASK], 1):
            members.setdefault(number, Belonging(f"hit {place} of the search"))
    else:
        every = sources.blocks.numbers(replace(wanted, categories=OF_TASKS), limit=rule.pool)
        for stored in sources.blocks.stored(every.tolist()):
            members.setdefault(stored.number, Belonging(_for_tasks(stored.block)))
    first = [(number, hit) for number, hit in hits if number in members][:FIRST] or hits[:FIRST]
    return _walk_edges(members, first, sources.blocks.numbers(wanted), rule.hops, sources)


def _hits(query: str, wanted: BlockFilter, rule: SelectionRule, sources: Sources) -> list[tuple[int, Candidate]]:
    """Return what a search finds, as far as it is like the best of it; without words the last used."""
    gathered = gather(RetrievalRequest(query, wanted, recent=rule.pool, most=rule.pool), sources)
    least = rule.similarity_share * max((hit.parts.similarity for hit in gathered.candidates), default=0.0)
    return [(gathered.numbers[hit.block.id], hit) for hit in gathered.candidates if hit.parts.similarity >= least]


def _for_tasks(block: Block) -> str:
    """`a decision`, `tagged task`; empty for a block that is of no task."""
    kind = next((kind for kind in block.categories if kind in OF_TASKS), "")
    tag = next((tag for tag in map(str, block.meta.get("tags") or ()) if tag.lower() in OF_TASKS), "")
    return f"a {kind}" if kind else f"tagged {tag}" if tag else ""


def _walk_edges(
    members: dict[int, Belonging], first: Iterable[tuple[int, Candidate]], allowed: Numbers, hops: int, sources: Sources
) -> Members:
    """Return the members with what lies within some hops of the first hits, the nearest first."""
    inside = set(allowed.tolist())
    view = sources.graph.view()
    steps = [(far, n, hit.block.title) for number, hit in first for n, far in view.distances(number, hops).items()]
    for far, number, title in sorted(steps, key=lambda step: step[0]):
        if number in inside:
            members.setdefault(number, Belonging(f"{plural(far, 'hop')} from “{title}”"))
    return members
