"""Gather the members of WORLD (knowledge about a subject) and TASK (what a task needs) (AMGS §4.2).

Both start from the best hits of a search. WORLD adds what is near in meaning and of the same categories; both follow
edges. The reason with each member is shown by `frame why`.
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
        for stored in sources.blocks.stored(every.tolist()):
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
