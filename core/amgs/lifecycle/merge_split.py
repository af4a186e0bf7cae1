"""Derive blocks from blocks: a merge and a split (AMGS §8.3).

Ids hash content alone, so both make new blocks with `derived_from` edges; the originals are archived as they were.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from amgs.clock import as_utc
from amgs.decay import PROFILES
from amgs.identity import block_id, canonical
from amgs.lifecycle.change import Change
from amgs.lifecycle.linking import NEXT
from amgs.text.differences import normalise_words
from amgs.text.embedding import Embedder
from amgs.text.embedding_text import embedding_text
from amgs.types import Block, Edge, Vector

DERIVED = "derived_from"
SAME_EVENT = "same_event"

_HEADING = re.compile(r"^#{1,6}\s+\S")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")


# --- merging ----------------------------------------------------------------------------------------------


def merge_texts(a: str, b: str) -> str:
    """Return the first text, and below it the paragraphs of the second that it does not say already."""
    whole = f" {normalise_words(a)} "
    more = [p for p in _PARAGRAPH.split(b) if p.strip() and f" {normalise_words(p)} " not in whole]
    # The second heading would read as a section of the first.
    if more and _HEADING.match(more[0]) and "\n" not in more[0].strip():
        more = more[1:]
    return canonical("\n\n".join([a.strip(), *(p.strip("\n") for p in more)]))


def merge(
    a: Block, b: Block, edges: Sequence[Edge], known: frozenset[str], embedder: Embedder, now: datetime
) -> Change:
    """a and b (the later) as a single new block that takes over their edges.

    Where the joined text equals one of the two, that block stays and only the other is archived. known: ids that the
    store holds. An empty change where the joined text belongs to a third block.
    """
    text = merge_texts(a.content, b.content)
    new_id = block_id(text)
    if new_id in (a.id, b.id):
        keep, gone = (a, b) if new_id == a.id else (b, a)
        marked = replace(gone, status="archived", meta={**gone.meta, "merged_into": keep.id})
        more: dict[str, Any] = {**keep.meta, "sources": _sources(keep, gone)}
        if gone.said_at > keep.said_at:
            more["said_at"] = gone.said_at.isoformat()
        moved = _move_edges(edges, {gone.id: keep.id}, {keep.id, gone.id})
        link = (None, make_derivation(keep.id, gone.id, now))
        return Change(((gone, marked), (keep, replace(keep, meta=more))), edges=(*moved, link))
    if new_id in known:
        return Change()
    meta = {**b.meta, **a.meta, "sources": _sources(a, b), "derived_from": [a.id, b.id]}
    meta |= {key: b.meta[key] for key in ("utc_offset",) if key in b.meta}
    if dates := sorted({str(day) for parent in (a, b) for day in parent.meta.get("dates") or ()}):
        meta["dates"] = dates
    for key in ("said_at", "part", "parts", "turn", "turns", "follows", "merged_into", "stated_causes"):
        meta.pop(key, None)
    better = max((a, b), key=lambda block: (block.confidence, block.id))
    new = Block(
        id=new_id,
        content=text,
        created_at=as_utc(max(a.said_at, b.said_at)),
        last_reinforced_at=max(a.last_reinforced_at, b.last_reinforced_at),
        category=better.category,
        confidence=better.confidence,
        decay_lambda=min(a.decay_lambda, b.decay_lambda),
        status="consolidated",
        is_self_component=a.is_self_component or b.is_self_component,
        meta=meta,
    )
    new = replace(new, embedding=embedder.embed([embedding_text(new)])[0])
    archived = tuple(
        (parent, replace(parent, status="archived", meta={**parent.meta, "merged_into": new_id})) for parent in (a, b)
    )
    moved = _move_edges(edges, {a.id: new_id, b.id: new_id}, {a.id, b.id})
    derivations = tuple((None, make_derivation(new_id, parent.id, now)) for parent in (a, b))
    return Change(archived, (new,), edges=(*moved, *derivations))


def _sources(*blocks: Block) -> list[str]:
    every = [str(s) for b in blocks for s in (b.meta.get("sources") or [b.meta.get("source")]) if s is not None]
    return list(dict.fromkeys(every))


def _move_edges(
    edges: Sequence[Edge], onto: Mapping[str, str], inside: set[str]
) -> tuple[tuple[Edge | None, Edge | None], ...]:
    """Copies of the edges that lead out, at the new block; those of the archived ones stay where they are.

    Of two equal edges the stronger counts; an edge that is there already stays as it is.
    """
    there = {(e.source_id, e.target_id, e.relation_type) for e in edges}
    new_edges: dict[tuple[str, str, str], Edge] = {}
    for e in edges:
        if e.relation_type == DERIVED or (e.source_id in inside and e.target_id in inside):
            continue
        new = replace(e, source_id=onto.get(e.source_id, e.source_id), target_id=onto.get(e.target_id, e.target_id))
        key = (new.source_id, new.target_id, new.relation_type)
        if key in there or new.source_id == new.target_id:
            continue
        if key not in new_edges or new_edges[key].weight * new_edges[key].confidence < new.weight * new.confidence:
            new_edges[key] = new
    return tuple((None, e) for e in new_edges.values())


# --- splitting --------------------------------------------------------------------------------------------


def sections(text: str, least_words: int) -> tuple[str, ...]:
    """Return the text cut at headings that stand on the same level, each part of at least so many words.

    One part where headings do not divide it.
    """
    paragraphs = [p.strip("\n") for p in _PARAGRAPH.split(text) if p.strip()]
    levels = [len(p) - len(p.lstrip("#")) for p in paragraphs if _HEADING.match(p)]
    for level in sorted(set(levels)):
        if levels.count(level) < 2:
            continue
        parts: list[list[str]] = [[]]
        for p in paragraphs:
            if _HEADING.match(p) and len(p) - len(p.lstrip("#")) == level and any(parts[-1]):
                parts.append([])
            parts[-1].append(p)
        # A title alone above the first section belongs to it.
        if len(parts) > 1 and len(" ".join(parts[0]).split()) < least_words:
            parts[1] = parts[0] + parts[1]
            parts = parts[1:]
        texts = tuple("\n\n".join(part) for part in parts)
        if len(texts) > 1 and all(len(t.split()) >= least_words for t in texts):
            return texts
    return (text,)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs that a semantic break may fall between: all but headings that stand alone."""
    return tuple(p.strip("\n") for p in _PARAGRAPH.split(text) if p.strip() and not _lone_heading(p))


