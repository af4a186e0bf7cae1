"""Change a block's tags, note, metadata and edges by hand; journalled, so that `undo` reverts it. A block's content
never changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.clock import as_utc
from amgs.decay import PROFILES, check_lambda
from amgs.errors import UnknownBlockError, UsageError
from amgs.ingest.metadata import change_tags, of_the_engine
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.conflict import SUPERSEDES
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.types import Block, Edge, EdgeKey, JournalEntry, Status

KIND = "edit"
_LONGEST_CATEGORY = 60
_LONGEST_KEY = 60
_LONGEST_VALUE = 2000
_OF_THEIR_OWN = frozenset(("tags", "note", "speaker", "source"))
_EDITABLE = ("category", "confidence", "decay_lambda", "is_self_component", "status")
_BY_HAND: tuple[Status, ...] = ("consolidated", "archived", "pruned")


def edit(
    storage: Storage,
    block_id: str,
    now: datetime,
    *,
    category: str | None = None,
    categories: Sequence[str] | None = None,
    confidence: float | None = None,
    decay_lambda: float | None = None,
    is_self_component: bool | None = None,
    status: Status | None = None,
    meta: Mapping[str, str] | None = None,
) -> Block:
    """Change fields of a block (None leaves a field), and return the block.

    categories: all of its categories, the main category first; `category` alone removes the others. meta: metadata by
    key; an empty value removes the key. A block set to pruned loses its edges. Raises UnknownBlockError, and UsageError
    for a value out of range, a status that only the lifecycle sets, or metadata that only the engine writes.
    """
    new_meta = _check_meta(meta or {})
    kinds = list(dict.fromkeys(map(check_category, categories or ([] if category is None else [category]))))
    with storage.transaction():
        before = storage.blocks.get([block_id], embeddings=True).get(block_id)
        if before is None:
            raise UnknownBlockError(f"There is no block {block_id[:12]}.", way_out="Search for the block by its words.")
        after = replace(
            before,
            category=kinds[0] if kinds else before.category,
            confidence=before.confidence if confidence is None else check_confidence(confidence),
            decay_lambda=before.decay_lambda if decay_lambda is None else check_lambda(decay_lambda),
            is_self_component=before.is_self_component if is_self_component is None else is_self_component,
            status=before.status if status is None else _status(before, status),
            meta={key: value for key, value in {**before.meta, **new_meta}.items() if value != ""},
        )
        if kinds:
            after = with_categories(after, kinds)
        if after == before:
            return before
        storage.blocks.update([after])
        rows = [journal.block_row(before, after)]
        if after.status == "pruned":
            gone = storage.edges.touching([block_id])
            storage.edges.delete([e.key for e in gone])
            rows += [journal.edge_row(e, None) for e in gone]
        changes = journal.changes(*({n: getattr(version, n) for n in _EDITABLE} for version in (before, after)))
        changes += [f"{key}={value}" if value else f"no {key}" for key, value in new_meta.items()]
        changes += [f"categories {', '.join(after.categories)}"] if after.categories != before.categories else []
        journal.write(storage, KIND, now, f"{before.title}: {', '.join(changes)}", rows)
        return after


def with_categories(block: Block, categories: Sequence[str]) -> Block:
    """Return the block with these categories, the main category first."""
    meta = {key: value for key, value in block.meta.items() if key != "categories"}
    return replace(
        block, category=categories[0], meta=meta | ({"categories": list(categories)} if categories[1:] else {})
    )


def _check_meta(meta: Mapping[str, str]) -> dict[str, str]:
    """Return metadata with clean keys and values; raise UsageError for a reserved or too long key."""
    for key, value in meta.items():
        if of_the_engine(key) or key in _OF_THEIR_OWN or not key.isprintable() or not key.strip():
            raise UsageError(f"The key {key!r} cannot be set by hand.", way_out="Give another key, or its own option.")
        if len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            raise UsageError(
                f"Metadata has at most {_LONGEST_KEY} characters a key and {_LONGEST_VALUE:,} a value.",
                way_out="Make a longer text a block of its own.",
            )
    return {key.strip().lower(): value.strip() for key, value in meta.items()}


def check_category(name: str) -> str:
    """Return the name without white space around it; raise UsageError where it is not a valid category name."""
    if not name.strip():
        raise UsageError("A category needs a name.", way_out="For example fact, person or decision.")
    if len(name) > _LONGEST_CATEGORY or not name.isprintable():
        raise UsageError(
            f"A category is one line of at most {_LONGEST_CATEGORY} visible characters.",
            way_out="For example fact, person or decision.",
        )
    return name.strip()


def check_confidence(value: float) -> float:
    """Return the value; raise UsageError where it is not in [0, 1]."""
    if not 0 <= value <= 1:
        raise UsageError(
            f"A confidence must be between 0 and 1, got {value:g}.",
            way_out="0 means certainly wrong, 1 certainly right.",
        )
    return value


def _status(before: Block, status: Status) -> Status:
    """Return the new status; raise UsageError where it cannot be set by hand."""
    if status == before.status:
        return status
    if status not in _BY_HAND or (status == "consolidated" and before.embedding is None):
        raise UsageError(
            f"A block cannot be changed from {before.status} to {status} by hand.",
            way_out="Consolidation turns raw blocks into consolidated ones, and undo reverts it.",
        )
    return status


NOTE = "annotate"
EDGE = "edge"
DEFAULT_WEIGHT = 0.8
"""Weight of an edge added by hand, by default."""
_LONGEST_TAG = 60
_LONGEST_NOTE = 2000
_MARKS = ("superseded_by", "superseded_at")
_KIND = re.compile(r"^[a-z][a-z0-9_]{0,39}$")


def annotate(
    storage: Storage,
    block_id: str,
    now: datetime,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    note: str | None = None,
) -> Block:
    """Add and remove tags, set a note ("" removes it, None leaves it), and return the block.

    Such changes stay when the block's source is read again. Raises UnknownBlockError, and UsageError for an invalid
    tag, a tag that is both added and removed, and a note that is too long.
    """
    added, removed = (list(dict.fromkeys(map(check_tag, tags))) for tags in (add, remove))
    if both := set(added) & set(removed):
        raise UsageError(f"The tag {min(both)} is both added and removed.", way_out="Choose one.")
    if note is not None and len(note) > _LONGEST_NOTE:
        raise UsageError(
            f"A note has at most {_LONGEST_NOTE:,} characters, this note {len(note):,}.",
            way_out="Make a longer text a block of its own, and add an edge to it.",
        )
    with storage.transaction():
        before = _block(storage, block_id)
        meta = change_tags(before.meta, added, removed)
        if note is not None:
            meta.pop("note", None)
            meta |= {"note": note.strip()} if note.strip() else {}
        if meta == before.meta:
            return before
        after = replace(before, meta=meta)
        storage.blocks.update([after])
        changes = [f"+{tag}" for tag in added] + [f"-{tag}" for tag in removed]
        changes += ["note"] if note is not None else []
        row = journal.block_row(before, after)
        journal.write(storage, NOTE, now, f"{before.title}: {', '.join(changes)}", [row])
        return after


def add_edge(
    storage: Storage,
    source_id: str,
    target_id: str,
    now: datetime,
    *,
    kind: str = "related",
    weight: float = DEFAULT_WEIGHT,
    confidence: float = 1.0,
) -> Edge:
    """Add an edge, or change an existing edge's weight and confidence. The kind `supersedes` supersedes the target.

    Raises UnknownBlockError, and UsageError for an end that is not consolidated, an edge from a block to itself, a kind
    that is not a single lower-case word, and a weight or confidence outside [0, 1].
    """
    for name, value in (("weight", weight), ("confidence", confidence)):
        if not 0 <= value <= 1:
            raise UsageError(f"The {name} of an edge must be between 0 and 1, got {value:g}.", way_out="")
    with storage.transaction():
        ends = joinable(storage, source_id, target_id, kind)
        edge = replace(make_edge(source_id, target_id, kind, now), weight=weight, confidence=confidence)
        known = storage.edges.get([edge.key]).get(edge.key)
        if known is not None:
            edge = replace(known, weight=weight, confidence=confidence)
        if edge != known:
            change = Change(follow_edges(storage, [(known, edge)], now), edges=((known, edge),))
            carry_out(storage, EDGE, change, f"{ends[0].title} → {ends[1].title} ({kind})", now)
        return edge


def confirm_edge(storage: Storage, key: EdgeKey, now: datetime) -> Edge:
    """Set an edge's confidence to 1 and restart its decay. Raises UsageError where there is no such edge."""
    with storage.transaction():
        ends = joinable(storage, *key)
        known = storage.edges.get([key]).get(key)
        if known is None:
            raise _no_edge(ends, key[2])
        sure = replace(known, confidence=1.0, last_reinforced_at=now)
        if sure != known:
            summary = f"confirmed {ends[0].title} → {ends[1].title} ({key[2]})"
            carry_out(storage, EDGE, Change(edges=((known, sure),)), summary, now)
        return sure


