"""Taking notes in: read, split, hash, write as raw; no embedding, no category, no link (AMGS §8.1)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.identity import block_id, canonical
from amgs.lifecycle import metadata
from amgs.model import Block, IngestReport, Progress, Refusal
from amgs.settings import IngestSettings
from amgs.store import blocks as stored_blocks
from amgs.store.connection import Store
from amgs.text import markdown
from amgs.text.dates import note_date

_DIALOGUE = "dialogue"
# Front matter that has a place of its own; anything else is kept in meta as it is written.
_PLACED = frozenset({"date", "ingest"})
_NOT_MEANT = "its front matter says `ingest: false`"


@dataclass(frozen=True, slots=True)
class Draft:
    """A block before it has an id. created_at: None means the instant of ingestion.

    meta may hold `source` (where it came from) and `follows` (the source of the piece before it).
    """

    content: str
    created_at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading files gave: drafts in order, and what was refused."""

    drafts: tuple[Draft, ...]
    refused: tuple[Refusal, ...] = ()


# --- reading ----------------------------------------------------------------------------------------------


def read_folder(folder: Path, settings: IngestSettings, progress: Progress | None = None) -> Reading:
    """Every `.md` file below a folder, sorted by path; one bad file does not stop the others.

    Sources are paths relative to the folder. Hidden folders and files that say `ingest: false` are passed
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
        files += [Path(directory, name) for name in names if name.lower().endswith(".md") and name[0] != "."]
    files.sort(key=lambda path: path.relative_to(folder).as_posix())
    drafts: list[Draft] = []
    for i, path in enumerate(files):
        if progress is not None:
            progress(i, len(files), "reading")
        reading = read_file(path, path.relative_to(folder).as_posix(), settings)
        drafts += reading.drafts
        # A file that asks to stay out is no fault of the folder; asked for by name, it says why it is not taken.
        refused += [refusal for refusal in reading.refused if refusal.reason != _NOT_MEANT]
    return Reading(tuple(drafts), tuple(refused))


def read_file(path: Path, source: str, settings: IngestSettings) -> Reading:
    """One file as drafts, or the reason why it is refused."""
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
    return read_note(text, source, modified, settings)


def read_note(
    text: str,
    source: str,
    modified: datetime,
    settings: IngestSettings,
    *,
    dated: datetime | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Reading:
    """A note's text as drafts: one, or one a turn of a dialogue, or the parts of a long one.

    The instant is `dated`, else the front matter's date, else `modified`. Each part or turn has the source
    `source#n`, n from 1; without a source a name made from the content stands in. extra: meta that overrides
    the front matter's.
    """
    front, body = markdown.front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    if str(front.get("ingest", "")).lower() in ("false", "no"):
        return _refused(source, _NOT_MEANT)
    if not body.strip():
        return _refused(source, "it is empty")
    written = front.get("date")
    at = dated or (note_date(written) if isinstance(written, str) else None) or modified
    named = source or f"text-{block_id(body)[:12]}"
    meta: dict[str, Any] = metadata.of_front_matter({k: v for k, v in front.items() if k not in _PLACED})
    meta |= dict(extra or {})
    if isinstance(meta.get("tags"), str):
        meta["tags"] = [tag for tag in str(meta["tags"]).replace(",", " ").split() if tag]
    if front.get("kind") == _DIALOGUE:
        drafts = _dialogue(body, named, at, meta, settings)
        if drafts:
            return Reading(drafts)
    heading = markdown.title(body)
    if heading and "title" not in meta:
        meta["title"] = heading
    parts = markdown.split(body, settings.max_block_chars)
    if len(parts) == 1:
        return Reading((Draft(body, at, meta | ({"source": source} if source else {})),))
    return Reading(tuple(_parts(parts, named, at, meta)))


def _parts(parts: Sequence[str], source: str, at: datetime, meta: Mapping[str, Any]) -> Iterable[Draft]:
    for n, part in enumerate(parts, 1):
        own = dict(meta) | {"source": f"{source}#{n}", "part": n, "parts": len(parts)}
        if n > 1:
            own["follows"] = f"{source}#{n - 1}"
        yield Draft(part, at, own)


def _dialogue(
    body: str, source: str, at: datetime, meta: Mapping[str, Any], settings: IngestSettings
) -> tuple[Draft, ...]:
    """A draft for each turn, `Name: text`, a minute apart; a turn over the limit becomes several."""
    turns = markdown.turns(body)
    common = dict(meta)
    common.pop("title", None)
    name = str(meta.get("title") or markdown.title(body))
    if name:
        common["dialogue"] = name
    drafts: list[Draft] = []
    before = ""
    for n, turn in enumerate(turns, 1):
        pieces = markdown.split(turn.text, settings.max_block_chars)
        for k, piece in enumerate(pieces, 1):
            here = f"{source}#{n}" if len(pieces) == 1 else f"{source}#{n}#{k}"
            own = common | {"source": here, "turn": n, "turns": len(turns)}
            if turn.speaker:
                own["speaker"] = turn.speaker
            if before:
                own["follows"] = before
            content = f"{turn.speaker}: {piece}" if turn.speaker else piece
            drafts.append(Draft(content, _minutes_later(at, n - 1), own))
            before = here
    return tuple(drafts)


def _minutes_later(at: datetime, minutes: int) -> datetime:
    try:
        return at + timedelta(minutes=minutes)
    except OverflowError:
        return at  # the last year that a calendar holds


def _refused(source: str, reason: str) -> Reading:
    return Reading((), (Refusal(source, reason),))


# --- writing ----------------------------------------------------------------------------------------------


def ingest(
    store: Store,
    drafts: Iterable[Draft],
    now: datetime,
    *,
    batch: int = 5000,
    progress: Progress | None = None,
) -> IngestReport:
    """Write drafts as raw blocks, in one transaction; a block that is known gains the new source and no more.

    Refused: empty text, text with half a surrogate pair, which no encoding can store, and metadata that no JSON
    can hold.
    """
    wanted = tuple(drafts)
    added: list[str] = []
    known: list[str] = []
    refused: list[Refusal] = []
    with store.transaction():
        for start in range(0, len(wanted), batch):
            if progress is not None:
                progress(start, len(wanted), "ingesting")
            blocks: dict[str, Block] = {}
            repeats: list[Draft] = []
            for given in wanted[start : start + batch]:
                try:
                    draft = _fit(given)
                except ValueError as error:
                    refused.append(Refusal(_told(given.meta.get("source", "")), str(error)))
                    continue
                block = _block(draft, now)
                if block.id in blocks:
                    repeats.append(draft)
                    known.append(block.id)
                else:
                    blocks[block.id] = block
            fresh = set(stored_blocks.insert(store, tuple(blocks.values())))
            added += [i for i in blocks if i in fresh]
            known += [i for i in blocks if i not in fresh]
            repeats += [Draft(b.content, meta=b.meta) for i, b in blocks.items() if i not in fresh]
            _note_sources(store, repeats)
        # The last moment to stop: after the commit there is nothing left to stop.
        if progress is not None:
            progress(len(wanted), len(wanted), "ingesting")
    return IngestReport(tuple(added), tuple(dict.fromkeys(known)), tuple(refused))


def _fit(draft: Draft) -> Draft:
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
    return str(source).encode("utf-8", "replace").decode("utf-8")


def _block(draft: Draft, now: datetime) -> Block:
    content = canonical(draft.content)
    at = draft.created_at or now
    return Block(block_id(content), content, at, at, meta=_with_source({}, draft.meta))


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


def _note_sources(store: Store, repeats: Sequence[Draft]) -> None:
    """Add to known blocks where else their text was found."""
    known = stored_blocks.get(store, {block_id(d.content) for d in repeats})
    changed: dict[str, Block] = {}
    for draft in repeats:
        block = known[block_id(draft.content)]
        meta = {**block.meta, **_sources_only(block.meta, draft.meta)}
        if meta != block.meta:
            known[block.id] = changed[block.id] = replace(block, meta=meta)
    stored_blocks.update(store, tuple(changed.values()))


def _sources_only(meta: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    merged = _with_source(meta, more)
    return {key: merged[key] for key in ("source", "sources", "follows") if key in merged}
