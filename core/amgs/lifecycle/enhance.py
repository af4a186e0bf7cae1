"""Propose improvements of the graph (merges, splits, edges), and apply those that the operator chooses (AMGS §8.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from amgs.decay import PROFILES
from amgs.errors import UsageError
from amgs.lifecycle import asked_model, merge_split, proposing
from amgs.lifecycle.asked_model import ASKED, say_the_same
from amgs.lifecycle.change import Change, carry_out, combine_changes
from amgs.lifecycle.proposing import KINDS, EdgeUsage, EnhancementPlan, Proposal, proposal_id
from amgs.lifecycle.similarity import Pair, find_pairs
from amgs.storage.store import Storage
from amgs.text.embedding import Embedder
from amgs.text.language_model import TextModel
from amgs.text.words import plural
from amgs.types import Block, BlockFilter, Edge, EdgeKey, JournalEntry, Progress, Vector

SPLIT_WORDS, SPLIT_COSINE = 40, 0.2
"""A block has two subjects when its halves, each of at least so many words, have a cosine below this."""

SPLIT_PARAGRAPHS = 1024
"""Paragraphs embedded in a plan to find splits at most, those of the longest blocks first."""

_SURE = 0.98
"""Confidence of a merge from which a language model is not asked."""

KIND = "enhance"
_LIVE = BlockFilter(statuses=("consolidated",), current=True)


@dataclass(frozen=True, slots=True)
class EnhancementInputs:
    """Inputs of a plan: consolidated blocks with their embeddings (n, d), edges among them, and their use.

    known: ids of all blocks, whatever their status.
    """

    blocks: tuple[Block, ...]
    matrix: Vector
    edges: tuple[Edge, ...]
    usage: EdgeUsage
    known: frozenset[str]


_NOUNS = {
    "weak_edge": "weak edge",
    "strengthen": "stronger edge",
    "weaken": "weaker edge",
    "confidence": "new confidence",
}
"""Plural words of the journal for kinds of proposals whose name is not a noun."""


def world(storage: Storage) -> EnhancementInputs:
    """Read the inputs of a plan from the store."""
    blocks = {b.id: b for b in storage.blocks.select(_LIVE, order="arrival")}
    columns = storage.block_columns.embeddings(wanted=_LIVE)
    present = [str(i) for i in columns.ids]
    every = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))
    known = frozenset(str(i) for i in storage.block_columns.facts(every).ids)
    edges = tuple(e for e in storage.edges.everything() if e.source_id in blocks and e.target_id in blocks)
    usage = EdgeUsage(storage.reinforcements.uses(), storage.reinforcements.walks())
    return EnhancementInputs(tuple(blocks[i] for i in present), columns.matrix, edges, usage, known)


# --- the plan ---------------------------------------------------------------------------------------------


def plan(
    seen: EnhancementInputs,
    *,
    embedder: Embedder,
    now: datetime,
    change_counter: int,
    kinds: Sequence[str] = (),
    limit: int | None = None,
    progress: Progress | None = None,
    model: TextModel | None = None,
) -> EnhancementPlan:
    """Return the proposals of these kinds (all without any), at most `limit` of a kind; changes nothing.

    No two of them merge or split the same block. model: asked whether notes that the rules do not split have two
    subjects, and whether two notes say the same where the rules are unsure. Raises UsageError for an unknown kind.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"There is no proposal of kind {kind!r}.", way_out=f"Kinds: {', '.join(KINDS)}.")
    wanted = frozenset(kinds) or frozenset(KINDS)
    if progress is not None:
        progress(0, 3, "comparing blocks")
    proposals = _alike(seen, embedder, now, wanted, progress, model)
    busy = _remade(proposals)
    if progress is not None:
        progress(1, 3, "looking for blocks with several concepts")
    if "split" in wanted:
        proposals += _splits(seen, embedder, now, busy, progress, model)
        busy = _remade(proposals)
    if progress is not None:
        progress(2, 3, "weighing edges")
    blocks = {b.id: b for b in seen.blocks}
    rest = proposing.faint(seen.edges, blocks, now, busy)
    weak = {_edge_of(p) for p in rest}
    used = proposing.by_use(seen.edges, blocks, seen.usage, busy)
    rest += [p for p in used if _edge_of(p) not in weak]
    rest += proposing.mismatches(seen.edges, blocks, seen.usage, busy)
    proposals += [p for p in rest if p.kind in wanted]
    selection, left_out = _limit_proposals(proposals, limit)
    return EnhancementPlan(selection, now, change_counter, left_out)


def _edge_of(proposal: Proposal) -> EdgeKey | None:
    """Return the edge that a proposal is about."""
    before = proposal.change.edges[0][0]
    return None if before is None else before.key


