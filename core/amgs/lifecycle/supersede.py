"""What a later block may have made obsolete, and what two blocks cannot both have right.

Found by rules that know English and no subject; never resolved without the operator. A superseded block stays,
marked with its successor and the instant.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from amgs.clock import as_utc
from amgs.decay import PROFILES
from amgs.errors import UsageError
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.linking import LINKS_TO, MENTIONS_SAME
from amgs.model import Block, BlockFilter, Edge, Operation, Review, Vector
from amgs.settings import ReviewSettings
from amgs.store import block_columns
from amgs.store import blocks as stored_blocks
from amgs.store import edges as stored_edges
from amgs.store import reviews as stored_reviews
from amgs.store.connection import Store
from amgs.text.claims import Claim, Value, claims, terms

FOUND, DECIDED = "review", "review verdict"
SUPERSEDES, CONTRADICTS = "supersedes", "contradicts"
_LIVE = BlockFilter(statuses=("consolidated",))
_EVENTS = frozenset({"observation", "dialogue", "task"})
_ROWS = 512


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """Findings that would enter the queue; nothing has happened yet. compared: pairs of blocks held together."""

    found: tuple[Review, ...]
    compared: int
    made_at: datetime
    change_counter: int


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A finding with the two blocks that it is about."""

    review: Review
    older: Block
    newer: Block


# --- finding ----------------------------------------------------------------------------------------------


def plan(store: Store, settings: ReviewSettings, *, now: datetime, change_counter: int) -> ReviewPlan:
    """What a look at the whole store finds that is not in the queue yet, the surest first; changes nothing."""
    blocks = {b.id: b for b in stored_blocks.select(store, _LIVE, order="arrival")}
    held = block_columns.embeddings(store, wanted=_LIVE)
    edges = [e for e in stored_edges.everything(store) if e.source_id in blocks and e.target_id in blocks]
    known = {(r.older_id, r.newer_id) for r in stored_reviews.everything(store)}
    rows = [blocks[str(i)] for i in held.ids]
    together = _pairs(rows, held.matrix, edges, settings)
    rarity = _rarity(blocks.values())
    linked = {(e.source_id, e.target_id) for e in edges if e.relation_type == LINKS_TO}
    first = stored_reviews.next_id(store)
    found = []
    for (a, b), cosine in together.items():
        older, newer = sorted((blocks[a], blocks[b]), key=lambda x: (x.created_at, x.id))
        if (older.id, newer.id) in known or older.meta.get("superseded_by") == newer.id:
            continue
        verdict = judge(older, newer, cosine, (newer.id, older.id) in linked, rarity, settings)
        if verdict is not None and verdict[1] >= settings.confidence:
            kind, sure, because = verdict
            found.append((sure, older.id, newer.id, kind, because))
    found.sort(key=lambda f: (-f[0], f[1], f[2]))
    reviews = tuple(
        Review(first + n, kind, older_id, newer_id, because, round(sure, 4), now)  # type: ignore[arg-type]
        for n, (sure, older_id, newer_id, kind, because) in enumerate(found)
    )
    return ReviewPlan(reviews, len(together), now, change_counter)


def _pairs(
    blocks: Sequence[Block], matrix: Vector, edges: Iterable[Edge], settings: ReviewSettings
) -> dict[tuple[str, str], float]:
    """Pairs that may speak of one subject, with their cosine: near in meaning, linked, or sharing rare names.

    Pieces of one source are left out: who tells a thing from end to end may name the old value and the new.
    """
    at = {b.id: row for row, b in enumerate(blocks)}
    found: dict[tuple[str, str], float] = {}

    def add(i: int, j: int) -> None:
        a, b = blocks[i], blocks[j]
        if i != j and _origin(a) != _origin(b):
            key = (a.id, b.id) if a.id < b.id else (b.id, a.id)
            found[key] = float(matrix[i] @ matrix[j])

    wanted = min(settings.nearest, len(blocks) - 1)
    for start in range(0, len(blocks) if wanted > 0 else 0, _ROWS):
        cosines = matrix[start : start + _ROWS] @ matrix.T
        rows = np.arange(cosines.shape[0])
        cosines[rows, start + rows] = -2.0
        best = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
        for row in rows:
            for j in best[row].tolist():
                if cosines[row, j] >= settings.cosine:
                    add(start + int(row), j)
    for e in edges:
        if e.relation_type in (LINKS_TO, MENTIONS_SAME) and e.source_id in at and e.target_id in at:
            add(at[e.source_id], at[e.target_id])
    return found


