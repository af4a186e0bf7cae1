"""Taking notes in: read, split, hash, write as raw; no embedding, no category, no link (AMGS §8.1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.identity import block_id, canonical, file_of
from amgs.ingest import metadata
from amgs.log import journal
from amgs.settings import IngestSettings
from amgs.storage.protocol import Storage
from amgs.storage.sources import SourceName, SourcePiece
from amgs.text import front_matter, markdown, outline, splitting
from amgs.text.dates import note_date
from amgs.text.outline import Form
from amgs.text.splitting import TextPart
from amgs.types import Block, IngestReport, JournalEntry, Progress, Refusal, Skipped

KIND = "ingest"
_DIALOGUE = "dialogue"
# Front matter that has a place of its own; anything else is kept in meta as it is written.
_PLACED = frozenset({"date", "ingest"})
DESCRIPTION = "corpus.toml"
"""A file that describes the folder; it is no note, and nobody misses it."""
_NOT_MEANT = "its front matter says `ingest: false`"


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block before it has an id. created_at: None means the instant of ingestion.

    meta may hold `source` (where it came from) and `follows` (the source of the piece before it).
    """

    content: str
    created_at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What reading files gave: drafts in order, what was refused, the files that are no notes, and what of the others
    could not be read.
    """

    drafts: tuple[RawBlock, ...]
    refused: tuple[Refusal, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[Refusal, ...] = ()


# --- reading ----------------------------------------------------------------------------------------------


def read_folder(folder: Path, settings: IngestSettings, progress: Progress | None = None) -> FolderContents:
    """Every note below a folder, sorted by path: Markdown, reStructuredText, Org and plain text; one bad file does not
    stop the others, and files of other kinds are counted.

    Sources are paths relative to the folder. Hidden files and folders, and files that say `ingest: false`, are passed
    over. Raises InputError for a folder that is missing or cannot be read.
    """
    if not folder.exists():
        raise InputError(f"{folder} does not exist.", way_out="Give a folder of markdown notes.")
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not a folder.",
            way_out="Give a folder, or ingest the file by itself.",
            about="ingest",
        )
    refused: list[Refusal] = []
    files: list[Path] = []
    skipped: Counter[str] = Counter()

    def unreadable(error: OSError) -> None:
        where = Path(str(error.filename))
        if where == folder:
            raise InputError(
                f"{folder} cannot be read: {error.strerror}.", way_out="Check its permissions."
            ) from error
        refused.append(
            Refusal(where.relative_to(folder).as_posix(), f"the folder cannot be read: {error.strerror}")
        )

    for directory, below, names in os.walk(folder, onerror=unreadable):
        below[:] = sorted(d for d in below if not d.startswith("."))
        for name in names:
            if name[0] == ".":
                continue
            if outline.form_of(name) is not None:
                files.append(Path(directory, name))
            elif name != DESCRIPTION:
                skipped[Path(name).suffix.lower()] += 1
    files.sort(key=lambda path: path.relative_to(folder).as_posix())
    drafts: list[RawBlock] = []
    warnings: list[Refusal] = []
    for i, path in enumerate(files):
        if progress is not None:
            progress(i, len(files), "reading")
        reading = read_file(path, path.relative_to(folder).as_posix(), settings)
        drafts += reading.drafts
        warnings += reading.warnings
        # A file that asks to stay out is no fault of the folder; asked for by name, it says why it is not taken.
        refused += [refusal for refusal in reading.refused if refusal.reason != _NOT_MEANT]
    passed_over = tuple(Skipped(_told(ending), n) for ending, n in sorted(skipped.items()))
    return FolderContents(tuple(drafts), tuple(refused), passed_over, tuple(warnings))


def read_file(path: Path, source: str, settings: IngestSettings) -> FolderContents:
    """One file as drafts, or the reason why it is refused."""
    if _told(source) != source:
        return _refused(_told(source), "its file name is not UTF-8; rename the file")
    try:
        status = path.stat()
        if not path.is_file():
            return _refused(source, "it is not a file")
        if status.st_size > settings.max_file_bytes:
            limit = settings.max_file_bytes / 2**20
            return _refused(
                source, f"it has {status.st_size / 2**20:.0f} MiB, more than the limit of {limit:g} MiB"
            )
        raw = path.read_bytes()
    except OSError as error:
        return _refused(source, f"it cannot be read: {error.strerror}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _refused(source, f"it is not UTF-8 (byte {error.start})")
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return read_note(text, source, modified, settings, form=outline.form_of(path.name) or "markdown")


def read_note(
    text: str,
    source: str,
    modified: datetime,
    settings: IngestSettings,
    *,
    form: Form = "markdown",
    dated: datetime | None = None,
    extra: Mapping[str, Any] | None = None,
) -> FolderContents:
    """A note's text as drafts: one, or one a turn of a dialogue, or the parts of a long one.

    The instant is `dated`, else the front matter's date, else `modified`. Each part or turn has the source
    `source#n`, n from 1; without a source a name made from the content stands in. extra: meta that overrides
    the front matter's.
    """
    matter, body = front_matter.read(text.replace("\r\n", "\n").replace("\r", "\n"))
    front = matter.values
    if str(front.get("ingest", "")).lower() in ("false", "no"):
        return _refused(source, _NOT_MEANT)
    if not body.strip():
        return _refused(source, "it is empty")
    seen = outline.without_plumbing(body) if form == "markdown" else body
    if not seen.strip():
        return _refused(source, "it holds nothing but comments and link definitions")
    warnings = [
        Refusal(source, f"its front matter has a line that is not `key: value`: {line}")
        for line in matter.unread
    ]
    written = front.get("date")
    try:
        at, doubt = _instant(written, modified)
    except OverflowError:
        return _refused(source, f"its date {written} is beyond the calendar in UTC")
    if dated is not None:
        at = dated
    elif doubt:
        warnings.append(Refusal(source, doubt))
    named = source or f"text-{block_id(body)[:12]}"
    meta: dict[str, Any] = metadata.of_front_matter({k: v for k, v in front.items() if k not in _PLACED})
    meta |= dict(extra or {})
    if isinstance(meta.get("tags"), str):
        meta["tags"] = [tag for tag in str(meta["tags"]).replace(",", " ").split() if tag]
    if front.get("kind") == _DIALOGUE:
        drafts = _dialogue(body, named, at, meta, settings)
        if drafts:
            return FolderContents(drafts, warnings=tuple(warnings))
    limit = settings.max_block_chars
    # What is cut into pieces leaves its comments and link definitions behind: none of them is a memory of its own.
    parts = splitting.pieces(body if len(body) <= limit else seen.strip("\n"), limit, form)
    if len(parts) == 1:
        if parts[0].heading and "title" not in meta:
            meta["title"] = parts[0].heading
        own = meta | ({"source": source} if source else {})
        return FolderContents((RawBlock(parts[0].text, at, own),), warnings=tuple(warnings))
    return FolderContents(tuple(_parts(parts, named, at, meta)), warnings=tuple(warnings))


def _instant(written: object, modified: datetime) -> tuple[datetime, str]:
    """The instant that a `date` means, else `modified` and what is wrong with the date.

    Raises OverflowError for one whose instant in UTC no calendar holds.
    """
    if written is None or written == "":
        return modified, ""
    found = note_date(written) if isinstance(written, str) else None
    if found is not None:
        return found, ""
    return (
        modified,
        f"its date {written} cannot be read as a day; write it as 2026-03-01. The file's time stands in",
    )


def _parts(
    parts: Sequence[TextPart], source: str, at: datetime, meta: Mapping[str, Any]
) -> Iterable[RawBlock]:
    """The parts of a long note: each has the nearest heading as its title, and keeps that of the note beside it."""
    document = str(meta.get("title") or parts[0].heading)
    for n, part in enumerate(parts, 1):
        own = dict(meta) | {"source": f"{source}#{n}", "part": n, "parts": len(parts)}
        title = document if n == 1 else part.heading or document
        if title:
            own["title"] = title
        if document and title != document:
            own["document"] = document
        if n > 1:
            own["follows"] = f"{source}#{n - 1}"
        yield RawBlock(part.text, at, own)


def _dialogue(
    body: str, source: str, at: datetime, meta: Mapping[str, Any], settings: IngestSettings
) -> tuple[RawBlock, ...]:
    """A draft for each turn, `Name: text`, a minute apart; a turn over the limit becomes several."""
    turns = markdown.turns(body)
    common = dict(meta)
    common.pop("title", None)
    name = str(meta.get("title") or markdown.title(body))
    if name:
        common["dialogue"] = name
    drafts: list[RawBlock] = []
    before = ""
    for n, turn in enumerate(turns, 1):
        pieces = splitting.split(turn.text, settings.max_block_chars)
        for k, piece in enumerate(pieces, 1):
            here = f"{source}#{n}" if len(pieces) == 1 else f"{source}#{n}#{k}"
            own = common | {"source": here, "turn": n, "turns": len(turns)}
            if turn.speaker:
                own["speaker"] = turn.speaker
            if before:
                own["follows"] = before
            content = f"{turn.speaker}: {piece}" if turn.speaker else piece
            drafts.append(RawBlock(content, _minutes_later(at, n - 1), own))
            before = here
    return tuple(drafts)


def _minutes_later(at: datetime, minutes: int) -> datetime:
    try:
        return at + timedelta(minutes=minutes)
    except OverflowError:
        return at  # the last year that a calendar holds


def _refused(source: str, reason: str) -> FolderContents:
    return FolderContents((), (Refusal(source, reason),))


# --- writing ----------------------------------------------------------------------------------------------


def ingest(
    storage: Storage,
    drafts: Iterable[RawBlock],
    now: datetime,
    *,
    told: str = "",
    names: Sequence[SourceName] = (),
    source_of: Callable[[str], str] = file_of,
    batch: int = 5000,
    progress: Progress | None = None,
) -> IngestReport:
    """Write drafts as raw blocks, in one transaction; a block that is known gains the new source and no more.

    What changed is one entry of the journal. told: where the drafts come from, in words. names: what is known of their
    sources. source_of: the name of the source in which a piece has this `source`.

    Refused: empty text, text with half a surrogate pair, which no encoding can store, and metadata that no JSON
    can hold.
    """
    wanted = tuple(drafts)
    added: list[str] = []
    known: list[str] = []
    refused: list[Refusal] = []
    gained: dict[str, tuple[Block, Block]] = {}
    operation: JournalEntry | None = None
    places: list[SourcePiece] = []
    with storage.transaction():
        for start in range(0, len(wanted), batch):
            if progress is not None:
                progress(start, len(wanted), "ingesting")
            blocks: dict[str, Block] = {}
            repeats: list[RawBlock] = []
            for given in wanted[start : start + batch]:
                try:
                    draft = _fit(given)
                except ValueError as error:
                    refused.append(Refusal(_told(given.meta.get("source", "")), str(error)))
                    continue
                block = _block(draft, now)
                if isinstance(source := draft.meta.get("source"), str):
                    since = min(block.created_at, now)
                    places.append(SourcePiece(source_of(source), 0, source, block.id, since))
                if block.id in blocks:
                    repeats.append(draft)
                    known.append(block.id)
                else:
                    blocks[block.id] = block
            fresh = set(storage.blocks.insert(tuple(blocks.values())))
            added += [i for i in blocks if i in fresh]
            known += [i for i in blocks if i not in fresh]
            repeats += [RawBlock(b.content, meta=b.meta) for i, b in blocks.items() if i not in fresh]
            for before, after in _note_sources(storage, repeats):
                gained[after.id] = (gained[after.id][0] if after.id in gained else before, after)
        made = frozenset(added)
        rows = [journal.made_row(i) for i in added]
        rows += [journal.block_row(*pair) for i, pair in gained.items() if i not in made]
        held = _new_places(storage, places, now)
        if rows or held:
            operation = journal.write(storage, KIND, now, _summary(len(added), len(rows), told), rows)
            storage.sources.add(held, operation.id)
        put_names(storage, names, held)
        # The last moment to stop: after the commit there is nothing left to stop.
        if progress is not None:
            progress(len(wanted), len(wanted), "ingesting")
    return IngestReport(
        tuple(added),
        tuple(dict.fromkeys(known)),
        tuple(refused),
        operation=None if operation is None else operation.id,
    )


def _new_places(storage: Storage, places: Sequence[SourcePiece], now: datetime) -> list[SourcePiece]:
    """The places that no source has noted yet, each with its position among those of its source here."""
    order: Counter[str] = Counter()
    known = storage.sources.held(list({one.source for one in places})) if places else ()
    held = {(one.locator, one.block_id) for one in known}
    sources = {one.source for one in known}
    fresh: list[SourcePiece] = []
    for one in places:
        order[one.source] += 1
        if (one.locator, one.block_id) not in held:
            held.add((one.locator, one.block_id))
            since = now if one.source in sources else one.since
            fresh.append(replace(one, position=order[one.source], since=since))
    return fresh


def put_names(storage: Storage, names: Sequence[SourceName], held: Iterable[SourcePiece]) -> None:
    """Keep what is new of the names of sources; one of which nothing is known has no folder."""
    wanted = {one.name: one for one in names}
    unnamed = sorted({one.source for one in held} - wanted.keys())
    known = {one.name: one for one in storage.sources.names()} if wanted or unnamed else {}
    wanted |= {name: SourceName(name, "", name) for name in unnamed if name not in known}
    storage.sources.put_names([one for name, one in wanted.items() if known.get(name) != one])


def _summary(added: int, touched: int, told: str) -> str:
    """What an ingest did, for the journal."""
    again = touched - added
    parts = [f"{added:,} block{'' if added == 1 else 's'}"] if added else []
    parts += [f"{again:,} known block{'' if again == 1 else 's'} gained a source"] if again else []
    return ", ".join(parts) + (f" from {told}" if told else "")


def _fit(draft: RawBlock) -> RawBlock:
    """The draft as it can be stored; raises ValueError that says why it cannot."""
    if not isinstance(draft.content, str):
        raise ValueError(f"it is a {type(draft.content).__name__}, not a text")
    if not canonical(draft.content):
        raise ValueError("it is empty")
    try:
        draft.content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"it holds half a surrogate pair at character {error.start}, which cannot be stored"
        ) from None
    return replace(draft, meta=metadata.fit(draft.meta))


def _told(source: object) -> str:
    """A source as it can be shown, whatever it holds."""
    return str(source).encode("utf-8", "backslashreplace").decode("utf-8")


def _block(draft: RawBlock, now: datetime) -> Block:
    content = canonical(draft.content)
    at = draft.created_at or now
    held = now if at > now else None  # what is dated ahead is known from today on
    return Block(block_id(content), content, at, at, meta=_with_source({}, draft.meta), valid_from=held)


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
