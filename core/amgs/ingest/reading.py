"""Files and texts as drafts of raw blocks: find, read, cut, describe; one bad file does not stop the others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from amgs.clock import changed_at
from amgs.errors import InputError, MissingExtraError
from amgs.identity import block_id
from amgs.ingest import metadata
from amgs.ingest.document import ParsedDocument, UnfitError
from amgs.ingest.pieces import Piece, cut, cut_document
from amgs.ingest.raw_blocks import FolderContents, RawBlock, shown
from amgs.ingest.readers import markdown
from amgs.ingest.readers.registry import Reader, reader_of
from amgs.regular_file import real_path
from amgs.settings import IngestSettings
from amgs.text.intervals import note_date
from amgs.text.links import definitions, references
from amgs.text.markdown import without_plumbing
from amgs.types import Progress, Refusal, Skipped

# Front matter that has a place of its own; anything else is kept in meta as it is written.
_PLACED = frozenset({"date", "ingest"})
DESCRIPTION = "corpus.toml"
"""A file that describes the folder; it is no note, and nobody misses it."""
_NOT_MEANT = "its front matter says `ingest: false`"
_NAMED_DAY = re.compile(r"(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)")
_LOOKED_AT = 8_192
_FOREIGN = frozenset({"node_modules", "__pycache__"})
_FOREIGN_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")
"""A folder with one of these was made by a program, and is as easily made again."""


@dataclass
class _Found:
    """Content of a folder: notes, other files by the ending of their names, and refused entries."""

    notes: list[Path]
    others: dict[str, list[str]]
    refused: list[Refusal]
    foreign: list[Refusal]


def read_folder(
    folder: Path, settings: IngestSettings, progress: Progress | None = None, *, dated: datetime | None = None
) -> FolderContents:
    """Return every file below a folder that there is a reader for, sorted by path; files of other kinds are named.

    Sources are paths relative to the folder. Hidden files and folders, files that say `ingest: false`, and folders that
    a program filled (node_modules, virtual environments, caches) are passed over. dated: the instant of all of them,
    whatever they say. Raises InputError for a folder that is missing or cannot be read.
    """
    if not folder.exists():
        raise InputError(f"{folder} does not exist.", way_out="Give a folder of notes.")
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not a folder.", way_out="Give a folder, or ingest the file by itself.", about="ingest"
        )
    listing = _found(folder)
    drafts: list[RawBlock] = []
    refused, warnings = listing.refused, listing.foreign
    for i, path in enumerate(listing.notes):
        if progress is not None:
            progress(i, len(listing.notes), "reading")
        reading = read_file(path, path.relative_to(folder).as_posix(), settings, dated=dated)
        drafts += reading.drafts
        warnings += reading.warnings
        if reading.drafts and path.is_symlink() and not real_path(path).is_relative_to(real_path(folder)):
            warnings.append(Refusal(path.relative_to(folder).as_posix(), "it is a link that leads out of the folder"))
        # A file that asks to stay out is no fault of the folder; asked for by name, it says why it is not taken.
        refused += [refusal for refusal in reading.refused if refusal.reason != _NOT_MEANT]
    passed_over = tuple(
        Skipped(shown(ending), len(names), tuple(map(shown, sorted(names))))
        for ending, names in sorted(listing.others.items())
    )
    return FolderContents(tuple(drafts), tuple(refused), passed_over, tuple(warnings))


def _found(folder: Path) -> _Found:
    listing = _Found([], {}, [], [])

    def unreadable(error: OSError) -> None:
        where = Path(str(error.filename))
        if where == folder:
            raise InputError(f"{folder} cannot be read: {error.strerror}.", way_out="Check its permissions.") from error
        reason = f"the folder cannot be read: {error.strerror}"
        listing.refused.append(Refusal(where.relative_to(folder).as_posix(), reason))

    for directory, below, names in os.walk(folder, onerror=unreadable):
        here = Path(directory)
        subfolders = []
        for name in sorted(subfolder for subfolder in below if not subfolder.startswith(".")):
            if (here / name).is_symlink():
                source = shown((here / name).relative_to(folder).as_posix())
                listing.foreign.append(Refusal(source, "it is a link to a folder; it was passed over"))
            elif name in _FOREIGN or any((here / name / mark).exists() for mark in _FOREIGN_MARKS):
                source = shown((here / name).relative_to(folder).as_posix())
                listing.foreign.append(Refusal(source, "a program filled this folder; it was passed over"))
            else:
                subfolders.append(name)
        below[:] = subfolders
        for name in names:
            if name[0] == ".":
                continue
            if reader_of(name) is not None and (PurePosixPath(name).suffix or _holds_text(here / name)):
                listing.notes.append(here / name)
            elif name != DESCRIPTION:
                ending = PurePosixPath(name).suffix.lower()
                listing.others.setdefault(ending, []).append((here / name).relative_to(folder).as_posix())
    listing.notes.sort(key=lambda path: path.relative_to(folder).as_posix())
    return listing


def _holds_text(path: Path) -> bool:
    """Return whether a file whose name does not tell begins as text does; one that cannot be opened is named by its
    reader.
    """
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return b"\x00" not in file.read(_LOOKED_AT)
    except OSError:
        return True


def read_file(path: Path, source: str, settings: IngestSettings, *, dated: datetime | None = None) -> FolderContents:
    """Return one file as drafts, or the reason why it is refused; a name that no reader knows is read as Markdown."""
    if shown(source) != source:
        return _refuse_source(shown(source), "its file name is not UTF-8; rename the file")
    try:
        status = path.stat()
        if not path.is_file():
            return _refuse_source(source, "it is not a file")
        if status.st_size > settings.max_file_bytes:
            limit = settings.max_file_bytes / 2**20
            return _refuse_source(
                source, f"it has {status.st_size / 2**20:.0f} MiB, more than the limit of {limit:g} MiB"
            )
        raw = path.read_bytes()
    except OSError as error:
        return _refuse_source(source, f"it cannot be read: {error.strerror}")
    if not raw.strip():
        return _refuse_source(source, "it is empty")
    if raw.startswith(b"{\\rtf"):
        return _refuse_source(source, "it is RTF, which nothing here reads; save it as text, .docx or PDF")
    read: Reader = reader_of(path.name) or markdown.read
    text = _decoded(raw)  # whole: a private key is longer than a piece
    try:
        document = read(raw if text is None else settings.mask(text).encode())
    except UnfitError as error:
        return _refuse_source(source, str(error))
    except MissingExtraError as error:
        return _refuse_source(source, f"{error.message} {error.way_out}".rstrip("."))
    if document.form == "code":
        document = replace(document, title=path.name)
    changed = changed_at(status.st_mtime)
    modified = _find_named_day(path.stem, _title(document), changed) or changed
    contents = drafts_of(document, source, modified, settings, dated=dated)
    return replace(contents, drafts=settings.mask(contents.drafts)) if text is None else contents


def _decoded(raw: bytes) -> str | None:
    """Return a file's text; None for one that is no text in UTF-8."""
    try:
        return None if b"\0" in raw else raw.decode()
    except UnicodeDecodeError:
        return None