def _origin(block: Block) -> str:
    return str(block.meta.get("source") or block.id).partition("#")[0]


def _rarity(blocks: Iterable[Block]) -> Mapping[str, float]:
    """ln((n + 1) / blocks that hold the term) of every term."""
    held: Counter[str] = Counter()
    n = 0
    for block in blocks:
        n += 1
        held.update(_topic(block))
    return {term: math.log((n + 1) / count) for term, count in held.items()}


def _topic(block: Block) -> frozenset[str]:
    return terms(f"{block.title}\n{block.content}")


def judge(
    older: Block,
    newer: Block,
    cosine: float,
    linked: bool,
    rarity: Mapping[str, float],
    settings: ReviewSettings,
) -> tuple[str, float, str] | None:
    """(kind, how sure, because) of the strongest finding between two blocks, None for none.

    linked: the newer one refers to the older.
    """
    best: tuple[str, float, str] | None = None
    titles = terms(older.title), terms(newer.title)
    event = bool(_EVENTS & {older.category, newer.category})
    apart = (newer.created_at - older.created_at).total_seconds() / 3600.0
    for one in claims(older.content):
        for two in claims(newer.content):
            subject = _shared(one.subject | titles[0], two.subject | titles[1], rarity)
            own = _shared(one.subject, two.subject, rarity)
            if subject < settings.subject and not (linked and two.change):
                continue
            cue = two.change or ("a later decision" if newer.category == "decision" else "")
            found = _between(one, two, cue, subject, own, event and apart > settings.event_hours)
            if found is not None:
                kind, sure, because = found
                sure = min(0.95, sure + (0.1 if linked else 0.0) + 0.1 * max(0.0, cosine - settings.cosine))
                if best is None or sure > best[1]:
                    best = (kind, sure, because)
    return best


def _between(
    one: Claim, two: Claim, cue: str, subject: float, own: float, other_event: bool
) -> tuple[str, float, str] | None:
    for a in one.values:
        named = [v for v in two.values if v.kind == a.kind and v.amount == a.amount and v.replaced]
        fresh = [v for v in two.values if _rivals(a, v, two.values, one.values)]
        if named and fresh:
            return SUPERSEDES, 0.65 + 0.3 * subject, f"“{_cut(two.text)}” puts {fresh[0].text} for {a.text}"
        if not fresh:
            continue
        told = f"{a.text} in “{_cut(one.text)}”, {fresh[0].text} in “{_cut(two.text)}”"
        if cue:
            return SUPERSEDES, 0.4 + 0.5 * subject, f"{_said(two, cue)}: {told}"
        if not other_event and own > 0.0:
            return CONTRADICTS, 0.25 + 0.5 * subject + 0.2 * own, told
    if two.change and own >= 0.35 and subject >= 0.35:
        return SUPERSEDES, 0.3 + 0.5 * own, f"“{two.change}” in “{_cut(two.text)}”, of “{_cut(one.text)}”"
    if not other_event and one.negated != two.negated and own >= 0.6 and len(one.subject & two.subject) >= 3:
        return CONTRADICTS, 0.6 * own, f"“{_cut(one.text)}” against “{_cut(two.text)}”"

    return None


def _said(claim: Claim, cue: str) -> str:
    return f"“{cue}”" if claim.change else cue


def _rivals(a: Value, b: Value, theirs: Sequence[Value], ours: Sequence[Value]) -> bool:
    """Whether b stands where a stood: of one kind, beside the same word, different, and neither is on both sides."""
    if a.kind != b.kind or a.amount == b.amount or b.replaced:
        return False
    if a.kind in ("number", "ordinal") and not a.beside & b.beside:
        return False
    mine = {v.amount for v in ours if v.kind == a.kind}
    other = {v.amount for v in theirs if v.kind == a.kind and not v.replaced}
    return b.amount not in mine and a.amount not in other


