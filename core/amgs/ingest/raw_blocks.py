"""Turn drafts from readers into raw blocks and write them in a single transaction; without embedding, category or edges
(AMGS §8.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from amgs.clock import as_utc, place
from amgs.identity import block_id, canonical, file_of
from amgs.incoming import why_unstorable
from amgs.ingest import metadata
from amgs.ingest.said_again import Saying, end_replaced, hold_again, say_later, utc_offset_meta
from amgs.log import journal
from amgs.masking import find_marks
from amgs.storage.journal import JournalRow
from amgs.storage.sources import SourceName, SourcePiece
from amgs.storage.store import Storage
from amgs.text.words import plural, tell_again
from amgs.types import Block, IngestReport, JournalEntry, Progress, Refusal, Skipped

KIND = "ingest"
SourceOf = Callable[[str], str]
"""Returns the name of the source for a piece's `source`; "" if nobody named one, so the piece is its own source."""


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block before it has an id.

    created_at: None for the time of ingestion. meta may contain `source` (where it came from) and `follows` (the source
    of the previous piece). valid_from, valid_to: period in which its content holds, if the source says so; an end in
    the future counts as none. replaces: ids of blocks that it corrects.
    """

    content: str
    created_at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What was read from files: drafts in order, refused files, files that are not notes, and warnings."""

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
    """Write drafts as raw blocks in a single transaction with a journal entry, and return the report.

    A known block only gains the new source; if it was archived or superseded, it holds again, dated by its latest
    saying. now: in the time zone of drafts that have none. origin: for the journal's summary. names: locations of the
    sources. source_of: name of the source for a piece's `source`. reread: the source was read before, so an unchanged
    piece is not a new saying: of a named file, archived pieces hold again, of a folder they do not. Refused are empty
    texts, texts that cannot be stored (`amgs.incoming`), and metadata that JSON cannot hold.
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
                    refused.append(Refusal(format_source(raw_block.meta.get("source", "")), str(error)))
                    continue
                block = block_of(draft, here)
                if isinstance(source := draft.meta.get("source"), str):
                    since = min(block.created_at, now)
                    places.append(SourcePiece(source_of(source) or file_of(source), 0, source, block.id, since))
                is_unchanged = (draft.meta.get("source"), block.id) in held_before
                corrected += [Saying(old, block.written, by=block.id) for old in draft.replaces]
                if block.valid_to is None and not (is_unchanged and reread == "folder"):
                    sayings.append(Saying(block.id, block.written, anew=not is_unchanged))
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
        # The last chance to cancel: the transaction commits next.
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
    """Return (locator, block id) of the pieces that the drafts' sources contain already."""
    named = {str(draft.meta["source"]) for draft in drafts if draft.meta.get("source")}
    pieces = storage.sources.read_pieces([source_of(source) or file_of(source) for source in named])
    return {(piece.locator, piece.block_id) for piece in pieces}


def _new_places(storage: Storage, places: Sequence[SourcePiece], now: datetime) -> list[SourcePiece]:
    """Return the pieces that are new to their sources, with their positions."""
    order: Counter[str] = Counter()
    known = storage.sources.read_pieces(list({piece.source for piece in places})) if places else ()
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
    """Store new names and locations of sources; sources of which nothing is known get no folder."""
    wanted = {source_name.name: source_name for source_name in names}
    unnamed = sorted({piece.source for piece in pieces} - wanted.keys())
    known = {source_name.name: source_name for source_name in storage.sources.names()} if wanted or unnamed else {}
    wanted |= {name: SourceName(name, "", name) for name in unnamed if name not in known}
    storage.sources.put_names([source_name for name, source_name in wanted.items() if known.get(name) != source_name])


def _summary(added: int, again: int, repeated: int, sourced: int, origin: str) -> str:
    """Return the journal's summary of an ingest."""
    parts = [plural(added, "block")] if added else []
    parts += tell_again(again, repeated)
    parts += [f"{plural(sourced, 'known block')} gained a source"] if sourced else []
    return ", ".join(parts) + (f" from {origin}" if origin else "")


def fit(draft: RawBlock) -> RawBlock:
    """Return the draft in storable form; raises ValueError that says why it cannot be stored."""
    if not isinstance(draft.content, str):
        raise ValueError(f"it is a {type(draft.content).__name__}, not a text")
    if not canonical(draft.content):
        raise ValueError("it is empty")
    if why := why_unstorable((draft.content, draft.meta)):
        raise ValueError(f"it holds {why}, which cannot be stored")
    return replace(draft, meta=metadata.fit(draft.meta))


def format_source(source: object) -> str:
    """Return a source as printable text."""
    return str(source).encode("utf-8", "backslashreplace").decode("utf-8")


def block_of(draft: RawBlock, now: datetime) -> Block:
    """Build a raw block from a draft. now: its time zone applies where the writer's is unknown."""
    content = canonical(draft.content)
    written = place(draft.created_at or now, now.tzinfo)
    at, now = as_utc(written), as_utc(now)
    valid_from = now if at > now else draft.valid_from  # a text dated in the future holds from now on
    ended = draft.valid_to if draft.valid_to is not None and draft.valid_to <= now else None
    meta = _with_source({}, draft.meta) | utc_offset_meta(written)
    return Block(block_id(content), content, at, at, meta=meta, valid_from=valid_from, valid_to=ended)


def _with_source(meta: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with the source of another occurrence of the same text; the first occurrence decides everything
    else.
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
    """Add new sources to known blocks; return (before, after) of those that changed."""
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
    """Return only the metadata about sources, merged."""
    merged = _with_source(meta, more)
    return {key: merged[key] for key in ("source", "sources", "follows") if key in merged}
