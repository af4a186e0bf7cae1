"""Bring the memory's blocks of a source up to date with its current text: plan first, then write in a transaction.

`ingest --sync` and watched folders use it. Unchanged texts stay, changed ones are superseded by their successor,
missing ones are archived, and a text that comes back is valid again. Nothing is deleted from the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal, get_args

from amgs.clock import as_utc
from amgs.decay import PROFILES
from amgs.errors import UsageError
from amgs.ingest import metadata, raw_blocks
from amgs.ingest.raw_blocks import RawBlock
from amgs.ingest.said_again import is_hidden
from amgs.lifecycle.change import Change, carry_out
from amgs.lifecycle.linking import NEXT
from amgs.lifecycle.similarity import HeldText, Succession, find_successors
from amgs.storage.sources import SourceName, SourcePiece
from amgs.storage.store import Storage
from amgs.types import Block, Edge, JournalEntry, Refusal, Skipped

KIND = "revise"

Revised = Literal["added", "superseded", "archived", "restored", "moved", "updated"]
KINDS: tuple[Revised, ...] = get_args(Revised)


@dataclass(frozen=True, slots=True)
class SourceText:
    """Current content of a source: its texts (drafts of raw blocks) in order. at: when it was written; None for now."""

    name: str
    drafts: tuple[RawBlock, ...]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PieceRevision:
    """What a revision does to a text. because: the reason in words. by: the id of its successor, or "".

    before, after: its text and its successor's, for a superseded text.
    """

    kind: Revised
    block_id: str
    title: str
    source: str
    because: str = ""
    by: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class RevisionPlan:
    """Plan of a revision; nothing is written yet.

    about: the folder, file or source, for the operator. pieces: texts that change. kept: number of texts that stay.
    sources: number of sources compared. refused, skipped, warnings: as for an ingest. dropped, placed: places that
    texts leave and take in their sources.
    """

    about: str
    pieces: tuple[PieceRevision, ...]
    kept: int
    sources: int
    made_at: datetime
    change_counter: int
    refused: tuple[Refusal, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[Refusal, ...] = ()
    change: Change = field(default_factory=Change, compare=False, repr=False)
    dropped: tuple[SourcePiece, ...] = field(default=(), compare=False, repr=False)
    placed: tuple[SourcePiece, ...] = field(default=(), compare=False, repr=False)
    names: tuple[SourceName, ...] = field(default=(), compare=False, repr=False)

    def count(self, kind: Revised) -> int:
        """Return the number of texts with this kind of change."""
        return sum(piece.kind == kind for piece in self.pieces)

    @property
    def empty(self) -> bool:
        """Whether the plan changes nothing."""
        return not (self.pieces or self.dropped or self.placed or self.change.blocks)

    @property
    def only_adds(self) -> bool:
        """Whether the plan only adds new texts."""
        return not (self.dropped or self.change.blocks) and all(piece.kind == "added" for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Revision:
    """A plan that was applied. operation: its journal entry; None where there was nothing to do."""

    plan: RevisionPlan
    operation: JournalEntry | None


# --- the plan ---------------------------------------------------------------------------------------------


def plan(
    storage: Storage,
    documents: Sequence[SourceText],
    *,
    about: str,
    gone: Iterable[str] = (),
    names: Sequence[SourceName] = (),
    now: datetime,
    change_counter: int,
) -> RevisionPlan:
    """Plan the revision of sources; changes nothing.

    documents: current texts of the sources. gone: names of sources that no longer exist. about: what the operator
    named. names: titles of sources to store.
    """
    return _Planner(storage, documents, tuple(gone), now).build_plan(about, names, change_counter)


class _Planner:
    """Works out a plan: compares what the sources contained (`before`) with what they contain now (`after`)."""

    def __init__(self, storage: Storage, documents: Sequence[SourceText], gone: Sequence[str], now: datetime) -> None:
        self.storage, self.now = storage, now
        self.refused: list[Refusal] = []
        self.drafts: dict[str, RawBlock] = {}
        """Current texts by locator (source and part)."""
        self.texts: dict[str, RawBlock] = {}
        """Current texts by block id."""
        self.after: dict[str, list[SourcePiece]] = {}
        self.at: dict[str, datetime] = {}
        """When each source was written, from which its new texts are valid."""
        self.before: dict[str, list[SourcePiece]] = {source_text.name: [] for source_text in documents}
        self.before |= {name: [] for name in gone}
        for piece in storage.sources.read_pieces(list(self.before)):
            self.before[piece.source].append(piece)
        for document in documents:
            self._add_document(document)
        for name in gone:
            self.after[name], self.at[name] = [], now
        self.dropped, self.placed = self._moves()
        touched = {piece.block_id for piece in (*self.dropped, *self.placed)}
        self.places_of: dict[str, list[SourcePiece]] = {i: [] for i in touched}
        off = set(map(_piece_key, self.dropped))
        for piece in (*storage.sources.holding(sorted(touched)), *self.placed):
            if _piece_key(piece) not in off:
                self.places_of[piece.block_id].append(piece)
        every = touched | {p.block_id for pieces in self.after.values() for p in pieces}
        self.blocks = storage.blocks.get(sorted(every))

    def _add_document(self, document: SourceText) -> None:
        """Record a source's current texts and when it was written; a text that is refused is reported and left out."""
        old_pieces = self.before[document.name]
        latest = max((piece.since for piece in old_pieces), default=None)
        at = document.at
        self.at[document.name] = at if at is not None and (latest or at) < at <= self.now else self.now
        pieces: list[SourcePiece] = []
        for raw_block in document.drafts:
            try:
                draft = raw_blocks.fit(raw_block)
            except ValueError as error:
                self.refused.append(Refusal(document.name, str(error)))
                continue
            content = raw_blocks.block_of(draft, self.now)
            locator = str(draft.meta.get("source", document.name))
            since = self.at[document.name] if old_pieces else min(content.created_at, self.now)
            pieces.append(SourcePiece(document.name, len(pieces) + 1, locator, content.id, since))
            self.drafts[locator] = draft
            self.texts.setdefault(content.id, draft)
        self.after[document.name] = pieces

    def _moves(self) -> tuple[list[SourcePiece], list[SourcePiece]]:
        """Return the places that texts have left in their sources, and those that they now take."""
        dropped, placed = [], []
        for name, after in self.after.items():
            now, then = set(map(_piece_key, after)), set(map(_piece_key, self.before[name]))
            dropped += [p for p in self.before[name] if _piece_key(p) not in now]
            placed += [p for p in after if _piece_key(p) not in then]
        return dropped, placed

    def build_plan(self, about: str, names: Sequence[SourceName], change_counter: int) -> RevisionPlan:
        """Decide for each block that left, came or moved what happens to it, and return the plan."""
        were = {p.block_id for pieces in self.before.values() for p in pieces}
        fresh = [i for i in dict.fromkeys(p.block_id for p in self.placed) if i not in were]
        lost = [
            i
            for i in dict.fromkeys(p.block_id for p in self.dropped)
            if not self.places_of[i] and i in self.blocks and self.blocks[i].status in ("raw", "consolidated")
        ]
        heirs = self._find_heirs([i for i in lost if not self.blocks[i].superseded], fresh)
        changed: dict[str, Block] = {}
        pieces: list[PieceRevision] = []
        where = {p.block_id: p.source for p in (*self.dropped, *self.placed)}
        for block_id in lost:
            changed[block_id] = self._end_block(self.blocks[block_id], where[block_id], heirs.get(block_id))
            pieces.append(self._report_lost(block_id, where[block_id], heirs.get(block_id)))
        for block_id in dict.fromkeys(p.block_id for p in self.placed):
            known = self.blocks.get(block_id)
            if known is not None and is_hidden(known) and not self._has_been_held(block_id):
                changed[block_id] = self._valid_again(known, self.at[where[block_id]])
                pieces.append(PieceRevision("restored", block_id, known.title, where[block_id]))
        for block_id, places_of in self.places_of.items():
            known = changed.get(block_id) or self.blocks.get(block_id)
            if known is None or not places_of:
                continue
            block = self._update_metadata(known, places_of)
            if block.meta != known.meta:
                changed[block_id] = block
        block_ids = {piece.block_id for piece in pieces}
        for block_id, source in {p.block_id: p.source for p in self.dropped}.items():
            after = [p.source for p in self.placed if p.block_id == block_id]
            if block_id not in block_ids and block_id in self.blocks and after and source not in after:
                title = self.blocks[block_id].title
                pieces.append(PieceRevision("moved", block_id, title, after[-1], f"from {source}"))
        pieces += self._find_updates(changed, {piece.block_id for piece in pieces})
        followed = {heir.successor for heir in heirs.values()}
        new_blocks = [self._new(i, where[i], followed) for i in fresh if i not in self.blocks]
        pieces += [PieceRevision("added", b.id, b.title, where[b.id]) for b in new_blocks]
        pieces.sort(key=lambda revision: (KINDS.index(revision.kind), revision.source))
        pairs = tuple((self.blocks[i], after) for i, after in changed.items())
        return RevisionPlan(
            about,
            tuple(pieces),
            len(were - {piece.block_id for piece in pieces}),
            len(self.after),
            self.now,
            change_counter,
            refused=tuple(self.refused),
            change=Change(pairs, tuple(new_blocks), edges=tuple(self._edges(changed))),
            dropped=tuple(self._until(p, changed) for p in self.dropped),
            placed=tuple(self.placed),
            names=tuple(names),
        )

    # --- what becomes of a block ------------------------------------------------------------------------

    def _find_heirs(self, lost: Sequence[str], fresh: Sequence[str]) -> dict[str, Succession]:
        """Return the successor of each lost text that has any."""
        off = [p for p in self.dropped if p.block_id in set(lost)]
        new = [p for p in self.placed if p.block_id in set(fresh)]
        return find_successors(
            [self._piece(p.block_id, p.source) for p in off],
            [self._piece(p.block_id, p.source) for p in new],
            {name: [p.block_id for p in pieces] for name, pieces in self.before.items()},
            {name: [p.block_id for p in pieces] for name, pieces in self.after.items()},
        )

    def _piece(self, block_id: str, source: str) -> HeldText:
        """Return a block's text and title, stored or current, as `find_successors` compares them."""
        known, draft = self.blocks.get(block_id), self.texts.get(block_id)
        content = known.content if known is not None else draft.content if draft is not None else ""
        meta: Mapping[str, Any] = draft.meta if draft is not None else known.meta if known is not None else {}
        return HeldText(block_id, source, content, str(meta.get("title") or ""))

    def _end_block(self, block: Block, source: str, heir: Succession | None) -> Block:
        """Return a block that no source contains any more: superseded by its heir, or archived where it has none."""
        if block.superseded:
            return replace(block, status="archived")
        at = max(self._instant(source, heir), min(block.valid_from or block.created_at, self.now))
        if heir is None or block.status == "raw":
            block = replace(block, status="archived")
        meta = dict(block.meta)
        if heir is not None:
            meta |= {"superseded_by": heir.successor, "superseded_at": as_utc(at).isoformat()}
        return replace(block, valid_to=at, meta=meta)

    def _instant(self, source: str, heir: Succession | None) -> datetime:
        """Return when a text ceased to be valid: when its heir's source was written, else its own."""
        if heir is None:
            return self.at[source]
        return next(self.at[p.source] for p in self.placed if p.block_id == heir.successor)

    def _has_been_held(self, block_id: str) -> bool:
        """Return whether a source already contained a text before; if so, it has not come back."""
        placed = set(self.placed)
        is_lost = any(p.block_id == block_id for p in self.dropped)
        return is_lost or any(p not in placed for p in self.places_of[block_id])

    def _valid_again(self, block: Block, at: datetime) -> Block:
        """Return the block of a text that came back, valid from now; its earlier validity is in its
        sources' history.
        """
        meta = {k: v for k, v in block.meta.items() if k not in ("superseded_by", "superseded_at")}
        status = block.status
        if status in ("archived", "pruned"):
            whole = self.storage.blocks.get([block.id], embeddings=True)[block.id]
            status = "raw" if whole.embedding is None else "consolidated"
        begun = max(at, block.valid_to or at)
        return replace(block, status=status, meta=meta, valid_from=begun, valid_to=None)

    def _report_lost(self, block_id: str, source: str, heir: Succession | None) -> PieceRevision:
        title = self.blocks[block_id].title
        if heir is None:
            return PieceRevision("archived", block_id, title, source, "its source no longer holds it")
        before, after = (self._piece(piece_id, source).content for piece_id in (block_id, heir.successor))
        return PieceRevision("superseded", block_id, title, source, heir.because, heir.successor, before, after)

    def _new(self, block_id: str, source: str, heirs: set[str]) -> Block:
        """Return a new block; where it succeeds another or joins a known source, it is valid from when that
        was written.
        """
        made = raw_blocks.block_of(self.texts[block_id], self.now)
        if block_id in heirs or self.before[source]:
            made = replace(made, valid_from=self.at[source])
        return self._update_metadata(made, self.places_of[block_id])

    def _update_metadata(self, block: Block, places_of: Sequence[SourcePiece]) -> Block:
        """Return the block with the metadata its sources give it now: their names, the text before it,
        title and tags.
        """
        places = list(dict.fromkeys(p.locator for p in places_of))
        first = block.meta.get("source")
        if first in places:
            places.remove(first)
            places.insert(0, first)
        meta = dict(block.meta)
        if places[0] in self.drafts:
            own = self.drafts[places[0]].meta
            for key in (*_PIECE, *_LINES, "headings", "refers_to"):
                meta.pop(key, None)
            meta |= {key: value for key, value in own.items() if key != "follows"}
            if "tags_by_hand" in meta:
                meta = metadata.change_tags(meta, ())
        meta["source"], meta["sources"] = places[0], places
        follows = block.meta.get("follows")
        chain = {k: v for k, v in follows.items() if k in places} if isinstance(follows, Mapping) else {}
        for place in places:
            if place in self.drafts:
                chain.pop(place, None)
                if isinstance(before := self.drafts[place].meta.get("follows"), str):
                    chain[place] = before
        meta.pop("follows", None)
        if chain:
            meta["follows"] = chain
        return replace(block, meta=meta)

    def _find_updates(self, changed: dict[str, Block], block_ids: set[str]) -> Iterable[PieceRevision]:
        """Yield texts that stay in place but whose metadata changed, such as a title or a tag; add them
        to `changed`.
        """
        for name, pieces in self.after.items():
            for piece in pieces:
                known = self.blocks.get(piece.block_id)
                if known is None or piece.block_id in block_ids or known.meta.get("source") != piece.locator:
                    continue
                own = self.drafts[piece.locator].meta
                keys = [k for k in own if k not in _PLACES and known.meta.get(k) != own[k]]
                if keys and piece.block_id not in changed:
                    changed[piece.block_id] = replace(known, meta={**known.meta, **{k: own[k] for k in keys}})
                if not set(keys) <= set(_LINES):
                    block_ids.add(piece.block_id)
                    yield PieceRevision("updated", piece.block_id, known.title, name, ", ".join(keys))

    def _until(self, piece: SourcePiece, changed: Mapping[str, Block]) -> SourcePiece:
        """Return a text's former place with the instant at which it left it."""
        after = None if self.places_of[piece.block_id] else changed.get(piece.block_id)
        ended = after.valid_to if after is not None else None
        return replace(piece, until=ended or self.at[piece.source])

    # --- order ------------------------------------------------------------------------------------------

    def _edges(self, changed: Mapping[str, Block]) -> Iterable[tuple[Edge | None, Edge | None]]:
        """Yield the `next` edges to delete, whose texts are no longer neighbours, and those to add."""
        ids = {p.block_id for p in (*self.dropped, *self.placed)} & self.blocks.keys()
        there = [e for e in self.storage.edges.touching(sorted(ids)) if e.relation_type == NEXT]
        if not ids:
            return
        ends = self.storage.blocks.get({i for e in there for i in (e.source_id, e.target_id)} - self.blocks.keys())
        known = {**self.blocks, **ends, **changed}
        for edge in there:
            if not _follows(known[edge.target_id], known[edge.source_id]):
                yield edge, None
        present = {e.key for e in there}
        for pieces in self.after.values():
            for piece, other in pairwise(pieces):
                key = (piece.block_id, other.block_id, NEXT)
                first, second = known.get(piece.block_id), known.get(other.block_id)
                if key in present or not ids & {*key[:2]} or first is None or second is None:
                    continue
                present.add(key)
                if first.status == second.status == "consolidated" and _follows(second, first):
                    yield None, Edge(*key, 0.6, 0.99, self.now, self.now, PROFILES["core"])