def _limit_proposals(proposals: Iterable[Proposal], limit: int | None) -> tuple[tuple[Proposal, ...], int]:
    """Return at most `limit` proposals of each kind, the most confident first, and the number of those left out."""
    ordered = sorted(proposals, key=lambda p: (KINDS.index(p.kind), -p.confidence, p.id))
    counts: Counter[str] = Counter()
    selection = []
    for p in ordered:
        counts[p.kind] += 1
        if limit is None or counts[p.kind] <= limit:
            selection.append(p)
    return tuple(selection), len(ordered) - len(selection)


def _remade(proposals: Iterable[Proposal]) -> frozenset[str]:
    """Return the ids of blocks that proposals archive or create; no other proposal may use them."""
    return frozenset(i for p in proposals if p.kind in ("duplicate", "merge", "split") for i in p.subjects)


def _alike(
    seen: EnhancementInputs,
    embedder: Embedder,
    now: datetime,
    wanted: frozenset[str],
    progress: Progress | None,
    model: TextModel | None,
) -> list[Proposal]:
    """Propose to merge similar blocks, and to link accounts of the same event."""
    proposals: list[Proposal] = []
    asked = 0
    busy: set[str] = set()
    touching = _touching(seen.edges)
    linked = {(e.source_id, e.target_id) for e in seen.edges if e.relation_type == merge_split.SAME_EVENT}
    order = {kind: n for n, kind in enumerate(KINDS)}
    alike = sorted(
        find_pairs(seen.blocks, seen.matrix, progress), key=lambda p: (order[p.kind], -p.confidence, p.a.id, p.b.id)
    )
    for number, pair in enumerate(alike):
        if progress is not None:
            progress(number, len(alike), "merging")
        ids = (pair.a.id, pair.b.id)
        if pair.kind not in wanted or busy & set(ids) or (pair.b.id, pair.a.id) in linked:
            continue
        same = None
        if pair.kind != "overlap" and model is not None and pair.confidence < _SURE and asked < ASKED:
            same, asked = say_the_same(pair.a.content, pair.b.content, model), asked + 1
            if same is False:
                continue
        if pair.kind == "overlap":
            change = Change(edges=((None, _same_event(pair, now)),))
            effect = "a same_event edge; both accounts stay"
        else:
            own = [e for i in ids for e in touching.get(i, ())]
            change = merge_split.merge(pair.a, pair.b, own, seen.known, embedder, now)
            if change == Change():
                continue
            busy |= set(ids)
            effect = _merge_effect(change)
        by = model.name if model is not None and same else ""
        proposals.append(_of_pair(pair, effect, change, by))
    return proposals


def _of_pair(pair: Pair, effect: str, change: Change, by: str) -> Proposal:
    """Return the proposal for a pair of similar blocks. by: the model that confirmed it, or ""."""
    measures = f"wording {pair.wording:.2f}, meaning {pair.cosine:.2f}, {pair.hours:.0f} h apart"
    return Proposal(
        proposal_id(pair.kind, pair.a.id, pair.b.id),
        pair.kind,
        (pair.a.id, pair.b.id),
        (pair.a.title, pair.b.title),
        f"{measures}; {by} says that they say the same" if by else measures,
        pair.confidence,
        effect,
        change,
        by,
    )


def _merge_effect(change: Change) -> str:
    archived = sum(after.status == "archived" for _, after in change.blocks)
    outcome = f"one new block {change.created[0].id[:8]}" if change.created else "no new block"
    return f"{outcome}, {archived} archived, {plural(len(change.edges), 'edge')}"


def _same_event(pair: Pair, now: datetime) -> Edge:
    return Edge(
        pair.b.id,
        pair.a.id,
        merge_split.SAME_EVENT,
        round(pair.cosine, 6),
        pair.confidence,
        now,
        now,
        PROFILES["durable"],
    )


