"""Find pairs of blocks where the later supersedes, contradicts or repeats the earlier, and queue them for review.

`conflict` and `similarity` find them; the operator accepts or rejects each. A superseded block stays, marked with its
successor and the instant; two merged blocks are archived beside the merged block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from amgs.decay import PROFILES
from amgs.errors import UsageError
from amgs.identity import file_of
from amgs.index.neighbours import nearest
from amgs.lifecycle.annotate import mark_superseded
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.conflict import (
    COSINE,
    EVENT_HOURS,
    EVENTS,
    SUPERSEDES,
    Words,
    find_conflict,
    subject_words,
    topic_words,
)
from amgs.lifecycle.linking import LINKS_TO, MENTIONS_SAME
from amgs.lifecycle.merge_split import merge
from amgs.lifecycle.similarity import Pair, find_pairs
from amgs.storage.store import Storage
from amgs.text.claims import claims
from amgs.text.embedding import Embedder
from amgs.text.prose import statements
from amgs.types import STATUSES, Block, BlockFilter, Edge, JournalEntry, Progress, Review, Vector
from amgs.types.lifecycle import LikelyReplacement

NEAREST = 12
"""Number of nearest blocks by cosine with which each block is compared."""

CONFIDENCE = 0.5
"""Least confidence of a finding in the queue."""

ALIKE = 0.3
"""Share of words, by weight, from which a text that reports a change may replace another."""

MERGES = "merges"
FOUND, DECIDED = "review", "review verdict"
_COUNTED = {"contradicts": "contradicting", "merges": "to merge", "supersedes": "superseding"}
_LIVE = BlockFilter(statuses=("consolidated",), current=True)
_ROWS = 512
_FEW = 12
"""Number of blocks with a word up to which sharing it makes them candidates."""


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """Findings that would be queued; nothing is written yet. compared: number of pairs of blocks compared."""

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


def plan(storage: Storage, *, now: datetime, change_counter: int, progress: Progress | None = None) -> ReviewPlan:
    """Scan the whole store for findings that are not in the queue yet, the most confident first; changes nothing.

    Raises Cancelled when the operator stops it.
    """
    blocks = {b.id: b for b in storage.blocks.select(_LIVE, order="arrival")}
    columns = storage.block_columns.embeddings(wanted=_LIVE)
    edges = [e for e in storage.edges.everything() if e.source_id in blocks and e.target_id in blocks]
    queued = storage.reviews.everything()
    known = {(r.older_id, r.newer_id) for r in queued}
    # Which of two is later may change when a text is said again; a rejected pair stays rejected either way.
    known |= {(r.newer_id, r.older_id) for r in queued if r.state == "rejected"}
    either = known | {(newer_id, older_id) for older_id, newer_id in known}
    rows = [blocks[str(i)] for i in columns.ids]
    together = _candidate_pairs(rows, columns.matrix, edges, progress)
    words = Words.of(blocks.values())
    linked = {(e.source_id, e.target_id) for e in edges if e.relation_type == LINKS_TO}
    first = storage.reviews.next_id()
    findings = []
    for number, ((a, b), cosine) in enumerate(together.items()):
        if progress is not None and not number % _ROWS:
            progress(number, len(together), "comparing pairs")
        older, newer = sorted((blocks[a], blocks[b]), key=lambda x: (x.said_at, x.id))
        if (older.id, newer.id) in known or older.meta.get("superseded_by") == newer.id:
            continue
        verdict = find_conflict(older, newer, cosine, (newer.id, older.id) in linked, words)
        if verdict is None or verdict[1] < CONFIDENCE:
            continue
        kind, sure, because = verdict
        if kind == SUPERSEDES or (older.id, newer.id) not in either:
            findings.append((sure, older.id, newer.id, kind, because))
    taken = either | {(older_id, newer_id) for _, older_id, newer_id, _, _ in findings}
    findings += [
        (pair.confidence, pair.a.id, pair.b.id, MERGES, f"{pair.wording:.0%} of the wording is shared")
        for pair in find_pairs(rows, columns.matrix, progress)
        if pair.kind != "overlap" and (pair.a.id, pair.b.id) not in taken and not _are_different_events(pair)
    ]
    findings.sort(key=lambda f: (-f[0], f[1], f[2]))
    reviews = tuple(
        Review(first + n, kind, older_id, newer_id, because, round(sure, 4), now)  # type: ignore[arg-type]
        for n, (sure, older_id, newer_id, kind, because) in enumerate(findings)
    )
    return ReviewPlan(reviews, len(together), now, change_counter)


def _are_different_events(pair: Pair) -> bool:
    """Return whether two blocks report different events, since they are too far apart in time."""
    return {pair.a.category, pair.b.category} <= EVENTS and pair.hours > EVENT_HOURS


def _candidate_pairs(
    blocks: Sequence[Block], matrix: Vector, edges: Iterable[Edge], progress: Progress | None
) -> dict[tuple[str, str], float]:
    """Return pairs that may be about the same subject, by ids, with their cosine: near in meaning, linked, or sharing
    rare words.

    Parts of the same source are left out, since a text may name both the old value and the new.
    """
    at = {b.id: row for row, b in enumerate(blocks)}
    origins = [_source_file(b) for b in blocks]
    cosines: dict[tuple[str, str], float] = {}

    def add(i: int, j: int) -> None:
        a, b = blocks[i].id, blocks[j].id
        if i != j and origins[i] != origins[j]:
            cosines[(a, b) if a < b else (b, a)] = float(matrix[i] @ matrix[j])

    for start in range(0, len(blocks), _ROWS):
        if progress is not None:
            progress(start, len(blocks), "finding similar blocks")
        near = nearest(matrix[start : start + _ROWS], matrix, NEAREST + 1, floor=COSINE)
        for row, others in enumerate(near.rows.tolist()):
            for j in others:
                if j >= 0:
                    add(start + row, j)
    for e in edges:
        if e.relation_type in (LINKS_TO, MENTIONS_SAME) and e.source_id in at and e.target_id in at:
            add(at[e.source_id], at[e.target_id])
    for i, j in _rare_pairs(blocks):
        add(i, j)
    return cosines


def _rare_pairs(blocks: Sequence[Block]) -> Iterable[tuple[int, int]]:
    """Return the pairs, as indexes, that share two rare words, or a rare word in both titles."""
    holders: dict[str, list[int]] = {}
    titles = [subject_words(b) for b in blocks]
    for row, block in enumerate(blocks):
        for word in topic_words(block):
            holders.setdefault(word, []).append(row)
    shared: Counter[tuple[int, int]] = Counter()
    for word, rows in holders.items():
        if len(rows) > _FEW:
            continue
        for n, i in enumerate(rows):
            for j in rows[n + 1 :]:
                shared[i, j] += 2 if word in titles[i] and word in titles[j] else 1
    return (pair for pair, count in shared.items() if count >= 2)


def _source_file(block: Block) -> str:
    return file_of(str(block.meta.get("source") or block.id))


def find_likely_replaced(newer: Block, others: Sequence[Block]) -> LikelyReplacement | None:
    """Return the block that a new text probably replaces; None for none.

    others: hits for the new text, the best first. Takes the hit that a review would call superseded or contradicted;
    else the best hit, where the new text reports a change and both share enough words.
    """
    earlier = [older for older in others if older.said_at <= newer.said_at]
    words = Words.of((newer, *earlier))
    findings = [(find_conflict(older, newer, COSINE, False, words), older) for older in earlier]
    sure = [(finding, older) for finding, older in findings if finding and finding[1] >= CONFIDENCE]
    if sure:
        (_, _, because), older = max(sure, key=lambda pair: pair[0][1])
        return LikelyReplacement(newer.id, older.id, older.title, because)
    changed = [
        claim
        for claim in claims(statements(newer.content))
        if claim.change or claim.end or claim.moves or claim.retired
    ]
    if changed and earlier and words.measure_shared(topic_words(newer), topic_words(earlier[0]), least=1) >= ALIKE:
        because = f"“{changed[0].text}” says that something changed"
        return LikelyReplacement(newer.id, earlier[0].id, earlier[0].title, because)
    return None


# --- the queue --------------------------------------------------------------------------------------------


def enqueue(storage: Storage, proposal: ReviewPlan, now: datetime) -> JournalEntry:
    """Add findings to the queue, journalled, so that they can be undone.

    Raises UsageError when another scan has filled the queue since.
    """
    with storage.transaction():
        if proposal.found and proposal.found[0].id != storage.reviews.next_id():
            raise UsageError(
                "The queue was refilled by another scan since.", title="The plan is out of date", way_out="Look again."
            )
        counts = Counter(r.kind for r in proposal.found)
        summary = ", ".join(f"{n} {_COUNTED[kind]}" for kind, n in sorted(counts.items())) or "nothing new"
        done = carry_out(storage, FOUND, Change(), f"found: {summary}", now)
        storage.reviews.add(proposal.found, done.id)
        return done


def queue(storage: Storage, *, every: bool = False, limit: int | None = None) -> tuple[ReviewItem, ...]:
    """Return the open findings with their blocks. every: decided ones too."""
    reviews = [r for r in storage.reviews.everything() if every or r.state == "open"]
    ids = {i for r in reviews for i in (r.older_id, r.newer_id)}
    # A finding about a pruned block is hidden; undoing the pruning shows it again.
    blocks = {i: b for i, b in storage.blocks.get(ids).items() if b.status != "pruned"}
    shown = [
        r
        for r in reviews
        if r.older_id in blocks
        and r.newer_id in blocks
        # Hidden too: a finding whose older text was said again since, so that it is the later text now.
        and not (
            r.state == "open" and r.kind == SUPERSEDES and _is_order_reversed(blocks[r.older_id], blocks[r.newer_id])
        )
    ]
    return tuple(ReviewItem(r, blocks[r.older_id], blocks[r.newer_id]) for r in shown[:limit])


def _is_order_reversed(older: Block, newer: Block) -> bool:
    return "said_at" in older.meta and older.said_at > newer.said_at


def accept(storage: Storage, review_id: int, now: datetime, embedder: Embedder) -> JournalEntry:
    """Accept a finding: add its edge and, for a superseding finding, mark the older block; or merge the two blocks.

    Raises UsageError for a finding that is not open, and for a merge of blocks that are no longer consolidated.
    """
    item = _open_finding(storage, review_id)
    relation = item.review.kind
    if relation == MERGES:
        summary = f"{item.newer.id[:8]} merged with {item.older.id[:8]} (review {review_id})"
        return _decide(storage, item, "accepted", _merge(storage, item, embedder, now), summary, now)
    edge = Edge(item.newer.id, item.older.id, relation, 1.0, item.review.confidence, now, now, PROFILES["core"])
    changed: tuple[tuple[Block, Block], ...] = ()
    if relation == SUPERSEDES:
        changed = ((item.older, mark_superseded(item.older, item.newer, now)),)
    summary = f"{item.newer.id[:8]} {relation} {item.older.id[:8]} (review {review_id})"
    return _decide(storage, item, "accepted", Change(changed, edges=((None, edge),)), summary, now)


def _merge(storage: Storage, item: ReviewItem, embedder: Embedder, now: datetime) -> Change:
    """Return the change that merges a finding's blocks; raise UsageError where that is no longer possible."""
    ends = (item.older, item.newer)
    gone = [block for block in ends if block.status != "consolidated"]
    if gone:
        raise UsageError(
            f"{gone[0].id[:8]} is {gone[0].status}, so there is nothing to merge.",
            way_out=f"Reject finding {item.review.id} to take it out of the queue.",
            about="review",
        )
    edges = storage.edges.touching([block.id for block in ends])
    every = BlockFilter(statuses=STATUSES)
    known = frozenset(str(i) for i in storage.block_columns.facts(every).ids)
    change = merge(item.older, item.newer, edges, known, embedder, now)
    if change == Change():
        raise UsageError(
            "The merged text is already stored in another block.",
            way_out=f"Reject finding {item.review.id} to take it out of the queue.",
            about="review",
        )
    return change