def _no_edge(ends: tuple[Block, Block], kind: str | None) -> UsageError:
    return UsageError(
        f"There is no {'' if kind is None else f'{kind} '}edge from “{ends[0].title}” to “{ends[1].title}”.",
        way_out="An edge has a direction: try the other direction, or list the neighbours of the block.",
    )


def remove_edges(
    storage: Storage, source_id: str, target_id: str, now: datetime, *, kind: str | None = None
) -> JournalEntry:
    """Remove the edges from a block to another, of one kind or of all. Raises UsageError where there is none."""
    with storage.transaction():
        ends = _block(storage, source_id), _block(storage, target_id)
        gone = [
            edge
            for edge in storage.edges.touching([source_id])
            if edge.key[:2] == (source_id, target_id) and kind in (None, edge.relation_type)
        ]
        if not gone:
            raise _no_edge(ends, kind)
        kinds = ", ".join(edge.relation_type for edge in gone)
        summary = f"removed {ends[0].title} → {ends[1].title} ({kinds})"
        cut = tuple((edge, None) for edge in gone)
        return carry_out(storage, EDGE, Change(follow_edges(storage, cut, now), edges=cut), summary, now)


def follow_edges(
    storage: Storage, edges: Sequence[tuple[Edge | None, Edge | None]], now: datetime
) -> tuple[tuple[Block, Block], ...]:
    """Return the blocks, as they are and as they will be, that no longer hold, or hold again, once these edges are
    drawn or cut: an edge `supersedes` supersedes the block it leads to.
    """
    changed = []
    for before, after in edges:
        drawn = after or before
        if drawn is None or drawn.relation_type != SUPERSEDES or (before is None) == (after is None):
            continue
        newer, older = _block(storage, drawn.source_id), _block(storage, drawn.target_id)
        if after is not None:
            changed.append((older, mark_superseded(older, newer, now)))
        elif older.meta.get("superseded_by") == newer.id:
            changed.append((older, lift_supersession(older)))
    return tuple(changed)


