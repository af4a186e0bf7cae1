"""Raw blocks: drafts as readers make them, hashed and written; no embedding, no category, no link (AMGS §8.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from amgs.clock import as_utc, place
from amgs.identity import block_id, canonical, file_of
from amgs.ingest import metadata
from amgs.ingest.said_again import Saying, end_replaced, hold_again, offset_of, say_later
from amgs.log import journal
from amgs.masking import find_marks
from amgs.storable import why_unstorable
from amgs.storage.journal import JournalRow
from amgs.storage.sources import SourceName, SourcePiece
from amgs.storage.store import Storage
from amgs.text.plural import plural, tell_again
from amgs.types import Block, IngestReport, JournalEntry, Progress, Refusal, Skipped

KIND = "ingest"
SourceOf = Callable[[str], str]
"""The name of the source in which a piece has this `source`; "" where nobody named one, then it is the piece's own."""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block before it has an id. created_at: None means the instant of ingestion.

    meta may hold `source` (where it came from) and `follows` (the source of the piece before it). valid_from, valid_to:
    from when to when what it says held, where its source says so; an end that is still to come is no end yet. replaces:
    ids of the blocks that hold no longer, because this was written in their place.
    """

    content: str
    created_at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderContents:
    """Result of reading files: drafts in order, refused files, files that are not notes, and unreadable files among the
    others.
    """

    drafts: tuple[RawBlock, ...]
    refused: tuple[Refusal, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[Refusal, ...] = ()


def ingest(
    storage: Storage,
    drafts: Iterable[RawBlock],
    now: datetime,
    *,
    origin: str = "",
    names: Sequence[SourceName] = (),
    source_of: SourceOf = file_of,
    reread: Literal["", "file", "folder"] = "",
    batch: int = 5000,
    progress: Progress | None = None,
) -> IngestReport:
    """Write drafts as raw blocks, in one transaction; a block that is known gains the new source and no more, or holds
    again where it had been set aside, and counts as said when it was said last.

    now: in the zone of drafts that do not tell theirs. What changed is one entry of the journal. origin: where the
    drafts come from, in words. names: what is known of their sources. source_of: the name of the source in which a
    piece has this `source`. reread: what is read is no more said for that where it still stands in its place: of a file
    that is named what was set aside holds again, of a folder nothing does.

    Refused: empty text, text that cannot be stored (`amgs.storable`), and metadata that no JSON can hold.
    """
    wanted = tuple(drafts)
    here, now = now, as_utc(now)
    added: list[str] = []
    known: list[str] = []
    refused: list[Refusal] = []
    gained: dict[str, tuple[Block, Block]] = {}
    sourced: set[str] = set()
    again: list[str] = []
    repeated: list[str] = []
    replaced: list[str] = []
    more: list[JournalRow] = []
    operation: JournalEntry | None = None
    places: list[SourcePiece] = []
    with storage.transaction():
        for start in range(0, len(wanted), batch):
            if progress is not None:
                progress(start, len(wanted), "ingesting")
            blocks: dict[str, Block] = {}
            repeats: list[RawBlock] = []
            sayings: list[Saying] = []
            corrected: list[Saying] = []
            held_before = _read_old_places(storage, wanted[start : start + batch], source_of) if reread else set()
            for raw_block in wanted[start : start + batch]:
                try:
                    draft = fit(raw_block)
                except ValueError as error:
                    refused.append(Refusal(shown(raw_block.meta.get("source", "")), str(error)))
                    continue
                block = block_of(draft, here)
                if isinstance(source := draft.meta.get("source"), str):
                    since = min(block.created_at, now)
                    places.append(SourcePiece(source_of(source) or file_of(source), 0, source, block.id, since))
                there = (draft.meta.get("source"), block.id) in held_before
                corrected += [Saying(old, block.written, by=block.id) for old in draft.replaces]
                if block.valid_to is None and not (there and reread == "folder"):
                    sayings.append(Saying(block.id, block.written, anew=not there))
                if block.id in blocks:
                    blocks[block.id] = say_later(blocks[block.id], block.written)
                    repeats.append(draft)
                    known.append(block.id)
                else:
                    blocks[block.id] = block
            fresh = set(storage.blocks.insert(tuple(blocks.values())))
            added += [i for i in blocks if i in fresh]
            known += [i for i in blocks if i not in fresh]
            repeats += [RawBlock(b.content, meta=b.meta) for i, b in blocks.items() if i not in fresh]
            back = hold_again(storage, [saying for saying in sayings if saying.block_id not in fresh], now)
            again += back.ids
            repeated += back.repeated
            more += back.rows
            ended = end_replaced(storage, corrected, now)
            replaced += [after.id for _, after in ended]
            noted = _note_sources(storage, repeats)
            sourced.update(after.id for _, after in noted)
            for before, after in (*back.pairs, *ended, *noted):
                gained[after.id] = (gained[after.id][0] if after.id in gained else before, after)
        new_ids = frozenset(added)
        rows = [journal.build_new_row(i) for i in added]
        rows += [journal.block_row(*pair) for i, pair in gained.items() if i not in new_ids]
        new_places = _new_places(storage, places, now)
        if rows or new_places:
            summary = _summary(
                len(added), len({*again}), len({*repeated}), len(sourced - {*again, *repeated, *added}), origin
            )
            if replaced:
                summary += f", in place of {plural(len(replaced), 'block')}"
            operation = journal.write(storage, KIND, now, summary, [*rows, *more])
            storage.sources.add(new_places, operation.id)
        put_names(storage, names, new_places)
        # The last moment to stop: after the commit there is nothing left to stop.
        if progress is not None:
            progress(len(wanted), len(wanted), "ingesting")
    return IngestReport(
        tuple(added),
        tuple(dict.fromkeys(known)),
        tuple(refused),
        operation=None if operation is None else operation.id,
        again=tuple(dict.fromkeys(again)),
        masked=find_marks(draft.content for draft in wanted if isinstance(draft.content, str)),
        repeated=tuple(dict.fromkeys(repeated)),
        replaced=tuple(dict.fromkeys(replaced)),
    )


def _read_old_places(storage: Storage, drafts: Sequence[RawBlock], source_of: SourceOf) -> set[tuple[object, str]]:
    """Return the places, each with its block, that the sources of drafts hold already."""
    named = {str(draft.meta["source"]) for draft in drafts if draft.meta.get("source")}
    pieces = storage.sources.held([source_of(source) or file_of(source) for source in named])
    return {(piece.locator, piece.block_id) for piece in pieces}


def _new_places(storage: Storage, places: Sequence[SourcePiece], now: datetime) -> list[SourcePiece]:
    """Return the places that no source has noted yet, each with its position among those of its source here."""
    order: Counter[str] = Counter()
    known = storage.sources.held(list({piece.source for piece in places})) if places else ()
    known_pairs = {(piece.locator, piece.block_id) for piece in known}
    sources = {piece.source for piece in known}
    fresh: list[SourcePiece] = []
    for piece in places:
        order[piece.source] += 1
        if (piece.locator, piece.block_id) not in known_pairs:
            known_pairs.add((piece.locator, piece.block_id))
            since = now if piece.source in sources else piece.since
            fresh.append(replace(piece, position=order[piece.source], since=since))
    return fresh


def put_names(storage: Storage, names: Sequence[SourceName], pieces: Iterable[SourcePiece]) -> None:
    """Keep what is new of the names of sources; one of which nothing is known has no folder."""
    wanted = {source_name.name: source_name for source_name in names}
    unnamed = sorted({piece.source for piece in pieces} - wanted.keys())
    known = {source_name.name: source_name for source_name in storage.sources.names()} if wanted or unnamed else {}
    wanted |= {name: SourceName(name, "", name) for name in unnamed if name not in known}
    storage.sources.put_names([source_name for name, source_name in wanted.items() if known.get(name) != source_name])


def _summary(added: int, again: int, repeated: int, sourced: int, origin: str) -> str:
    """Return what an ingest did, for the journal."""
    parts = [plural(added, "block")] if added else []
    parts += tell_again(again, repeated)
    parts += [f"{plural(sourced, 'known block')} gained a source"] if sourced else []
    return ", ".join(parts) + (f" from {origin}" if origin else "")


def fit(draft: RawBlock) -> RawBlock:
    """Return the draft as it can be stored; raises ValueError that says why it cannot."""
    if not isinstance(draft.content, str):
        raise ValueError(f"it is a {type(draft.content).__name__}, not a text")
    if not canonical(draft.content):
        raise ValueError("it is empty")
    if why := why_unstorable((draft.content, draft.meta)):
        raise ValueError(f"it holds {why}, which cannot be stored")
    return replace(draft, meta=metadata.fit(draft.meta))


def shown(source: object) -> str:
    """Return a source as it can be shown, whatever it holds."""
    return str(source).encode("utf-8", "backslashreplace").decode("utf-8")


def block_of(draft: RawBlock, now: datetime) -> Block:
    """Return the draft as a raw block, by its writer's day; now: in the zone that stands for one which is not known."""
    content = canonical(draft.content)
    written = place(draft.created_at or now, now.tzinfo)
    at, now = as_utc(written), as_utc(now)
    valid_from = now if at > now else draft.valid_from  # what is dated ahead is known from today on
    ended = draft.valid_to if draft.valid_to is not None and draft.valid_to <= now else None
    meta = _with_source({}, draft.meta) | offset_of(written)
    return Block(block_id(content), content, at, at, meta=meta, valid_from=valid_from, valid_to=ended)


