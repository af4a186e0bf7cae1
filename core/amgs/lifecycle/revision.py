"""Compare a source as it is now with the memory's blocks of it: a plan, then one transaction with one journal entry.

What is unchanged stays, what is changed is superseded by its successor, what is gone is archived, and a text that
comes back holds again. Nothing leaves the store.
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
from amgs.lifecycle.successors import HeldText, Succession, successions
from amgs.storage.sources import SourceName, SourcePiece
from amgs.storage.store import Storage
from amgs.types import Block, Edge, JournalEntry, Refusal, Skipped

KIND = "revise"

Revised = Literal["added", "superseded", "archived", "restored", "moved", "updated"]
KINDS: tuple[Revised, ...] = get_args(Revised)


@dataclass(frozen=True, slots=True)
class SourceText:
    """Current content of a source: its pieces in order. at: time of writing, None for now."""

    name: str
    drafts: tuple[RawBlock, ...]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PieceRevision:
    """Revision of one text.

    by: the id of its successor. because: in words. before, after: its text and that of its successor.
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
    """Plan of taking in sources again; nothing has happened yet.

    about: the folder, file or source. pieces: what becomes of texts that do not just stay; kept: how many of those
    there are. sources: how many were looked at. refused, skipped, warnings: as of an ingest.
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
        """Return how many texts this becomes of."""
        return sum(piece.kind == kind for piece in self.pieces)

    @property
    def empty(self) -> bool:
        """Return whether the plan changes nothing."""
        return not (self.pieces or self.dropped or self.placed or self.change.blocks)

    @property
    def only_adds(self) -> bool:
        """Return whether the plan adds new texts and changes no others."""
        return not (self.dropped or self.change.blocks) and all(piece.kind == "added" for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Revision:
    """A plan that was carried out. operation: its journal entry, None where there was nothing to do."""

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
    """Return what becomes of the texts of `documents`, and of the sources that are `gone`; changes nothing."""
    return _Plan(storage, documents, tuple(gone), now).made(about, names, change_counter)


class _Plan:
    """One plan on its way: what the sources held, what they hold now, and what follows for each block."""

    def __init__(self, storage: Storage, documents: Sequence[SourceText], gone: Sequence[str], now: datetime) -> None:
        self.storage, self.now = storage, now
        self.refused: list[Refusal] = []
        self.drafts: dict[str, RawBlock] = {}
        """By locator."""
        self.texts: dict[str, RawBlock] = {}
        """By id."""
        self.after: dict[str, list[SourcePiece]] = {}
        self.at: dict[str, datetime] = {}
        self.before: dict[str, list[SourcePiece]] = {source_text.name: [] for source_text in documents}
        self.before |= {name: [] for name in gone}
        for piece in storage.sources.held(list(self.before)):
            self.before[piece.source].append(piece)
        for document in documents:
            self._read(document)
        for name in gone:
            self.after[name], self.at[name] = [], now
        self.dropped, self.placed = self._moves()
        touched = {piece.block_id for piece in (*self.dropped, *self.placed)}
        self.holders: dict[str, list[SourcePiece]] = {i: [] for i in touched}
        off = set(map(_place, self.dropped))
        for piece in (*storage.sources.holding(sorted(touched)), *self.placed):
            if _place(piece) not in off:
                self.holders[piece.block_id].append(piece)
        every = touched | {p.block_id for pieces in self.after.values() for p in pieces}
        self.blocks = storage.blocks.get(sorted(every))

    def _read(self, document: SourceText) -> None:
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
        """Return what the sources no longer hold where they held it, and what they hold anew."""
        dropped, placed = [], []
        for name, after in self.after.items():
            now, then = set(map(_place, after)), set(map(_place, self.before[name]))
            dropped += [p for p in self.before[name] if _place(p) not in now]
            placed += [p for p in after if _place(p) not in then]
        return dropped, placed

    def made(self, about: str, names: Sequence[SourceName], change_counter: int) -> RevisionPlan:
        were = {p.block_id for pieces in self.before.values() for p in pieces}
        fresh = [i for i in dict.fromkeys(p.block_id for p in self.placed) if i not in were]
        lost = [
            i
            for i in dict.fromkeys(p.block_id for p in self.dropped)
            if not self.holders[i] and i in self.blocks and self.blocks[i].status in ("raw", "consolidated")
        ]
        heirs = self._heirs([i for i in lost if not self.blocks[i].superseded], fresh)
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
        for block_id, holders in self.holders.items():
            known = changed.get(block_id) or self.blocks.get(block_id)
            if known is None or not holders:
                continue
            block = self._update_metadata(known, holders)
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

    def _heirs(self, lost: Sequence[str], fresh: Sequence[str]) -> dict[str, Succession]:
        """Return the successor of each lost text that has one."""
        off = [p for p in self.dropped if p.block_id in set(lost)]
        new = [p for p in self.placed if p.block_id in set(fresh)]
        return successions(
            [self._piece(p.block_id, p.source) for p in off],
            [self._piece(p.block_id, p.source) for p in new],
            {name: [p.block_id for p in pieces] for name, pieces in self.before.items()},
            {name: [p.block_id for p in pieces] for name, pieces in self.after.items()},
        )

    def _piece(self, block_id: str, source: str) -> HeldText:
        known, draft = self.blocks.get(block_id), self.texts.get(block_id)
        content = known.content if known is not None else draft.content if draft is not None else ""
        meta: Mapping[str, Any] = draft.meta if draft is not None else known.meta if known is not None else {}
        return HeldText(block_id, source, content, str(meta.get("title") or ""))

    def _end_block(self, block: Block, source: str, heir: Succession | None) -> Block:
        """Return a block that its sources no longer hold: superseded, or archived where nothing took its place."""
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
        if heir is None:
            return self.at[source]
        return next(self.at[p.source] for p in self.placed if p.block_id == heir.successor)

    def _has_been_held(self, block_id: str) -> bool:
        """Return whether a source held a text already: only what was gone can come back."""
        placed = set(self.placed)
        is_lost = any(p.block_id == block_id for p in self.dropped)
        return is_lost or any(p not in placed for p in self.holders[block_id])

    def _valid_again(self, block: Block, at: datetime) -> Block:
        """Return a text that came back. The time it held before stands in the history of its sources."""
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
        """Return a block that is not there yet; what takes the place of another, or joins a known source, holds from
        now.
        """
        made = raw_blocks.block_of(self.texts[block_id], self.now)
        if block_id in heirs or self.before[source]:
            made = replace(made, valid_from=self.at[source])
        return self._update_metadata(made, self.holders[block_id])

    def _update_metadata(self, block: Block, holders: Sequence[SourcePiece]) -> Block:
        """Return the block with what its sources say of it now: which they are, what stands before it, its title and
        tags.
        """
        places = list(dict.fromkeys(p.locator for p in holders))
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
        """Return texts that stay where they are, of which the source says something else: a title, a tag."""
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
        """Return a piece that its source no longer holds, with the instant from which it does not."""
        after = None if self.holders[piece.block_id] else changed.get(piece.block_id)
        ended = after.valid_to if after is not None else None
        return replace(piece, until=ended or self.at[piece.source])

    # --- order ------------------------------------------------------------------------------------------

    def _edges(self, changed: Mapping[str, Block]) -> Iterable[tuple[Edge | None, Edge | None]]:
        """`next` edges between neighbours that no longer are, and those that now are."""
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
    """Return whether some source has the one right before the other, and both hold."""
    chain = block.meta.get("follows")
    places = before.meta.get("sources") or ()
    live = not (block.superseded or before.superseded) and block.id != before.id
    return live and isinstance(chain, Mapping) and any(place in places for place in chain.values())


# --- the change -------------------------------------------------------------------------------------------


def apply(storage: Storage, proposal: RevisionPlan, now: datetime) -> Revision:
    """Carry a plan out in one transaction; raises UsageError when the store has moved on under it."""
    if proposal.empty:
        return Revision(proposal, None)
    with storage.transaction():
        places = set(map(_place, storage.sources.held([p.source for p in (*proposal.dropped, *proposal.placed)])))
        if not places >= set(map(_place, proposal.dropped)) or places & set(map(_place, proposal.placed)):
            raise UsageError(
                "Since the plan was made, its sources were taken in again.",
                title="The plan is out of date",
                way_out="Plan again.",
            )
        done = carry_out(storage, KIND, proposal.change, summary(proposal), now)
        storage.sources.end(proposal.dropped, done.id)
        storage.sources.add(proposal.placed, done.id)
        raw_blocks.put_names(storage, proposal.names, proposal.placed)
        return Revision(proposal, done)


def summary(proposal: RevisionPlan) -> str:
    """Return what a plan does, for the journal: `3 superseded, 1 archived in notes`."""
    counts = Counter(piece.kind for piece in proposal.pieces)
    phrase = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind]) or "places changed"
    return f"{phrase} in {proposal.about}" if proposal.about else phrase


def _place(piece: SourcePiece) -> tuple[str, int, str, str]:
    return piece.source, piece.position, piece.locator, piece.block_id