_PIECE = ("part", "parts", "turn", "turns")
_LINES = ("lines", "page")
_PLACES = frozenset({"source", "sources", "follows", *_PIECE})


def _follows(block: Block, before: Block) -> bool:
    """Return whether some source has `before` directly before `block`, and both are valid."""
    chain = block.meta.get("follows")
    places = before.meta.get("sources") or ()
    live = not (block.superseded or before.superseded) and block.id != before.id
    return live and isinstance(chain, Mapping) and any(place in places for place in chain.values())


# --- the change -------------------------------------------------------------------------------------------


def apply_plan(storage: Storage, proposal: RevisionPlan, now: datetime) -> Revision:
    """Write a plan in a single transaction; raise UsageError when the store has changed since."""
    if proposal.empty:
        return Revision(proposal, None)
    with storage.transaction():
        places = set(
            map(_piece_key, storage.sources.read_pieces([p.source for p in (*proposal.dropped, *proposal.placed)]))
        )
        if not places >= set(map(_piece_key, proposal.dropped)) or places & set(map(_piece_key, proposal.placed)):
            raise UsageError(
                "Since the plan was computed, its sources were taken in again.",
                title="The plan is out of date",
                way_out="Plan again.",
            )
        done = carry_out(storage, KIND, proposal.change, summarise_plan(proposal), now)
        storage.sources.end(proposal.dropped, done.id)
        storage.sources.add(proposal.placed, done.id)
        raw_blocks.put_names(storage, proposal.names, proposal.placed)
        return Revision(proposal, done)


def summarise_plan(proposal: RevisionPlan) -> str:
    """Return what a plan does in words for the journal: `3 superseded, 1 archived in notes`."""
    counts = Counter(piece.kind for piece in proposal.pieces)
    phrase = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind]) or "places changed"
    return f"{phrase} in {proposal.about}" if proposal.about else phrase


def _piece_key(piece: SourcePiece) -> tuple[str, int, str, str]:
    """Return what identifies a text's place in a source, without its times."""
    return piece.source, piece.position, piece.locator, piece.block_id