def _splits(
    seen: EnhancementInputs,
    embedder: Embedder,
    now: datetime,
    busy: frozenset[str],
    progress: Progress | None,
    model: TextModel | None,
) -> list[Proposal]:
    """Propose to split blocks with two subjects, except those in `busy`."""
    proposals = []
    touching = _touching(seen.edges)
    # Next to a block that is remade, edges would lead to what is archived: it waits for the next plan.
    waiting = set(busy) | {i for block_id in busy for i in _ends(touching.get(block_id, ()))}
    rows = {b.id: seen.matrix[i] for i, b in enumerate(seen.blocks)}
    asked = [
        b
        for b in seen.blocks
        # A merged block would be split again at once.
        if len(b.content.split()) >= 2 * SPLIT_WORDS and "derived_from" not in b.meta
    ]
    divided = [merge_split.sections(b.content, SPLIT_WORDS) for b in asked]
    whole = [
        # Headings say where a text divides, and a piece of a note was cut at the best place by whoever took it in.
        () if len(parts) > 1 or "part" in b.meta else merge_split.paragraphs_of(b.content)
        for b, parts in zip(asked, divided, strict=True)
    ]
    pieces = _limit_paragraphs(whole, SPLIT_PARAGRAPHS)
    # One call for all: an embedder is many times faster in batches.
    texts = [p for own in pieces for p in own]
    vectors = embedder.embed(texts, progress) if texts else seen.matrix[:0]
    ends = np.cumsum([0, *(len(own) for own in pieces)])
    longest = sorted(range(len(asked)), key=lambda n: (-len(asked[n].content), n))
    shown = set([n for n in longest if pieces[n]][:ASKED]) if model is not None else set()
    for n, block in enumerate(asked):
        if block.id in waiting:
            continue
        parts = divided[n]
        reason, sure, by = f"{plural(len(parts), 'section')} under headings of the same level", 0.7, ""
        if len(parts) < 2 and pieces[n]:
            own_vectors = vectors[ends[n] : ends[n + 1]]
            parts, cosine = merge_split.semantic_break(block.content, own_vectors, SPLIT_WORDS, SPLIT_COSINE)
            if len(parts) < 2 and model is not None and n in shown:
                parts, cosine = asked_model.propose_break(block.content, own_vectors, SPLIT_WORDS, model)
                by = model.name
            reason, sure = f"its halves are alike by {cosine:.2f} only", 0.3 + 0.4 * (1 - max(cosine, 0.0))
        if len(parts) < 2:
            continue
        own = touching.get(block.id, ())
        change = merge_split.split(block, parts, own, rows, seen.known, embedder, now)
        if change == Change():
            continue
        waiting |= {block.id, *_ends(own)}
        effect = f"{plural(len(change.created), 'new block')}, this one archived, {plural(len(change.edges), 'edge')}"
        proposals.append(
            Proposal(
                proposal_id("split", block.id),
                "split",
                (block.id,),
                (block.title,),
                f"{by} says that another subject begins there; {reason}" if by else reason,
                round(min(sure, 0.95), 4),
                effect,
                change,
                by,
            )
        )
    return proposals


def _limit_paragraphs(pieces: Sequence[Sequence[str]], most: int) -> list[Sequence[str]]:
    """Return each text's paragraphs to search for a split, at most `most` in all, the longest texts first; none for a
    text with a single paragraph.
    """
    portions: list[Sequence[str]] = [()] * len(pieces)
    left = most
    for n in sorted(range(len(pieces)), key=lambda n: (-len(pieces[n]), n)):
        if 1 < len(pieces[n]) <= left:
            portions[n] = pieces[n]
            left -= len(pieces[n])
    return portions


def _ends(edges: Iterable[Edge]) -> frozenset[str]:
    return frozenset(i for e in edges for i in (e.source_id, e.target_id))


def _touching(edges: Iterable[Edge]) -> Mapping[str, Sequence[Edge]]:
    edges_by_end: dict[str, list[Edge]] = {}
    for e in edges:
        edges_by_end.setdefault(e.source_id, []).append(e)
        edges_by_end.setdefault(e.target_id, []).append(e)
    return edges_by_end


# --- the change -------------------------------------------------------------------------------------------


def apply(storage: Storage, proposals: Sequence[Proposal], now: datetime) -> JournalEntry:
    """Apply proposals of a plan in a single transaction; raise UsageError when the store has changed since."""
    counts = Counter(p.kind for p in proposals)
    summary = ", ".join(plural(counts[kind], _NOUNS.get(kind, kind)) for kind in KINDS if counts[kind])
    if authors := sorted({p.by for p in proposals if p.by}):
        summary += f", {sum(bool(p.by) for p in proposals)} of them proposed by {', '.join(authors)}"
    change = _settle_edges(combine_changes(p.change for p in proposals))
    return carry_out(storage, KIND, change, summary or "nothing to do", now)


def _settle_edges(change: Change) -> Change:
    """Return the change with the edges between two blocks that are both merged or split redirected to the new blocks.

    Each proposal saw the other's old block as its neighbour; that block is archived.
    """
    became = {
        before.id: str(after.meta["merged_into"]) for before, after in change.blocks if "merged_into" in after.meta
    }
    edge_changes: dict[tuple[str, str, str], tuple[Edge | None, Edge | None]] = {}
    for before, after in change.edges:
        edge = after or before
        if edge is None:
            continue
        if before is None and after is not None and after.relation_type != merge_split.DERIVED:
            after = replace(
                after,
                source_id=became.get(after.source_id, after.source_id),
                target_id=became.get(after.target_id, after.target_id),
            )
            if after.source_id == after.target_id:
                continue
            edge = after
        edge_changes.setdefault((edge.source_id, edge.target_id, edge.relation_type), (before, after))
    return Change(change.blocks, change.created, change.taken, tuple(edge_changes.values()))