def semantic_break(text: str, vectors: Vector, least_words: int, most_alike: float) -> tuple[tuple[str, ...], float]:
    """Return the text cut between two paragraphs where the meaning changes most, and the cosine across that cut.

    vectors: (k, d) embeddings of `paragraphs_of(text)`. One part, and 1.0, where no cut leaves enough words on
    both sides or falls to `most_alike`; a text with headings inside is left to them.
    """
    cuts = cuts_of(text, vectors, least_words)
    best = min(cuts, key=lambda place: (cuts[place], place), default=0)
    if not cuts or cuts[best] > most_alike:
        return (text,), 1.0
    return cut_at(text, best), cuts[best]


def cuts_of(text: str, vectors: Vector, least_words: int) -> dict[int, float]:
    """Return where a text may be cut between its paragraphs, as how many of `paragraphs_of(text)` stand before it, with
    the cosine of the two sides; nowhere in a text with headings inside.
    """
    paragraphs = paragraphs_of(text)
    counts = [len(p.split()) for p in paragraphs]
    if len(_heads(text)) > 1:
        return {}
    return {
        i: _cosine(vectors[:i], vectors[i:])
        for i in range(1, len(paragraphs))
        if sum(counts[:i]) >= least_words and sum(counts[i:]) >= least_words
    }


def cut_at(text: str, place: int) -> tuple[str, str]:
    """Return the text in two parts, the first with so many paragraphs and the heading."""
    paragraphs = paragraphs_of(text)
    return "\n\n".join([*_heads(text), *paragraphs[:place]]), "\n\n".join(paragraphs[place:])


def _heads(text: str) -> list[str]:
    return [p.strip("\n") for p in _PARAGRAPH.split(text) if _lone_heading(p)]


def _lone_heading(paragraph: str) -> bool:
    return bool(_HEADING.match(paragraph.strip("\n"))) and "\n" not in paragraph.strip()


def _cosine(a: Vector, b: Vector) -> float:
    x, y = a.mean(axis=0), b.mean(axis=0)
    return float(x @ y / max(1e-12, float(np.linalg.norm(x) * np.linalg.norm(y))))


def split(
    block: Block,
    texts: Sequence[str],
    edges: Sequence[Edge],
    vectors: Mapping[str, Vector],
    known: frozenset[str],
    embedder: Embedder,
    now: datetime,
) -> Change:
    """Return a block as several new ones in a row; each of its edges goes to the part that is nearest to the other end.

    vectors: embeddings of the other ends. An empty change where a part is a block already, or two are the same.
    """
    texts = [canonical(t) for t in texts]
    ids = [block_id(t) for t in texts]
    if len(set(ids)) < len(ids) or known & set(ids):
        return Change()
    own = ("part", "parts", "follows", "sources", "stated_causes")
    common = {k: v for k, v in block.meta.items() if k not in own}
    parts = []
    for n, (new_id, text) in enumerate(zip(ids, texts, strict=True), 1):
        meta = {**common, "derived_from": [block.id], "split_part": n, "split_parts": len(texts)}
        parts.append(replace(block, id=new_id, content=text, meta=meta))
    matrix = embedder.embed([embedding_text(fragment) for fragment in parts])
    parts = [replace(fragment, embedding=vector) for fragment, vector in zip(parts, matrix, strict=True)]
    archived = replace(block, status="archived", meta={**block.meta, "split_into": ids})
    moved: list[tuple[Edge | None, Edge | None]] = []
    for e in edges:
        if e.relation_type == DERIVED:
            continue
        other = e.target_id if e.source_id == block.id else e.source_id
        # `next` in from the piece before leads to the first part, `next` out leaves from the last.
        part = (len(ids) - 1 if e.source_id == block.id else 0) if e.relation_type == NEXT else 0
        if e.relation_type != NEXT and other in vectors:
            part = int(np.argmax(matrix @ vectors[other]))
        ends = (ids[part], e.target_id) if e.source_id == block.id else (e.source_id, ids[part])
        moved.append((None, replace(e, source_id=ends[0], target_id=ends[1])))
    chain = [(None, _edge(a, b, NEXT, 0.6, 0.99, now)) for a, b in pairwise(ids)]
    origin = [(None, make_derivation(i, block.id, now)) for i in ids]
    return Change(((block, archived),), tuple(parts), edges=(*moved, *chain, *origin))


def make_derivation(new: str, old: str, now: datetime) -> Edge:
    """Return the edge from a derived block to its origin."""
    return _edge(new, old, DERIVED, 1.0, 1.0, now)


def _edge(source: str, target: str, relation: str, weight: float, confidence: float, now: datetime) -> Edge:
    return Edge(source, target, relation, weight, confidence, now, now, PROFILES["core"])