def _title(document: ParsedDocument) -> str:
    """Return the title of a document, or its first heading; empty for one without either."""
    if document.title or document.form != "markdown":
        return "" if document.form == "code" else document.title
    first = document.text.lstrip().partition("\n")[0]
    return first.strip("# ") if first.startswith("#") else ""


def _find_named_day(name: str, title: str, changed: datetime) -> datetime | None:
    """Return the day that stands in a file's name or in its title, such as 2026-03-01-standup.md or "Minutes, 1 March
    2026"; None where there is none. A day in words after the file was changed is what it plans for, not when it was
    written.
    """
    named = _NAMED_DAY.search(name)
    try:
        if named and (day := note_date("-".join(named.groups()))):
            return day
        days = (note_date(text) for text in (re.sub(r"[-_]", " ", name), title))
        return next((day for day in days if day is not None and day <= changed), None)
    except OverflowError:  # at the edge of the calendar
        return None


def read_note(
    text: str,
    source: str,
    modified: datetime,
    settings: IngestSettings,
    *,
    dated: datetime | None = None,
    extra: Mapping[str, Any] | None = None,
) -> FolderContents:
    """Return a text in Markdown as drafts; see `drafts_of`."""
    document = markdown.document(settings.mask(text))
    return drafts_of(document, source, modified, settings, dated=dated, extra=settings.mask(extra))


def drafts_of(
    document: ParsedDocument,
    source: str,
    modified: datetime,
    settings: IngestSettings,
    *,
    dated: datetime | None = None,
    extra: Mapping[str, Any] | None = None,
) -> FolderContents:
    """Return a document as drafts: one, or one for each turn of a conversation, or the pieces of a long text.

    The instant is `dated`, else the date of front matter, else that of the document, else `modified`; of a conversation
    `modified` is when its last turn was said, so that none lies ahead of its file. Each piece or
    turn has the source `source#n`, n from 1; without a source a name made from the content stands in. extra: meta that
    overrides the document's.
    """
    front = document.front
    if str(front.get("ingest", "")).lower() in ("false", "no"):
        return _refuse_source(source, _NOT_MEANT)
    if not document.text.strip():
        return _refuse_source(source, "it is empty")
    if document.form == "markdown" and not without_plumbing(document.text).strip():
        return _refuse_source(source, "it holds nothing but comments and link definitions")
    warnings = [Refusal(source, warning) for warning in document.warnings]
    written = front.get("date") or document.date
    try:
        at, doubt = _instant(written, modified)
    except OverflowError:
        return _refuse_source(source, f"its date {written} is beyond the calendar in UTC")
    if dated is not None:
        at = dated
    elif doubt:
        warnings.append(Refusal(source, doubt))
    named = source or f"text-{block_id(document.text)[:12]}"
    meta = dict(document.meta)
    meta |= metadata.of_front_matter({k: v for k, v in front.items() if k not in _PLACED}) | dict(extra or {})
    if isinstance(meta.get("tags"), str):
        meta["tags"] = [tag for tag in str(meta["tags"]).replace(",", " ").split() if tag]
    if document.turns:
        if dated is None and not written:
            at = _minutes_later(at, 1 - len(document.turns))  # the file was written when the last one had been said
        drafts = tuple(_turns(document, named, at, meta, settings.max_block_chars))
        return FolderContents(drafts, warnings=tuple(warnings))
    parts = cut_document(document, settings.max_block_chars)
    if len(parts) == 1:
        title = document.title or (parts[0].path[0] if parts[0].path else "")
        own = ({"title": title} if title else {}) | meta | ({"source": source} if source else {})
        own |= _references(document, parts)[0]
        return FolderContents((RawBlock(parts[0].text, at, own),), warnings=tuple(warnings))
    return FolderContents(
        tuple(_pieces(parts, _references(document, parts), named, at, meta)), warnings=tuple(warnings)
    )


