"""Learning from packs: new blocks that cite their sources, and versions that hold both. No source is changed. They are
learned from groups of sources that speak of one thing, each small enough to be told in a few sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.identity import block_id, canonical, file_of
from amgs.lifecycle.change import Change
from amgs.lifecycle.merge_split import DERIVED, derived
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder
from amgs.text.embedding_text import embedding_text
from amgs.types import Block, Vector
from amgs.wings.packs.engine.keeping import origins_of
from amgs.wings.packs.engine.learnings import LearningText, in_time, learnings

LEAST, MOST = 2, 8
"""Members of a group."""
_NEIGHBOUR = 0.3
"""What a neighbour of the same file counts beside a text: "Yes, at noon" is about what stands around it."""


def groups(vectors: Vector, files: Sequence[str]) -> list[list[int]]:
    """The rows of (n, d) unit vectors in groups of at most MOST, and at least LEAST where there are so many.

    files: of each row, "" for none; rows of one file stand in its order. A group that is too large is cut across its
    principal direction, where the two sides hang together best (principal direction divisive partitioning, Boley
    1998). Rows rise within a group, groups by their first row.
    """
    around = _around(vectors.astype(np.float64), files)
    made: list[list[int]] = []
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= MOST:
            made += [rows.tolist()] if len(rows) else []
            continue
        centred = around[rows] - around[rows].mean(axis=0)
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        order = np.argsort(centred @ direction, kind="stable")
        cut = _cut(centred[order])
        waiting += [np.sort(rows[order[:cut]]), np.sort(rows[order[cut:]])]
    return sorted(made)


def _around(vectors: NDArray[np.float64], files: Sequence[str]) -> NDArray[np.float64]:
    """(n, d) unit vectors, each with a share of those beside it in its file."""
    beside = np.array([bool(a) and a == b for a, b in pairwise(files)], dtype=np.float64)
    made = vectors.copy()
    made[1:] += _NEIGHBOUR * beside[:, None] * vectors[:-1]
    made[:-1] += _NEIGHBOUR * beside[:, None] * vectors[1:]
    return np.asarray(made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12))


def _cut(ordered: NDArray[np.float64]) -> int:
    """How many rows lie before the cut that leaves the least squared distance to the means of the two sides."""
    sums = ordered.cumsum(axis=0)
    sizes = np.arange(1, len(ordered) + 1)
    first = (sums**2).sum(axis=1) / sizes
    second = ((sums[-1] - sums[:-1]) ** 2).sum(axis=1) / sizes[:-1][::-1]
    gain = (first[:-1] + second)[LEAST - 1 : len(ordered) - LEAST]
    return int(np.argmax(gain)) + LEAST


CITES = "cited_spans"
"""In the metadata of a learning: what of its text is whose, as (at, member, start, end)."""
LIVE = ("raw", "consolidated")


@dataclass(frozen=True, slots=True)
class Consolidation:
    """A plan. stood: learnings that there are already. made: new ones, each with its members. stale: learnings that go,
    because a source of theirs is gone. waiting: ids of sources that are in no learning.
    """

    stood: tuple[Block, ...]
    made: tuple[tuple[Block, tuple[Block, ...]], ...]
    stale: tuple[Block, ...]
    waiting: tuple[str, ...]
    change: Change


def is_learning(block: Block) -> bool:
    """Whether it was learned from others; what is merged or split of others is a source here."""
    return CITES in block.meta and DERIVED in block.meta


def consolidate(
    storage: Storage,
    members: Sequence[Block],
    share: float,
    count: Callable[[str], int],
    embedder: Embedder,
    now: datetime,
) -> Consolidation:
    """What is to be learned from members of packs, that live: from consolidated sources that are in no learning yet."""
    sources = {one.id: one for one in in_time([one for one in members if not is_learning(one)])}
    every = {one.id: one for one in members if is_learning(one)} | _made_of(storage, sources)
    behind = storage.blocks.get(sorted({i for one in every.values() for i in origins_of(one)}))
    live = {i for i, block in behind.items() if block.status in LIVE}
    stood = tuple(one for one in in_time(list(every.values())) if live.issuperset(origins_of(one)))
    stale = tuple(one for one in in_time(list(every.values())) if not live.issuperset(origins_of(one)))
    covered = {i for one in stood for i in origins_of(one)}
    left = [one for one in sources.values() if one.id not in covered]
    # Raw blocks have no vector yet, and no edge may end at one.
    new = [one for one in left if one.status == "consolidated" and one.embedding is not None]
    if len(new) < LEAST:
        return Consolidation(stood, (), stale, tuple(one.id for one in left), _change(storage, (), stale, now))
    vectors = np.stack([one.embedding for one in new if one.embedding is not None])
    parts = groups(vectors, [file_of(str(one.meta.get("source") or "")) for one in new])
    texts = learnings(new, parts, "\n".join(one.content for one in stood), share, count)
    # Equal texts of two groups are one block; the second adds nothing.
    held = {one.id for one in stood}
    drafts = {block.id: (block, text.members) for text in texts if (block := _block(text)).id not in held}
    matrix = embedder.embed([embedding_text(block) for block, _ in drafts.values()])
    made = tuple(
        (replace(block, embedding=vector), own) for (block, own), vector in zip(drafts.values(), matrix, strict=True)
    )
    waiting = tuple(one.id for one in left if one not in new)
    return Consolidation(stood, made, stale, waiting, _change(storage, made, stale, now))


def _made_of(storage: Storage, sources: Mapping[str, Block]) -> dict[str, Block]:
    """The live learnings of these sources and of no others."""
    edges = storage.edges.touching(sources)
    found = storage.blocks.get(sorted({e.source_id for e in edges if e.relation_type == DERIVED}))
    return {
        i: block
        for i, block in found.items()
        if is_learning(block) and block.status in LIVE and sources.keys() >= set(origins_of(block))
    }


def _block(learning: LearningText) -> Block:
    """Without a vector. It is no surer than the least sure of its members, and fades as the slowest of them."""
    members = learning.members
    text = canonical(learning.text)
    kinds = Counter(one.category for one in members)
    return Block(
        id=block_id(text),
        content=text,
        created_at=max(one.created_at for one in members),
        last_reinforced_at=max(one.last_reinforced_at for one in members),
        category=min(kinds, key=lambda kind: (-kinds[kind], kind)),
        confidence=min(one.confidence for one in members),
        decay_lambda=min(one.decay_lambda for one in members),
        status="consolidated",
        is_self_component=any(one.is_self_component for one in members),
        meta={
            "title": learning.title,
            DERIVED: [one.id for one in members],
            CITES: [list(one) for one in learning.cites],
        },
    )


def _change(
    storage: Storage, made: Sequence[tuple[Block, tuple[Block, ...]]], stale: Sequence[Block], now: datetime
) -> Change:
    """A text that was learned before and set aside since comes back as it was."""
    there = storage.blocks.get([block.id for block, _ in made])
    back = [
        (there[one.id], replace(there[one.id], status=one.status, meta=one.meta)) for one, _ in made if one.id in there
    ]
    gone = [(one, replace(one, status="archived")) for one in stale]
    fresh = tuple(one for one, _ in made if one.id not in there)
    cited = tuple((None, derived(block.id, one.id, now)) for block, own in made for one in own)
    return Change((*back, *gone), fresh, edges=cited)
