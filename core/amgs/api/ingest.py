"""Ingest texts, files and folders as raw blocks of a memory (AMGS §8.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amgs.api.context import MemoryPart
from amgs.clock import aware, local_now
from amgs.errors import InputError, StoreError, UsageError
from amgs.identity import file_of
from amgs.incoming import real_path

if TYPE_CHECKING:
    from amgs.ingest.raw_blocks import FolderContents, RawBlock, SourceOf
    from amgs.ingest.source_names import NamedReading
    from amgs.types import IngestReport, Progress


_ID = re.compile(r"[0-9a-f]{4,64}")
_FEW = 3
"""Corrections are searched if an ingest adds at most this many texts,"""
_LONGEST = 600
"""of at most this many characters,"""
_NEAR = 12
"""each compared with this many hits."""
_LIKELY = 50
"""Number of hits among which the quotation in a correction is searched."""


def mark_correction(reading: FolderContents, replaced: tuple[str, ...]) -> FolderContents:
    """Return the drafts of a text, the first marked as replacing what the text corrects."""
    if not replaced or not reading.drafts:
        return reading
    first, *rest = reading.drafts
    return replace(reading, drafts=(replace(first, replaces=replaced), *rest))


class Intake(MemoryPart):
    """Ingests texts; each call is a transaction."""

    def add(
        self,
        what: str | Path,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Ingest a text, a file or a folder of notes as raw blocks for the next `consolidate`.

        what: a str is the text itself (Markdown, split if long), never a path; a Path is a file, or a folder whose
        notes (`.md`, `.txt` and others, see docs/store.md) are all ingested. created_at: when a text was written;
        default: as it says, else now. meta: of a text: its source and others. Known texts are reported as such, and
        count as said now if they are said again; deleted, pruned, archived and superseded ones hold again. Raises
        InputError for a text or file that cannot be ingested; unfit files in a folder are named in the report. Raises
        UsageError for a date or metadata of a path.
        """
        if isinstance(what, str):
            return self.ingest_text(what, created_at=created_at, meta=meta)
        if created_at is not None or meta is not None:
            raise UsageError(
                "A file brings its own date and metadata.", way_out="Put them into its front matter, or add its text."
            )
        return self.ingest_folder(what, progress) if what.is_dir() else self.ingest_file(what)

    def ingest_text(
        self,
        text: str,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        replaces: Sequence[str] = (),
    ) -> IngestReport:
        """Ingest a Markdown text, split if long; raises InputError if it is unfit.

        replaces: what the text corrects, each by id or wording; it is superseded from the text's date on, in the same
        transaction. Raises UsageError for an id that matches no block, or several.
        """
        from amgs.ingest.reading import read_note
        from amgs.ingest.source_names import NamedReading

        meta = dict(meta or {})
        dated = None if created_at is None else aware(created_at)
        source, now = str(meta.pop("source", None) or "").strip(), local_now(self._context.clock)
        reading = read_note(text, source, now, self._context.settings.ingest, dated=dated, extra=meta)
        reading = mark_correction(reading, self.resolve_corrected(replaces))
        report = self._ingest(NamedReading(reading, ()), source, source_of=lambda _: source)
        if report.refused:
            raise InputError(
                f"The text was not ingested: {report.refused[0].reason}.",
                way_out="Give a text with at least one visible character; everything else is stored as it is.",
            )
        return self._add_likely_corrections(report)

    def resolve_corrected(self, named: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of corrected blocks, named by id or wording. Raises UsageError if a name matches no block, or
        several.
        """
        return tuple(self._find_corrected(name.strip()) for name in named)

    def _find_corrected(self, name: str) -> str:
        from amgs.api.context import Retrieval
        from amgs.types import BlockFilter

        if _ID.fullmatch(name):
            return self._context.whole_id(name)
        # What was replaced while it was raw is archived: it is named as such, and not as what nobody said.
        every = BlockFilter(statuses=("consolidated", "raw", "archived"))
        hits = (
            Retrieval(self._opened).search(name, top_k=_LIKELY, layers=("keyword",), filter=every).hits if name else ()
        )
        wanted = " ".join(name.casefold().split())
        saying = [h.block for h in hits if wanted in " ".join(h.block.content.casefold().split())]
        fitting = [block for block in saying if not block.superseded] or saying
        if len(fitting) == 1:
            return fitting[0].id
        near = fitting or [hit.block for hit in hits]
        listed = "; ".join(f"{block.id[:8]} “{block.title}”" for block in near[:3])
        raise UsageError(
            f"{'Several blocks say' if fitting else 'No block says'} “{name}”.",
            title="Nothing was changed",
            way_out=f"Name a block by its id: {listed}." if listed else "Name it by its id.",
        )

    def _add_likely_corrections(self, report: IngestReport) -> IngestReport:
        """Return the report with blocks that its new texts may correct; unchanged if there are many texts or the writer
        named the corrected ones.
        """
        from amgs.api.context import Retrieval
        from amgs.incoming import why_unstorable
        from amgs.lifecycle.supersede import find_likely_replaced

        if report.replaced or len(report.added) > _FEW:
            return report
        search, replacements = Retrieval(self._opened).search, []
        for newer in self._storage.blocks.get(report.added).values():
            if len(newer.content) <= _LONGEST and not why_unstorable(newer.content):
                try:
                    hits = search(newer.content, top_k=_NEAR, layers=("keyword",)).hits
                except StoreError:  # the store's vectors are of another encoder: consolidation and search say so
                    return report
                others = [hit.block for hit in hits if hit.block.id != newer.id and not hit.block.superseded]
                replacements.append(find_likely_replaced(newer, others))
        return replace(report, may_replace=tuple(filter(None, replacements)))

    def ingest_texts(
        self, texts: Sequence[tuple[str, datetime | None, Mapping[str, Any]]], replaces: Sequence[Sequence[str]] = ()
    ) -> IngestReport:
        """Ingest texts, each with its date (None: now) and metadata, in a single transaction; raises InputError if any
        is unfit.

        replaces: what each text corrects, as in `ingest_text`.
        """
        corrected = [self.resolve_corrected(named) for named in replaces] or [()] * len(texts)
        from amgs.ingest import raw_blocks
        from amgs.ingest.reading import read_note

        now, drafts, sources = local_now(self._context.clock), [], dict[str, str]()
        for number, (text, created_at, meta) in enumerate(texts, 1):
            more = dict(meta)
            source = str(more.pop("source", None) or "").strip()
            dated = None if created_at is None else aware(created_at)
            reading = read_note(text, source, now, self._context.settings.ingest, dated=dated, extra=more)
            reading = mark_correction(reading, corrected[number - 1])
            for draft in reading.drafts:
                try:
                    drafts.append(raw_blocks.fit(draft))
                except ValueError as error:
                    raise InputError(
                        f"Text {number} was not ingested: {error}.",
                        way_out="Nothing was changed. Leave it out, or give it a visible character.",
                    ) from error
                sources[str(draft.meta.get("source", ""))] = source
            if not reading.drafts:
                raise InputError(f"Text {number} is empty.", way_out="Nothing was changed. Leave it out.")
        origin = f"{len(texts)} texts" if len(texts) > 1 else next(iter(sources.values()), "")
        report = raw_blocks.ingest(
            self._storage, drafts, now, origin=origin, source_of=lambda piece: sources.get(piece, piece)
        )
        return self._add_likely_corrections(report)

    def ingest_file(
        self, path: Path, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Ingest a file; raises InputError if it is missing or unfit. created_at, meta: as for a folder."""
        from amgs.ingest import source_names
        from amgs.ingest.reading import read_file

        dated = None if created_at is None else aware(created_at)
        reading = read_file(path, path.name, self._context.settings.ingest, dated=dated)
        if reading.refused:
            raise InputError(
                f"{path} was not ingested: {reading.refused[0].reason}.",
                way_out="Fix the file or choose another. Nothing was changed.",
            )
        named = source_names.of_file(self._storage, path, attach_metadata(reading, meta or {}))
        return self._ingest(named, path.name, source_of=file_of, reread="file")

    def ingest_folder(
        self,
        folder: Path,
        progress: Progress | None = None,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReport:
        """Ingest every file below a folder that has a reader (notes, pages, PDFs, Office files, chats, code), sorted;
        unfit files are listed, the others are ingested.

        If a folder is read again, unchanged texts do not count as said again: hidden ones stay hidden. created_at: date
        of every text, whatever its file says. meta: metadata of every text, overriding its file's; `tags` are added.
        """
        from amgs.ingest import source_names
        from amgs.ingest.reading import read_folder

        dated = None if created_at is None else aware(created_at)
        reading = read_folder(folder, self._context.settings.ingest, progress, dated=dated)
        named = source_names.of_folder(self._storage, folder, attach_metadata(reading, meta or {}))
        return self._ingest(named, real_path(folder).name, progress, reread="folder")

    def ingest_many(self, drafts: Iterable[RawBlock], progress: Progress | None = None) -> IngestReport:
        """Ingest drafts as they are, without splitting, in a single transaction."""
        from amgs.ingest import raw_blocks

        masked_drafts = self._context.settings.ingest.mask(tuple(drafts))
        return raw_blocks.ingest(self._storage, masked_drafts, local_now(self._context.clock), progress=progress)

    def _ingest(
        self,
        named: NamedReading,
        origin: str,
        progress: Progress | None = None,
        *,
        source_of: SourceOf = file_of,
        reread: Literal["", "file", "folder"] = "",
    ) -> IngestReport:
        from amgs.ingest import raw_blocks

        reading = named.reading
        report = raw_blocks.ingest(
            self._storage,
            reading.drafts,
            local_now(self._context.clock),
            origin=origin,
            names=named.names,
            source_of=source_of,
            reread=reread,
            progress=progress,
        )
        return replace(
            report,
            refused=(*reading.refused, *report.refused),
            skipped=reading.skipped,
            warnings=reading.warnings,
            links_to_nowhere=self._to_nowhere(reading),
        )

    def _to_nowhere(self, reading: FolderContents) -> int:
        """Return the number of links to files that are not in the memory."""
        from amgs.ingest.document import list_references, slugs_of

        wanted = [target for draft in reading.drafts for target in list_references(draft.meta)]
        if not wanted:
            return 0
        slugs = {slug for name in self._storage.sources.names() for slug in slugs_of(name.name)}
        return sum(target not in slugs for target in wanted)


def attach_metadata(reading: FolderContents, metadata: Mapping[str, Any]) -> FolderContents:
    """Return what was read with additional metadata."""
    if not metadata:
        return reading
    from amgs.ingest.metadata import change_tags

    tags = metadata.get("tags") or ()
    more = {key: value for key, value in metadata.items() if key != "tags"}
    added = (tags,) if isinstance(tags, str) else tuple(str(tag) for tag in tags)
    drafts = (replace(draft, meta=change_tags({**draft.meta, **more}, added)) for draft in reading.drafts)
    return replace(reading, drafts=tuple(drafts))