def reject(storage: Storage, review_id: int, now: datetime) -> JournalEntry:
    """Reject a finding, which is then not proposed again. Raises UsageError for a finding that is not open."""
    item = _open_finding(storage, review_id)
    summary = (
        f"{item.newer.id[:8]} does not {item.review.kind.removesuffix('s')} {item.older.id[:8]} (review {review_id})"
    )
    return _decide(storage, item, "rejected", Change(), summary, now)


def _decide(
    storage: Storage, item: ReviewItem, verdict: str, change: Change, summary: str, now: datetime
) -> JournalEntry:
    """Write a finding's change and its verdict in a single transaction."""
    with storage.transaction():
        done = carry_out(storage, DECIDED, change, summary, now)
        storage.reviews.decide(item.review.id, verdict, done.id)
        return done


def _open_finding(storage: Storage, review_id: int) -> ReviewItem:
    """Return an open finding by its number; raise UsageError where it is unknown or decided."""
    review_item = next((i for i in queue(storage, every=True) if i.review.id == review_id), None)
    if review_item is None:
        raise UsageError(
            f"There is no finding {review_id}.", way_out="Choose a finding from the review queue.", about="review"
        )
    if review_item.review.state != "open":
        undo = f"Undo operation {review_item.review.operation} to open it again."
        raise UsageError(f"Finding {review_id} is already {review_item.review.state}.", way_out=undo, about="operation")
    return review_item