def _references(document: ParsedDocument, parts: tuple[Piece, ...]) -> list[dict[str, list[str]]]:
    """For each piece `refers_to`, the files it links to as they are written; nothing where there are none."""
    if document.form == "code":
        return [{} for _ in parts]
    labels = definitions(document.text) if document.form == "markdown" else {}
    metas = []
    for part in parts:
        named = [
            reference
            for reference in references(part.text, labels)
            if not PurePosixPath(reference).suffix or reader_of(reference) is not None
        ]
        metas.append({"refers_to": named} if named else {})
    return metas


def _instant(written: object, modified: datetime) -> tuple[datetime, str]:
    """Return the instant that a `date` means, else `modified` and what is wrong with the date.

    Raises OverflowError for one whose instant in UTC no calendar holds.
    """
    if isinstance(written, datetime):
        return written, ""
    if written is None or written == "":
        return modified, ""
    instant = note_date(written) if isinstance(written, str) else None
    if instant is not None:
        return instant, ""
    return (modified, f"its date {written} cannot be read as a day; write it as 2026-03-01. The file's time stands in")


def _pieces(
    parts: tuple[Piece, ...], referring: list[dict[str, list[str]]], source: str, at: datetime, meta: Mapping[str, Any]
) -> Iterator[RawBlock]:
    """Yield the pieces of a long text: each with the headings that it stands under, the nearest being its title; what
    stands before the first heading has the name of the file, or, of a README or an index, that of its folder.
    """
    path = PurePosixPath(source)
    name = path.parent.name if path.stem.lower() in ("readme", "index") and path.parent.name else path.stem
    headed = any(part.path for part in parts)
    for n, part in enumerate(parts, 1):
        own = dict(meta) | {"source": f"{source}#{n}", "part": n, "parts": len(parts)} | referring[n - 1]
        if part.path:
            own["title"] = part.path[-1]
        elif headed and "title" not in own:
            own["title"] = name
        if len(part.path) > 1:
            own["headings"] = list(part.path)
        if part.lines[0]:
            own["lines"] = f"{part.lines[0]}-{part.lines[1]}"
        if n > 1:
            own["follows"] = f"{source}#{n - 1}"
        yield RawBlock(part.text, at, own)


def _turns(
    document: ParsedDocument, source: str, at: datetime, meta: Mapping[str, Any], limit: int
) -> Iterator[RawBlock]:
    """Yield a draft for each turn, `Name: text`; from `at` on a minute apart where no time is told; a turn over the
    limit becomes several.

    What belongs to another session than the turn before follows nothing.
    """
    common = dict(meta)
    common.pop("title", None)
    name = str(meta.get("title") or document.title)
    if name:
        common["dialogue"] = name
    before, session = "", None
    for n, turn in enumerate(document.turns, 1):
        if turn.meta.get("session") != session:
            before, session = "", turn.meta.get("session")
        cuts = cut(turn.text, limit)
        for k, piece in enumerate(cuts, 1):
            here = f"{source}#{n}" if len(cuts) == 1 else f"{source}#{n}#{k}"
            own = common | dict(turn.meta) | {"source": here, "turn": n, "turns": len(document.turns)}
            if turn.speaker:
                own["speaker"] = turn.speaker
            if before:
                own["follows"] = before
            content = f"{turn.speaker}: {piece}" if turn.speaker else piece
            yield RawBlock(content, turn.at or _minutes_later(at, n - 1), own)
            before = here


def _minutes_later(at: datetime, minutes: int) -> datetime:
    try:
        return at + timedelta(minutes=minutes)
    except OverflowError:
        return at  # the first or the last year that a calendar holds


def _refuse_source(source: str, reason: str) -> FolderContents:
    return FolderContents((), (Refusal(source, reason),))