def _with_source(meta: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Meta with the source of another appearance of the same text.

    The first appearance decides everything else.
    """
    result = {**more, **meta}
    source, follows = more.get("source"), more.get("follows")
    if not isinstance(source, str):
        return result
    sources = list(meta.get("sources", [meta["source"]] if "source" in meta else []))
    result["sources"] = sources if source in sources else [*sources, source]
    chain = dict(meta["follows"]) if isinstance(meta.get("follows"), Mapping) else {}
    if isinstance(follows, str):
        chain[source] = follows
    result.pop("follows", None)
    if chain:
        result["follows"] = chain
    return result


def _note_sources(storage: Storage, repeats: Sequence[RawBlock]) -> list[tuple[Block, Block]]:
    """Add to known blocks where else their text was found; (before, after) of those that changed."""
    before = storage.blocks.get({block_id(d.content) for d in repeats})
    known = dict(before)
    changed: dict[str, Block] = {}
    for draft in repeats:
        block = known[block_id(draft.content)]
        meta = {**block.meta, **_sources_only(block.meta, draft.meta)}
        if meta != block.meta:
            known[block.id] = changed[block.id] = replace(block, meta=meta)
    storage.blocks.update(tuple(changed.values()))
    return [(before[i], after) for i, after in changed.items()]


def _sources_only(meta: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    merged = _with_source(meta, more)
    return {key: merged[key] for key in ("source", "sources", "follows") if key in merged}