def _shared(a: frozenset[str], b: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The rarer words that two sentences share over those of the poorer one, in [0, 1]; one word is no subject."""
    both = a & b
    if len(both) < 2:
        return 0.0
    least = min(sum(rarity.get(t, 0.0) for t in side) for side in (a, b))
    return min(1.0, sum(rarity.get(t, 0.0) for t in both) / least) if least > 0 else 0.0


def _cut(text: str, length: int = 90) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


# --- the queue --------------------------------------------------------------------------------------------


def enqueue(store: Store, proposal: ReviewPlan, now: datetime) -> Operation:
    """Put findings into the queue, journalled: undo takes them out again.

    Raises UsageError when another look has filled the queue since.
    """
    with store.transaction():
        if proposal.found and proposal.found[0].id != stored_reviews.next_id(store):
            raise UsageError(
                "Another look has filled the queue since.",
                title="The plan is out of date",
                way_out="Look again.",
            )
        counts = Counter(r.kind for r in proposal.found)
        said = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())) or "nothing new"
        done = carry_out(store, FOUND, Change(), f"found: {said}", now)
        stored_reviews.add(store, proposal.found, done.id)
        return done


def queue(store: Store, *, every: bool = False, limit: int | None = None) -> tuple[ReviewItem, ...]:
    """Findings with their blocks, open ones, or also those decided."""
    reviews = [r for r in stored_reviews.everything(store) if every or r.state == "open"]
    ids = {i for r in reviews for i in (r.older_id, r.newer_id)}
    # Of a pruned block there is nothing to decide; undoing the pruning brings the finding back.
    blocks = {i: b for i, b in stored_blocks.get(store, ids).items() if b.status != "pruned"}
    there = [r for r in reviews if r.older_id in blocks and r.newer_id in blocks]
    return tuple(ReviewItem(r, blocks[r.older_id], blocks[r.newer_id]) for r in there[:limit])


def accept(store: Store, review_id: int, now: datetime) -> Operation:
    """Carry a finding out: an edge, and where it supersedes, the older block is marked and stays.

    Raises UsageError for a finding that is not open.
    """
    item = _open(store, review_id)
    relation = item.review.kind
    edge = Edge(
        item.newer.id,
        item.older.id,
        relation,
        1.0,
        item.review.confidence,
        now,
        now,
        PROFILES["core"],
    )
    changed: tuple[tuple[Block, Block], ...] = ()
    if relation == SUPERSEDES:
        marks = {"superseded_by": item.newer.id, "superseded_at": as_utc(item.newer.created_at).isoformat()}
        changed = ((item.older, replace(item.older, meta={**item.older.meta, **marks})),)
    told = f"{item.newer.id[:8]} {relation} {item.older.id[:8]} (review {review_id})"
    return _decide(store, item, "accepted", Change(changed, edges=((None, edge),)), told, now)


def reject(store: Store, review_id: int, now: datetime) -> Operation:
    """Say that a finding is none: it is not proposed again. Raises UsageError for one that is not open."""
    item = _open(store, review_id)
    told = f"{item.newer.id[:8]} does not {item.review.kind.removesuffix('s')} {item.older.id[:8]} (review {review_id})"
    return _decide(store, item, "rejected", Change(), told, now)


def _decide(
    store: Store, item: ReviewItem, verdict: str, change: Change, told: str, now: datetime
) -> Operation:
    with store.transaction():
        done = carry_out(store, DECIDED, change, told, now)
        stored_reviews.decide(store, item.review.id, verdict, done.id)
        return done


def _open(store: Store, review_id: int) -> ReviewItem:
    found = next((i for i in queue(store, every=True) if i.review.id == review_id), None)
    if found is None:
        raise UsageError(f"There is no review {review_id}.", way_out="`review list` shows the queue.")
    if found.review.state != "open":
        undo = f"`undo {found.review.operation}` opens it again."
        raise UsageError(f"Review {review_id} is {found.review.state} already.", way_out=undo)
    return found