def mark_superseded(older: Block, newer: Block, now: datetime) -> Block:
    """Return a block marked with what took its place, from when that was said."""
    instant = as_utc(newer.said_at)
    marks = {"superseded_by": newer.id, "superseded_at": instant.isoformat()}
    ended = min(max(instant, as_utc(older.said_at)), now)
    return replace(older, meta={**older.meta, **marks}, valid_to=older.valid_to or ended)


def lift_supersession(block: Block) -> Block:
    """Return a superseded block without its marks."""
    meta = {key: value for key, value in block.meta.items() if key not in _MARKS}
    return replace(block, meta=meta, valid_to=None)


def joinable(storage: Storage, source_id: str, target_id: str, kind: str) -> tuple[Block, Block]:
    """Return the two blocks that an edge of this kind is to join.

    Raises UnknownBlockError, and UsageError for an end that is not consolidated, for a block and itself, and for a kind
    that is no single word in lower case.
    """
    if not _KIND.match(kind):
        raise UsageError(
            f"The kind of an edge is one word in lower case, not {kind!r}.",
            way_out="For example related, links_to or depends_on.",
        )
    ends = _block(storage, source_id), _block(storage, target_id)
    if source_id == target_id:
        raise UsageError("An edge needs two different blocks.", way_out="Give another block.")
    for end in ends:
        if end.status != "consolidated":
            raise UsageError(
                f"“{end.title}” is {end.status}; only consolidated blocks have edges.",
                way_out="Consolidate the inbox first." if end.status == "raw" else "Choose another block.",
            )
    return ends


def make_edge(source_id: str, target_id: str, kind: str, now: datetime) -> Edge:
    """Return a new edge added by hand: sure, and decaying slowly."""
    return Edge(source_id, target_id, kind, DEFAULT_WEIGHT, 1.0, now, now, PROFILES["core"])


def check_tag(tag: str) -> str:
    """Return the tag without white space and a number sign around it; raises UsageError for an invalid tag."""
    bare = tag.strip().removeprefix("#")
    if not bare or len(bare) > _LONGEST_TAG or not bare.isprintable() or "," in bare:
        raise UsageError(
            f"A tag is one line of at most {_LONGEST_TAG} visible characters without a comma, not {tag[:80]!r}.",
            way_out="For example recipe or read-later.",
        )
    return bare


def _block(storage: Storage, block_id: str) -> Block:
    block = storage.blocks.get([block_id]).get(block_id)
    if block is None:
        raise UnknownBlockError(f"There is no block {block_id[:12]}.", way_out="Search for the block by its words.")
    return block
